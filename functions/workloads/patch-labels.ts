import { labelWorkload } from '../../lib/changes/label-workload.ts'
import type { Workload } from '../../lib/fleet/state/model.ts'
import { type Refusal, refuse } from '../../lib/model/refusal.ts'
import {
  FREE_SELECTOR_RULES,
  LABEL_ERRORS,
  type LabelRefusal,
  readSelector,
  refuseLabels,
  SELECTOR_ERRORS,
  tidySelector,
} from '../../lib/selectors/read-selector.ts'
import { openSelector, toSelectable } from '../../lib/selectors/selector.ts'
import { mapInTurns } from '../../lib/turns.ts'
import { LabelsPatch, LabelsPatched } from '../../lib/wire/labels-patch.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'

/** Workloads that one call can label: each is a change with an audit record of its own. */
const WORKLOADS_MAX = 500
const CHUNK = 200

/**
 * Labels beside those that a workload has. Beside some that cannot be read none are set: nobody knows what all of them
 * would say then, and the workload would no longer count as one of which that is not known.
 */
function merge(
  workload: string,
  { handLabels, hasUnreadableLabels }: Pick<Workload, 'handLabels' | 'hasUnreadableLabels'>,
  more: Workload['handLabels'],
): { ok: true; labels: Workload['handLabels'] } | LabelRefusal | Refusal<'labels-unreadable'> {
  if (hasUnreadableLabels) return refuse('labels-unreadable', { workload })
  const labels = { ...handLabels, ...more }
  return refuseLabels(labels) ?? { ok: true, labels }
}

/** Set trusted labels on all workloads that a selector means or that are named, beside those that they have. */
export default defineHttp({
  route: 'PATCH /api/workloads/labels',
  summary: 'Merge trusted labels into those of every workload that a selector means or that is named.',
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(LabelsPatch, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'How many were, or would be, changed.', json: LabelsPatched }],
  errors: [
    ...SELECTOR_ERRORS,
    ...LABEL_ERRORS,
    'labels-reach-too-many',
    'labels-unreadable',
    'workload-ids-invalid',
    'audit-unavailable',
  ],
  async handle({ body, actor }, ctx) {
    const named = body.workload_ids ?? []
    if (named.length > WORKLOADS_MAX) return problem('workload-ids-invalid', { max: WORKLOADS_MAX })
    const isByName = named.length > 0 && Object.keys(tidySelector(body.selector)).length === 0
    const read = isByName ? null : readSelector(body.selector, FREE_SELECTOR_RULES)
    if (read?.ok === false) return problemOf(read)
    const ids = new Set(named)
    const refusal = refuseLabels(body.labels)
    if (refusal !== null) return problemOf(refusal)
    const wanted = Object.entries(body.labels)
    const isSelected = read === null ? null : openSelector(read.selector)
    const meant = await mapInTurns(ctx.fleet.state.workloads.values(), CHUNK, (workload) =>
      workload.archivedAt === null &&
      (ids.has(workload.id) || isSelected?.(toSelectable(workload)) === true) &&
      wanted.some(([key, value]) => workload.handLabels[key] !== value)
        ? workload
        : null,
    )
    const workloads = meant.filter((workload) => workload !== null)
    if (workloads.length > WORKLOADS_MAX) return problem('labels-reach-too-many', { max: WORKLOADS_MAX })
    const unread = workloads.find(({ hasUnreadableLabels }) => hasUnreadableLabels)
    if (unread !== undefined) return problem('labels-unreadable', { workload: unread.id })
    if (body.dry_run) return json({ changed_count: workloads.length } satisfies LabelsPatched)
    let changed = 0
    for (const { id } of workloads) {
      const outcome = await labelWorkload(ctx, id, (before) => merge(id, before, body.labels), actor)
      if (outcome.ok) changed++
      else if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
      // A workload that was deleted meanwhile is passed over.
      else if (outcome.code !== 'workload-not-found')
        return problem(outcome.code, { ...outcome.details, changed_count: changed })
    }
    return json({ changed_count: changed } satisfies LabelsPatched)
  },
})
