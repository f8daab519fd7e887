import { limitOf } from '../../model/campaign-rules.ts'
import { listMisses } from '../../store/campaign-outcome.ts'
import { listCampaignTargets, type StoredCampaignTarget } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { Db } from '../../store/db.ts'
import type { CampaignHalt } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { reachOfCampaign } from '../judge/scope.ts'
import { hasPolicyChanged, type Lapse, listGone } from './lapse.ts'
import {
  COUNTED,
  findPassedLimit,
  findUntried,
  limitFactsOf,
  type PassedLimit,
  type StateCounts,
  UNTRIED_STATES,
} from './limits.ts'
import { lookAtApplied, type Sight } from './look-at-applied.ts'
import type { CampaignRun } from './run.ts'

const APPROVER_LOOK_MS = 5_000
/** Workloads that a halt names at most. */
const NAMED_MAX = 20

/** The halt of a campaign whose approval does not hold any more. */
export const haltOfLapse = (gate: Lapse, wave: number, approvers: readonly string[] = []): CampaignHalt => ({
  gate,
  value: Math.max(1, approvers.length),
  limit: 0,
  wave,
  workload_ids: [],
  ...(approvers.length === 0 ? {} : { approvers: [...approvers] }),
})

type Named = NonNullable<CampaignHalt['workloads']>[number]

const toNamed = ({
  workloadId,
  workloadName,
  workloadPlace,
}: Pick<StoredCampaignTarget, 'workloadId' | 'workloadName' | 'workloadPlace'>): Named => ({
  workload_id: workloadId,
  workload_name: workloadName,
  ...(workloadPlace === '' ? {} : { workload_place: workloadPlace }),
})

/**
 * The halt of a campaign that passed a limit: by how many, the first of these workloads, and what most of them failed
 * of.
 */
export const haltOfLimit = (
  passed: PassedLimit,
  wave: number,
  workloads: readonly Named[],
  worst: { cause: string; title: string } | undefined,
): CampaignHalt => ({
  ...passed,
  wave,
  workload_ids: workloads.slice(0, NAMED_MAX).map(({ workload_id }) => workload_id),
  workloads: workloads.slice(0, NAMED_MAX),
  ...(worst === undefined ? {} : { cause: worst.cause, title: worst.title }),
})

/**
 * Find why the approval of a campaign does not hold any more: the config policy changed, or an approver may not approve
 * now, which is asked every few seconds. Null while it holds.
 */
export async function findLapseHalt(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
): Promise<CampaignHalt | null> {
  if (hasPolicyChanged(parts, campaign)) return haltOfLapse('policy_changed', campaign.wave)
  if (parts.fleet.clock.heardMs() < run.nextApproverLookMs) return null
  const { approvals } = campaign
  const gone = await listGone(parts, { approvals, reach: reachOfCampaign(campaign) })
  if (gone.length > 0)
    return haltOfLapse(
      'approver_gone',
      campaign.wave,
      gone.map(({ by }) => by),
    )
  run.nextApproverLookMs = parts.fleet.clock.heardMs() + APPROVER_LOOK_MS
  return null
}

/**
 * Whether so many of those that applied the change have vanished a moment ago, or came back and have yet to say how they
 * are, that the campaign would halt if they were not well: they are waited for until the grace of each ends, or the time
 * is over in which one that came back says so.
 */
export const isInSuspense = (
  campaign: CampaignSummary,
  { troubledCount }: Pick<Sight, 'troubledCount'>,
): boolean => troubledCount > limitOf('unhealthy', limitFactsOf(campaign))

/**
 * The halt before the second wave where no target of the first one tried the change out; null where one did, or where
 * the limit allows it (`findUntried`).
 */
export async function findUntriedHalt(
  { db }: CampaignParts,
  campaign: CampaignSummary,
  waves: readonly StateCounts[],
): Promise<CampaignHalt | null> {
  const { id, wave } = campaign
  const untried = findUntried(campaign, waves)
  if (untried === null) return null
  const filter = { states: UNTRIED_STATES, wave }
  const named = await listCampaignTargets(db, id, filter, { after: null, limit: NAMED_MAX })
  return haltOfLimit(untried, wave, named.map(toNamed), undefined)
}

/** Why a campaign that is done may not start those that come back: too many targets failed. Null when it may. */
export async function findCatchUpHalt(
  parts: CampaignParts,
  campaign: CampaignSummary,
  counts: StateCounts,
): Promise<CampaignHalt | null> {
  const { id, wave } = campaign
  const limit = limitOf('failed', limitFactsOf(campaign))
  const value = counts.failed ?? 0
  return value <= limit ? null : haltOfCounted(parts, { id, wave }, { gate: 'failed', value, limit })
}

/** The halt of a limit that counts targets by their state, with the first of them. */
export async function haltOfCounted(
  { db }: { db: Db },
  { id, wave }: Pick<CampaignSummary, 'id' | 'wave'>,
  passed: PassedLimit,
): Promise<CampaignHalt> {
  const filter = { states: COUNTED[passed.gate] }
  const named = await listCampaignTargets(db, id, filter, { after: null, limit: NAMED_MAX })
  const causes = { ...filter, most: 1, named: 1 }
  const [worst] = passed.gate === 'failed' ? await listMisses(db, id, null, causes) : []
  return haltOfLimit(
    passed,
    wave,
    named.map(toNamed),
    worst && { cause: worst.cause ?? 'unknown', title: worst.title ?? '' },
  )
}

/** Why a campaign may not go on; null when it may. */
export async function findHalt(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  counts: StateCounts,
): Promise<CampaignHalt | null> {
  const lapsed = await findLapseHalt(parts, campaign, run)
  if (lapsed !== null) return lapsed
  const { unwell, drifted } = await lookAtApplied(parts, run)
  const { id, wave } = campaign
  const passed = findPassedLimit({
    ...limitFactsOf(campaign),
    counts,
    unhealthy: unwell.length,
    drifted: drifted.length,
  })
  if (passed === null) return null
  if (passed.gate === 'unhealthy' || passed.gate === 'drifted') {
    const ids = passed.gate === 'unhealthy' ? unwell : drifted
    const filter = { workloadIds: ids.slice(0, NAMED_MAX) }
    const named = await listCampaignTargets(parts.db, id, filter, { after: null, limit: NAMED_MAX })
    return haltOfLimit(passed, wave, named.map(toNamed), undefined)
  }
  return haltOfCounted(parts, { id, wave }, passed)
}
