import type { Db } from './db.ts'
import type { SeenTable } from './seen-rows.ts'

/** The table of reported configs; a row is last seen when any agent last reported its text. */
export const REPORTED_CONFIGS: SeenTable = { name: 'reported_configs', key: 'hash' }

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

/** The normal forms of these hashes that are stored and have no more bytes than this. */
export async function listReportedConfigs(
  db: Db,
  hashes: readonly string[],
  bytesMax: number,
): Promise<ReportedConfig[]> {
  return db.query<ReportedConfig>(
    `select hash, body from reported_configs where hash = any($1::text[]) and octet_length(body) <= $2`,
    [hashes, bytesMax],
  )
}

/** Those of these hashes under which no text is stored. */
export async function listMissingReportedConfigs(db: Db, hashes: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    `select asked.hash from unnest($1::text[]) as asked (hash)
     where not exists (select from reported_configs r where r.hash = asked.hash)`,
    [hashes],
  )
  return rows.map((row) => row.hash)
}

/** Remove those of these texts that nobody reported since `before`; returns which. */
export async function removeReportedConfigs(
  tx: Db,
  hashes: readonly string[],
  before: Date,
): Promise<string[]> {
  const rows = await tx.query<{ hash: string }>(
    `delete from reported_configs where hash = any($1::text[]) and seen_at < $2 returning hash`,
    [hashes, before],
  )
  return rows.map((row) => row.hash)
}
