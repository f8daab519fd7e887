import type { Workload } from '../../fleet/state/model.ts'
import { clusterOf, environmentOf } from '../../model/labels.ts'
import type { StoredCampaignTarget } from '../../store/campaign-targets.ts'
import { inTurns } from '../../turns.ts'
import type { CampaignPlan, CampaignWave } from '../../wire/campaigns.ts'
import { PLAN_TURN } from './turn.ts'

/** Names of environments, and of clusters, that a plan lists at most. */
const NAMES_MAX = 50

/** What a plan says in numbers of its targets, at `now`. */
export async function summarise(
  waves: readonly CampaignWave[],
  targets: readonly StoredCampaignTarget[],
  workloadOf: (id: string) => Workload,
  now: Date,
): Promise<CampaignPlan> {
  const [verdicts, refused] = [new Map<string, number>(), new Map<string, number>()]
  const [environments, clusters, groups] = [new Set<string>(), new Set<string>(), new Set<string | null>()]
  const all = { target_count: 0, instance_count: 0, production_count: 0 }
  const inWaves = waves.map(({ dwell_seconds = 0 }) => ({ ...all, dwell_seconds }))
  let noWayBackCount = 0
  let componentsUnknownCount = 0
  for await (const some of inTurns(targets, PLAN_TURN))
    for (const { workloadId, verdict, reason, wave, baseHash, groupKey, ...target } of some) {
      add(verdicts, verdict)
      if (reason !== null && (verdict === 'refused' || verdict === 'held')) add(refused, reason)
      if (wave === null) continue
      for (const numbers of [all, inWaves[wave]!]) {
        numbers.target_count++
        numbers.instance_count += target.instanceCount
        if (target.isProduction) numbers.production_count++
      }
      if (baseHash === null) noWayBackCount++
      groups.add(groupKey)
      const { trustedLabels, labels, availableComponents } = workloadOf(workloadId)
      if (availableComponents === null) componentsUnknownCount++
      environments.add(environmentOf(trustedLabels, labels))
      clusters.add(clusterOf(trustedLabels, labels))
    }
  return {
    planned_at: now.toISOString(),
    verdicts: Object.fromEntries(verdicts),
    refused: Object.fromEntries(refused),
    ...all,
    no_way_back_count: noWayBackCount,
    components_unknown_count: componentsUnknownCount,
    environments: names(environments),
    clusters: names(clusters),
    group_count: groups.size,
    waves: inWaves,
  }
}

const add = (counts: Map<string, number>, word: string): void => {
  counts.set(word, (counts.get(word) ?? 0) + 1)
}

const names = (all: ReadonlySet<string>): string[] =>
  [...all]
    .filter((name) => name !== '')
    .sort()
    .slice(0, NAMES_MAX)
