import type { Db } from '../store/db.ts'
import { findSetting, removeSetting, type StoredSetting, storeSetting } from '../store/settings.ts'

const NAME = 'recommended_version'

/**
 * The version that the fleet is measured by: the stored one, else the minimum that the environment sets. The one
 * place that says it, for the fleet's marks, the alerts, the versions, the drift and the reports.
 */
export class RecommendedVersion {
  readonly #fallback: string
  #stored: StoredSetting | null = null
  #reading: Promise<unknown> = Promise.resolve()

  constructor(fallback: string) {
    this.#fallback = fallback.trim()
  }

  /** Empty when nobody recommends one. */
  get version(): string {
    return this.#stored?.value ?? this.#fallback
  }

  get stored(): StoredSetting | null {
    return this.#stored
  }

  /** Read what is stored; one after the other, so that the last to begin is what stays. */
  load(db: Db): Promise<void> {
    const read = this.#reading.then(async () => {
      this.#stored = await findSetting(db, NAME)
    })
    this.#reading = read.catch(() => {})
    return read
  }
}

/** Store a recommendation, or forget it when its version is empty; the caller loads it once that is committed. */
export async function storeRecommendedVersion(tx: Db, setting: StoredSetting): Promise<void> {
  if (setting.value === '') await removeSetting(tx, NAME)
  else await storeSetting(tx, NAME, setting)
}
