import { object } from 'superstruct'
import { ServiceAccountRecord, ServiceAccountUpdateRequest } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { TokenId } from '../tokens/_token-record.ts'
import { refuseServiceAccount, toServiceAccountRecord } from './_service-account-record.ts'

/** Change the person who answers for a service account, its groups, or both. */
export default defineHttp({
  route: 'PATCH /api/service-accounts/:id',
  summary: "Change a service account's owner or groups.",
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: object({ id: TokenId }),
  query: noQuery,
  body: jsonBody(ServiceAccountUpdateRequest),
  replies: [{ status: 200, description: 'The account as it is now.', json: ServiceAccountRecord }],
  errors: ['not-found', 'group-unknown', 'owner-unknown', 'service-account-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    const { owner_id: ownerId, groups } = body
    const change = {
      ...(ownerId === undefined ? {} : { ownerId }),
      ...(groups === undefined ? {} : { groups }),
    }
    const outcome = await ctx.identity.serviceAccounts.update(actor, params.id, change)
    return outcome.ok ? json(toServiceAccountRecord(outcome.account)) : refuseServiceAccount(outcome)
  },
})
