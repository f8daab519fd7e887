import { string, type } from 'superstruct'
import { BUILT_IN_TEMPLATES, toBuiltInRecord } from '../../lib/configs/templates/built-in.ts'
import { findActiveConfig } from '../../lib/store/config-contents.ts'
import { findTemplate } from '../../lib/store/templates.ts'
import { TemplateRecord } from '../../lib/wire/templates.ts'
import type { Context } from '../../runtime/context.ts'
import { type Actor, defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { holdsOn } from '../../runtime/reach.ts'
import { json, problem } from '../../runtime/reply.ts'
import { toActiveConfigRecord, toTemplateRecord } from './_template-record.ts'

const HASH = /^[0-9a-f]{64}$/

/** Whether a config is that of a workload on which the caller may read it. Templates are of no workload. */
const isActiveFor = (ctx: Context, actor: Actor, hash: string): boolean =>
  actor.permissions.has('config:read_content') ||
  [...ctx.fleet.state.workloads.values()].some(
    ({ id, active }) => active?.push.hash === hash && holdsOn(actor, 'config:read_content', ctx, id),
  )

/** One template with its content, or the config that a workload should run. */
export default defineHttp({
  route: 'GET /api/configs/:id',
  summary: 'Read one config template, or by its hash a config that a workload should run.',
  access: signedIn('config:read_content', 'handler'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The template.', json: TemplateRecord }],
  errors: ['config-not-found'],
  async handle({ params, actor }, ctx) {
    const builtIn = BUILT_IN_TEMPLATES.find((template) => template.id === params.id)
    if (builtIn !== undefined) return json(toBuiltInRecord(builtIn, true))
    const stored = await findTemplate(ctx.db, params.id)
    if (stored !== null) return json(toTemplateRecord(stored))
    // A workload's `active_config_id` is the hash of a config that nobody stored as a template.
    const isSeen = HASH.test(params.id) && isActiveFor(ctx, actor, params.id)
    const active = isSeen ? await findActiveConfig(ctx.db, params.id) : null
    return active === null ? problem('config-not-found') : json(toActiveConfigRecord(active))
  },
})
