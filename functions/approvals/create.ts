import { createApproval } from '../../lib/changes/create-approval.ts'
import { isGitGroup } from '../../lib/model/git-group.ts'
import { ApprovalCreateRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { created, problem } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'
import { readApproval } from './_approval-of.ts'
import { refuseApproval } from './_approval-replies.ts'

/** Ask for a draft to be run on a workload. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals',
  summary: 'Request the approval of a config draft.',
  access: signedIn('config:request', 'workload'),
  gate: 'config_safety.approvals',
  params: workloadParams,
  query: noQuery,
  body: jsonBody(ApprovalCreateRequest, { invalidText: 'invalid approval request body' }),
  replies: [{ status: 201, description: 'The pending request.', json: ApprovalRecord }],
  errors: [
    'approval-drafts-too-large',
    'draft-empty',
    'production-confirmation-required',
    'text-not-storable',
    'text-too-long',
    'workload-not-found',
    'remote-config-unsupported',
    'nothing-changes',
    'config-quarantined',
    'group-reserved',
    'configuration-invalid',
    'server-busy',
    'session-required',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    if (isGitGroup(body.target_group)) return problem('group-reserved')
    const outcome = await createApproval(ctx, {
      workloadId: params.id,
      actor,
      draftYaml: body.draft_yaml,
      comment: body.comment,
      targetGroup: body.target_group,
      targetEnv: body.target_env,
      prodConfirmation: body.prod_confirmation,
      retryQuarantined: body.retry_quarantined,
    })
    return outcome.ok
      ? created(await readApproval(ctx, outcome.approval, actor.userId))
      : refuseApproval(outcome)
  },
})
