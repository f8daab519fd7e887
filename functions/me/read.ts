import { listUserGroups } from '../../lib/store/groups.ts'
import { readPreferences } from '../../lib/store/preferences.ts'
import { findPasswordHash } from '../../lib/store/users.ts'
import { Me } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toGroupRecord } from '../groups/_group-record.ts'
import { toPreferencesRecord } from './_preferences-record.ts'

/** The signed-in user, with groups, permissions and preferences. */
export default defineHttp({
  route: 'GET /api/me',
  summary: 'The signed-in user with groups, permissions and preferences.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The user.', json: Me }],
  errors: [],
  async handle({ actor }, ctx) {
    const groups = await listUserGroups(ctx.db, actor.userId)
    const preferences = await readPreferences(ctx.db, actor.userId)
    const scoped = actor.grants.flatMap(({ scope, permissions }) =>
      scope === null
        ? []
        : [{ scope: { key: scope.key, values: [...scope.values] }, permissions: [...permissions].sort() }],
    )
    const me: Me = {
      id: actor.userId,
      email: actor.email,
      groups: groups.map(toGroupRecord),
      permissions: [...actor.permissions].sort(),
      ...(scoped.length === 0 ? {} : { scoped }),
      ...((await findPasswordHash(ctx.db, actor.userId)) === null ? { has_password: false } : {}),
      preferences: toPreferencesRecord(actor.userId, preferences),
    }
    return json(me)
  },
})
