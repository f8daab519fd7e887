import type { UsedComponent } from '../fleet/model.ts'
import type { Db } from './db.ts'

/** A config's text with the components it uses. */
export interface ConfigContent {
  hash: string
  body: string
  components: readonly UsedComponent[]
}

/** Keep a config's text; the same text again changes nothing. */
export async function storeContent(tx: Db, content: ConfigContent, now: Date): Promise<void> {
  await tx.execute(
    `insert into config_contents (hash, body, components, created_at) values ($1, $2, $3::jsonb, $4)
     on conflict (hash) do nothing`,
    [content.hash, content.body, JSON.stringify(content.components), now],
  )
}

/** The texts of these hashes. */
export async function findContents(db: Db, hashes: readonly string[]): Promise<ConfigContent[]> {
  return db.query<ConfigContent>(
    `select hash, body, components from config_contents where hash = any($1::text[]) order by hash`,
    [hashes],
  )
}

/** One config's text; null when there is none. */
export async function findContent(db: Db, hash: string): Promise<ConfigContent | null> {
  return (await findContents(db, [hash]))[0] ?? null
}
