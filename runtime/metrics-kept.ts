import { knownPushes } from '../lib/fleet/state/state.ts'
import { inTurns } from '../lib/turns.ts'
import type { Context } from './context.ts'
import type { Metric } from './metrics.ts'

/** How many workloads are looked at before agents get their turn. */
const CHUNK = 1_000

/** How much of each kind the process keeps: every map of the fleet, and what else grows with agents and pushes. */
export async function keptMetrics({ fleet, hub, opamp }: Context): Promise<Metric> {
  const { state, effectiveConfigs } = fleet
  const kept: Record<string, number> = {}
  for (const [name, value] of Object.entries(state) as [string, unknown][])
    if (value instanceof Map || value instanceof Set) kept[name] = value.size
  kept['pushTargets'] = 0
  kept['quarantinedInstances'] = 0
  for await (const piece of inTurns(state.workloads.values(), CHUNK))
    for (const workload of piece) {
      for (const { targets } of knownPushes(workload)) kept['pushTargets'] += targets.size
      for (const uids of workload.quarantinedInstances.values()) kept['quarantinedInstances'] += uids.size
    }
  const { forms, givenUp, underWay, owed } = effectiveConfigs.load
  const read = { effectiveForms: forms, effectiveGivenUp: givenUp, effectiveUnderWay: underWay }
  Object.assign(kept, read, { effectiveOwed: owed })
  Object.assign(kept, { hubKeys: hub.keyCount, pollers: opamp.counts().pollers })
  kept['timedStages'] = fleet.rollouts.timedStages
  return {
    name: 'muster_kept',
    kind: 'gauge',
    help: 'Things that are kept in memory, by kind.',
    samples: Object.entries(kept).map(([what, value]) => ({ labels: `what="${what}"`, value })),
  }
}
