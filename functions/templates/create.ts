import { uuidv7 } from '../../lib/ids.ts'
import { configHash } from '../../lib/model/config-hash.ts'
import { refuse } from '../../lib/model/refusal.ts'
import { isStorable } from '../../lib/model/storable.ts'
import { insertTemplate, measureTemplatesOf, type Template } from '../../lib/store/templates.ts'
import { TemplateCreateRequest, TemplateRecord } from '../../lib/wire/templates.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { created, problem, problemOf } from '../../runtime/reply.ts'
import { toTemplateRecord } from './_template-record.ts'

const trimTags = (tags: readonly string[]): string[] => [
  ...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== '')),
]

/** So much text the templates of one account hold: they stay for good, and a token may make them too. */
const OWN_MIB_MAX = 64

/** Store a config as a template; the same content again is a template of its own. */
export default defineHttp({
  route: 'POST /api/configs',
  summary: 'Store a config template.',
  access: signedIn('config:create', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(TemplateCreateRequest),
  replies: [{ status: 201, description: 'The new template.', json: TemplateRecord }],
  errors: ['name-and-content-required', 'template-text-invalid', 'templates-too-large', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    if (body.name === '' || body.content === '') return problem('name-and-content-required')
    const texts = [body.name, body.content, body.category, body.stack, ...body.tags]
    if (!texts.every(isStorable)) return problem('template-text-invalid')
    const now = ctx.clock.now()
    const isDraft = body.kind === 'draft'
    const template: Template = {
      id: uuidv7(now, ctx.random),
      name: body.name,
      content: body.content,
      kind: isDraft ? 'draft' : 'saved',
      status: isDraft ? 'draft' : 'ready',
      category: body.category.trim(),
      stack: body.stack.trim(),
      tags: trimTags(body.tags),
      sourceType: body.source_type === 'migration_assistant' ? 'migration_assistant' : 'manual',
      createdBy: actor.userId,
      createdAt: now,
    }
    const stored = await ctx.db.change('template.create', actor, async (tx) => {
      await insertTemplate(tx, template)
      if ((await measureTemplatesOf(tx, actor.userId)) > OWN_MIB_MAX * 1_048_576)
        return refuse('templates-too-large', { max: OWN_MIB_MAX })
      await tx.record({
        action: 'config.create',
        resource: 'config',
        resourceId: template.id,
        configHash: configHash(template.content),
        detail: JSON.stringify({ name: template.name.slice(0, 200), kind: template.kind }),
      })
      return { ok: true }
    })
    if (stored.ok) return created(toTemplateRecord(template))
    return stored.code === 'audit-unavailable' ? auditUnavailable(stored) : problemOf(stored)
  },
})
