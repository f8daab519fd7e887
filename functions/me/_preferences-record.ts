import type { Preferences } from '../../lib/store/preferences.ts'
import type { Preferences as PreferencesRecord } from '../../lib/wire/identity.ts'

/** A user's preferences as the wire shows them. */
export function toPreferencesRecord(userId: string, preferences: Preferences): PreferencesRecord {
  const { theme, language, updatedAt } = preferences
  return { user_id: userId, theme, language, ...(updatedAt ? { updated_at: updatedAt.toISOString() } : {}) }
}
