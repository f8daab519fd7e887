import { array } from 'superstruct'
import { listLinkRequests } from '../../lib/store/external-users.ts'
import { LinkRequestRecord } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

const SHOWN_MAX = 500

/** People of the identity provider who have the e-mail of a local user, the newest first. */
export default defineHttp({
  route: 'GET /api/link-requests',
  summary: 'List the people of the identity provider who have the e-mail of a local user.',
  access: signedIn('users:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The newest 500.', json: array(LinkRequestRecord) }],
  errors: [],
  async handle(_, ctx) {
    const requests = await listLinkRequests(ctx.db, SHOWN_MAX)
    return json(
      requests.map(
        ({ id, userId, email, issuer, subject, requestedAt }): LinkRequestRecord => ({
          id,
          user_id: userId,
          email,
          issuer,
          subject,
          requested_at: requestedAt.toISOString(),
        }),
      ),
    )
  },
})
