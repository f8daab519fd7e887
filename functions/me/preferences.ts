import { savePreferences } from '../../lib/store/preferences.ts'
import { Preferences, PreferencesRequest } from '../../lib/wire/identity.ts'
import { LANGUAGES, THEMES } from '../../lib/wire/values.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { toPreferencesRecord } from './_preferences-record.ts'

/** Which field cannot be taken, whether it is missing, and what it may be. */
const describeField = (field: string, found: string, known: readonly string[]) => ({
  field,
  reason: found === '' ? 'missing' : 'unknown',
  hint: `Send theme and language, both each time; ${field} is one of ${known.join(', ')}.`,
})

/** Store theme and language of the signed-in user; both are always sent. */
export default defineHttp({
  route: 'PUT /api/me/preferences',
  summary: "Set the signed-in user's theme and language.",
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(PreferencesRequest),
  replies: [{ status: 200, description: 'The preferences as stored.', json: Preferences }],
  errors: ['invalid-theme', 'invalid-language', 'unauthorized'],
  async handle({ body, actor }, ctx) {
    const theme = THEMES.find((known) => known === body.theme)
    if (!theme) return problem('invalid-theme', describeField('theme', body.theme, THEMES))
    const language = LANGUAGES.find((known) => known === body.language)
    if (!language) return problem('invalid-language', describeField('language', body.language, LANGUAGES))
    const preferences = { theme, language, updatedAt: ctx.clock.now() }
    // Sessions are cached, so one can outlive its user for a short time.
    const isSaved = await ctx.db.transaction('preferences.save', (tx) =>
      savePreferences(tx, actor.userId, preferences),
    )
    if (!isSaved) return problem('unauthorized')
    return json(toPreferencesRecord(actor.userId, preferences))
  },
})
