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

const pairOf = (instance: Instance, { push }: FollowedPush): string =>
  `${push.hash}/${instance.reportedConfigHash}`

/** Whether instances run in effect what they are assigned; each pair of configs is compared once. */
export class EffectiveMatches {
  readonly #db: Db
  readonly #compare: CompareConfigs
  readonly #known = new Map<string, EffectiveMatch>()

  constructor(db: Db, compare: CompareConfigs) {
    this.#db = db
    this.#compare = compare
  }

  /** The match as far as it is known without waiting. */
  get(instance: Instance, assigned: FollowedPush | null): EffectiveMatch {
    if (assigned === null) return UNKNOWN
    if (hasFailed(instance, assigned.push.hash)) return runningHash(instance) === '' ? UNKNOWN : NOT
    if (instance.reportedConfigHash === '') return UNKNOWN
    return this.#known.get(pairOf(instance, assigned)) ?? UNKNOWN
  }

  /** Whether what an instance reports has been held to what it is assigned. */
  isKnown(instance: Instance, assigned: FollowedPush): boolean {
    return this.#known.has(pairOf(instance, assigned))
  }

  /** Compare what these instances run in effect with what they are assigned, for `get`. */
  async prepare(
    instances: readonly Instance[],
    assignmentOf: (instance: Instance) => FollowedPush | null,
  ): Promise<void> {
    const pairs = new Map<string, { asked: Uint8Array; reportedHash: string }>()
    for (const instance of instances) {
      const assigned = assignmentOf(instance)
      if (assigned === null || instance.reportedConfigHash === '') continue
      const key = pairOf(instance, assigned)
      if (this.#known.has(key) || pairs.size >= PAIRS_MAX) continue
      pairs.set(key, { asked: assigned.body, reportedHash: instance.reportedConfigHash })
    }
    await Promise.all([...pairs].map(([key, pair]) => this.#learn(key, pair)))
  }

  async #learn(key: string, pair: { asked: Uint8Array; reportedHash: string }): Promise<void> {
    const reported = await findReportedConfig(this.#db, pair.reportedHash)
    // The reported config may not be stored yet: a later request will find it.
    if (reported === null) return
    const match = await this.#compare(Buffer.from(pair.asked).toString('utf8'), reported)
    if (match === null) return
    if (this.#known.size >= CACHE_MAX) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, match)
  }
}
