import { statesThat } from '../../model/target-states.ts'
import { countTakenBack, listTakenBack } from '../../store/auto-apply-roll-back.ts'
import {
  type CampaignTargetEnd,
  listCampaignTargets,
  MAY_BE_TAKEN_BACK,
  MAY_RUN_RESULT,
} from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import { DatabaseUnavailable } from '../../store/db.ts'
import { letWaitAgain } from '../../store/later-campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { BATCH, chooseNext, instancesOf, isBusyTooLong, noteBusy, roomIn } from './choose.ts'
import type { StateCounts } from './limits.ts'
import { type BackOutcome, type BackTarget, rollBackTarget, runsResult } from './roll-back-target.ts'
import type { CampaignRun } from './run.ts'
import { sideBySide } from './side-by-side.ts'
import { withSizes } from './size.ts'
import { closerOf, listStaged, stopStaged } from './stop-staged.ts'
import { writeAllEnd, writeEnds, writeMove, writeReleased } from './write.ts'

/**
 * For how long who is away is waited for at least, whatever the campaign says of those that were away when they were to
 * be changed: as long as for the answer of one that was started.
 */
const PATIENCE_MIN_MS = 10 * 60_000
const patienceMs = ({ rules }: Pick<CampaignSummary, 'rules'>): number =>
  Math.max(rules.catchUpSeconds * 1_000, PATIENCE_MIN_MS)

/** Pushes that are committed side by side. */
const SIDE_BY_SIDE = 4

/**
 * Do the next step of a roll-back: cancel targets that were not started, then give workloads that still run what the
 * campaign brought, or what its version brought by itself, their former config. Answers whether anything changed.
 */
export async function goBack(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  counts: StateCounts,
): Promise<boolean> {
  if ((counts.waiting ?? 0) + (counts.offline ?? 0) > 0) {
    await writeAllEnd(parts, campaign, statesThat('waits'), 'cancelled')
    run.offline.clear()
    return true
  }
  const amidStages = listStaged(parts, { campaignId: campaign.id }).map(({ workloadId }) => workloadId)
  const left = (await listLeft(parts, campaign, run, amidStages)).filter((target) =>
    isToBeLookedAt(parts, run, target),
  )
  const open = (counts.started ?? 0) + (counts.rolling_back ?? 0)
  if (left.length + open + (await countOpenByItself(parts, campaign.id)) === 0) {
    await stopStaged(parts, { campaignId: campaign.id }, closerOf(campaign))
    const now = parts.clock.now()
    const ended = { status: 'rolled_back', endedAt: now } as const
    const move = { from: 'rolling_back', action: 'campaign.rolled_back', to: ended } as const
    return writeMove(parts, campaign, move, (tx) => letWaitAgain(tx, campaign.id, now))
  }
  // A target amid its stages is in flight until it is taken back: it would wait for the room that it holds itself.
  const room = roomIn(run, campaign.rules.maxInFlight, new Set(amidStages))
  return takeBack(parts, campaign, run, chooseNext(left, run, { room, nowMs: parts.fleet.clock.heardMs() }))
}

/** Whether a workload was not left alone, or has come to run again what is taken back. */
function isToBeLookedAt({ fleet }: CampaignParts, run: CampaignRun, target: BackTarget): boolean {
  const left = run.leftAlone.get(target.workloadId)
  if (left === undefined || left === 'for-good') return left === undefined
  const workload = fleet.workload(target.workloadId)
  return workload !== null && runsResult(workload, target)
}

/** The next workloads that may run what is taken back: targets of the campaign, then those that got it by itself. */
async function listLeft(
  { db, fleet }: CampaignParts,
  { id }: CampaignSummary,
  run: CampaignRun,
  amidStages: readonly string[],
): Promise<BackTarget[]> {
  const limit = BATCH + run.busy.size + run.leftAlone.size
  const pushed = { states: MAY_RUN_RESULT, isPushed: true } as const
  const own = await listCampaignTargets(db, id, pushed, { after: null, limit })
  const inStages = { states: ['started'] as const, workloadIds: amidStages }
  const staged =
    amidStages.length === 0 ? [] : await listCampaignTargets(db, id, inStages, { after: null, limit })
  const byItself = await listTakenBack(db, id, MAY_RUN_RESULT, limit)
  return withSizes({ db, fleet }, [
    ...[...staged, ...own].map((target) => ({ ...target, isByItself: false })),
    ...byItself.map((target) => ({ ...target, instanceCount: 0, isByItself: true })),
  ])
}

/** How many of those that got the version by itself have a push that has not ended. */
async function countOpenByItself({ db }: CampaignParts, campaignId: string): Promise<number> {
  let open = 0
  for (const { state, count } of await countTakenBack(db, [campaignId]))
    if (state === 'started' || state === 'rolling_back') open += count
  return open
}

