import { object } from 'superstruct'
import { ServiceAccountChanged, ServiceAccountUpdateRequest } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { TokenId, toTokenRecord } from '../tokens/_token-record.ts'
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
  replies: [{ status: 200, description: 'The account as it is now.', json: ServiceAccountChanged }],
  errors: ['not-found', 'group-unknown', 'owner-unknown', 'service-account-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    const { owner_id: ownerId, groups } = body
    const change = {
      ...(ownerId === undefined ? {} : { ownerId }),
      ...(groups === undefined ? {} : { groups }),
    }
    const outcome = await ctx.identity.serviceAccounts.update(actor, params.id, change)
    if (!outcome.ok) return refuseServiceAccount(outcome)
    const { account, seenBefore = [] } = outcome
    return json({
      ...toServiceAccountRecord(account),
      ...(seenBefore.length === 0 ? {} : { tokens_of_former_owner: seenBefore.map(toTokenRecord) }),
    })
  },
})
