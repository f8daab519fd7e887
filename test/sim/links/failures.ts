import { assignmentOfUid } from '../../../lib/fleet/state/state.ts'
import type { AgentReport } from '../../../lib/opamp/report.ts'
import type { SimService } from '../service/sim-service.ts'
import { isHindered } from './goodbyes.ts'
import type { LinkedWorld } from './linked-world.ts'
import type { SimFront } from './sim-front.ts'

const LOOK_MS = 1_000
/** After so many looks in a row at which nothing hindered the front and the owner, the owner knows. */
const LOOKS = 20

/** What an agent said last of a config: that it failed it, as it was offered it in this generation. */
interface Failure {
  front: SimFront
  hash: string
  generation: number
  service: SimService | null
  looks: number
}

/** What an agent failed that it was offered counts for its target, whatever became of the agent and of the owner since. */
export class Failures {
  readonly #world: LinkedWorld
  /** By uid. */
  readonly #said = new Map<string, Failure>()
  readonly #last = new Map<string, string>()

  constructor(world: LinkedWorld) {
    this.#world = world
    this.#look()
  }

  /** An agent has spoken to a front; `generation`: that of the last offer of its config that it received, if any. */
  heard(
    front: SimFront,
    { uid, remoteConfigStatus: said }: AgentReport,
    generationOf: (uid: string, hash: string) => number | null,
  ): void {
    if (said === null) return
    const word = `${said.status} ${said.hash}`
    if (this.#last.get(uid) === word) return
    this.#last.set(uid, word)
    this.#said.delete(uid)
    const generation = generationOf(uid, said.hash)
    if (said.status === 'failed' && generation !== null)
      this.#said.set(uid, { front, hash: said.hash, generation, service: null, looks: 0 })
  }

  #look(): void {
    for (const [uid, failure] of this.#said) {
      if (failure.front.isDead) {
        this.#said.delete(uid)
        continue
      }
      const service = this.#world.service()
      const goesOn = service === failure.service && !isHindered(this.#world, failure.front)
      Object.assign(failure, { service, looks: goesOn ? failure.looks + 1 : 0 })
      if (failure.looks < LOOKS) continue
      this.#said.delete(uid)
      this.#check(uid, failure)
    }
    this.#world.time.after(LOOK_MS, () => this.#look())
  }

  #check(uid: string, { front, hash, generation }: Failure): void {
    const { agents, promises } = this.#world
    if (agents.filter((agent) => agent.uid === uid).length !== 1) return
    const { state } = this.#world.service()!.fleet
    const workload =
      state.instances.get(uid)?.workload ?? state.workloads.get(state.homes.get(uid) ?? '') ?? null
    const followed = workload === null ? null : assignmentOfUid(workload, uid)
    const target = followed?.targets.get(uid)
    if (followed?.push.hash !== hash || target === undefined || target.generation !== generation) return
    // What it had failed before, it may only be repeating. Of a push that has failed nothing depends on it any more.
    if (target.hadFailedBefore || target.wasUnsent || followed.push.status === 'failed') return
    if (target.state !== 'failed')
      promises.report(
        `${uid} said to ${front.name} that it failed ${hash.slice(0, 6)}: it is ${target.state}`,
      )
  }
}
