import {
  type CampaignTargetEnd,
  endAllCampaignTargets,
  endCampaignTargets,
  listCampaignTargets,
  listFailureCauses,
  MAY_RUN_RESULT,
  type StoredCampaignTarget,
} from '../store/campaign-targets.ts'
import {
  type CampaignMove,
  expireCampaigns,
  listCampaignsAtWork,
  moveCampaign,
  removeForgottenDrafts,
  type StoredCampaign,
} from '../store/campaigns.ts'
import { DatabaseUnavailable } from '../store/db.ts'
import type { CampaignHalt, CampaignStatus, CampaignTargetState } from '../wire/campaigns.ts'
import { campaignStarter } from './campaign-starter.ts'
import { CampaignJudge } from './judge.ts'
import { findPassedLimit, type StateCounts } from './limits.ts'
import { endOfPush } from './outcome.ts'
import { type CampaignParts, hashPolicy } from './parts.ts'
import { type BackOutcome, rollBackTarget } from './roll-back-target.ts'
import { type CampaignRun, countRun, loadRun } from './run.ts'
import { startTargets } from './start-targets.ts'
import { isInWindow } from './windows.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** A started target has ended by then, whatever its agents say. */
const TARGET_ENDS_MS = 10 * MINUTE_MS
/** A workload that is busy with something else is waited for as long. */
const BUSY_ENDS_MS = 10 * MINUTE_MS
const BUSY_LOOK_MS = 2_000
/** Targets that are looked at in one step. */
const BATCH = 50
/** Pushes that are committed side by side. */
const SIDE_BY_SIDE = 4
const APPROVER_LOOK_MS = 5_000
/** How often those that are away are looked for, and how many of them are started at once. */
const OFFLINE_LOOK_MS = 1_000
/** Where nothing but that is left to do, campaigns are looked at less often. */
const QUIET_LOOK_MS = 5_000
/** Requests and approvals that nobody goes on with. */
const WAITING_DAYS = 14
/** Paused and halted campaigns, drafts and plans that nobody touches. */
const FORGOTTEN_DAYS = 30
const NAMED_MAX = 20

/** Carries approved campaigns to their workloads, one step after the other. */
export class CampaignRunner {
  readonly #parts: CampaignParts
  readonly #runs = new Map<string, CampaignRun>()
  /** Told of every campaign that has moved. */
  readonly #changed: (campaignId: string) => void
  #nextLookMs = 0
  #nextSweepMs = 0

  constructor(parts: CampaignParts, changed: (campaignId: string) => void) {
    this.#parts = parts
    this.#changed = changed
  }

  /** Look at the campaigns at once: somebody decided something. */
  wake(): void {
    this.#nextLookMs = 0
  }