/** Whether a target stays as it is: its stages go no further. */
const leavesAlone = ({ kind }: BackOutcome): boolean =>
  kind === 'no_way_back' || kind === 'moved_on' || kind === 'left_scope'

async function takeBack(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  targets: readonly BackTarget[],
): Promise<boolean> {
  const { clock, fleet } = parts
  const ends: CampaignTargetEnd[] = []
  const byItself: CampaignTargetEnd[] = []
  const released: string[] = []
  let startedCount = 0
  const since = campaign.rollBackStartedAt ?? campaign.updatedAt
  const isLate = clock.now().getTime() - since.getTime() > patienceMs(campaign)
  const leftAsTheyAre = new Set<string>()
  await sideBySide(targets, SIDE_BY_SIDE, async (target) => {
    const outcome = await takeOneBack(parts, campaign, target)
    // The roll-back of another campaign may be about where it is by now.
    if (outcome.kind === 'left_scope' && target.isByItself) return void released.push(target.workloadId)
    const workload = fleet.workload(target.workloadId)
    // Right after a start nobody knows who is away, however long no process ran before.
    const isGivenUp = isLate && (workload === null || !fleet.isAwaited(workload))
    const end = noteBack(run, target, outcome, { isGivenUp, nowMs: fleet.clock.heardMs() })
    if (end !== null) (target.isByItself ? byItself : ends).push({ workloadId: target.workloadId, ...end })
    if (outcome.kind === 'started') startedCount++
    if (leavesAlone(outcome)) leftAsTheyAre.add(target.workloadId)
  })
  await stopStaged(parts, { campaignId: campaign.id }, closerOf(campaign), (workloadId) =>
    leftAsTheyAre.has(workloadId),
  )
  await writeEnds(parts, campaign, [
    { from: MAY_BE_TAKEN_BACK, ends },
    { from: MAY_RUN_RESULT, ends: byItself, isByItself: true },
  ])
  await writeReleased(parts, campaign, released)
  return startedCount + ends.length + byItself.length + released.length > 0
}

/**
 * Note in the run what came of taking a target back. Answers how the target ends, or null where its row stays as it is.
 */
export function noteBack(
  run: CampaignRun,
  target: Pick<BackTarget, 'workloadId' | 'instanceCount' | 'state' | 'isByItself'>,
  outcome: BackOutcome,
  { isGivenUp, nowMs }: { isGivenUp: boolean; nowMs: number },
): Omit<CampaignTargetEnd, 'workloadId'> | null {
  const { workloadId, state, isByItself } = target
  switch (outcome.kind) {
    case 'started': {
      const flight = {
        pushId: outcome.pushId,
        resultHash: null,
        startedMs: nowMs,
        instances: instancesOf(target),
      }
      run.inFlight.set(workloadId, {
        ...flight,
        isBack: true,
        isByItself,
        wasDegraded: false,
        wasDrifted: false,
      })
      return null
    }
    case 'moved_on':
    case 'left_scope':
      if (state === 'applied') return { state: outcome.kind }
      run.leftAlone.set(workloadId, 'mayComeBack' in outcome ? 'elsewhere' : 'for-good')
      return null
    case 'no_way_back':
      // That it failed, or why it was given up amid its stages, says more than that it has no former config.
      if ((state === 'failed' || state === 'skipped') && !isByItself && outcome.reason === null) {
        run.leftAlone.set(workloadId, 'for-good')
        return null
      }
      return { state: 'no_way_back', reason: outcome.reason }
    case 'refused':
      run.isStale = true
      return null
    case 'busy':
    case 'offline':
      if ('isUnsure' in outcome) run.isStale = true
      // `busy` also stands, for a moment, for a commit of which nobody knows the outcome: a target is given up for it
      // only once it has been busy for long.
      if (isGivenUp && (outcome.kind === 'offline' || isBusyTooLong(run, workloadId, nowMs)))
        return { state: 'rollback_failed', cause: outcome.kind, title: '' }
      noteBusy(run, workloadId, nowMs)
      return null
    default:
      return outcome satisfies never
  }
}

/**
 * Take one target back. An unexpected error counts as busy: the target is tried again, and the others have their turn
 * all the same. Throws `DatabaseUnavailable`.
 */
async function takeOneBack(
  parts: CampaignParts,
  campaign: CampaignSummary,
  target: BackTarget,
): Promise<BackOutcome> {
  try {
    return await rollBackTarget(parts, campaign, target)
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    const about = { err: error, campaign_id: campaign.id, workload_id: target.workloadId }
    parts.log.warn(about, 'a target of a campaign could not be taken back')
    return { kind: 'busy', isUnsure: true }
  }
}
