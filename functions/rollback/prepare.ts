import { optional, string, type } from 'superstruct'
import { type PreparedRollback, prepareRollback } from '../../lib/changes/prepare-rollback.ts'
import { RollbackPrepare } from '../../lib/wire/rollback.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'
import { refuseRollback } from './_rollback-replies.ts'

/** What a rollback would change, and whether it can be done. It holds YAML. */
export default defineHttp({
  route: 'GET /api/workloads/:id/rollback/prepare',
  summary: 'Look at a rollback before it is done.',
  access: signedIn('config:read_content', 'workload'),
  gate: 'config_safety.guided_rollback',
  params: workloadParams,
  query: type({ target_hash: optional(string()), target_selector: optional(string()) }),
  body: noBody,
  replies: [
    {
      status: 200,
      description: 'Both configs, their difference and the checks.',
      json: RollbackPrepare,
    },
  ],
  errors: [
    'invalid-rollback-request',
    'workload-not-found',
    'workload-archived',
    'known-good-not-found',
    'target-not-found',
    'target-not-applied',
    'target-not-approved',
    'server-busy',
  ],
  async handle({ params, query, actor }, ctx) {
    // An empty parameter is an absent one.
    const hash = query.target_hash || undefined
    const selector = query.target_selector || undefined
    if ((hash === undefined) === (selector === undefined))
      return problem('invalid-rollback-request', {
        error: 'name either target_hash or target_selector',
        retryable: false,
      })
    if (selector !== undefined && selector !== 'known_good')
      return problem('invalid-rollback-request', {
        error: 'target_selector must be known_good',
        retryable: false,
      })
    const outcome = await prepareRollback(ctx, { workloadId: params.id, hash: hash ?? null, actor })
    if (!outcome.ok) return refuseRollback(outcome)
    const { action, target_ref: target } = outcome.prepared
    return json({ ...outcome.prepared, action: actionOf(target.workload_id, target.target_hash, action) })
  },
})

/** The action that a page can offer: its address and label, and what is in its way. */
function actionOf(
  workloadId: string,
  hash: string,
  action: PreparedRollback['action'],
): RollbackPrepare['action'] {
  return {
    can_submit: action.can_submit,
    submit_url: `/api/workloads/${workloadId}/configs/${hash}/rollback`,
    method: 'POST',
    requires_confirmation: true,
    confirmation_label: action.warnings.length > 0 ? 'Confirm rollback with warnings' : 'Confirm rollback',
    blocking_reasons: action.blocking_reasons,
    warnings: action.warnings,
  }
}