  /** Do what is due, until there is nothing to do at this moment. */
  async work(signal: AbortSignal): Promise<void> {
    await this.#sweep()
    while (!signal.aborted && this.#parts.clock.monotonicMs() >= this.#nextLookMs) {
      const campaigns = await listCampaignsAtWork(this.#parts.db)
      for (const id of this.#runs.keys()) if (!campaigns.some((one) => one.id === id)) this.#runs.delete(id)
      this.#nextLookMs = this.#nextLook(campaigns)
      let hasMoved = false
      for (const campaign of campaigns) {
        if (signal.aborted) return
        hasMoved = (await this.#stepSafely(campaign)) || hasMoved
      }
      if (!hasMoved) return
      this.#nextLookMs = 0
    }
  }

  /** When they are looked at next, unless something moves: seldom where there is none, but who decided may not know it. */
  #nextLook(campaigns: readonly StoredCampaign[]): number {
    const isQuiet = campaigns.every(({ status }) => status === 'done')
    return isQuiet ? this.#parts.clock.monotonicMs() + QUIET_LOOK_MS : 0
  }

  /** One campaign that breaks keeps no other from going on. */
  async #stepSafely(campaign: StoredCampaign): Promise<boolean> {
    try {
      return await this.#step(campaign)
    } catch (error) {
      const run = this.#runs.get(campaign.id)
      if (run !== undefined) run.isStale = true
      this.#parts.log.warn({ err: error, campaign: campaign.id }, 'campaign could not go on yet')
      return false
    }
  }

  /** Whether anything moved. */
  async #step(campaign: StoredCampaign): Promise<boolean> {
    let run = this.#runs.get(campaign.id)
    if (run === undefined || run.isStale) {
      run = await loadRun(this.#parts, campaign.id, run)
      this.#runs.set(campaign.id, run)
    }
    const hasSettled = await this.#settle(campaign, run)
    const counts = await countRun(this.#parts, campaign.id)
    const hasMoved = await this.#advance(campaign, run, counts)
    if (hasSettled || hasMoved) this.#changed(campaign.id)
    return hasSettled || hasMoved
  }

  #advance(
    campaign: StoredCampaign,
    run: CampaignRun,
    counts: { all: StateCounts; waves: StateCounts[] },
  ): Promise<boolean> | boolean {
    switch (campaign.status) {
      case 'running':
        return this.#goOn(campaign, run, counts)
      case 'rolling_back':
        return this.#goBack(campaign, run, counts.all)
      case 'done':
        return this.#stayDone(campaign, run)
      default:
        // Paused, halted, aborted: what was started comes to its end, and nothing else is.
        return false
    }
  }

  /** Note what became of what was started. */
  async #settle(campaign: StoredCampaign, run: CampaignRun): Promise<boolean> {
    const nowMs = this.#parts.clock.monotonicMs()
    const forward: CampaignTargetEnd[] = []
    const back: CampaignTargetEnd[] = []
    for (const [workloadId, { pushId, startedMs, isBack }] of run.inFlight) {
      const isLate = nowMs - startedMs > TARGET_ENDS_MS
      const end = (await endOfPush(this.#parts, workloadId, pushId)) ?? (isLate ? LATE : null)
      if (end === null) continue
      if (!isBack) forward.push({ workloadId, ...end })
      else if (end.state === 'applied') back.push({ workloadId, state: 'rolled_back' })
      else if (end.state === 'overtaken') back.push({ workloadId, state: 'moved_on' })
      else back.push({ workloadId, ...end, state: 'rollback_failed' })
    }
    if (forward.length + back.length === 0) return false
    const { db, clock } = this.#parts
    await db.transaction('campaign.settle', async (tx) => {
      await endCampaignTargets(tx, campaign.id, ['started'], forward, clock.now())
      await endCampaignTargets(tx, campaign.id, ['rolling_back'], back, clock.now())
    })
    for (const { workloadId, state } of forward)
      if (state === 'applied' && !run.inFlight.get(workloadId)!.wasDegraded) run.watched.add(workloadId)
    for (const { workloadId } of [...forward, ...back]) run.inFlight.delete(workloadId)
    return true
  }

  async #goOn(
    campaign: StoredCampaign,
    run: CampaignRun,
    { all, waves }: { all: StateCounts; waves: StateCounts[] },
  ): Promise<boolean> {
    const halt = await this.#findHalt(campaign, run, all)
    if (halt !== null) return this.#move(campaign, ['running'], { status: 'halted', halt }, 'campaign.halt')
    if (await this.#catchUp(campaign, run)) return true
    const left = waves
      .slice(0, campaign.wave + 1)
      .reduce((sum, wave) => sum + (wave.waiting ?? 0) + (wave.started ?? 0), 0)
    if (left === 0) return this.#endWave(campaign)
    if (!isInWindow(campaign.rules.windows, this.#parts.clock.now())) return false
    return this.#startSome(campaign, run)
  }

  /** Catch up with who was away, as long as what was approved holds. */
  async #stayDone(campaign: StoredCampaign, run: CampaignRun): Promise<boolean> {
    if (run.offline.size === 0) return false
    const halt = await this.#findLapse(campaign, run)
    if (halt === null) return this.#catchUp(campaign, run)
    return this.#move(campaign, ['done'], { status: 'halted', halt, endedAt: null }, 'campaign.halt')
  }

  /** What the approval stands on and does not hold any more. */
  async #findLapse(campaign: StoredCampaign, run: CampaignRun): Promise<CampaignHalt | null> {
    const { clock, config } = this.#parts
    const none = { value: 1, limit: 0, wave: campaign.wave, workload_ids: [] }
    if (campaign.policyHash !== hashPolicy(config.policy)) return { gate: 'policy_changed', ...none }
    if (clock.monotonicMs() < run.nextApproverLookMs) return null
    for (const { byId } of campaign.approvals)
      if (!(await this.#parts.mayApprove(byId))) return { gate: 'approver_gone', ...none }
    run.nextApproverLookMs = clock.monotonicMs() + APPROVER_LOOK_MS
    return null
  }

  /** Why it may not go on; null when it may. */
  async #findHalt(
    campaign: StoredCampaign,
    run: CampaignRun,
    counts: StateCounts,
  ): Promise<CampaignHalt | null> {
    const { fleet, db } = this.#parts
    const lapsed = await this.#findLapse(campaign, run)
    if (lapsed !== null) return lapsed
    const unhealthy = [...run.watched].filter((id) => fleet.workload(id)?.status === 'degraded')
    const { rules, raised, wave, plan } = campaign
    const passed = findPassedLimit({
      ...{ wave, counts, unhealthy: unhealthy.length, asked: rules.limits, raised },
      targetCount: plan?.target_count ?? 0,
    })
    if (passed === null) return null
    const states = { failed: ['failed'], silent: ['skipped', 'no_answer'], unhealthy: [] } as const
    const named =
      passed.gate === 'unhealthy'
        ? unhealthy.slice(0, NAMED_MAX)
        : (
            await listCampaignTargets(
              db,
              campaign.id,
              { states: states[passed.gate] },
              { after: null, limit: NAMED_MAX },
            )
          ).map(({ workloadId }) => workloadId)
    const [cause] = passed.gate === 'failed' ? await listFailureCauses(db, campaign.id) : []
    return {
      ...{ ...passed, wave, workload_ids: named },
      ...(cause === undefined ? {} : { cause: cause.cause, title: cause.title }),
    }
  }

  /** Watch a wave that is done, then begin the next one. */
  async #endWave(campaign: StoredCampaign): Promise<boolean> {
    const now = this.#parts.clock.now()
    const waves = campaign.plan?.waves ?? []
    if (campaign.waveEndedAt === null)
      return this.#move(campaign, ['running'], { status: 'running', waveEndedAt: now }, null)
    const dwellMs = (waves[campaign.wave]?.dwell_seconds ?? 0) * 1_000
    if (now.getTime() - campaign.waveEndedAt.getTime() < dwellMs) return false
    if (campaign.wave + 1 < waves.length)
      return this.#move(
        campaign,
        ['running'],
        { status: 'running', wave: campaign.wave + 1, waveEndedAt: null },
        'campaign.wave',
      )
    return this.#move(campaign, ['running'], { status: 'done', endedAt: now }, 'campaign.done')
  }

  /** Start what is next in the wave, as far as there is room. */
  async #startSome(campaign: StoredCampaign, run: CampaignRun): Promise<boolean> {
    const nowMs = this.#parts.clock.monotonicMs()
    let room = roomIn(run, campaign)
    if (room <= 0) return false
    const listed = await listCampaignTargets(
      this.#parts.db,
      campaign.id,
      { states: ['waiting'], upToWave: campaign.wave },
      { after: null, limit: BATCH + run.busy.size },
    )
    const chosen: StoredCampaignTarget[] = []
    for (const target of listed) {
      if (room <= 0 || chosen.length === BATCH) break
      if (isLeftBusy(run, target.workloadId, nowMs)) continue
      chosen.push(target)
      room -= Math.max(1, target.instanceCount)
    }
    return this.#start(campaign, run, chosen)
  }

