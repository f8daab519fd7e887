import { applyDesired } from '../../lib/desired/apply.ts'
import { DesiredRequest, DesiredResult } from '../../lib/wire/desired.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { refuseApproval } from '../approvals/_approval-replies.ts'
import { workloadParams } from '../workloads/_workload-path.ts'
import { tellUnknownAuthors } from './_unknown-authors.ts'

/** Bring a workload in line with what Git holds for it, by a request where something differs. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/desired',
  summary: 'Request what Git holds for a workload, where it differs from what is active.',
  access: signedIn('config:request', 'workload'),
  gate: 'config_safety.approvals',
  params: workloadParams,
  query: noQuery,
  body: jsonBody(DesiredRequest),
  replies: [{ status: 200, description: 'What is done about it.', json: DesiredResult }],
  errors: [
    'owner-invalid',
    'owner-taken',
    'approval-drafts-too-large',
    'draft-empty',
    'text-not-storable',
    'text-too-long',
    'workload-not-found',
    'managed-elsewhere',
    'remote-config-unsupported',
    'nothing-changes',
    'production-confirmation-required',
    'configuration-invalid',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    if (body.config.trim() === '') return problem('draft-empty')
    const outcome = await applyDesired(ctx, {
      workloadId: params.id,
      actor,
      owner: body.owner,
      draftYaml: body.config,
      commitSha: body.commit_sha,
      commitAuthor: body.commit_author,
      commitAuthors: body.commit_authors,
      again: body.again,
      mayPush: actor.permissions.has('workload:push_config'),
      isDryRun: body.dry_run,
    })
    if (!outcome.ok) return refuseApproval(outcome)
    const { verdict, hash, activeHash, proposed } = outcome
    const approval = proposed ?? ('approval' in verdict ? verdict.approval : null)
    const result: DesiredResult = {
      workload_id: params.id,
      action: verdict.action,
      config_hash: hash,
      ...('reason' in verdict && verdict.reason !== null ? { reason: verdict.reason } : {}),
      ...(activeHash === null ? {} : { active_config_hash: activeHash }),
      ...(approval === null ? {} : { approval_id: approval.id }),
      ...(await tellUnknownAuthors(ctx, verdict.action, body)),
    }
    return json(result)
  },
})
