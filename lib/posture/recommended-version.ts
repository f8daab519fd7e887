import { type CommitFollowers, READ } from '../audit/commit-followers.ts'
import { readStoredVersion } from '../model/stored-settings.ts'
import type { Db } from '../store/db.ts'
import { findSetting, removeSetting, type StoredSetting, storeSetting } from '../store/settings.ts'
import { inTurns } from '../turns.ts'

const NAME = 'recommended_version'
/** Workloads shown anew before others get their turn. */
const CHUNK = 200

/** What the recommended version is made with. */
export interface RecommendedVersionParts {
  /** The version of the environment; empty for none. */
  fallback: string
  db: Db
  followers: CommitFollowers
  /** Ids of all workloads; each is shown by whether it is outdated. */
  workloadIds(): Iterable<string>
  /** Called with the id of each workload that may be shown differently from now on. */
  shownAnew(workloadId: string): void
}

/**
 * The version that agents are compared with: the stored one, else `MIN_AGENT_VERSION`. Marks of the fleet, alerts,
 * versions, drift and reports all take it from here.
 */
export class RecommendedVersion {
  readonly #parts: RecommendedVersionParts
  #stored: StoredSetting | null = null
  #reading: Promise<unknown> = Promise.resolve()

  constructor(parts: RecommendedVersionParts) {
    this.#parts = parts
    parts.followers.follow(() => this.reload().then(() => READ))
  }

  /** The recommended version; empty when there is none. */
  get version(): string {
    return this.#stored?.value ?? this.#parts.fallback.trim()
  }

  get stored(): StoredSetting | null {
    return this.#stored
  }

  /** Read the stored setting. Reads run one after the other, so that the result of the last call stays. */
  load(db: Db): Promise<void> {
    const read = this.#reading.then(async () => {
      const stored = await findSetting(db, NAME)
      this.#stored = stored !== null && readStoredVersion(stored.value) !== null ? stored : null
    })
    this.#reading = read.catch(() => this.#parts.followers.note())
    return read
  }

  /** Read the stored setting, and show all workloads anew where it is another version. */
  async reload(): Promise<void> {
    const before = this.version
    await this.load(this.#parts.db)
    if (this.version === before) return
    for await (const ids of inTurns(this.#parts.workloadIds(), CHUNK))
      for (const id of ids) this.#parts.shownAnew(id)
  }
}

/** Store a recommendation, or forget it when its version is empty; the caller loads it once that is committed. */
export async function storeRecommendedVersion(tx: Db, setting: StoredSetting): Promise<void> {
  if (setting.value === '') await removeSetting(tx, NAME)
  else await storeSetting(tx, NAME, setting)
}
