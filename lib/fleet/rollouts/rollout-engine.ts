import type { Db } from '../../store/db.ts'
import { insertTargets, type PushTarget } from '../../store/push-targets.ts'
import { abortPush, closePushes } from '../../store/pushes.ts'
import {
  assignRollout,
  type GateMeasures,
  insertRolloutMembers,
  type StoredRollout,
  updateRollout,
} from '../../store/rollouts.ts'
import { assignPush, lockWorkload } from '../../store/workloads.ts'
import { decideStage, dwellEndsAt, type StageFacts, type StageVerdict, stageSize } from '../decide/rollout.ts'
import { awaitsPromotion, isHeld } from '../decide/rollout-hold.ts'
import { type OfferEngine, startOffer } from '../offers/offer-engine.ts'
import { assignActive } from '../pushes/adopt-assignments.ts'
import type { PushEngine } from '../pushes/push-engine.ts'
import { planPush } from '../pushes/push-plan.ts'
import type { PushUndoing } from '../pushes/push-undoing.ts'
import type { FleetDeps } from '../state/deps.ts'
import { isDegradingNow } from '../state/derive.ts'
import { addTarget, isLostOut } from '../state/followed-push.ts'
import type { Instance, Rollout, Workload } from '../state/model.ts'
import { assignmentOf, compareInstances, type FleetState, followedPushes } from '../state/state.ts'
import type { WriteBehind } from '../state/write-behind.ts'

/** Who continues, aborts or rolls back. */
export interface RolloutActor {
  userId: string
  email: string
}

export type RolloutOutcome =
  | { ok: true; rollout: StoredRollout }
  | { ok: false; code: 'rollout-not-found' | 'rollout-not-halted' | 'rollout-ended' }

/** Moves staged rollouts on, halts them by their gates, and does what operators decide. */
export class RolloutEngine {
  readonly #deps: FleetDeps
  readonly #state: FleetState
  readonly #writer: WriteBehind
  readonly #offers: OfferEngine
  readonly #pushes: PushEngine
  readonly #undoing: PushUndoing
  readonly #busy = new Set<Workload>()
  /** Since when a stage has held while it ran: monotonic, by rollout and stage. */
  readonly #convergedSince = new Map<string, number>()

  constructor(
    deps: FleetDeps,
    state: FleetState,
    writer: WriteBehind,
    offers: OfferEngine,
    pushes: PushEngine,
    undoing: PushUndoing,
  ) {
    this.#deps = deps
    this.#state = state
    this.#writer = writer
    this.#offers = offers
    this.#pushes = pushes
    this.#undoing = undoing
  }

