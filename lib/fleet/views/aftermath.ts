import { judgeOutcome, type PushOutcome } from '../../model/push-outcome.ts'
import type { Push } from '../../store/pushes.ts'
import type { PushAftermath } from '../../wire/revisions.ts'
import type { Workload } from '../state/model.ts'
import { followedOf } from '../state/state.ts'
import { errorFields } from './errors.ts'
import { firstFailureOf } from './first-failure.ts'

interface Failed {
  seq: number
  hash: string
}

/** What of a workload says what became of a failed push. */
type Judged = Pick<Workload, 'pushSeq' | 'active' | 'rollout' | 'takenBack'> & {
  live: Pick<Workload['live'], 'runningCount'>
}

const KINDS: Record<PushOutcome, PushAftermath['kind']> = {
  applied: 'went_back',
  in_part: 'went_back_in_part',
  failed: 'rollback_failed',
  under_way: 'going_back',
  overtaken: 'overtaken',
  aborted: 'overtaken',
}

/**
 * What was done about a push that failed. The one place that says it: pages, lists and alerts show what stands here.
 * `answer` is the push that took it back, where one did; memory knows best how it stands.
 */
export function judgeAftermath(workload: Judged, failed: Failed, answer: Push | null): PushAftermath {
  const running_count = workload.live.runningCount(failed.hash)
  if (answer === null)
    return { kind: workload.pushSeq > failed.seq ? 'overtaken' : 'nowhere_to_go', running_count }
  const push = followedOf(workload, answer.pushId)?.push ?? answer
  const kind = KINDS[judgeOutcome(push)]
  const { target, applied, failed: failedCount, straggler } = push.counts
  const isMissed = kind === 'went_back_in_part' || kind === 'rollback_failed'
  const error = push.error ?? firstFailureOf(workload, push)?.error ?? null
  return {
    kind,
    config_hash: push.hash,
    push_id: push.pushId,
    pushed_by: push.pushedBy,
    target_count: target,
    applied_count: applied,
    failed_count: failedCount,
    no_status_count: straggler,
    running_count,
    ...(isMissed && error !== null && error.cause !== 'unknown'
      ? errorFields({ ...error, text: '' }, { withTexts: false })
      : {}),
  }
}

/**
 * The newest push of a workload, where it failed and there was nothing to go back to; null otherwise. No instance is to
 * run what it brought, whether it went out in stages, where nothing is active then, or at once, where it stays active.
 * One that an operator took back failed on purpose.
 */
export function deadEndOf({ newestPush: push }: Pick<Workload, 'newestPush'>): Push | null {
  if (push === null || push.status !== 'failed' || push.error?.cause === 'rolled_back') return null
  return takenBackBy(push) === null ? push : null
}

/** The failed push that an automatic rollback answers; null for any other push. */
export const takenBackBy = ({ kind, failedHash, seq }: Push): Failed | null =>
  kind === 'auto-rollback' && failedHash !== null ? { seq, hash: failedHash } : null

/**
 * What was done about a push that failed, asked of it or of the automatic rollback that took it back, which says the
 * same; null for any other push.
 */
export function aftermathOf(workload: Judged, push: Push, answer: Push | null): PushAftermath | null {
  const failed = takenBackBy(push)
  if (failed !== null) return judgeAftermath(workload, failed, push)
  return push.status === 'failed' ? judgeAftermath(workload, push, answer) : null
}
