import { CapabilityDocument } from '../../lib/wire/capabilities.ts'
import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** What this edition can do, for clients that adapt to it. It grants nothing. */
export default defineHttp({
  route: 'GET /api/v1/capabilities',
  summary: 'The capability document.',
  access: publicAccess('discovery metadata, the same for everybody'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The document.', json: CapabilityDocument }],
  errors: [],
  handle: (_, ctx) => json(ctx.edition.capabilities),
})
