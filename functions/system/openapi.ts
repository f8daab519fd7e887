import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { jsonText } from '../../runtime/reply.ts'

/** The OpenAPI document of this API, made from the functions' own metadata. */
export default defineHttp({
  route: 'GET /api/openapi.json',
  summary: 'Describe this API.',
  access: publicAccess('it says nothing that the product itself does not'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The OpenAPI 3.1 document.', contentType: 'application/json' }],
  errors: [],
  handle: (_request, ctx) => jsonText(ctx.openApi()),
})
