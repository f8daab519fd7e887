import { noAuditSink, openAuditTrail } from '../../lib/audit/trail.ts'
import { ROLLOUT_GATES, type StagePlan } from '../../lib/fleet/decide/rollout.ts'
import type { Fleet } from '../../lib/fleet/fleet.ts'
import { randomHex } from '../../lib/ids.ts'
import { silentLog } from '../../lib/log.ts'
import type { UsedComponent } from '../../lib/model/components.ts'
import { insertApproval, lockApprovalStatus, markApproved, markPushed } from '../../lib/store/approvals.ts'
import type { Database, Db } from '../../lib/store/db.ts'
import type { Dice, VirtualTime } from './virtual-time.ts'

/** A config that an operator pushes. */
export interface SimConfig {
  hash: string
  body: string
  used: UsedComponent[]
}

/** What an operator needs of the world. */
export interface OperatorWorld {
  time: VirtualTime
  dice: Dice
  /** The service that answers now, with its database; null while there is none. */
  operated(): { fleet: Fleet; db: Database; isDead: boolean } | null
  trace(line: string): void
}

const EMAIL = 'operator@example.com'
const RETRIES = 3

/** Requests, approves and pushes as a person does: twice when in doubt, and again when the answer was an error. */
export class Operator {
  readonly #world: OperatorWorld

  constructor(world: OperatorWorld) {
    this.#world = world
  }

  /** Have a config approved for a workload, and push it. */
  async push(workloadId: string, config: SimConfig): Promise<void> {
    const { dice, time, trace } = { ...this.#world, trace: this.#world.trace.bind(this.#world) }
    const id = `car_${randomHex(16, dice)}`
    trace(`operator requests ${config.hash.slice(0, 6)} "${config.body}" for ${workloadId.slice(0, 4)}`)
    if (!(await this.#approve(id, workloadId, config))) return
    const stages = this.#makeStages()
    void this.#attempt(id, workloadId, config, stages, RETRIES)
    // An impatient hand: the same button once more.
    if (dice.chance(0.2))
      time.after(dice.between(0, 40), () => void this.#attempt(id, workloadId, config, stages, 0))
  }

  async #approve(id: string, workloadId: string, config: SimConfig): Promise<boolean> {
    const service = this.#world.operated()
    if (service === null || service.fleet.workload(workloadId) === null) return false
    const now = this.#world.time.clock.now()
    try {
      await service.fleet.writer.flush()
      await service.db.transaction(async (tx) => {
        await insertApproval(tx, {
          ...{ id, workloadId, draftYaml: config.body, draftHash: config.hash, baseConfigHash: null },
          ...{ targetGroup: id, targetEnv: '', requester: EMAIL, requesterId: 'u', requestComment: '' },
          ...{ prodTarget: false, prodConfirmation: false, createdAt: now },
        })
        await markApproved(tx, { id, approver: EMAIL, approverId: 'u', comment: 'fine', now })
      })
      return true
    } catch {
      return false
    }
  }

  async #attempt(
    id: string,
    workloadId: string,
    config: SimConfig,
    stages: StagePlan[] | null,
    retries: number,
  ): Promise<void> {
    const { dice, time } = this.#world
    const service = this.#world.operated()
    const again = () => {
      if (retries > 0)
        time.after(
          dice.between(500, 5_000),
          () => void this.#attempt(id, workloadId, config, stages, retries - 1),
        )
    }
    if (service === null) {
      again()
      return
    }
    try {
      const outcome = await service.fleet.push(
        {
          ...{ workloadId, ...config, kind: 'approval', pushedBy: EMAIL, approvalId: id },
          ...{ rollbackTargetKind: null, stages },
        },
        (tx, push) => this.#claim(service.db, tx, id, workloadId, push),
      )
      this.#world.trace(
        `push ${id.slice(4, 8)} answered ${outcome.ok ? `#${outcome.push.seq}` : outcome.code}`,
      )
    } catch {
      // Whether it went through is not known: the next try finds out.
      this.#world.trace(`push ${id.slice(4, 8)} answered: database unavailable`)
      again()
    }
  }

  async #claim(
    db: Database,
    tx: Db,
    id: string,
    workloadId: string,
    push: { pushId: string; hash: string },
  ): Promise<{ ok: true } | { ok: false; code: 'taken' }> {
    const { time, dice } = this.#world
    if ((await lockApprovalStatus(tx, id)) !== 'approved') return { ok: false, code: 'taken' }
    await markPushed(tx, {
      ...{ id, pushId: push.pushId, configHash: push.hash, comment: '', prodTarget: false },
      ...{ prodDoubleConfirmed: false, breakGlass: false, breakGlassReason: null, now: time.clock.now() },
    })
    const trail = openAuditTrail({
      db,
      clock: time.clock,
      random: dice,
      log: silentLog,
      sink: noAuditSink,
      checkEpoch: async () => {},
    })
    await trail.record(tx, {
      ...{ action: 'config.approval.push', actor: null, resource: 'workload', resourceId: workloadId },
      configHash: push.hash,
    })
    return { ok: true }
  }

  /** Sometimes it is to be seen on some first. */
  #makeStages(): StagePlan[] | null {
    const { dice } = this.#world
    if (!dice.chance(0.35)) return null
    const gates = ROLLOUT_GATES.filter(() => dice.chance(0.8))
    const dwell = () => ({ dwellMs: dice.between(0, 30_000), gates })
    const stages: StagePlan[] = [{ count: 1, ...dwell() }]
    if (dice.chance(0.5)) stages.push({ percentage: 60, ...dwell() })
    if (dice.chance(0.9)) stages.push({ percentage: 100, ...dwell() })
    return stages
  }
}
