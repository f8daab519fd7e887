import { rollBackToDefault } from '../../lib/changes/perform-rollback.ts'
import { DefaultRollbackAccepted } from '../../lib/wire/rollback.ts'
import { defineHttp, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain } from '../../runtime/reach.ts'
import { accepted } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'
import { ROLLBACK_ERRORS, refuseRollback, rollbackBody } from './_rollback-replies.ts'

/** Go back to the pinned known-good config, or else to what was applied before. */
export default defineHttp({
  route: 'POST /api/workloads/:id/rollback',
  summary: 'Roll back to the known-good config, or to the previous one.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.guided_rollback',
  params: workloadParams,
  query: noQuery,
  body: rollbackBody,
  replies: [{ status: 202, description: 'The rollback is under way.', json: DefaultRollbackAccepted }],
  errors: ['out-of-scope', 'workload-not-found', 'no-rollback-target', ...ROLLBACK_ERRORS],
  async handle({ params, body: { comment }, actor }, ctx) {
    const stillMay = askAgain(actor, ctx, 'workload:push_config')
    const outcome = await rollBackToDefault(ctx, { workloadId: params.id, comment, actor, stillMay })
    if (!outcome.ok) return refuseRollback(outcome)
    const reply: DefaultRollbackAccepted = {
      status: 'rollback initiated',
      config_hash: outcome.push.hash,
      push_id: outcome.push.pushId,
      target_kind: outcome.targetKind === 'last_known_good' ? 'last_known_good' : 'previous',
      policy_findings: [...outcome.policyFindings],
    }
    return accepted(reply)
  },
})
