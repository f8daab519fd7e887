import { agentAddress } from '../../lib/opamp/agent-address.ts'
import { AgentAddress } from '../../lib/wire/connect.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** Where a new collector connects to. Everybody may know it; the credential is another matter. */
export default defineHttp({
  route: 'GET /api/connect',
  summary: 'The address for collectors, as this service knows it, and whether they need a credential.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The address.', json: AgentAddress }],
  errors: [],
  async handle(request, ctx) {
    const { agentUrl, publicUrl, opampAddress, opampSharedSecret } = ctx.config
    const address: AgentAddress = {
      ...agentAddress({
        agentUrl,
        publicUrl,
        opampAddress,
        requestHost: request.header('host'),
        isSecure: request.isSecure,
      }),
      needs_secret: opampSharedSecret !== '',
    }
    return json(address)
  },
})
