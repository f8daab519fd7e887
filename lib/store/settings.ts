import { type SettingName, STORED_SETTINGS } from '../model/stored-settings.ts'
import type { Db } from './db.ts'

/** A setting that an administrator stored. */
export interface StoredSetting {
  value: string
  updatedAt: Date
  /** The email of who stored it. */
  updatedBy: string
}

/** One setting; null when nobody stored it. */
export async function findSetting(db: Db, name: SettingName): Promise<StoredSetting | null> {
  const rows = await db.query<{ value: string; updated_at: Date; updated_by: string }>(
    `select value, updated_at, updated_by from settings where name = $1`,
    [name],
  )
  const row = rows[0]
  return row ? { value: row.value, updatedAt: row.updated_at, updatedBy: row.updated_by } : null
}

/** Store a setting over what was there. */
export async function storeSetting(tx: Db, name: SettingName, setting: StoredSetting): Promise<void> {
  await tx.execute(
    `insert into settings (name, value, updated_at, updated_by) values ($1, $2, $3, $4)
     on conflict (name) do update
       set value = excluded.value, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    [name, setting.value, setting.updatedAt, setting.updatedBy],
  )
}

/** Forget a setting, so that its default counts again. */
export async function removeSetting(tx: Db, name: SettingName): Promise<void> {
  await tx.execute(`delete from settings where name = $1`, [name])
}

/** The names of stored settings that cannot be read. */
export async function listUnreadableSettings(db: Db): Promise<string[]> {
  const rows = await db.query<{ name: string; value: string }>(
    `select name, value from settings where name = any($1) order by name`,
    [Object.keys(STORED_SETTINGS)],
  )
  return rows
    .filter(({ name, value }) => STORED_SETTINGS[name as SettingName](value) === null)
    .map(({ name }) => name)
}
