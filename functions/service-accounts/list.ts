import { array } from 'superstruct'
import { listServiceAccounts } from '../../lib/store/service-accounts.ts'
import { ServiceAccountRecord } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toServiceAccountRecord } from './_service-account-record.ts'

/** All service accounts, by name. */
export default defineHttp({
  route: 'GET /api/service-accounts',
  summary: 'List the service accounts.',
  access: signedIn('users:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The accounts, 1,000 at most.', json: array(ServiceAccountRecord) }],
  errors: [],
  async handle(_, ctx) {
    return json((await listServiceAccounts(ctx.db)).map(toServiceAccountRecord))
  },
})