  /** Start those that were away and are back. */
  async #catchUp(campaign: StoredCampaign, run: CampaignRun): Promise<boolean> {
    const { clock, fleet, db } = this.#parts
    if (run.offline.size === 0 || clock.monotonicMs() < run.nextOfflineLookMs) return false
    run.nextOfflineLookMs = clock.monotonicMs() + OFFLINE_LOOK_MS
    const startedAt = campaign.startedAt?.getTime() ?? 0
    if (clock.now().getTime() - startedAt > campaign.rules.catchUpSeconds * 1_000) {
      await this.#endAll(campaign, ['offline'], 'expired')
      run.offline.clear()
      return true
    }
    if (!isInWindow(campaign.rules.windows, clock.now())) return false
    const back = [...run.offline].filter((id) => {
      const workload = fleet.workload(id)
      return workload === null || (workload.status !== 'disconnected' && workload.live.count > 0)
    })
    if (back.length === 0) return false
    const rows = await listCampaignTargets(
      db,
      campaign.id,
      { states: ['offline'] },
      { after: null, limit: run.offline.size },
    )
    const wanted = new Set(back)
    const chosen = rows.filter(
      ({ workloadId, wave }) =>
        wanted.has(workloadId) && (campaign.status === 'done' || wave! <= campaign.wave),
    )
    return this.#start(campaign, run, chosen.slice(0, BATCH))
  }

  /** Start these, and note those whose turn came to nothing. */
  async #start(
    campaign: StoredCampaign,
    run: CampaignRun,
    targets: readonly StoredCampaignTarget[],
  ): Promise<boolean> {
    if (targets.length === 0) return false
    const judge = new CampaignJudge(this.#parts, campaign)
    const starter = campaignStarter(this.#parts, campaign)
    const ends: CampaignTargetEnd[] = []
    let startedCount = 0
    for (const [target, outcome] of await startTargets(this.#parts, starter, targets, judge)) {
      const { workloadId, instanceCount } = target
      const nowMs = this.#parts.clock.monotonicMs()
      if (outcome.kind !== 'busy') run.busy.delete(workloadId)
      if (outcome.kind === 'started') {
        startedCount++
        const { pushId, wasDegraded } = outcome
        const instances = Math.max(1, instanceCount)
        run.inFlight.set(workloadId, { pushId, startedMs: nowMs, instances, isBack: false, wasDegraded })
        run.offline.delete(workloadId)
      } else if (outcome.kind === 'skipped') {
        ends.push({ workloadId, state: 'skipped', reason: outcome.reason })
        run.offline.delete(workloadId)
      } else if (outcome.kind === 'offline' && target.state === 'waiting') {
        ends.push({ workloadId, state: 'offline' })
        run.offline.add(workloadId)
      } else if (outcome.kind === 'busy') {
        const sinceMs = run.busy.get(workloadId)?.sinceMs ?? nowMs
        if (nowMs - sinceMs > BUSY_ENDS_MS) ends.push({ workloadId, state: 'skipped', reason: 'busy' })
        else noteBusy(run, workloadId, nowMs)
      } else if (outcome.kind !== 'offline') run.isStale = true
    }
    await this.#end(campaign, ['waiting', 'offline'], ends)
    return startedCount + ends.length > 0
  }

  /** Take back what the campaign brought, wherever it still runs. */
  async #goBack(campaign: StoredCampaign, run: CampaignRun, counts: StateCounts): Promise<boolean> {
    const { db, clock } = this.#parts
    const toCancel = (counts.waiting ?? 0) + (counts.offline ?? 0)
    if (toCancel > 0) {
      await this.#endAll(campaign, ['waiting', 'offline'], 'cancelled')
      run.offline.clear()
      return true
    }
    const listed = await listCampaignTargets(
      db,
      campaign.id,
      { states: MAY_RUN_RESULT },
      { after: null, limit: BATCH + run.busy.size + run.leftAlone.size },
    )
    const left = listed.filter(({ workloadId }) => !run.leftAlone.has(workloadId))
    const isOver = left.length + (counts.started ?? 0) + (counts.rolling_back ?? 0) === 0
    if (isOver)
      return this.#move(
        campaign,
        ['rolling_back'],
        { status: 'rolled_back', endedAt: clock.now() },
        'campaign.rolled_back',
      )
    const room = roomIn(run, campaign)
    if (room <= 0) return false
    const nowMs = clock.monotonicMs()
    const chosen = left.filter(({ workloadId }) => !isLeftBusy(run, workloadId, nowMs))
    return this.#takeBack(campaign, run, chosen.slice(0, Math.min(BATCH, room)))
  }

  async #takeBack(
    campaign: StoredCampaign,
    run: CampaignRun,
    targets: readonly StoredCampaignTarget[],
  ): Promise<boolean> {
    const { clock } = this.#parts
    const ends: CampaignTargetEnd[] = []
    let startedCount = 0
    const isGivenUp =
      clock.now().getTime() - campaign.updatedAt.getTime() > campaign.rules.catchUpSeconds * 1_000
    await sideBySide(targets, SIDE_BY_SIDE, async (target) => {
      const { workloadId, instanceCount } = target
      const outcome = await this.#takeOneBack(campaign, target)
      const nowMs = clock.monotonicMs()
      if (outcome.kind === 'started') {
        startedCount++
        const instances = Math.max(1, instanceCount)
        const { pushId } = outcome
        const wasDegraded = false
        run.inFlight.set(workloadId, { pushId, startedMs: nowMs, instances, isBack: true, wasDegraded })
      } else if (outcome.kind === 'moved_on' && target.state !== 'applied') run.leftAlone.add(workloadId)
      else if (outcome.kind === 'moved_on' || outcome.kind === 'no_way_back')
        ends.push({ workloadId, state: outcome.kind })
      else if (outcome.kind === 'refused') run.isStale = true
      else if (isGivenUp) ends.push({ workloadId, state: 'rollback_failed', cause: outcome.kind, title: '' })
      else noteBusy(run, workloadId, nowMs)
    })
    await this.#end(campaign, MAY_RUN_RESULT, ends)
    return startedCount + ends.length > 0
  }

  /** One that breaks of itself is asked again, as if it were busy, and keeps no other from its turn. */
  async #takeOneBack(campaign: StoredCampaign, target: StoredCampaignTarget): Promise<BackOutcome> {
    try {
      return await rollBackTarget(this.#parts, campaign, target)
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error
      const about = { err: error, campaign: campaign.id, workload: target.workloadId }
      this.#parts.log.warn(about, 'a target of a campaign could not be taken back')
      return { kind: 'busy' }
    }
  }

  /** Write how targets ended. A transaction of its own, so that a process that was taken over from writes nothing. */
  async #end(
    campaign: StoredCampaign,
    from: readonly CampaignTargetState[],
    ends: readonly CampaignTargetEnd[],
  ): Promise<void> {
    const { db, clock } = this.#parts
    if (ends.length > 0)
      await db.transaction('campaign.settle', (tx) =>
        endCampaignTargets(tx, campaign.id, from, ends, clock.now()),
      )
  }

  async #endAll(
    campaign: StoredCampaign,
    from: readonly CampaignTargetState[],
    state: CampaignTargetState,
  ): Promise<void> {
    const { db, clock } = this.#parts
    await db.transaction('campaign.settle', (tx) =>
      endAllCampaignTargets(tx, campaign.id, from, state, clock.now()),
    )
  }

  /** Move a campaign on, with a record of it where somebody would ask later. */
  async #move(
    campaign: StoredCampaign,
    from: readonly CampaignStatus[],
    move: CampaignMove,
    action: string | null,
  ): Promise<boolean> {
    const { db, clock } = this.#parts
    const moved = await db.change('campaign.move', null, async (tx) => {
      const now = await moveCampaign(tx, campaign.id, from, move, clock.now())
      if (now === null) return { ok: false, code: 'campaign-stopped' }
      if (action === null) return { ok: true }
      const detail = JSON.stringify({ wave: now.wave, ...(move.halt ? { halt: move.halt } : {}) })
      await tx.record({ action, resource: 'campaign', resourceId: campaign.id, detail })
      return { ok: true }
    })
    return moved.ok
  }

  /** End what nobody goes on with, once an hour. */
  async #sweep(): Promise<void> {
    const { clock, db } = this.#parts
    if (clock.monotonicMs() < this.#nextSweepMs) return
    this.#nextSweepMs = clock.monotonicMs() + HOUR_MS
    const now = clock.now()
    const ago = (days: number) => new Date(now.getTime() - days * DAY_MS)
    const ended = await db.transaction('campaign.sweep', async (tx) => {
      await removeForgottenDrafts(tx, ago(FORGOTTEN_DAYS))
      const expired = await expireCampaigns(tx, {
        ...{ waitingSince: ago(WAITING_DAYS), stoppedSince: ago(FORGOTTEN_DAYS), now },
      })
      for (const { id } of expired)
        await endAllCampaignTargets(tx, id, ['waiting', 'offline'], 'cancelled', now)
      return expired
    })
    for (const { id } of ended) this.#changed(id)
  }
}

