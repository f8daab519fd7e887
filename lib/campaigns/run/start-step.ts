import { statesThat } from '../../model/target-states.ts'
import {
  type CampaignTargetEnd,
  listCampaignTargets,
  type StoredCampaignTarget,
} from '../../store/campaign-targets.ts'
import { type CampaignSummary, findChange, type StoredChange } from '../../store/campaigns.ts'
import { CampaignJudge } from '../judge/judge.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { campaignStarter } from './campaign-starter.ts'
import {
  BATCH,
  chooseNext,
  instancesOf,
  isBusyTooLong,
  noteBusy,
  noteGivenUp,
  noteUnknown,
  READS_MAX,
  roomIn,
} from './choose.ts'
import type { CampaignRun } from './run.ts'
import { withSizes } from './size.ts'
import { type StartOutcome, startTargets } from './start-targets.ts'
import { writeEnds } from './write.ts'

/** Start the next waiting targets up to the current wave, as far as there is room. Answers whether anything changed. */
export async function startNext(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
): Promise<boolean> {
  const room = roomIn(run, campaign.rules.maxInFlight)
  if (room <= 0) return false
  const listed = await listCampaignTargets(
    parts.db,
    campaign.id,
    { states: ['waiting'], upToWave: campaign.wave },
    { after: null, limit: BATCH + run.busy.size },
  )
  const sized = await withSizes(parts, listed)
  return startThese(
    parts,
    campaign,
    run,
    chooseNext(sized, run, { room, nowMs: parts.fleet.clock.heardMs() }),
  )
}

/** What a campaign carries: its text is read when targets are to be started, and not before. */
const changeOf = async (
  { db }: CampaignParts,
  { id, change }: CampaignSummary,
): Promise<StoredChange | null> => (change.kind === 'version' ? change : findChange(db, id))

/** Start these targets, and write how those ended whose turn came to nothing. Answers whether anything changed. */
export async function startThese(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  targets: readonly StoredCampaignTarget[],
): Promise<boolean> {
  if (targets.length === 0) return false
  const nowMs = parts.fleet.clock.heardMs()
  const known = targets.filter((target) => {
    if (!isAwaited(parts, target)) return true
    noteUnknown(run, target.workloadId, nowMs)
    return false
  })
  const change = await changeOf(parts, campaign)
  if (change === null) return false
  const judge = new CampaignJudge(parts, { ...campaign, change })
  const outcomes = await startTargets(parts, campaignStarter(parts, campaign), known, judge)
  const ends: CampaignTargetEnd[] = []
  let startedCount = 0
  for (const [target, outcome] of outcomes) {
    const end = noteTurn(run, target, outcome, { now: parts.clock.now(), nowMs: parts.fleet.clock.heardMs() })
    if (end !== null) ends.push({ workloadId: target.workloadId, ...end })
    if (outcome.kind === 'started') startedCount++
  }
  await writeEnds(parts, campaign, [{ from: statesThat('waits'), ends }])
  return startedCount + ends.length > 0
}

/**
 * Whether nobody knows if a target is away: this process has just started, and the target was there when the plan was
 * made, or when it was last heard of.
 */
function isAwaited({ fleet }: CampaignParts, { workloadId, verdict }: StoredCampaignTarget): boolean {
  const workload = fleet.workload(workloadId)
  if (workload === null || !fleet.isAwaited(workload)) return false
  return verdict !== 'offline' || workload.status !== 'disconnected'
}

/** Note in the run what came of a target's turn. Answers how the target ends, or null where its row stays as it is. */
export function noteTurn(
  run: CampaignRun,
  target: Pick<StoredCampaignTarget, 'workloadId' | 'resultHash' | 'instanceCount' | 'state'>,
  outcome: StartOutcome,
  { now, nowMs }: { now: Date; nowMs: number },
): Omit<CampaignTargetEnd, 'workloadId'> | null {
  const { workloadId, resultHash } = target
  if (outcome.kind === 'busy') {
    if (outcome.isUnsure) run.isStale = true
    if (outcome.gaveUp && noteGivenUp(run, workloadId, nowMs) >= READS_MAX)
      return { state: 'skipped', reason: 'unreadable' }
    if (outcome.gaveUp) return null
    if (isBusyTooLong(run, workloadId, nowMs)) return { state: 'skipped', reason: 'busy' }
    noteBusy(run, workloadId, nowMs)
    return null
  }
  if (outcome.kind === 'skipped' && outcome.reason === 'frozen') {
    // A freeze stops a campaign and loses nobody.
    noteUnknown(run, workloadId, nowMs)
    return null
  }
  run.busy.delete(workloadId)
  switch (outcome.kind) {
    case 'started': {
      const { pushId, wasDegraded, wasDrifted } = outcome
      const instances = instancesOf(target)
      const before = { isBack: false, isByItself: false, wasDegraded, wasDrifted }
      run.inFlight.set(workloadId, { pushId, resultHash, startedMs: nowMs, instances, ...before })
      run.offline.delete(workloadId)
      return null
    }
    case 'skipped':
      run.offline.delete(workloadId)
      return {
        state: 'skipped',
        reason: outcome.reason,
        ...(outcome.detail === undefined ? {} : { title: outcome.detail }),
      }
    case 'offline':
      if (target.state !== 'waiting') return null
      run.offline.set(workloadId, now)
      return { state: 'offline' }
    case 'refused':
      run.isStale = true
      return null
    default:
      return outcome satisfies never
  }
}
