import { missingComponents } from '../../lib/configs/check/components.ts'
import type { StaticValidation } from '../../lib/configs/check/validate.ts'
import { BUILT_IN_TEMPLATES } from '../../lib/configs/templates/built-in.ts'
import type { Workload } from '../../lib/fleet/state/model.ts'
import { type PreviewedWorkload, previewPush } from '../../lib/posture/push-preview.ts'
import {
  FREE_SELECTOR_RULES,
  refuseSelector,
  SELECTOR_ERRORS,
  tidySelector,
} from '../../lib/selectors/read-selector.ts'
import { toSelectable } from '../../lib/selectors/selector.ts'
import { findPushGroup } from '../../lib/store/push-groups.ts'
import { findTemplate } from '../../lib/store/templates.ts'
import { PushPreview, PushPreviewRequest } from '../../lib/wire/pushes.ts'
import type { Context } from '../../runtime/context.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'

/** Workloads that are looked at in one turn of the event loop. */
const LOOKED_AT = 200

/** Which workloads a push group or a selector reaches, and which of them could run a config. */
export default defineHttp({
  route: 'POST /api/pushes/preview',
  summary: 'Preview whom a push group or a selector reaches.',
  access: signedIn('workload:push_config', 'filtered'),
  gate: 'config_safety.scoped_push',
  params: noParams,
  query: noQuery,
  body: jsonBody(PushPreviewRequest, { invalidText: 'invalid JSON body', isStrict: false }),
  replies: [{ status: 200, description: 'The preview.', json: PushPreview }],
  errors: [
    ...SELECTOR_ERRORS,
    'push-scope-required',
    'push-group-not-found',
    'config-not-found',
    'server-busy',
  ],
  async handle({ body, sight }, ctx) {
    const groupId = body.group_id.trim()
    if (groupId === '' && body.selector === undefined) return problem('push-scope-required')
    // A group wins over a selector that is sent as well.
    const group = groupId === '' || groupId.includes('\0') ? null : await findPushGroup(ctx.db, groupId)
    if (groupId !== '' && group === null) return problem('push-group-not-found')
    const refusal = group === null ? refuseSelector(body.selector ?? {}, FREE_SELECTOR_RULES) : null
    if (refusal !== null) return problemOf(refusal)
    const content = body.config_content || body.yaml || (await findConfig(ctx, body.config_id))
    if (content === null) return problem('config-not-found')
    const checked = content === '' ? null : await check(ctx, content)
    if (checked !== null && !checked.ok) return problem(checked.code)
    const request = {
      groupId: group?.id ?? null,
      selector: group?.selector ?? tidySelector(body.selector ?? {}),
      sees: sight.sees,
      faultOf: (workload: PreviewedWorkload) => (checked === null ? null : faultOf(workload, checked.found)),
    }
    const workloads = previewedOf([...ctx.fleet.state.workloads.values()])
    return json(await previewPush(workloads, request, { size: LOOKED_AT, clock: ctx.clock }))
  },
})

/** Workloads as they are when their turn comes; archived ones are left out. */
function* previewedOf(workloads: readonly Workload[]): Generator<PreviewedWorkload> {
  for (const workload of workloads) {
    const { id, displayName, status, lastSeenAt } = workload
    if (workload.archivedAt === null && !workload.isDeleted)
      yield { id, displayName, status, lastSeenAt, ...toSelectable(workload) }
  }
}

/** The content of a template; '' when none is named, null when there is no such one. */
async function findConfig(ctx: Context, id: string): Promise<string | null> {
  if (id === '') return ''
  const builtIn = BUILT_IN_TEMPLATES.find((template) => template.id === id)
  return builtIn?.content ?? (await findTemplate(ctx.db, id))?.content ?? null
}

function check(ctx: Context, content: string) {
  const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: ctx.clock.now() }
  return ctx.configs.check(content, about)
}

/** The first reason why a workload cannot run a config. */
function faultOf({ availableComponents }: PreviewedWorkload, found: StaticValidation): string | null {
  for (const { messages } of found.checks) {
    const error = messages.find((message) => message.severity === 'error')
    if (error !== undefined) return error.message
  }
  const available = availableComponents === null ? null : new Map(Object.entries(availableComponents))
  const [missing] = missingComponents(found.required, available)
  if (missing === undefined) return null
  return `${missing.category.slice(0, -1)} type "${missing.type}" is not installed on the target workload`
}
