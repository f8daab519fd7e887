import type { Workload } from '../../fleet/state/model.ts'
import { countDrifted } from '../../fleet/views/drifted.ts'
import { listMisses } from '../../store/campaign-outcome.ts'
import { listCampaignTargets, type StoredCampaignTarget } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import { inTurns } from '../../turns.ts'
import type { CampaignHalt } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { reachOfCampaign } from '../judge/scope.ts'
import { hasPolicyChanged, type Lapse, listGone } from './lapse.ts'
import {
  COUNTED,
  findPassedLimit,
  findUntried,
  limitOf,
  type PassedLimit,
  type StateCounts,
  UNTRIED_STATES,
} from './limits.ts'
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
  if (parts.clock.monotonicMs() < run.nextApproverLookMs) return null
  const { approvals } = campaign
  const gone = await listGone(parts, { approvals, reach: reachOfCampaign(campaign) })
  if (gone.length > 0)
    return haltOfLapse(
      'approver_gone',
      campaign.wave,
      gone.map(({ by }) => by),
    )
  run.nextApproverLookMs = parts.clock.monotonicMs() + APPROVER_LOOK_MS
  return null
}

/**
 * Whether a watched workload is not well: one that is away after it applied the change is not. One that was deleted does
 * not count, nor one whose config somebody changed since: it is not held to what the campaign brought.
 */
const isUnwell = (workload: Workload | null, hash: string): boolean =>
  workload !== null && workload.activeHash === hash && workload.status !== 'connected'

/** Whether nobody knows how a watched workload is: none of its instances is there, and it is not yet taken for away. */
const isInDoubt = (workload: Workload | null, hash: string): boolean =>
  workload !== null && workload.activeHash === hash && workload.live.count === 0

/**
 * Whether so many of those that applied the change have vanished a moment ago that the campaign would halt if they stayed
 * away: they are waited for until the grace of each ends.
 */
export function isInSuspense(
  { fleet }: Pick<CampaignParts, 'fleet'>,
  { plan, wave, rules, raised }: CampaignSummary,
  run: Pick<CampaignRun, 'watched'>,
): boolean {
  let count = 0
  for (const [id, hash] of run.watched) {
    const workload = fleet.workload(id)
    if (isUnwell(workload, hash) || isInDoubt(workload, hash)) count++
  }
  const targetCount = plan?.target_count ?? 0
  return count > limitOf('unhealthy', { wave, targetCount, asked: rules.limits, raised })
}

/**
 * The halt before the second wave where no target of the first one tried the change out; null where one did, or where
 * the limit allows it (`findUntried`).
 */
export async function findUntriedHalt(
  { db }: CampaignParts,
  { id, wave, plan, rules, raised }: CampaignSummary,
  waves: readonly StateCounts[],
): Promise<CampaignHalt | null> {
  const untried = findUntried({
    wave,
    waveCount: plan?.waves.length ?? 0,
    wasAnybodyThere: (plan?.verdicts.changes ?? 0) > 0,
    inWave: waves[wave] ?? {},
    asked: rules.limits,
    raised,
  })
  if (untried === null) return null
  const filter = { states: UNTRIED_STATES, wave }
  const named = await listCampaignTargets(db, id, filter, { after: null, limit: NAMED_MAX })
  return haltOfLimit(untried, wave, named.map(toNamed), undefined)
}

/**
 * How long a target has to drift before it counts: an instance that joins runs something else until it has its config.
 */
const DRIFT_MS = 30_000
/** How often the drift of all targets is looked at, and at how many before other work has a turn. */
const DRIFT_LOOK_MS = 1_000
const DRIFT_CHUNK = 250

/**
 * The targets that have drifted for so long, as of a moment ago: there may be thousands, and a campaign takes many steps
 * a second. One whose config somebody changed since is not held to what the campaign brought.
 */
export async function findDrifted(
  { clock, fleet }: Pick<CampaignParts, 'clock' | 'fleet'>,
  run: CampaignRun,
): Promise<readonly string[]> {
  const nowMs = clock.monotonicMs()
  if (nowMs < run.nextDriftLookMs) return run.drifted
  const { driftingSinceMs } = run
  const drifted: string[] = []
  for await (const some of inTurns(run.steady, DRIFT_CHUNK))
    for (const [id, hash] of some) {
      const workload = fleet.workload(id)
      const isDrifting =
        workload !== null && workload.activeHash === hash && countDrifted(fleet, workload) > 0
      if (!isDrifting) driftingSinceMs.delete(id)
      else if (!driftingSinceMs.has(id)) driftingSinceMs.set(id, nowMs)
      else if (nowMs - driftingSinceMs.get(id)! >= DRIFT_MS) drifted.push(id)
    }
  run.drifted = drifted
  run.nextDriftLookMs = nowMs + DRIFT_LOOK_MS
  return drifted
}

/** Why a campaign that is done may not start those that come back: too many targets failed. Null when it may. */
export async function findCatchUpHalt(
  parts: CampaignParts,
  campaign: CampaignSummary,
  counts: StateCounts,
): Promise<CampaignHalt | null> {
  const { id, rules, raised, wave, plan } = campaign
  const targetCount = plan?.target_count ?? 0
  const limit = limitOf('failed', { wave, targetCount, asked: rules.limits, raised })
  const value = counts.failed ?? 0
  return value <= limit ? null : haltOfCounted(parts, { id, wave }, { gate: 'failed', value, limit })
}

/** The halt of a limit that counts targets by their state, with the first of them. */
async function haltOfCounted(
  { db }: Pick<CampaignParts, 'db'>,
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
  const unhealthy: string[] = []
  for (const [id, hash] of run.watched) if (isUnwell(parts.fleet.workload(id), hash)) unhealthy.push(id)
  const drifted = await findDrifted(parts, run)
  const { id, rules, raised, wave, plan } = campaign
  const passed = findPassedLimit({
    wave,
    counts,
    unhealthy: unhealthy.length,
    drifted: drifted.length,
    asked: rules.limits,
    raised,
    targetCount: plan?.target_count ?? 0,
  })
  if (passed === null) return null
  if (passed.gate === 'unhealthy' || passed.gate === 'drifted') {
    const ids = passed.gate === 'unhealthy' ? unhealthy : drifted
    const filter = { workloadIds: ids.slice(0, NAMED_MAX) }
    const named = await listCampaignTargets(parts.db, id, filter, { after: null, limit: NAMED_MAX })
    return haltOfLimit(passed, wave, named.map(toNamed), undefined)
  }
  return haltOfCounted(parts, { id, wave }, passed)
}
