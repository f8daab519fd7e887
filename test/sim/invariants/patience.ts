import type { Rollout, Workload } from '../../../lib/fleet/state/model.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import { GRACE_MS, type SimService } from '../service/sim-service.ts'
import type { Report } from './finding.ts'
import { short } from './finding.ts'

/** A step is decided at most so long before browsers are told of it: who left since could not be waited for. */
const DECIDED_MS = 8_000
/** The fleet's clock may stand still for so long in all while nothing disturbs it. */
const SLACK_MS = 2_000
const GATES = ['no_failure', 'health', 'drift']

/** A rollout that has halted for members that are not there. */
interface Halted {
  rollout: Rollout['stored']
  uids: readonly string[]
}

/**
 * The fleet is patient with agents that are away, for as long as they can be heard and may come back: no stage begins, and
 * no rollout completes, without them. It is so no longer than that: its clock goes on once all is quiet, and nothing halts
 * for those that said goodbye.
 */
export class PatiencePromises {
  readonly #report: Report
  readonly #watcher: Connection
  /** How far each rollout was when a process last told of it, by its id. */
  readonly #steps = new Map<string, string>()
  readonly #halted: Halted[] = []
  /** The process that decided as all became quiet, and for how long its fleet's clock had stood still by then. */
  #quiet: { service: SimService; stoodMs: number } | null = null

  constructor(watcher: Connection, report: Report) {
    this.#watcher = watcher
    this.#report = report
  }

  /** A process told of the pushes of a workload. */
  pushChanged(service: SimService, workload: Workload): void {
    const { rollout } = workload
    if (rollout === null) return
    const { id, stageIndex, status } = rollout.stored
    const former = this.#steps.get(id)
    const present = `${stageIndex} ${status}`
    this.#steps.set(id, present)
    if (former === present) return
    if (status === 'halted') this.#noteHalt(service, rollout)
    else if (former === `${stageIndex - 1} running`)
      this.#checkStep(service, workload, `begins stage ${stageIndex + 1}`)
    else if (status === 'succeeded' && former === `${stageIndex} running`)
      this.#checkStep(service, workload, 'completes')
  }

  #checkStep({ fleet }: SimService, of: Workload, step: string): void {
    const nowMs = fleet.clock.heardMs()
    const { stored, dueSinceMs = nowMs } = of.rollout!
    // Where others leave as these come back, it goes on after that.
    if (nowMs - dueSinceMs >= GRACE_MS) return
    for (const { uid, workload, hasDeparted, awaySinceMs } of fleet.state.away) {
      if (workload !== of || hasDeparted || awaySinceMs === null) continue
      const awayMs = nowMs - awaySinceMs
      if (awayMs > DECIDED_MS && awayMs < GRACE_MS)
        this.#report(`rollout ${stored.id} ${step} without ${short(uid)}, away for ${Math.round(awayMs)} ms`)
    }
  }

  #noteHalt({ fleet }: SimService, { stored, followed }: Rollout): void {
    const { halt } = stored
    if (halt === null || !GATES.includes(halt.gate)) return
    const isHere = (uid: string) => fleet.state.instances.get(uid)?.connection != null
    const uids = halt.instanceUids.filter(
      (uid) => !isHere(uid) && followed.targets.get(uid)?.state !== 'failed',
    )
    if (uids.length > 0) this.#halted.push({ rollout: stored, uids })
  }

  /** Look at what halted since the last time. */
  async check(): Promise<void> {
    for (const { rollout, uids } of this.#halted.splice(0)) {
      const departed = await this.#watcher.query<{ uid: string }>(
        `select instance_uid as uid from agent_workloads
         where instance_uid = any($1) and departed_at >= seen_at and departed_at < $2::timestamptz - interval '5 s'`,
        [uids, rollout.halt!.at],
      )
      for (const { uid } of departed)
        this.#report(`rollout ${rollout.id} halts for ${short(uid)}, which had said goodbye`)
    }
  }

  /** Nothing disturbs this process from now on. */
  rests(service: SimService | null): void {
    this.#quiet = service === null ? null : { service, stoodMs: stoodMs(service) }
  }

  checkAtRest(service: SimService): void {
    if (service.fleet.clock.isUnheard) this.#report('the fleet takes itself for deaf at the end')
    if (this.#quiet?.service !== service) return
    const moreMs = stoodMs(service) - this.#quiet.stoodMs
    if (moreMs > SLACK_MS)
      this.#report(`the fleet's clock stood still for ${Math.round(moreMs)} ms of the quiet`)
  }
}

/** For how long the fleet's clock has stood still by now. */
const stoodMs = ({ fleet: { clock } }: SimService): number => clock.machine.monotonicMs() - clock.heardMs()
