/**
 * What a process keeps in memory of whatever it carries out, by id. It is read from the database where it is not known
 * yet, and again where it may differ from what is stored.
 */
export class KeptRuns<Run extends { isStale: boolean }> {
  readonly #runs = new Map<string, Run>()
  /** How often doubts about commits have ended. */
  #doubtsEnded = 0

  get(id: string): Run | undefined {
    return this.#runs.get(id)
  }

  values(): Iterable<Run> {
    return this.#runs.values()
  }

  /** Forget all but those of these. */
  keepOnly(all: readonly { id: string }[]): void {
    const ids = new Set(all.map(({ id }) => id))
    for (const id of this.#runs.keys()) if (!ids.has(id)) this.#runs.delete(id)
  }

  /** The run of an id, which `read` reads where that is due; it is told what was known before. */
  async open(id: string, read: (former: Run | undefined) => Promise<Run>): Promise<Run> {
    const known = this.#runs.get(id)
    if (known !== undefined && !known.isStale) return known
    const doubtsEnded = this.#doubtsEnded
    const run = await read(known)
    // What such a commit stored may have come after this was read.
    if (doubtsEnded !== this.#doubtsEnded) run.isStale = true
    this.#runs.set(id, run)
    return run
  }

  /** Have a run read again, after an error. */
  doubt(id: string): void {
    const run = this.#runs.get(id)
    if (run !== undefined) run.isStale = true
  }

  /** Commits whose answers were lost have ended, one way or the other: what was read before may lack what they stored. */
  doubtsEnded(): void {
    this.#doubtsEnded++
    for (const run of this.#runs.values()) run.isStale = true
  }
}