  /** Each second: look at every rollout that runs. */
  tick(): void {
    for (const workload of this.#state.rollingOut) {
      const { rollout } = workload
      if (rollout === null || workload.isDeleted) {
        this.#state.rollingOut.delete(workload)
        continue
      }
      if (rollout.stored.status !== 'running' || workload.isFrozen || this.#busy.has(workload)) continue
      const verdict = decideStage(this.#factsOf(workload, rollout))
      if (verdict.kind !== 'wait') this.#act(workload, rollout, verdict)
    }
  }

  #act(workload: Workload, rollout: Rollout, verdict: Exclude<StageVerdict, { kind: 'wait' }>): void {
    this.#busy.add(workload)
    void this.#pushes
      .exclusively(workload.id, async () => {
        if (workload.rollout !== rollout || rollout.stored.status !== 'running' || workload.isFrozen) return
        if (verdict.kind === 'converged') await this.#noteConverged(workload, rollout)
        else if (verdict.kind === 'advance') await this.#advance(workload, rollout)
        else if (verdict.kind === 'complete') await this.#complete(workload, rollout)
        else await this.#halt(workload, rollout, verdict)
      })
      .catch((error) => {
        this.#deps.log.warn({ err: error, workload_id: workload.id }, 'a rollout waits for the database')
      })
      .finally(() => this.#busy.delete(workload))
  }

  #factsOf(workload: Workload, rollout: Rollout): StageFacts & { measured: GateMeasures } {
    const { stored, followed } = rollout
    const waived = new Set(stored.waived)
    const nowMs = this.#deps.clock.monotonicMs()
    const uids = { failed: [] as string[], unhealthy: [] as string[], drifted: [] as string[] }
    const silentUids: string[] = []
    const memberUids: string[] = []
    let living = 0
    let joining = 0
    for (const target of followed.targets.values()) {
      if (!target.isTarget) continue
      const { instanceUid: uid, state } = target
      const instance = this.#state.instances.get(uid) ?? null
      // Who joins the last stage is counted once it has answered: others may keep coming.
      if (target.isJoiner && followed.awaiting.has(target)) joining++
      else memberUids.push(uid)
      if (state === 'straggler' || state === 'gone' || isLostOut(target)) silentUids.push(uid)
      if (this.#isThere(workload, uid, nowMs)) living++
      if (state === 'failed') uids.failed.push(uid)
      if (instance?.connection != null && isDegradingNow(instance, nowMs)) uids.unhealthy.push(uid)
      if (failsDriftGate(target, instance, followed.push.hash)) uids.drifted.push(uid)
    }
    const held = (all: readonly string[]) => all.filter((uid) => !waived.has(uid))
    const measure = (all: readonly string[]) => ({ value: all.length, waived: all.length - held(all).length })
    return {
      failedUids: held(uids.failed),
      unhealthyUids: held(uids.unhealthy),
      driftedUids: held(uids.drifted),
      measured: {
        no_failure: measure(uids.failed),
        health: measure(uids.unhealthy),
        drift: measure(uids.drifted),
      },
      ...{ memberUids, silentUids, living },
      isLast: stored.stageIndex >= stored.stages.length - 1,
      plan: stored.stages[stored.stageIndex]!,
      members: followed.push.counts.target - joining,
      applied: followed.push.counts.applied,
      convergedForMs: this.#convergedForMs(rollout),
      isHeld: isHeld(stored),
    }
  }

  /** What the gates of a workload's open rollout come to now; null when none runs or is halted. */
  measure(workload: Workload): GateMeasures | null {
    const { rollout } = workload
    if (rollout === null || (rollout.stored.status !== 'running' && rollout.stored.status !== 'halted'))
      return null
    return this.#factsOf(workload, rollout).measured
  }

  /** The same for the progress of its stage, where that ends. */
  #measured(workload: Workload): { measured?: GateMeasures } {
    const measured = this.measure(workload)
    return measured === null ? {} : { measured }
  }

  /** Connected in this workload, or away for less than the grace. */
  #isThere(workload: Workload, uid: string, nowMs: number): boolean {
    const instance = this.#state.instances.get(uid)
    return instance === undefined
      ? this.#state.isRecent(uid, nowMs, this.#deps.graceMs)
      : instance.workload === workload
  }

