import { type Refusal, refuse } from '../model/refusal.ts'
import type { Db } from '../store/db.ts'
import { insertVersion, measureVersionsOf } from '../store/fleet-configs.ts'

/** Mebibytes, as stored, of the versions that one account makes within `WITHIN_DAYS`: they stay for good. */
const OWN_MIB_MAX = 128
const WITHIN_DAYS = 30
const DAY_MS = 86_400_000

/** Store the next version of a fleet config and return its number, null where there is no such fleet config. */
export async function storeVersion(
  tx: Db,
  version: Parameters<typeof insertVersion>[1],
): Promise<{ ok: true; number: number | null } | Refusal<'versions-too-large'>> {
  const number = await insertVersion(tx, version)
  const since = new Date(version.createdAt.getTime() - WITHIN_DAYS * DAY_MS)
  return (await measureVersionsOf(tx, version.authorId, since)) > OWN_MIB_MAX * 1_048_576
    ? refuse('versions-too-large', { max: OWN_MIB_MAX, days: WITHIN_DAYS })
    : { ok: true, number }
}
