import { optional, string, type } from 'superstruct'
import type { Permission } from '../../lib/model/permissions.ts'
import { scopesOf } from '../../lib/model/scopes.ts'
import { isStorable } from '../../lib/model/storable.ts'
import { listAdministratorNames, listNamesOf } from '../../lib/store/users.ts'
import { PeopleNames } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** People that are named in one answer. */
const NAMED_MAX = 200
/** Whoever needs one asks one of the first. */
const ADMINISTRATORS_MAX = 3

/** A token has names where it reads or asks for what names people by their ids. */
const NAMING: readonly Permission[] = ['reports:export', 'config:request']

/**
 * What people are called, for whatever names them by their ids alone; and, for people, whom to ask for what only an
 * administrator may. A token that may neither export nor ask is told nobody's name: it may lie in anybody's hands.
 */
export default defineHttp({
  route: 'GET /api/people',
  summary:
    'What people are called, to tokens with `reports:export` or `config:request`; and some administrators, to people only.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ ids: optional(string()) }),
  body: noBody,
  replies: [
    { status: 200, description: 'The names; of more than 200 ids the first 200.', json: PeopleNames },
  ],
  errors: [],
  async handle({ query, actor }, ctx) {
    const isPerson = actor.apiToken === null
    const mayName = isPerson || NAMING.some((permission) => scopesOf(actor.grants, permission)?.length !== 0)
    const ids = [...new Set((mayName ? (query.ids ?? '') : '').split(','))]
      .filter(isStorable)
      .slice(0, NAMED_MAX)
    const people = await listNamesOf(ctx.db, ids)
    const administrators = isPerson ? await listAdministratorNames(ctx.db, ADMINISTRATORS_MAX) : []
    return json({ people, administrators })
  },
})
