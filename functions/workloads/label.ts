import { labelRevision } from '../../lib/changes/label-revision.ts'
import { LabelRequest, RevisionLabel } from '../../lib/wire/revisions.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, revisionParams } from './_workload-path.ts'

const LABEL_MAX = 128
const INVALID = 'invalid JSON body'

/** Name a revision. The label belongs to the hash: all its pushes carry it, later ones included. */
export default defineHttp({
  route: 'POST /api/workloads/:id/configs/:hash/label',
  summary: 'Set or clear the label of a config revision.',
  access: signedIn('workload:push_config', 'workload'),
  gate: null,
  params: revisionParams,
  query: noQuery,
  body: jsonBody(LabelRequest, { bytesMax: 65_536, invalidText: INVALID }),
  replies: [{ status: 200, description: 'The label as it is now.', json: RevisionLabel }],
  errors: ['invalid-body', 'label-too-long', 'workload-not-found', 'revision-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    const label = body.label.trim()
    if ([...label].length > LABEL_MAX) return problem('label-too-long', { max: LABEL_MAX })
    if (label.includes('\0')) return problem('invalid-body', { error: INVALID })
    if (findWorkload(ctx, params.id) === null) return problem('workload-not-found')
    const request = { workloadId: params.id, hash: params.hash, label, actor }
    const outcome = await labelRevision(ctx, request)
    if (outcome.ok) return json({ label })
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
