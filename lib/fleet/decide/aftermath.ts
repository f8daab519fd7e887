import type { PushAftermath } from '../../wire/revisions.ts'
import type { Push, Workload } from '../state/model.ts'

/**
 * What was done about a push that failed. The one place that says it: pages, lists and alerts show what stands here.
 * `answer` is the push that took it back, where one did.
 */
export function judgeAftermath(
  workload: Pick<Workload, 'live' | 'pushSeq'>,
  failed: Pick<Push, 'seq' | 'hash'>,
  answer: Push | null,
): PushAftermath {
  return {
    kind: kindOf(workload, failed, answer),
    ...(answer === null
      ? {}
      : { config_hash: answer.hash, push_id: answer.pushId, pushed_by: answer.pushedBy }),
    running_count: workload.live.appliedCount(failed.hash),
  }
}

function kindOf(
  { pushSeq }: Pick<Workload, 'pushSeq'>,
  failed: Pick<Push, 'seq'>,
  answer: Push | null,
): PushAftermath['kind'] {
  if (answer === null) return pushSeq > failed.seq ? 'overtaken' : 'nowhere_to_go'
  if (answer.status === 'applied') return 'went_back'
  if (answer.status === 'failed') return 'rollback_failed'
  return answer.phase === 'superseded' || answer.phase === 'aborted' ? 'overtaken' : 'going_back'
}
