import { string, type } from 'superstruct'
import { labelWorkload } from '../../lib/changes/label-workload.ts'
import { LABEL_ERRORS, refuseLabels } from '../../lib/selectors/read-selector.ts'
import { TrustedLabels, TrustedLabelsRequest } from '../../lib/wire/workloads.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import { toTrustedLabels } from './_trusted-labels-record.ts'

/** Replace the labels that operators set on a workload, which push groups and policy trust. */
export default defineHttp({
  route: 'PUT /api/workloads/:id/trusted-labels',
  summary: "Replace a workload's trusted labels.",
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: jsonBody(TrustedLabelsRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'The labels as stored.', json: TrustedLabels }],
  errors: [...LABEL_ERRORS, 'workload-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    const refusal = refuseLabels(body.labels)
    if (refusal !== null) return problemOf(refusal)
    const labels = Object.fromEntries(Object.entries(body.labels).sort(([a], [b]) => (a < b ? -1 : 1)))
    const outcome = await labelWorkload<never>(ctx, params.id, () => ({ ok: true, labels }), actor)
    if (outcome.ok) return json(toTrustedLabels(ctx, params.id, outcome.stricterUntil))
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
