import type { Db } from '../store/db.ts'
import { findSetting, removeSetting, type StoredSetting, storeSetting } from '../store/settings.ts'

const NAME = 'recommended_version'

/**
 * The version that agents are compared with: the stored one, else `MIN_AGENT_VERSION`. Marks of the fleet, alerts,
 * versions, drift and reports all take it from here.
 */
export class RecommendedVersion {
  readonly #fallback: string
  /** Called when what is stored could not be read: it may be another version until it is read again. */
  readonly #readFailed: () => void
  #stored: StoredSetting | null = null
  #reading: Promise<unknown> = Promise.resolve()

  constructor(fallback: string, readFailed: () => void) {
    this.#fallback = fallback.trim()
    this.#readFailed = readFailed
  }

  /** The recommended version; empty when there is none. */
  get version(): string {
    return this.#stored?.value ?? this.#fallback
  }

  get stored(): StoredSetting | null {
    return this.#stored
  }

  /** Read the stored setting. Reads run one after the other, so that the result of the last call stays. */
  load(db: Db): Promise<void> {
    const read = this.#reading.then(async () => {
      this.#stored = await findSetting(db, NAME)
    })
    this.#reading = read.catch(this.#readFailed)
    return read
  }
}

/** Store a recommendation, or forget it when its version is empty; the caller loads it once that is committed. */
export async function storeRecommendedVersion(tx: Db, setting: StoredSetting): Promise<void> {
  if (setting.value === '') await removeSetting(tx, NAME)
  else await storeSetting(tx, NAME, setting)
}
