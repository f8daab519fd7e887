import { type First, keepFirst } from '../../keep-first.ts'
import { lowestFirst, type ReadVersion, readVersion } from '../../model/versions.ts'

/** The versions of live instances that do not all report the same one. */
export interface VersionMix {
  /** How many different versions there are. */
  count: number
  /** The lowest of them, lowest first, with how many instances report each. */
  lowest: readonly { readonly version: string; readonly instanceCount: number }[]
}

/** Versions named of a mix: agents choose theirs, so there may be one for each instance. */
const NAMED = 10
/** Versions kept in their order, so that all are gone through again only after most of these have gone. */
const LOWEST: First<ReadVersion> = { most: 256, compare: lowestFirst }

/**
 * How many instances report which version, and which are the lowest. Agents choose their versions: each is read once,
 * and one that comes or goes costs the same however many there are.
 */
export class VersionTally {
  readonly #counted = new Map<string, { readonly read: ReadVersion; instances: number }>()
  /** The lowest of all in their order; all of them where it is not full and none has gone from it. */
  #lowest: ReadVersion[] = []
  /** Undefined when it has to be worked out again. */
  #mix: VersionMix | null | undefined = null

  /** An instance reports another version than before; '' means none and is not counted. */
  move(before: string, after: string): void {
    if (before === after) return
    this.#mix = undefined
    if (after !== '') this.#add(after)
    if (before !== '') this.#remove(before)
  }

  /** The lowest comparable version, else the first in the order of strings; '' when none is reported. */
  lowest(): string {
    return this.#lowestOf(1)[0]?.text ?? ''
  }

  /** The versions and how many instances report each, where they differ; null where all that report one agree. */
  mix(): VersionMix | null {
    this.#mix ??= this.#counted.size < 2 ? null : this.#findMix()
    return this.#mix
  }

  #findMix(): VersionMix {
    const lowest = this.#lowestOf(NAMED)
    return {
      count: this.#counted.size,
      lowest: lowest.map(({ text }) => ({
        version: text,
        instanceCount: this.#counted.get(text)!.instances,
      })),
    }
  }

  #add(text: string): void {
    const known = this.#counted.get(text)
    if (known !== undefined) {
      known.instances++
      return
    }
    const read = readVersion(text)
    const isComplete = this.#lowest.length === this.#counted.size
    this.#counted.set(text, { read, instances: 1 })
    const last = this.#lowest.at(-1)
    // Where some are not kept, one behind the last that is kept may be behind one of them, too.
    if (isComplete || (last !== undefined && lowestFirst(read, last) < 0))
      keepFirst(this.#lowest, read, LOWEST)
  }

  #remove(text: string): void {
    const known = this.#counted.get(text)!
    known.instances--
    if (known.instances > 0) return
    this.#counted.delete(text)
    const at = this.#lowest.indexOf(known.read)
    if (at >= 0) this.#lowest.splice(at, 1)
  }

  #lowestOf(wanted: number): readonly ReadVersion[] {
    if (this.#lowest.length < Math.min(wanted, this.#counted.size)) {
      this.#lowest = []
      for (const { read } of this.#counted.values()) keepFirst(this.#lowest, read, LOWEST)
    }
    return this.#lowest.slice(0, wanted)
  }
}
