import { rollBackToHash } from '../../lib/changes/perform-rollback.ts'
import { ROLLBACK_TIMEOUT_SECONDS } from '../../lib/changes/prepare-rollback.ts'
import { RollbackAccepted } from '../../lib/wire/rollback.ts'
import { defineHttp, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain } from '../../runtime/reach.ts'
import { accepted } from '../../runtime/reply.ts'
import { revisionParams } from '../workloads/_workload-path.ts'
import { ROLLBACK_ERRORS, refuseRollback, rollbackBody } from './_rollback-replies.ts'

/** Push a config of the history again. A push that is pending does not hold it back. */
export default defineHttp({
  route: 'POST /api/workloads/:id/configs/:hash/rollback',
  summary: 'Roll back to an earlier config of the workload.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.guided_rollback',
  params: revisionParams,
  query: noQuery,
  body: rollbackBody,
  replies: [{ status: 202, description: 'The rollback is under way.', json: RollbackAccepted }],
  errors: [
    'out-of-scope',
    'workload-not-found',
    'target-not-found',
    'target-not-applied',
    'target-not-approved',
    'target-content-unavailable',
    ...ROLLBACK_ERRORS,
  ],
  async handle({ params, body: { comment }, actor }, ctx) {
    const stillMay = askAgain(actor, ctx, 'workload:push_config')
    const outcome = await rollBackToHash(ctx, {
      workloadId: params.id,
      hash: params.hash,
      comment,
      actor,
      stillMay,
    })
    if (!outcome.ok) return refuseRollback(outcome)
    const { push, requestId, policyFindings } = outcome
    const reply: RollbackAccepted = {
      schema_version: 'guided-rollback-action.v1',
      request_id: requestId,
      status: 'accepted',
      message: 'rollback initiated',
      workload_id: push.workloadId,
      target_hash: push.hash,
      config_hash: push.hash,
      push_id: push.pushId,
      history_row: {
        workload_id: push.workloadId,
        config_id: push.hash,
        applied_at: push.submittedAt.toISOString(),
        status: 'pending',
        pushed_by: push.pushedBy,
      },
      status_url: `/api/workloads/${push.workloadId}/rollback/status?request_id=${requestId}`,
      timeout_seconds: ROLLBACK_TIMEOUT_SECONDS,
      audit: { event: 'config.rollback', emitted: true },
      policy_findings: [...policyFindings],
    }
    return accepted(reply)
  },
})
