import type { Workload } from '../../fleet/state/model.ts'
import { approvalClassOf } from '../../model/approval-policy.ts'
import { clusterOf, environmentOf } from '../../model/labels.ts'
import type { PlannedTarget } from '../../store/campaign-targets.ts'
import { inTurns } from '../../turns.ts'
import type { CampaignPlan, CampaignWave } from '../../wire/campaigns.ts'
import { PLAN_TURN } from './turn.ts'

/** Names of environments, of clusters, and of missing components, that a plan lists at most. */
const NAMES_MAX = 50

/**
 * What a plan says in numbers of its targets, at `now`. Of those in `onUnapproved` nobody approved the config that they
 * run, and of those in `onFailed` it only ever failed there: a roll-back brings it back no more than none.
 */
export async function summarise(
  waves: readonly CampaignWave[],
  targets: readonly PlannedTarget[],
  {
    workloadOf,
    onUnapproved,
    onFailed,
    now,
  }: {
    workloadOf: (id: string) => Workload
    onUnapproved: ReadonlySet<string>
    onFailed: ReadonlySet<string>
    now: Date
  },
): Promise<CampaignPlan> {
  const [verdicts, refused] = [new Map<string, number>(), new Map<string, number>()]
  const missing = new Map<string, number>()
  const [environments, clusters, groups] = [new Set<string>(), new Set<string>(), new Set<string | null>()]
  const all = { target_count: 0, instance_count: 0, production_count: 0 }
  const inWaves = waves.map(({ dwell_seconds = 0 }) => ({ ...all, dwell_seconds }))
  let noWayBackCount = 0
  let componentsUnknownCount = 0
  let unlabelledCount = 0
  for await (const some of inTurns(targets, PLAN_TURN))
    for (const { workloadId, verdict, reason, wave, baseHash, groupKey, ...target } of some) {
      add(verdicts, verdict)
      if (reason !== null && (verdict === 'refused' || verdict === 'held')) add(refused, reason)
      for (const component of target.missing ?? []) add(missing, component)
      if (wave === null) continue
      for (const numbers of [all, inWaves[wave]!]) {
        numbers.target_count++
        numbers.instance_count += target.instanceCount
        if (target.isProduction) numbers.production_count++
      }
      const { trustedLabels, labels, availableComponents } = workloadOf(workloadId)
      if (baseHash === null || onUnapproved.has(workloadId) || onFailed.has(workloadId)) noWayBackCount++
      groups.add(groupKey)
      if (availableComponents === null) componentsUnknownCount++
      if (approvalClassOf({ targetEnv: '', targetGroup: '', trustedLabels, labels }) === 'unlabelled')
        unlabelledCount++
      environments.add(environmentOf(trustedLabels, labels))
      clusters.add(clusterOf(trustedLabels, labels))
    }
  return {
    planned_at: now.toISOString(),
    verdicts: Object.fromEntries(verdicts),
    refused: Object.fromEntries(refused),
    ...all,
    unlabelled_count: unlabelledCount,
    no_way_back_count: noWayBackCount,
    components_unknown_count: componentsUnknownCount,
    missing_components: mostMissing(missing),
    environments: names(environments),
    clusters: names(clusters),
    group_count: groups.size,
    waves: inWaves,
  }
}

const add = (counts: Map<string, number>, word: string): void => {
  counts.set(word, (counts.get(word) ?? 0) + 1)
}

/** What the most workloads lack comes first. */
const mostMissing = (counts: ReadonlyMap<string, number>): { component: string; count: number }[] =>
  [...counts]
    .map(([component, count]) => ({ component, count }))
    .sort((a, b) => b.count - a.count || (a.component < b.component ? -1 : 1))
    .slice(0, NAMES_MAX)

const names = (all: ReadonlySet<string>): string[] =>
  [...all]
    .filter((name) => name !== '')
    .sort()
    .slice(0, NAMES_MAX)
