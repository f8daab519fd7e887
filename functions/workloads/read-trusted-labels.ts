import { keptUntil } from '../../lib/changes/reviews.ts'
import { findKeptSince } from '../../lib/store/reviews.ts'
import { TrustedLabels } from '../../lib/wire/workloads.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { toTrustedLabels } from './_trusted-labels-record.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** The trusted labels of a workload: what operators set, and what rules give. */
export default defineHttp({
  route: 'GET /api/workloads/:id/trusted-labels',
  summary: "Read a workload's trusted labels, and where they are from.",
  access: signedIn(null, 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The labels.', json: TrustedLabels }],
  errors: ['workload-not-found'],
  async handle({ params }, ctx) {
    if (findWorkload(ctx, params.id) === null) return problem('workload-not-found')
    const doneAt = await findKeptSince(ctx.db, params.id)
    return json(toTrustedLabels(ctx, params.id, doneAt === null ? null : keptUntil({ doneAt })))
  },
})
