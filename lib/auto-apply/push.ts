import { CampaignJudge, JudgeBusy, type Judgement } from '../campaigns/judge/judge.ts'
import { startTargets } from '../campaigns/run/start-targets.ts'
import type { Workload } from '../fleet/state/model.ts'
import { placeOf } from '../model/places.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import { openCoversValues } from './approval.ts'
import { readWanted } from './look.ts'
import { decideMembers } from './members.ts'
import type { AutoApplyParts } from './parts.ts'
import { listProduction } from './plan.ts'
import type { AutoApplyRun, LeftOut } from './run.ts'
import { autoApplyStarter, type ReachedTarget } from './starter.ts'

/** Push the version to those of some workloads that it reaches; answers to how many. */
export async function pushToSome(
  parts: AutoApplyParts,
  autoApply: StoredAutoApply,
  run: AutoApplyRun,
  workloadIds: readonly string[],
): Promise<number> {
  const members = await membersAmong(parts, autoApply.fleetConfigId, workloadIds)
  const production = await listProduction(parts, members)
  const judge = await openJudge(parts, autoApply, production)
  const targets: ReachedTarget[] = []
  let hasGivenUp = false
  forgetRead(run)
  const wanted = await readWanted(parts, autoApply)
  for await (const piece of decideMembers(parts, autoApply.fleetConfigId, members, wanted))
    for (const { workload, reach } of piece) {
      if (reach.kind === 'left_out') note(run, workload.id, { reason: reach.reason })
      if (reach.kind === 'current') {
        note(run, workload.id, null)
        if (run.nextTryMs.has(workload.id)) run.nextTryMs.set(workload.id, Number.POSITIVE_INFINITY)
      }
      if (reach.kind !== 'reached') continue
      if (!autoApply.reachesProduction && production.has(workload.id)) {
        note(run, workload.id, { reason: 'became_production' })
        continue
      }
      if (isUnread(run, workload.id, parts.fleet.clock.heardMs())) continue
      const judgement = await judgeNow(judge, workload)
      if (judgement === 'busy') continue
      if (judgement === 'gave-up') {
        note(run, workload.id, { reason: 'unreadable' })
        hasGivenUp = true
        continue
      }
      const leftOut = reasonOf(judgement)
      note(run, workload.id, leftOut)
      if (leftOut === null && judgement.verdict === 'changes')
        targets.push(
          toTarget(workload, judgement, {
            isNewcomer: reach.isNewcomer,
            isProduction: judgement.isProduction || production.has(workload.id),
            reachesProduction: autoApply.reachesProduction,
          }),
        )
    }
  if (hasGivenUp) noteUnread(run, parts.fleet.clock.heardMs())
  return start(parts, autoApply, run, targets, judge)
}

async function openJudge(
  parts: AutoApplyParts,
  autoApply: StoredAutoApply,
  production: ReadonlySet<string>,
): Promise<CampaignJudge> {
  const { fleetConfigId, number } = autoApply
  return new CampaignJudge(parts, {
    // A newcomer runs no config that muster pushed; to take it over is what was approved.
    change: { kind: 'version', fleet_config_id: fleetConfigId, number, takeover: true },
    scope: {},
    rules: { retryQuarantined: false },
    byItself: { production, coversValues: await openCoversValues(parts, autoApply) },
  })
}

/**
 * Those of some workloads that are under the fleet config, both by their labels and by the stored membership, which is
 * stored here where it is missing.
 */
async function membersAmong(
  { fleet, fleetConfigs }: AutoApplyParts,
  fleetConfigId: string,
  workloadIds: readonly string[],
): Promise<Workload[]> {
  const found = workloadIds.flatMap((id) => fleet.workload(id) ?? [])
  const under = found.filter((workload) => fleetConfigs.membershipOf(workload).configId === fleetConfigId)
  // Only storing the membership notes that a workload came from another fleet config.
  const unwritten = under.filter(({ id }) => fleetConfigs.writtenMembershipOf(id) !== fleetConfigId)
  if (unwritten.length > 0) await fleetConfigs.storeMembershipsOf(unwritten)
  return under.filter(({ id }) => fleetConfigs.writtenMembershipOf(id) === fleetConfigId)
}

