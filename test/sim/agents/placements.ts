/**
 * Notes which host the agents of each uid said last that they run on, and since when: the host decides which workload
 * the service puts the uid into. Two agents that share a uid and run on a host each take it to and fro between them.
 */
export class Placements {
  readonly #placed = new Map<string, { host: string; movedAtMs: number }>()

  /** An agent that goes by this uid now describes itself as on this host. */
  described(uid: string, host: string, nowMs: number): void {
    const before = this.#placed.get(uid)
    if (before?.host === host) return
    this.#placed.set(uid, { host, movedAtMs: before === undefined ? 0 : nowMs })
  }

  /** When the uid last went from one workload to another, in ms of virtual time; 0 when it never did. */
  movedAtMs(uid: string): number {
    return this.#placed.get(uid)?.movedAtMs ?? 0
  }
}
