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
  // In the order of their hashes, so that two transactions that store the same texts never wait for each other.
  const missing = [...byHash.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1))
  // One JSON text: the driver writes an array element by element, and looks for quotes in each, which held the loop for
  // 100 ms where fifty configs have many components.
  for (const some of bySize(missing))
    await tx.execute(
      `insert into config_contents (hash, body, components, created_at)
       select c.hash, c.body, c.components, $2
       from json_to_recordset($1::json) as c (hash text, body text, components jsonb) order by c.hash
       on conflict (hash) do update set body = config_contents.body`,
      [JSON.stringify(some.map(({ hash, body, components }) => ({ hash, body, components }))), now],
    )
}

/** How long the texts of one statement are together, in UTF-16 units; one that is longer goes alone. */
const STATEMENT_LENGTH = 512 * 1024

function* bySize(contents: readonly ConfigContent[]): Generator<readonly ConfigContent[]> {
  let some: ConfigContent[] = []
  let length = 0
  for (const content of contents) {
    if (some.length > 0 && length + content.body.length > STATEMENT_LENGTH) {
      yield some
      some = []
      length = 0
    }
    some.push(content)
    length += content.body.length
  }
  yield some
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

/** Which of these hashes are of texts that are kept. */
export async function listKnownHashes(db: Db, hashes: readonly string[]): Promise<Set<string>> {
  if (hashes.length === 0) return new Set()
  const rows = await db.query<{ hash: string }>(
    'select hash from config_contents where hash = any($1::text[])',
    [hashes],
  )
  return new Set(rows.map(({ hash }) => hash))
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
