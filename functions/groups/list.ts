import { array } from 'superstruct'
import { countGroupMembers, listGroups } from '../../lib/store/groups.ts'
import { ManagedGroupRecord } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toManagedGroupRecord } from './_group-record.ts'

/** All groups of users, those of the system first. */
export default defineHttp({
  route: 'GET /api/groups',
  summary: 'List the groups of users, with role and scope.',
  access: signedIn('users:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The groups, 500 at most.', json: array(ManagedGroupRecord) }],
  errors: [],
  async handle(_, ctx) {
    const counts = await countGroupMembers(ctx.db)
    return json(
      (await listGroups(ctx.db)).map((group) => toManagedGroupRecord(group, counts.get(group.id) ?? 0)),
    )
  },
})
