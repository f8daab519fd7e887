import { markKnownGood, type PinOutcome, toKnownGoodRecord } from '../../lib/changes/known-good.ts'
import { KnownGoodMarked, KnownGoodRequest } from '../../lib/wire/rollback.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain } from '../../runtime/reach.ts'
import { json, problem, type Reply } from '../../runtime/reply.ts'
import { revisionParams } from '../workloads/_workload-path.ts'

const REASON_MAX = 256

function refusePin(outcome: Exclude<PinOutcome, { ok: true }>): Reply {
  switch (outcome.code) {
    case 'audit-unavailable':
      return auditUnavailable(outcome)
    case 'configuration-invalid':
      return problem(outcome.code, { validation_errors: outcome.validationErrors })
    case 'known-good-conflict':
      return problem(outcome.code, { current_known_good: outcome.currentHash })
    default:
      return problem(outcome.code)
  }
}

/**
 * Pin the config that failed pushes go back to. Another pin is replaced only where the caller names it or forces it.
 */
export default defineHttp({
  route: 'POST /api/workloads/:id/configs/:hash/known-good',
  summary: 'Pin a config as known good.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.guided_rollback',
  params: revisionParams,
  query: noQuery,
  body: jsonBody(KnownGoodRequest, {
    bytesMax: 1_024,
    invalidText: 'invalid JSON body',
    whenAbsent: { replace_reason: '', if_current_known_good: null, force: false },
  }),
  replies: [
    { status: 200, description: 'Replaced, or unchanged.', json: KnownGoodMarked },
    { status: 201, description: 'Pinned for the first time.', json: KnownGoodMarked },
  ],
  errors: [
    'out-of-scope',
    'replace-reason-too-long',
    'workload-not-found',
    'revision-not-found',
    'workload-archived',
    'config-not-applied',
    'approved-for-less',
    'config-not-approved',
    'config-content-unavailable',
    'configuration-invalid',
    'known-good-conflict',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const replaceReason = body.replace_reason.trim()
    if ([...replaceReason].length > REASON_MAX || replaceReason.includes('\0'))
      return problem('replace-reason-too-long', { max: REASON_MAX })
    const outcome = await markKnownGood(ctx, {
      workloadId: params.id,
      hash: params.hash,
      actor,
      replaceReason,
      stillMay: askAgain(actor, ctx, 'workload:push_config'),
      ifCurrent: body.if_current_known_good,
      isForced: body.force,
    })
    if (!outcome.ok) return refusePin(outcome)
    const answer: KnownGoodMarked = {
      changed: outcome.hasChanged,
      replaced_config_id: outcome.hasChanged ? (outcome.pin.replacedHash ?? '') : '',
      known_good: toKnownGoodRecord(outcome.pin),
    }
    return json(answer, outcome.isFirst ? 201 : 200)
  },
})
