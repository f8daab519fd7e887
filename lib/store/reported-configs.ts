import type { Db } from './db.ts'

/** The normal form of an effective config that agents reported. */
export interface ReportedConfig {
  hash: string
  body: string
}

/** Keep normal forms, one row a distinct text; those that are there already are marked as seen. */
export async function storeReportedConfigs(
  tx: Db,
  configs: readonly ReportedConfig[],
  now: Date,
): Promise<void> {
  await tx.execute(
    `insert into reported_configs (hash, body, seen_at)
     select c.hash, c.body, $3 from unnest($1::text[], $2::text[]) as c (hash, body) order by c.hash
     on conflict (hash) do update set seen_at = excluded.seen_at`,
    [configs.map((c) => c.hash), configs.map((c) => c.body), now],
  )
}

/** One normal form's text; null when it is not stored. */
export async function findReportedConfig(db: Db, hash: string): Promise<string | null> {
  const rows = await db.query<{ body: string }>(`select body from reported_configs where hash = $1`, [hash])
  return rows[0]?.body ?? null
}

/** When the last of the `count` texts was seen that were seen most recently; null when there are fewer. */
export async function findAgeOfReportedConfigs(db: Db, count: number): Promise<Date | null> {
  const rows = await db.query<{ seen_at: Date }>(
    `select seen_at from reported_configs order by seen_at desc offset $1 limit 1`,
    [count - 1],
  )
  return rows[0]?.seen_at ?? null
}

/** The hashes of texts that nobody reported since `before`, the oldest first. */
export async function listOldReportedConfigs(db: Db, before: Date, limit: number): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    `select hash from reported_configs where seen_at < $1 order by seen_at limit $2`,
    [before, limit],
  )
  return rows.map((row) => row.hash)
}

/** These texts are run by somebody, however long ago they were reported. */
export async function touchReportedConfigs(db: Db, hashes: readonly string[], now: Date): Promise<void> {
  await db.execute(
    `update reported_configs c set seen_at = $2
     from (select hash from reported_configs where hash = any($1::text[]) order by hash for update) o
     where c.hash = o.hash`,
    [hashes, now],
  )
}

/** Remove those of these texts that nobody reported since `before`; returns which. */
export async function removeReportedConfigs(
  db: Db,
  hashes: readonly string[],
  before: Date,
): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    `delete from reported_configs where hash = any($1::text[]) and seen_at < $2 returning hash`,
    [hashes, before],
  )
  return rows.map((row) => row.hash)
}
