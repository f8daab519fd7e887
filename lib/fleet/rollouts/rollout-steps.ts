import type { Act, ActTransaction } from '../../audit/database.ts'
import { gitOwnerOf } from '../../model/git-group.ts'
import { lockApproval } from '../../store/approvals.ts'
import { insertTargets } from '../../store/push-targets.ts'
import { closePushes } from '../../store/push-writes.ts'
import type { Push } from '../../store/pushes.ts'
import {
  type GateMeasures,
  insertRolloutMembers,
  type RolloutHalt,
  type StoredRollout,
  updateRollout,
} from '../../store/rollouts.ts'
import { assignPushes, lockWorkload } from '../../store/workloads.ts'
import type { RolloutHoldReason } from '../../wire/rollouts.ts'
import type { PushObstacle } from '../decide/push-obstacle.ts'
import type { StageVerdict } from '../decide/rollout.ts'
import { type Assignments, assignActive } from '../pushes/assignments.ts'
import type { CommitTurns } from '../pushes/commit-turns.ts'
import { findObstacle, type PushWish } from '../pushes/find-obstacle.ts'
import { addTarget } from '../state/followed-push.ts'
import type { Rollout, StageHold, Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { waitsForAbsentees } from './absentees.ts'
import type { DwellTimes } from './dwell-times.ts'
import { type MeasuredFacts, stageFactsOf } from './stage-facts.ts'
import { chooseMembers, type NewMembers, startStage, withStage } from './stage-members.ts'

/** How long a rollout that was kept from its next stage waits until it asks again. */
const HELD_LOOK_MS = 2_000

/** What holds a rollout where this would keep its push from beginning. */
const REASONS: Readonly<Record<PushObstacle, RolloutHoldReason>> = {
  archived: 'archived',
  frozen: 'frozen',
  held: 'held',
  'kept-in-git': 'kept_in_git',
  // These two keep no push that has begun.
  busy: 'held',
  quarantined: 'held',
}

/** The steps of a rollout: each is stored first and then done in memory. Call them in the workload's turn. */
export class RolloutSteps {
  readonly #parts: FleetParts
  readonly #assignments: Assignments
  readonly #turns: CommitTurns
  readonly #dwells: DwellTimes

  constructor(parts: FleetParts, assignments: Assignments, turns: CommitTurns, dwells: DwellTimes) {
    this.#parts = parts
    this.#assignments = assignments
    this.#turns = turns
    this.#dwells = dwells
  }

  /** The members of a rollout as its gates see them now. */
  factsOf(workload: Workload, rollout: Rollout): MeasuredFacts {
    return stageFactsOf(this.#parts, workload, rollout, this.#dwells.convergedForMs(rollout))
  }

  /** What the gates of a workload's rollout measure now; null without a rollout that is running or halted. */
  measure(workload: Workload): GateMeasures | null {
    const { rollout } = workload
    if (rollout === null || (rollout.stored.status !== 'running' && rollout.stored.status !== 'halted'))
      return null
    return this.factsOf(workload, rollout).measured
  }

  /** The same as a field to store in the progress of a stage that ends or halts. */
  measured(workload: Workload): { measured?: GateMeasures } {
    const measured = this.measure(workload)
    return measured === null ? {} : { measured }
  }

  /**
   * Store a rollout's next state; `more` runs in the same transaction. False when the rollout had ended meanwhile, and
   * where `more` answers false: then nothing is stored.
   */
  async write(
    act: Act,
    workload: Workload,
    next: StoredRollout,
    more: (tx: ActTransaction) => Promise<unknown> = async () => {},
  ): Promise<boolean> {
    try {
      const { ok } = await act.commit(async (tx) => {
        if ((await lockWorkload(tx, workload.id)) === null) return { ok: false }
        if (!(await updateRollout(tx, next))) return { ok: false }
        return { ok: (await more(tx)) !== false }
      })
      return ok
    } catch (error) {
      // Whether the step was committed is not known.
      void this.#turns.resync(workload)
      throw error
    }
  }

  noteStored(workload: Workload, rollout: Rollout, next: StoredRollout): void {
    rollout.stored = next
    this.#parts.deps.notices.pushChanged(workload, rollout.followed.push)
    // Whether its rollout is halted is shown in the workload's record, too.
    this.#parts.deps.notices.workloadChanged(workload)
  }

  async noteConverged(act: Act, workload: Workload, rollout: Rollout): Promise<void> {
    const now = this.#parts.deps.clock.now()
    // The dwell begins now, so the time of an earlier halt must not count into it.
    const fresh = { dwelledMs: undefined, resumedAt: undefined }
    const next = withStage(rollout.stored, now, { convergedAt: now.toISOString(), ...fresh })
    this.#dwells.begin(next)
    if (!(await this.write(act, workload, next))) return
    this.noteStored(workload, rollout, next)
  }

  /** Why a rollout halts now. */
  haltOf({ stored }: Rollout, verdict: StageVerdict & { kind: 'halt' }): RolloutHalt {
    const { gate, value, limit, instanceUids } = verdict
    const at = this.#parts.deps.clock.now().toISOString()
    return { gate, value, limit, instanceUids, stage: stored.stageIndex, at }
  }

  async halt(
    act: Act,
    workload: Workload,
    rollout: Rollout,
    verdict: StageVerdict & { kind: 'halt' },
  ): Promise<void> {
    const dwelledMs = this.#dwells.convergedForMs(rollout)
    const halted = withStage(rollout.stored, this.#parts.deps.clock.now(), {
      ...(dwelledMs === null ? {} : { dwelledMs }),
      ...this.measured(workload),
    })
    const next: StoredRollout = { ...halted, status: 'halted', halt: this.haltOf(rollout, verdict) }
    if (await this.write(act, workload, next)) this.noteStored(workload, rollout, next)
  }

  /** Start the next stage with more members, chosen from the instances that can take the config now. */
  async advance(act: Act, workload: Workload, rollout: Rollout): Promise<void> {
    const { stored } = rollout
    const now = this.#parts.deps.clock.now()
    const stage = stored.stageIndex + 1
    // Members are chosen by what agents have reported: the database is to hold that before the step is stored.
    await this.#parts.deps.db.upToDate()
    const added = chooseMembers(this.#parts, workload, rollout, stage, now)
    const ended = withStage(stored, now, { endedAt: now.toISOString(), ...this.measured(workload) })
    const next: StoredRollout = {
      ...ended,
      stageIndex: stage,
      waived: [],
      progress: [...ended.progress, startStage(rollout, added, now)],
    }
    let hold: StageHold | null = null
    await this.addMembers(act, workload, rollout, added, next, async (tx) => {
      hold = await this.holdOf(tx, workload, rollout)
      return hold === null && !waitsForAbsentees(this.#parts, workload, rollout)
    })
    this.noteHold(workload, rollout, hold)
  }

  /** Remember what holds a rollout, so that it is asked again soon, and tell browsers where that is another than before. */
  noteHold(workload: Workload, rollout: Rollout, hold: StageHold | null): void {
    const { clock, notices } = this.#parts.deps
    const { reason, about } = rollout.hold ?? { reason: null, about: '' }
    if (hold === null) delete rollout.hold
    else {
      rollout.hold = { ...hold, untilMs: clock.heardMs() + HELD_LOOK_MS }
      // Whoever is away once it may go on is waited for from then on.
      delete rollout.dueSinceMs
    }
    if (hold !== null && (hold.reason !== reason || hold.about !== about))
      notices.pushChanged(workload, rollout.followed.push)
  }

  /** What keeps a rollout from its next stage; null when it may go on. All stays so until the transaction ends. */
  holdOf(tx: ActTransaction, workload: Workload, rollout: Rollout): Promise<StageHold | null> {
    const { campaignId, autoApplyId } = rollout.followed.push
    return campaignId === null && autoApplyId === null
      ? this.#holdOfRequest(tx, workload, rollout)
      : this.#holdOfMany(tx, workload, rollout)
  }

  /**
   * What would keep the push of a request from beginning now keeps its further stages as well, and so do approvals that
   * do not count any more. Where the glass was broken for it, neither does.
   */
  async #holdOfRequest(
    tx: ActTransaction,
    workload: Workload,
    { followed: { push } }: Rollout,
  ): Promise<StageHold | null> {
    const approval = push.approvalId === null ? null : await lockApproval(tx, push.approvalId)
    const path = approval?.breakGlass === true ? 'break-glass' : 'request'
    const gitOwner = approval === null ? null : gitOwnerOf(approval.targetGroup)
    const obstacle = await this.#obstacleTo(tx, workload, push, { path, gitOwner })
    if (obstacle !== null) return obstacle
    if (approval === null || approval.breakGlass) return null
    const isApproved = await this.#parts.deps.isStillApproved(tx, approval, workload)
    return isApproved ? null : { reason: 'not_approved', about: '' }
  }

  /**
   * A stage inside a campaign, or of a version that applies by itself, waits while that is stopped, while its workload
   * is not what was approved, and while something is there that would keep its push from beginning.
   */
  async #holdOfMany(
    tx: ActTransaction,
    workload: Workload,
    { followed: { push } }: Rollout,
  ): Promise<StageHold | null> {
    const hold = await this.#parts.deps.whyNotFurther(tx, workload, push)
    if (hold !== null) return hold
    const path = push.campaignId === null ? 'auto-apply' : 'campaign'
    return this.#obstacleTo(tx, workload, push, { path })
  }

  async #obstacleTo(
    tx: ActTransaction,
    workload: Workload,
    { hash, pushId }: Push,
    by: Pick<PushWish, 'path' | 'gitOwner'>,
  ): Promise<StageHold | null> {
    const wish = { ...by, workload, hash, ownPushId: pushId, isUnderWay: true }
    const found = await findObstacle(tx, this.#parts.deps.clock.now(), [wish])
    return found === null ? null : { reason: REASONS[found.obstacle], about: found.about }
  }

  /** Store a rollout's next state and offer its new members the config; false when the rollout had ended meanwhile. */
  async addMembers(
    act: Act,
    workload: Workload,
    rollout: Rollout,
    added: NewMembers,
    next: StoredRollout,
    more: (tx: ActTransaction) => Promise<unknown> = async () => {},
  ): Promise<boolean> {
    const { followed } = rollout
    const { pushId, generation } = followed.push
    const uids = added.map(({ instance }) => instance.uid)
    const isDone = await this.write(act, workload, next, async (tx) => {
      await insertTargets(
        tx,
        { pushId, generation, offeredAt: next.updatedAt },
        added.map(({ target }) => target),
      )
      await insertRolloutMembers(tx, next.id, next.stageIndex, uids)
      return more(tx)
    })
    if (!isDone) return false
    for (const uid of uids) rollout.members.set(uid, next.stageIndex)
    for (const { instance, target } of added)
      if (!followed.targets.has(instance.uid)) addTarget(followed, target, this.#parts.deps.clock)
    this.noteStored(workload, rollout, next)
    const instances = added.map(({ instance }) => instance)
    this.#parts.tell({ kind: 'members-joined', workload, followed, joined: instances })
    return true
  }

  /** The last stage is done: the rollout's push becomes the active push of the workload. */
  async complete(act: Act, workload: Workload, rollout: Rollout): Promise<void> {
    const { followed, stored } = rollout
    const { push } = followed
    const now = this.#parts.deps.clock.now()
    const ended = withStage(stored, now, { endedAt: now.toISOString(), ...this.measured(workload) })
    const next: StoredRollout = { ...ended, status: 'succeeded', endedAt: now }
    const former = workload.active
    const isDone = await this.write(act, workload, next, async (tx) => {
      if (waitsForAbsentees(this.#parts, workload, rollout)) return false
      if (former !== null) await closePushes(tx, [former.push.pushId], now)
      const { hash, pushId } = push
      const { id: workloadId, generation, pushSeq: seq } = workload
      await assignPushes(tx, [{ workloadId, hash, pushId, generation, seq }])
      await this.audit(tx, workload, stored, 'config.canary.promote')
      return true
    })
    if (!isDone) return
    rollout.stored = next
    workload.rollout = null
    if (former !== null) this.#assignments.close(workload, former)
    assignActive(workload, followed)
    this.#assignments.moved(workload)
    this.#parts.deps.notices.workloadChanged(workload)
    this.#parts.tell({ kind: 'rollout-completed', workload, followed })
  }

  audit(tx: ActTransaction, workload: Workload, rollout: StoredRollout, action: string): Promise<void> {
    return tx.record({
      action,
      resource: 'workload',
      resourceId: workload.id,
      configHash: workload.rollout?.followed.push.hash ?? '',
      detail: JSON.stringify({ rollout_id: rollout.id, stage: rollout.stageIndex }),
    })
  }
}
