import { isOpen } from '../../../lib/model/workload-states.ts'
import type { Convergence, ConvergenceTarget } from '../../../lib/wire/convergence.ts'
import type { PushAftermath, RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'

/** Whether nobody has answered an open push in the time that it has for that. */
export const isSilent = (
  push: Pick<RevisionRecord, 'status' | 'phase'> &
    Partial<Pick<RevisionRecord, 'target_count' | 'no_status_count'>>,
): boolean =>
  isOpen(push) && (push.target_count ?? 0) > 0 && (push.no_status_count ?? 0) >= (push.target_count ?? 0)

/**
 * How the instances of a push stand, each counted once: who has not answered in time does not wait any more, nor does
 * anybody once the push has ended.
 */
export function sharesOf(
  push: Pick<
    RevisionRecord,
    'applied_count' | 'failed_count' | 'pending_count' | 'no_status_count' | 'status' | 'phase'
  >,
): { applied: number; failed: number; silent: number; waiting: number } {
  // One that is applied may still be on its way to some.
  const isOver = push.status === 'failed' || push.phase === 'superseded' || push.phase === 'aborted'
  const silent = isOver ? push.pending_count : push.no_status_count
  return {
    applied: push.applied_count,
    failed: push.failed_count,
    silent,
    waiting: Math.max(0, push.pending_count - silent),
  }
}

/** Whether an instance said what became of a push once that had ended, as others had failed or not answered. */
export const isLateAnswer = (
  { ended_at: at, joined_later: isJoiner }: Pick<ConvergenceTarget, 'ended_at' | 'joined_later'>,
  push: Pick<Convergence, 'ended_at'>,
): boolean => !isJoiner && at !== undefined && push.ended_at !== undefined && at > push.ended_at

/**
 * How far a push got, in one word; `in_part` for one that only some of its instances run, `halted` for a push in
 * stages that goes on only when somebody decides, `no_status`
 * for one that nobody has answered, `rolled_back` for one that an operator took back: that it counts as failed is no news.
 */
export const stateOf = (
  push: Pick<RevisionRecord, 'status' | 'phase' | 'rollout_status'> &
    Partial<Pick<RevisionRecord, 'outcome'>> & { error_cause?: string } & Parameters<typeof isSilent>[0],
): string => {
  if (push.outcome === 'in_part') return 'in_part'
  if (isTakenBack(push)) return 'rolled_back'
  if (isOpen(push) && push.rollout_status === 'halted') return 'halted'
  return isSilent(push) ? 'no_status' : push.phase
}

/** Whether an operator took a push in stages back, on purpose. */
export const isTakenBack = ({
  status,
  error_cause: cause,
}: Pick<RevisionRecord, 'status'> & { error_cause?: string }): boolean =>
  status === 'failed' && cause === 'rolled_back'

/** Ends of a failed push after which only another push helps. */
export const NEEDS_A_PUSH: ReadonlySet<PushAftermath['kind']> = new Set([
  'nowhere_to_go',
  'rollback_failed',
  'went_back_in_part',
])

/** Whether what a push changed was taken back, or is being: then nobody has to roll it back any more. */
export const isBack = (of: PushAftermath | undefined): boolean =>
  of !== undefined && !NEEDS_A_PUSH.has(of.kind)

/** The hashes that were ever applied, also by a push that failed or was overtaken later. */
export const appliedHashes = (history: readonly RevisionRecord[]): ReadonlySet<string> =>
  new Set(
    history
      .filter(
        ({ status, timeline }) => status === 'applied' || timeline?.some(({ state }) => state === 'applied'),
      )
      .map((row) => row.config_hash),
  )

/** Whether the history holds a config that somebody could choose to go back to. */
export function hasRollbackTarget(history: readonly RevisionRecord[]): boolean {
  const current = history.find((row) => row.is_current)?.config_hash
  return [...appliedHashes(history)].some((hash) => hash !== current)
}

/** The rollout whose stages a workload is rolled back at, as only their members have to go back; null for none. */
export const openRolloutOf = ({
  current_config_push: push,
}: Pick<WorkloadRecord, 'current_config_push'>): string | null =>
  push !== undefined && isOpen(push) ? (push.rollout_id ?? null) : null

/** Where a workload is rolled back: at its stages while a push goes out in stages, else in its history. */
export function rollBackPath(workload: Pick<WorkloadRecord, 'id' | 'current_config_push'>): string {
  const rollout = openRolloutOf(workload)
  return `/workloads/${workload.id}/${rollout === null ? 'history?rollback=1' : `rollouts/${rollout}?rollback=1`}`
}

/** Whether a hash can be pinned: it was applied, and its newest push has not failed. */
export const canPin = (history: readonly RevisionRecord[], hash: string): boolean =>
  appliedHashes(history).has(hash) && history.find((row) => row.config_hash === hash)?.status !== 'failed'
