import { ServiceAccountCreateRequest, ServiceAccountRecord } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { created } from '../../runtime/reply.ts'
import { refuseServiceAccount, toServiceAccountRecord } from './_service-account-record.ts'

/** Add an account for machines, with a person who answers for it. */
export default defineHttp({
  route: 'POST /api/service-accounts',
  summary: 'Create a service account.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(ServiceAccountCreateRequest),
  replies: [{ status: 201, description: 'The new account.', json: ServiceAccountRecord }],
  errors: [
    'service-account-name-invalid',
    'group-unknown',
    'owner-unknown',
    'service-account-taken',
    'too-many-service-accounts',
    'audit-unavailable',
  ],
  async handle({ body, actor }, ctx) {
    const { name, owner_id: ownerId, groups } = body
    const outcome = await ctx.identity.serviceAccounts.create(actor, { name, ownerId, groups })
    return outcome.ok ? created(toServiceAccountRecord(outcome.account)) : refuseServiceAccount(outcome)
  },
})