  #convergedForMs({ stored }: Rollout): number | null {
    const { stageIndex, stages, progress } = stored
    const ends =
      progress[stageIndex] === undefined ? null : dwellEndsAt(stages[stageIndex]!, progress[stageIndex])
    if (ends === null) return null
    const nowMs = this.#deps.clock.monotonicMs()
    let sinceMs = this.#convergedSince.get(keyOf(stored))
    if (sinceMs === undefined) {
      // After a restart the wall clock is all there is.
      const leftMs = ends.getTime() - this.#deps.clock.now().getTime()
      sinceMs = nowMs - Math.max(0, stages[stageIndex]!.dwellMs - leftMs)
      this.#noteConvergedSince(keyOf(stored), sinceMs)
    }
    return nowMs - sinceMs
  }

  /** One moment for each rollout that is open: those of stages and rollouts that are over go. */
  #noteConvergedSince(key: string, sinceMs: number): void {
    this.#convergedSince.set(key, sinceMs)
    const open = new Set<string>([key])
    for (const { rollout } of this.#state.rollingOut) if (rollout !== null) open.add(keyOf(rollout.stored))
    for (const kept of this.#convergedSince.keys()) if (!open.has(kept)) this.#convergedSince.delete(kept)
  }

  /** Stages whose dwell is timed, for the metrics. */
  get timedStages(): number {
    return this.#convergedSince.size
  }

  /** Write a rollout's next state; `more` joins the transaction. False when it had ended meanwhile. */
  async #write(
    name: string,
    workload: Workload,
    next: StoredRollout,
    more: (tx: Db) => Promise<void> = async () => {},
  ): Promise<boolean> {
    try {
      return await this.#deps.db.transaction(name, async (tx) => {
        await this.#deps.checkEpoch(tx)
        if ((await lockWorkload(tx, workload.id)) === null) return false
        if (!(await updateRollout(tx, next))) return false
        await more(tx)
        return true
      })
    } catch (error) {
      // Whether the step was committed is not known.
      void this.#pushes.resync(workload)
      throw error
    }
  }

  #settle(workload: Workload, rollout: Rollout, next: StoredRollout): void {
    rollout.stored = next
    this.#deps.notices.pushChanged(workload, rollout.followed.push)
    // That it was halted, or goes on, is told of the workload as well.
    this.#deps.notices.workloadChanged(workload)
  }

  async #noteConverged(workload: Workload, rollout: Rollout): Promise<void> {
    const now = this.#deps.clock.now()
    // A halt before this took nothing from the dwell, which begins now.
    const fresh = { dwelledMs: undefined, resumedAt: undefined }
    const next = withStage(rollout.stored, now, { convergedAt: now.toISOString(), ...fresh })
    if (!(await this.#write('rollout.converge', workload, next))) return
    this.#noteConvergedSince(keyOf(next), this.#deps.clock.monotonicMs())
    this.#settle(workload, rollout, next)
  }

  async #halt(workload: Workload, rollout: Rollout, verdict: StageVerdict & { kind: 'halt' }): Promise<void> {
    const { gate, value, limit, instanceUids } = verdict
    const dwelledMs = this.#convergedForMs(rollout)
    const halted = withStage(rollout.stored, this.#deps.clock.now(), {
      ...(dwelledMs === null ? {} : { dwelledMs }),
      ...this.#measured(workload),
    })
    const next: StoredRollout = {
      ...halted,
      status: 'halted',
      halt: { gate, value, limit, instanceUids, stage: rollout.stored.stageIndex },
    }
    if (await this.#write('rollout.halt', workload, next)) this.#settle(workload, rollout, next)
  }

  /** Start the next stage: more members, of those that can take the config now. */
  async #advance(workload: Workload, rollout: Rollout): Promise<void> {
    const { stored } = rollout
    const now = this.#deps.clock.now()
    const stage = stored.stageIndex + 1
    await this.#writer.flush()
    const added = this.#chooseMembers(workload, rollout, stage, now)
    const ended = withStage(stored, now, { endedAt: now.toISOString(), ...this.#measured(workload) })
    await this.#addMembers('rollout.advance', workload, rollout, added, {
      ...ended,
      stageIndex: stage,
      waived: [],
      progress: [...ended.progress, startStage(rollout, added, now)],
    })
  }

  /** Write a rollout's next state and give its new members the config; false when it had ended meanwhile. */
  async #addMembers(
    name: string,
    workload: Workload,
    rollout: Rollout,
    added: readonly { instance: Instance; target: PushTarget }[],
    next: StoredRollout,
    more: (tx: Db) => Promise<void> = async () => {},
  ): Promise<boolean> {
    const { followed } = rollout
    const { pushId, generation } = followed.push
    const uids = added.map(({ instance }) => instance.uid)
    const isDone = await this.#write(name, workload, next, async (tx) => {
      await insertTargets(
        tx,
        { pushId, generation, offeredAt: next.updatedAt },
        added.map(({ target }) => target),
      )
      await insertRolloutMembers(tx, next.id, next.stageIndex, uids)
      await more(tx)
    })
    if (!isDone) return false
    for (const uid of uids) rollout.members.set(uid, next.stageIndex)
    for (const { instance, target } of added) {
      if (followed.targets.has(instance.uid)) continue
      addTarget(followed, target)
      // One that moved to another workload while this was written has offers of that one.
      if (assignmentOf(instance) !== followed) continue
      if (target.state === 'applied') instance.offer = null
      else {
        startOffer(instance, followed, true)
        this.#state.outstanding.add(instance)
      }
    }
    this.#settle(workload, rollout, next)
    this.#offers.fanOut(added.map(({ instance }) => instance))
    this.#pushes.considerAll(workload)
    for (const each of followedPushes(workload)) this.#pushes.endTargets(each)
    this.#pushes.reconsider(followed)
    return true
  }

  #chooseMembers(
    workload: Workload,
    { followed, stored }: Rollout,
    stage: number,
    now: Date,
  ): { instance: Instance; target: PushTarget }[] {
    const { push } = followed
    const plan = planPush(
      this.#state.liveInstances(workload),
      { hash: push.hash, generation: push.generation, now },
      followed.required,
      null,
      this.#deps.isCompatible,
    )
    const fresh = plan.targets
      .filter(({ instance }) => !followed.targets.has(instance.uid))
      .sort((a, b) => compareInstances(a.instance, b.instance))
    if (stage >= stored.stages.length - 1) return fresh
    const eligible = plan.targets.filter(({ target }) => target.isTarget)
    // Members that are no longer there, or that nothing is expected of, are made up for.
    const present = eligible.filter(
      ({ instance: { uid } }) => followed.targets.has(uid) && !stored.waived.includes(uid),
    )
    const wanted = stageSize(stored.stages[stage]!, eligible.length) - present.length
    return fresh.filter(({ target }) => target.isTarget).slice(0, Math.max(0, wanted))
  }

  /** The last stage is done: what the members run becomes what the workload should run. */
  async #complete(workload: Workload, rollout: Rollout): Promise<void> {
    const { followed, stored } = rollout
    const { push } = followed
    const now = this.#deps.clock.now()
    const ended = withStage(stored, now, { endedAt: now.toISOString(), ...this.#measured(workload) })
    const next: StoredRollout = { ...ended, status: 'succeeded', endedAt: now }
    const former = workload.active
    const isDone = await this.#write('rollout.complete', workload, next, async (tx) => {
      if (former !== null) await closePushes(tx, [former.push.pushId], now)
      await assignPush(tx, {
        workloadId: workload.id,
        hash: push.hash,
        pushId: push.pushId,
        generation: workload.generation,
        seq: workload.pushSeq,
      })
      await assignRollout(tx, workload.id, null)
      await this.#audit(tx, workload, stored, 'config.canary.promote', null)
    })
    if (!isDone) return
    rollout.stored = next
    workload.rollout = null
    if (former !== null) this.#pushes.close(workload, former)
    assignActive(workload, followed)
    this.#pushes.assignmentMoved(workload)
    this.#deps.notices.workloadChanged(workload)
    this.#pushes.reconsider(followed)
    this.#pushes.considerAll(workload)
  }

  #audit(
    tx: Db,
    workload: Workload,
    rollout: StoredRollout,
    action: string,
    actor: RolloutActor | null,
  ): Promise<void> {
    return this.#deps.recordAudit(tx, {
      action,
      actor,
      resource: 'workload',
      resourceId: workload.id,
      configHash: workload.rollout?.followed.push.hash ?? '',
      detail: JSON.stringify({ rollout_id: rollout.id, stage: rollout.stageIndex }),
    })
  }

  #find(
    workloadId: string,
    id: string,
    act: (workload: Workload, rollout: Rollout) => Promise<RolloutOutcome>,
  ): Promise<RolloutOutcome> {
    return this.#pushes.exclusively(workloadId, async () => {
      const workload = this.#state.workloads.get(workloadId)
      const rollout = workload?.rollout ?? null
      if (workload === undefined || rollout === null || rollout.stored.id !== id)
        return { ok: false, code: 'rollout-not-found' }
      return act(workload, rollout)
    })
  }

  /**
   * Go on after a halt: the instances that were named do not count for this stage any more. One that waits to be
   * promoted goes on to the others.
   */
  continue(workloadId: string, id: string, actor: RolloutActor): Promise<RolloutOutcome> {
    return this.#find(workloadId, id, async (workload, rollout) => {
      const { stored } = rollout
      const now = this.#deps.clock.now()
      if (stored.status !== 'halted' && !awaitsPromotion(stored))
        return { ok: false, code: 'rollout-not-halted' }
      const audit = (tx: Db) => this.#audit(tx, workload, stored, 'config.canary.promote', actor)
      const isDone =
        stored.status === 'halted'
          ? await this.#resume(workload, rollout, audit)
          : await this.#addMembers(
              ...(['rollout.promote', workload, rollout, []] as const),
              withStage(stored, now, { promotedAt: now.toISOString() }),
              audit,
            )
      return isDone ? { ok: true, rollout: rollout.stored } : { ok: false, code: 'rollout-ended' }
    })
  }

  /** A stage that nobody was left in, or that nobody answered in, goes on with others in their place. */
  async #resume(workload: Workload, rollout: Rollout, audit: (tx: Db) => Promise<void>): Promise<boolean> {
    const { stored } = rollout
    const now = this.#deps.clock.now()
    const { stageIndex: stage, halt } = stored
    const waived = [...new Set([...stored.waived, ...(halt?.instanceUids ?? [])])]
    const isStalled = halt?.gate === 'no_member' || halt?.gate === 'no_answer'
    await this.#writer.flush()
    const standing = { ...rollout, stored: { ...stored, waived } }
    // Whom an operator chose one by one, nobody else stands in for.
    const hasStandIns = isStalled && stored.stages[stage]!.canary === undefined
    const added = hasStandIns ? this.#chooseMembers(workload, standing, stage, now) : []
    const { startedAt } = stored.progress[stage] ?? { startedAt: now.toISOString() }
    const change =
      added.length > 0
        ? { ...startStage(rollout, added, now), startedAt, dwelledMs: 0 }
        : { resumedAt: now.toISOString() }
    this.#convergedSince.delete(keyOf(stored))
    const resumed = withStage(stored, now, change)
    return this.#addMembers(
      'rollout.resume',
      workload,
      rollout,
      added,
      { ...resumed, status: 'running', halt: null, waived },
      audit,
    )
  }

  /** Close a rollout as it is: its members keep its config until the next push. */
  abort(workloadId: string, id: string, actor: RolloutActor): Promise<RolloutOutcome> {
    return this.#find(workloadId, id, async (workload, rollout) => {
      const { stored, followed } = rollout
      if (stored.status === 'aborted') return { ok: false, code: 'rollout-ended' }
      const now = this.#deps.clock.now()
      const closed = withStage(stored, now, this.#measured(workload))
      const next: StoredRollout = { ...closed, status: 'aborted', endedAt: now }
      const isDone = await this.#write('rollout.abort', workload, next, async (tx) => {
        await abortPush(tx, stored.pushId, now)
        await this.#audit(tx, workload, stored, 'config.canary.abort', actor)
      })
      if (!isDone) return { ok: false, code: 'rollout-ended' }
      followed.isSuperseded = true
      followed.push.phase = 'aborted'
      this.#settle(workload, rollout, next)
      return { ok: true, rollout: next }
    })
  }

  /** Take the members back to the active config, in the operator's name. */
  rollBack(workloadId: string, id: string, actor: RolloutActor): Promise<RolloutOutcome> {
    return this.#find(workloadId, id, async (workload, rollout) => {
      if (rollout.stored.status === 'aborted') return { ok: false, code: 'rollout-ended' }
      await this.#undoing.undoRollout(workload, actor)
      const now = this.#deps.clock.now()
      return {
        ok: true,
        rollout: { ...rollout.stored, status: 'rollback_started', updatedAt: now, endedAt: now },
      }
    })
  }
}

const keyOf = ({ id, stageIndex }: StoredRollout) => `${id}/${stageIndex}`

/** A stage's progress as it begins, with who takes part from now on. */
function startStage(
  { followed }: Rollout,
  added: readonly { target: PushTarget }[],
  now: Date,
): StoredRollout['progress'][number] {
  const more = added.filter(({ target }) => target.isTarget).length
  return {
    targetCount: followed.push.counts.target + more,
    startedAt: now.toISOString(),
    convergedAt: null,
    endedAt: null,
  }
}

function withStage(
  stored: StoredRollout,
  now: Date,
  change: Partial<StoredRollout['progress'][number]>,
): StoredRollout {
  const progress = stored.progress.map((stage, index) =>
    index === stored.stageIndex ? { ...stage, ...change } : stage,
  )
  return { ...stored, progress, updatedAt: now }
}

/** It was asked in vain, or it had the config and reports another. */
function failsDriftGate(target: PushTarget, instance: Instance | null, hash: string): boolean {
  if (target.state === 'straggler') return true
  if (target.state !== 'applied' || instance === null || !instance.reported.isKnown) return false
  return instance.connection !== null && instance.reported.hash !== hash
}