/** Instances that may be changed beside those that are being changed now. */
function roomIn({ inFlight }: CampaignRun, { rules }: StoredCampaign): number {
  let room = rules.maxInFlight
  for (const { instances } of inFlight.values()) room -= instances
  return room
}

/** Whether a workload that was busy is not looked at again yet. */
const isLeftBusy = ({ busy }: CampaignRun, workloadId: string, nowMs: number): boolean =>
  nowMs < (busy.get(workloadId)?.nextLookMs ?? 0)

/** Look at a workload again in a moment, and remember since when it is busy. */
function noteBusy({ busy }: CampaignRun, workloadId: string, nowMs: number): void {
  const sinceMs = busy.get(workloadId)?.sinceMs ?? nowMs
  busy.set(workloadId, { sinceMs, nextLookMs: nowMs + BUSY_LOOK_MS })
}

const LATE = { state: 'no_answer' } as const

/** Do this to all of them, so many at one time. The first failure is thrown when all that run have ended. */
async function sideBySide<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items]
  let failure: { error: unknown } | null = null
  const workOn = async () => {
    for (let item = left.shift(); item !== undefined && failure === null; item = left.shift()) {
      try {
        await work(item)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: most }, workOn))
  if (failure !== null) throw (failure as { error: unknown }).error
}
