import { optional, string, type } from 'superstruct'
import { isStorable } from '../../lib/model/storable.ts'
import { listAdministratorNames, listNamesOf } from '../../lib/store/users.ts'
import { PeopleNames } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** People that are named in one answer. */
const NAMED_MAX = 200
/** Whoever needs one asks one of the first. */
const ADMINISTRATORS_MAX = 3

/** What people are called, for whatever names them by their ids alone; and whom to ask for what only an administrator may. */
export default defineHttp({
  route: 'GET /api/people',
  summary: 'What people are called, and who is an administrator.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ ids: optional(string()) }),
  body: noBody,
  replies: [
    { status: 200, description: 'The names; of more than 200 ids the first 200.', json: PeopleNames },
  ],
  errors: [],
  async handle({ query }, ctx) {
    const ids = [...new Set((query.ids ?? '').split(','))].filter(isStorable).slice(0, NAMED_MAX)
    const people = await listNamesOf(ctx.db, ids)
    return json({ people, administrators: await listAdministratorNames(ctx.db, ADMINISTRATORS_MAX) })
  },
})
