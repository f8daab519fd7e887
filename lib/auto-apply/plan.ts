import { hashPolicy } from '../campaigns/judge/parts.ts'
import type { Workload } from '../fleet/state/model.ts'
import { listMembersThen } from '../fleet-configs/members-then.ts'
import { configHash } from '../model/config-hash.ts'
import { clusterOf, environmentOf } from '../model/labels.ts'
import { countsAsProduction, namesProduction } from '../model/production.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { classifyKey } from '../selectors/keys.ts'
import {
  hasOpenCampaign,
  listDoneCampaigns,
  listScopesRolledBack,
  wasVersionRolledBack,
} from '../store/fleet-config-history.ts'
import { findVersion, type StoredFleetConfig, type StoredVersionSummary } from '../store/fleet-configs.ts'
import { listKeptProduction } from '../store/reviews.ts'
import { eachInTurns } from '../turns.ts'
import type { AutoApplyPlan } from '../wire/auto-apply.ts'
import type { Selector } from '../wire/selectors.ts'
import { decideMembers } from './members.ts'
import type { AutoApplyParts } from './parts.ts'

/** A version that is to apply by itself, with the selector and the priority that its fleet config is to have. */
export interface WantedAutoApply {
  number: number
  selector: Selector
  priority: number
}

/** A plan, its hash, and the hash of the config policy that it was made under. */
export interface PlannedChange {
  ok: true
  plan: AutoApplyPlan
  planHash: string
  policyHash: string
}

/** Why nothing can be planned. */
export type PlanRefusal = Refusal<'fleet-config-version-not-found' | 'auto-apply-rolled-back'>

const NAMES_MAX = 50
/** Workloads whose labels are read before other work gets a turn. */
const LABELLED_TURN = 200

/** Say which workloads a version would reach by itself, as the fleet is now. */
export async function planAutoApply(
  parts: AutoApplyParts,
  config: StoredFleetConfig,
  wanted: WantedAutoApply,
): Promise<PlannedChange | PlanRefusal> {
  const { db, clock } = parts
  const version = await findVersion(db, config.id, wanted.number)
  if (version === null) return refuse('fleet-config-version-not-found')
  if (await wasVersionRolledBack(db, config.id, version.number)) return refuse('auto-apply-rolled-back')
  const members = await listMembersThen(parts, config.id, wanted)
  const { under } = members
  const productionCount = (await listProduction(parts, under)).size
  const reachesProduction = productionCount > 0 || namesProductionIn(wanted.selector)
  const found = await decideAll(parts, config.id, version, under)
  const plan: AutoApplyPlan = {
    planned_at: clock.now().toISOString(),
    number: wanted.number,
    version_hash: version.hash,
    selector: wanted.selector,
    priority: wanted.priority,
    under_count: under.length,
    ...found,
    arriving_count: members.arriving,
    leaving_count: members.leaving,
    production_count: productionCount,
    reaches_production: reachesProduction,
    environments: names(under.map((w) => environmentOf(w.trustedLabels, w.labels))),
    clusters: names(under.map((w) => clusterOf(w.trustedLabels, w.labels))),
    campaign_ids: await listDoneCampaigns(db, config.id, wanted.number, reachesProduction),
  }
  const policyHash = hashPolicy(parts.config.policy)
  return { ok: true, plan, planHash: hashOf(config.id, plan, policyHash), policyHash }
}

/**
 * Hash what an approval covers: the version and the rule by which workloads get it. The workloads of today are left
 * out, for tomorrow there are others.
 */
const hashOf = (fleetConfigId: string, plan: AutoApplyPlan, policyHash: string): string =>
  configHash(
    JSON.stringify([
      ...['muster-auto-apply-plan.v1', fleetConfigId, plan.number, plan.version_hash],
      ...[plan.selector, plan.priority, plan.reaches_production, policyHash],
    ]),
  )

async function decideAll(
  parts: AutoApplyParts,
  fleetConfigId: string,
  { number }: Pick<StoredVersionSummary, 'number'>,
  under: readonly Workload[],
): Promise<Pick<AutoApplyPlan, 'reached_count' | 'current_count' | 'reached' | 'left_out'>> {
  const wanted = {
    autoApplyId: null,
    number,
    since: parts.clock.now(),
    hasOpenCampaign: await hasOpenCampaign(parts.db, fleetConfigId),
    rolledBackIn: await listScopesRolledBack(parts.db, fleetConfigId, number),
  }
  const reached: string[] = []
  let [reachedCount, currentCount] = [0, 0]
  const leftOut: Record<string, number> = {}
  for await (const piece of decideMembers(parts, fleetConfigId, under, wanted))
    for (const { workload, reach } of piece) {
      if (reach.kind === 'current') currentCount++
      else if (reach.kind === 'reached') {
        reachedCount++
        if (reached.length < NAMES_MAX) reached.push(workload.displayName)
      } else leftOut[reach.reason] = (leftOut[reach.reason] ?? 0) + 1
    }
  return { reached_count: reachedCount, current_count: currentCount, reached, left_out: leftOut }
}

/**
 * The ids of those of some workloads that count as production: by their labels now, or by the labels that they had
 * until one person changed them, while that change waits for a second person.
 */
export async function listProduction(
  { db, clock }: Pick<AutoApplyParts, 'db' | 'clock'>,
  workloads: readonly Pick<Workload, 'id' | 'labels' | 'trustedLabels'>[],
): Promise<Set<string>> {
  const kept = await listKeptProduction(
    db,
    workloads.map(({ id }) => id),
  )
  const found = new Set<string>()
  await eachInTurns(workloads, { size: LABELLED_TURN, clock }, (workload) => {
    if (countsAsProduction(workload, kept)) found.add(workload.id)
  })
  return found
}

/** Whether a selector asks for a trusted label that means production: then whatever it selects later is production. */
const namesProductionIn = ({ match_labels = {}, match_expressions = [] }: Selector): boolean =>
  [
    ...Object.entries(match_labels).map(([key, value]) => ({ key, values: [value] })),
    ...match_expressions.flatMap(({ key, operator, values = [] }) =>
      operator === 'In' ? { key, values } : [],
    ),
  ].some(({ key, values }) => classifyKey(key).class === 'trusted' && values.some(namesProduction))

const names = (all: readonly string[]): string[] =>
  [...new Set(all)]
    .filter((name) => name !== '')
    .sort()
    .slice(0, NAMES_MAX)
