import type { Db } from '../../store/db.ts'
import { findReportedConfig } from '../../store/reported-configs.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import type { EffectiveMatch } from './instance.ts'

/** Does the reported config hold all that the asked one asks for? Runs elsewhere; null when there is no room now. */
export type CompareConfigs = (asked: string, reported: string) => Promise<EffectiveMatch | null>

const UNKNOWN: EffectiveMatch = { matches: 'unknown', paths: [] }
const CACHE_MAX = 5_000
/** Distinct comparisons that one request waits for; the rest is known at the next. */
const PAIRS_MAX = 16

/** Whether instances really run what they were assigned; each pair of configs is compared once. */
export class EffectiveMatches {
  readonly #db: Db
  readonly #compare: CompareConfigs
  readonly #known = new Map<string, EffectiveMatch>()

  constructor(db: Db, compare: CompareConfigs) {
    this.#db = db
    this.#compare = compare
  }

  /** What is known without waiting. */
  get(instance: Instance, assigned: FollowedPush | null): EffectiveMatch {
    if (assigned === null || instance.reportedConfigHash === '') return UNKNOWN
    return this.#known.get(`${assigned.push.hash}/${instance.reportedConfigHash}`) ?? UNKNOWN
  }

  /** Compare what these instances run with what they were assigned. */
  async prepare(
    instances: readonly Instance[],
    assignmentOf: (instance: Instance) => FollowedPush | null,
  ): Promise<void> {
    const pairs = new Map<string, { asked: Uint8Array; reportedHash: string }>()
    for (const instance of instances) {
      const assigned = assignmentOf(instance)
      if (assigned === null || instance.reportedConfigHash === '') continue
      const key = `${assigned.push.hash}/${instance.reportedConfigHash}`
      if (this.#known.has(key) || pairs.size >= PAIRS_MAX) continue
      pairs.set(key, { asked: assigned.body, reportedHash: instance.reportedConfigHash })
    }
    await Promise.all([...pairs].map(([key, pair]) => this.#learn(key, pair)))
  }

  async #learn(key: string, pair: { asked: Uint8Array; reportedHash: string }): Promise<void> {
    const reported = await findReportedConfig(this.#db, pair.reportedHash)
    // It may not be stored yet: a later request will find it.
    if (reported === null) return
    const match = await this.#compare(Buffer.from(pair.asked).toString('utf8'), reported)
    if (match === null) return
    if (this.#known.size >= CACHE_MAX) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, match)
  }
}
