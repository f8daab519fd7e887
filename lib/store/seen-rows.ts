import type { Db } from './db.ts'

/** A table in which each row says when it was last seen (`seen_at`); those seen longest ago are removed first. */
export interface SeenTable {
  name: 'agent_workloads' | 'reported_configs'
  /** What tells its rows apart. */
  key: 'instance_uid' | 'hash'
}

/** When the oldest of the `count` rows that were seen last was seen; null when there are fewer rows. */
export async function findAgeOfSeen(db: Db, { name }: SeenTable, count: number): Promise<Date | null> {
  const rows = await db.query<{ seen_at: Date }>(
    `select seen_at from ${name} order by seen_at desc offset $1 limit 1`,
    [count - 1],
  )
  return rows[0]?.seen_at ?? null
}

/** The keys of rows that were last seen before `before`, those seen longest ago first. */
export async function listUnseen(
  db: Db,
  { name, key }: SeenTable,
  before: Date,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ key: string }>(
    `select ${key} as key from ${name} where seen_at < $1 order by seen_at limit $2`,
    [before, limit],
  )
  return rows.map((row) => row.key)
}

/** Count rows as seen now: what they stand for is still there, though silent. They are locked in the order of keys. */
export async function touchSeen(
  tx: Db,
  { name, key }: SeenTable,
  keys: readonly string[],
  now: Date,
): Promise<void> {
  await tx.execute(
    `update ${name} t set seen_at = $2
     from (select ${key} from ${name} where ${key} = any($1::text[]) order by ${key} for update) o
     where t.${key} = o.${key}`,
    [keys, now],
  )
}
