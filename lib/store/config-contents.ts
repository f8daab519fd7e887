import type { UsedComponent } from '../model/components.ts'
import type { Db } from './db.ts'

/** A config's text with the components it uses. */
export interface ConfigContent {
  hash: string
  body: string
  components: readonly UsedComponent[]
}

/**
 * Keep configs' texts. A text that is there already stays, and cannot be removed until this transaction ends;
 * transactions that only hold a text so do not wait for each other. Rows are locked by hash.
 */
export async function storeContents(tx: Db, contents: readonly ConfigContent[], now: Date): Promise<void> {
  const byHash = new Map(contents.map((content) => [content.hash, content]))
  const held = await tx.query<{ hash: string }>(
    `select hash from config_contents where hash = any($1::text[]) order by hash for key share`,
    [[...byHash.keys()]],
  )
  for (const { hash } of held) byHash.delete(hash)
  if (byHash.size === 0) return
  const missing = [...byHash.values()]
  await tx.execute(
    `insert into config_contents (hash, body, components, created_at)
     select c.hash, c.body, c.components, $4
     from unnest($1::text[], $2::text[], $3::jsonb[]) as c (hash, body, components) order by c.hash
     on conflict (hash) do update set body = config_contents.body`,
    [
      missing.map(({ hash }) => hash),
      missing.map(({ body }) => body),
      missing.map(({ components }) => JSON.stringify(components)),
      now,
    ],
  )
}

/**
 * Remove the texts from before `before` that no push, workload or known-good names any more, `limit` at most; returns
 * how many. One that is being pushed at this moment is held by its reference, and the statement fails.
 */
export async function removeUnusedContents(tx: Db, before: Date, limit: number): Promise<number> {
  return tx.execute(
    `delete from config_contents where hash in (
       select c.hash from config_contents c
       where c.created_at < $1
         and not exists (select from pushes p where p.config_hash = c.hash)
         and not exists (select from workloads w where w.active_config_hash = c.hash)
         and not exists (select from known_good_configs k where k.config_hash = c.hash)
       order by c.hash limit $2)`,
    [before, limit],
  )
}

/** The texts of these hashes. */
export async function findContents(db: Db, hashes: readonly string[]): Promise<ConfigContent[]> {
  return db.query<ConfigContent>(
    `select hash, body, components from config_contents where hash = any($1::text[]) order by hash`,
    [hashes],
  )
}

/** The text of a config that some workload should run, with what is known of where it came from. */
export interface ActiveConfig {
  hash: string
  body: string
  createdAt: Date
  /** The id of whoever asked for it; the pusher as he is named in the history where no request is known. */
  createdBy: string
}

/** The config of this hash where a workload should run it now; null for any other. */
export async function findActiveConfig(db: Db, hash: string): Promise<ActiveConfig | null> {
  const rows = await db.query<ActiveConfig>(
    `select c.hash, c.body, c.created_at as "createdAt", coalesce(a.requester_id, p.pushed_by, '') as "createdBy"
     from workloads w
     join config_contents c on c.hash = w.active_config_hash
     left join pushes p on p.push_id = w.active_push_id
     left join lateral (
       select requester_id from approvals
       where workload_id = w.id and config_hash = w.active_config_hash order by pushed_at limit 1
     ) a on true
     where w.active_config_hash = $1 order by p.submitted_at, w.id limit 1`,
    [hash],
  )
  return rows[0] ?? null
}

/** The components that each of these configs uses. */
export async function findUsedComponents(
  db: Db,
  hashes: readonly string[],
): Promise<Map<string, readonly UsedComponent[]>> {
  const rows = await db.query<Pick<ConfigContent, 'hash' | 'components'>>(
    `select hash, components from config_contents where hash = any($1::text[])`,
    [hashes],
  )
  return new Map(rows.map(({ hash, components }) => [hash, components]))
}

/** One config's text; null when there is none. */
export async function findContent(db: Db, hash: string): Promise<ConfigContent | null> {
  return (await findContents(db, [hash]))[0] ?? null
}
