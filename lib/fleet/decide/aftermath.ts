import type { PushPhase, PushStatus } from '../../store/pushes.ts'
import type { PushAftermath } from '../../wire/revisions.ts'

/** The push that took a failed one back. */
interface Answer {
  hash: string
  pushId: string
  pushedBy: string
  status: PushStatus
  phase: PushPhase
}

interface Failed {
  seq: number
  hash: string
}

/**
 * What was done about a push that failed. The one place that says it: pages, lists and alerts show what stands here.
 * `answer` is the push that took it back, where one did.
 */
export function judgeAftermath(
  workload: { pushSeq: number; live: { appliedCount(hash: string): number } },
  failed: Failed,
  answer: Answer | null,
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
  { pushSeq }: { pushSeq: number },
  failed: Failed,
  answer: Answer | null,
): PushAftermath['kind'] {
  if (answer === null) return pushSeq > failed.seq ? 'overtaken' : 'nowhere_to_go'
  if (answer.status === 'applied') return 'went_back'
  if (answer.status === 'failed') return 'rollback_failed'
  return answer.phase === 'superseded' || answer.phase === 'aborted' ? 'overtaken' : 'going_back'
}
