import type { Db } from '../../store/db.ts'
import { findReportedConfig } from '../../store/reported-configs.ts'
import { hasFailed, runningHash } from '../decide/running-hash.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import type { EffectiveMatch } from './instance.ts'

/** Does a reported config hold all that a pushed one asks for? Runs off the event loop; null for no room now. */
export type CompareConfigs = (asked: string, reported: string) => Promise<EffectiveMatch | null>

const UNKNOWN: EffectiveMatch = { matches: 'unknown', paths: [] }
const NOT: EffectiveMatch = { matches: false, paths: [] }
const CACHE_MAX = 20_000
/** Distinct comparisons that one request waits for; the others are made by later requests. */
export const PAIRS_MAX = 16

/** Two configs that are to be compared: what was asked for, and what is reported. */
interface Pair {
  askedHash: string
  asked: Uint8Array
  reportedHash: string
}

/** Whether instances run in effect what they are assigned; each pair of configs is compared once. */
export class EffectiveMatches {
  readonly #db: Db
  readonly #compare: CompareConfigs
  /** By the hash of what was asked for, then of what is reported: a record asks for each of its instances. */
  readonly #known = new Map<string, Map<string, EffectiveMatch>>()
  #count = 0

  constructor(db: Db, compare: CompareConfigs) {
    this.#db = db
    this.#compare = compare
  }

  /** The match as far as it is known without waiting. */
  get(instance: Instance, assigned: FollowedPush | null): EffectiveMatch {
    if (assigned === null) return UNKNOWN
    if (hasFailed(instance, assigned.push.hash)) return runningHash(instance) === '' ? UNKNOWN : NOT
    if (instance.reportedConfigHash === '') return UNKNOWN
    return this.#known.get(assigned.push.hash)?.get(instance.reportedConfigHash) ?? UNKNOWN
  }

  /** Whether what an instance reports has been held to what it is assigned. */
  isKnown(instance: Instance, assigned: FollowedPush): boolean {
    return this.#known.get(assigned.push.hash)?.has(instance.reportedConfigHash) === true
  }

  /** Compare what these instances run in effect with what they are assigned, for `get`. */
  async prepare(
    instances: readonly Instance[],
    assignmentOf: (instance: Instance) => FollowedPush | null,
  ): Promise<void> {
    const pairs = new Map<string, Pair>()
    for (const instance of instances) {
      const assigned = assignmentOf(instance)
      const { reportedConfigHash: reportedHash } = instance
      if (assigned === null || reportedHash === '' || this.isKnown(instance, assigned)) continue
      if (pairs.size >= PAIRS_MAX) break
      const { push, body } = assigned
      pairs.set(`${push.hash}/${reportedHash}`, { askedHash: push.hash, asked: body, reportedHash })
    }
    await Promise.all([...pairs.values()].map((pair) => this.#learn(pair)))
  }

  async #learn({ askedHash, asked, reportedHash }: Pair): Promise<void> {
    const reported = await findReportedConfig(this.#db, reportedHash)
    // The reported config may not be stored yet: a later request will find it.
    if (reported === null) return
    const match = await this.#compare(Buffer.from(asked).toString('utf8'), reported)
    if (match !== null) this.#keep(askedHash, reportedHash, match)
  }

  #keep(askedHash: string, reportedHash: string, match: EffectiveMatch): void {
    if (this.#count >= CACHE_MAX) this.#forgetOldest()
    const known = this.#known.get(askedHash) ?? new Map<string, EffectiveMatch>()
    this.#known.set(askedHash, known)
    if (!known.has(reportedHash)) this.#count++
    known.set(reportedHash, match)
  }

  /** Forget one, of what was asked for first. */
  #forgetOldest(): void {
    const [askedHash, known] = this.#known.entries().next().value!
    known.delete(known.keys().next().value!)
    if (known.size === 0) this.#known.delete(askedHash)
    this.#count--
  }
}