/** Judge a workload, unless the config workers are busy now, or took too long over what it would run. */
async function judgeNow(judge: CampaignJudge, workload: Workload): Promise<Judgement | 'busy' | 'gave-up'> {
  try {
    return await judge.judge(workload)
  } catch (error) {
    if (error instanceof JudgeBusy) return error.gaveUp ? 'gave-up' : 'busy'
    throw error
  }
}

/** A text over which the config workers took too long is tried again after a minute, then after ever longer. */
const UNREAD_MS = 60_000
const UNREAD_MS_MAX = 15 * 60_000

/** Once each text has been read, what was not read in time before does not keep the next one waiting. */
function forgetRead({ unread, leftOut }: AutoApplyRun): void {
  if (unread.times > 0 && ![...leftOut.values()].some(({ reason }) => reason === 'unreadable'))
    unread.times = 0
}

function noteUnread({ unread }: AutoApplyRun, nowMs: number): void {
  unread.untilMs = nowMs + Math.min(UNREAD_MS_MAX, UNREAD_MS * 2 ** unread.times)
  unread.times = Math.min(unread.times + 1, 10)
}

const isUnread = ({ unread, leftOut }: AutoApplyRun, workloadId: string, nowMs: number): boolean =>
  nowMs < unread.untilMs && leftOut.get(workloadId)?.reason === 'unreadable'

function reasonOf({ verdict, reason, variable }: Judgement): LeftOut | null {
  switch (verdict) {
    case 'same':
    case 'changes':
      return null
    case 'offline':
      return { reason: 'offline' }
    default:
      return { reason: reason ?? 'invalid', ...(variable === undefined ? {} : { variable }) }
  }
}

const toTarget = (
  { id, displayName, fingerprintKeys, live }: Workload,
  { baseHash, result }: Judgement,
  {
    isNewcomer,
    isProduction,
    reachesProduction,
  }: { isNewcomer: boolean; isProduction: boolean; reachesProduction: boolean },
): ReachedTarget => ({
  workloadId: id,
  workloadName: displayName,
  workloadPlace: placeOf(fingerprintKeys),
  isNewcomer,
  baseHash,
  resultHash: result!.hash,
  // False where production was not approved: a workload that is found to be production once it is locked is then
  // refused.
  isProduction: reachesProduction && isProduction,
  state: 'waiting',
  instanceCount: live.count,
})

async function start(
  parts: AutoApplyParts,
  autoApply: StoredAutoApply,
  run: AutoApplyRun,
  targets: readonly ReachedTarget[],
  judge: CampaignJudge,
): Promise<number> {
  if (targets.length === 0) return 0
  const outcomes = await startTargets(parts, autoApplyStarter(parts, autoApply), targets, judge)
  const startedMs = parts.fleet.clock.heardMs()
  let count = 0
  for (const [{ workloadId }, outcome] of outcomes) {
    if (outcome.kind === 'started') {
      count++
      run.inFlight.set(workloadId, { pushId: outcome.pushId, startedMs })
    } else if (outcome.kind === 'skipped') note(run, workloadId, { reason: outcome.reason })
    else if (outcome.kind === 'offline') note(run, workloadId, { reason: 'offline' })
    else if (outcome.kind === 'refused' || outcome.isUnsure) run.isStale = true
    else if (outcome.gaveUp) note(run, workloadId, { reason: 'unreadable' })
  }
  return count
}

function note({ leftOut }: AutoApplyRun, workloadId: string, why: LeftOut | null): void {
  if (why === null) leftOut.delete(workloadId)
  else leftOut.set(workloadId, why)
}
