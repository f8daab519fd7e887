import { string, type } from 'superstruct'
import { BUILT_IN_TEMPLATES, toBuiltInRecord } from '../../lib/configs/templates.ts'
import { findTemplate } from '../../lib/store/templates.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { toTemplateRecord } from './template-record.ts'

/** One template with its content. */
export default defineHttp({
  route: 'GET /api/configs/:id',
  summary: 'Read one config template.',
  access: signedIn('config:read_content'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The template.', contentType: 'application/json' }],
  errors: ['config-not-found'],
  async handle({ params }, ctx) {
    const builtIn = BUILT_IN_TEMPLATES.find((template) => template.id === params.id)
    if (builtIn !== undefined) return json(toBuiltInRecord(builtIn, true))
    const stored = await findTemplate(ctx.db, params.id)
    return stored === null ? problem('config-not-found') : json(toTemplateRecord(stored))
  },
})
