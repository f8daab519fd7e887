import { byBytes } from '../../model/text-order.ts'
import type { RunningConfigs } from '../../wire/workloads.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { runningHash } from '../decide/running-hash.ts'
import type { Workload } from '../state/model.ts'

/** Other configs that are named, those of most instances first, behind what an aborted rollout left. */
const NAMED_MAX = 5

/**
 * What the live instances run that take configs and say what became of them; null where all of them run the active
 * config, or none is active and no rollout was aborted. What a workload is to run, and what it runs, are two things: this
 * is where they are told apart.
 */
export function countRunning({
  activeHash,
  live,
  rollout,
}: Pick<Workload, 'activeHash' | 'live' | 'rollout'>): RunningConfigs | null {
  if (activeHash === null && rollout?.stored.status !== 'aborted') return null
  const counts = new Map<string, number>()
  let total = 0
  for (const instance of live.instances()) {
    if (!isCapable(instance) || !canReport(instance)) continue
    total++
    const hash = runningHash(instance)
    counts.set(hash, (counts.get(hash) ?? 0) + 1)
  }
  const wanted = activeHash === null ? 0 : (counts.get(activeHash) ?? 0)
  if (wanted === total) return null
  const others = [...counts].filter(([hash]) => hash !== '' && hash !== activeHash)
  // What an aborted rollout left is named however few run it: it splits the workload.
  const leftBehind = rollout?.stored.status === 'aborted' ? rollout.followed.push.hash : null
  const namedFirst = (hash: string) => (hash === leftBehind ? 0 : 1)
  return {
    wanted_count: wanted,
    instance_count: total,
    unknown_count: counts.get('') ?? 0,
    others: others
      .sort(([a, countA], [b, countB]) => namedFirst(a) - namedFirst(b) || countB - countA || byBytes(a, b))
      .slice(0, NAMED_MAX)
      .map(([config_hash, instance_count]) => ({ config_hash, instance_count })),
  }
}
