import type { LANGUAGES, THEMES } from '../wire/values.ts'
import type { Db } from './db.ts'

/** How a user likes the console. */
export interface Preferences {
  theme: (typeof THEMES)[number]
  language: (typeof LANGUAGES)[number]
  /** Null while the user never chose. */
  updatedAt: Date | null
}

/** The preferences of a user who never chose. */
export const DEFAULT_PREFERENCES: Preferences = { theme: 'system', language: 'en', updatedAt: null }

/** A user's preferences, or the defaults. */
export async function readPreferences(db: Db, userId: string): Promise<Preferences> {
  const rows = await db.query<Pick<Preferences, 'theme' | 'language'> & { updated_at: Date }>(
    'SELECT theme, language, updated_at FROM user_preferences WHERE user_id = $1',
    [userId],
  )
  const row = rows[0]
  return row ? { theme: row.theme, language: row.language, updatedAt: row.updated_at } : DEFAULT_PREFERENCES
}

/** Keep a user's preferences; false when the user is gone. */
export async function savePreferences(
  tx: Db,
  userId: string,
  { theme, language, updatedAt }: Preferences & { updatedAt: Date },
): Promise<boolean> {
  const saved = await tx.execute(
    `INSERT INTO user_preferences (user_id, theme, language, updated_at)
     SELECT id, $2, $3, $4 FROM users WHERE id = $1
     ON CONFLICT (user_id) DO UPDATE
       SET theme = excluded.theme, language = excluded.language, updated_at = excluded.updated_at`,
    [userId, theme, language, updatedAt],
  )
  return saved > 0
}
