/**
 * What became of a push: `in_part` where some of its targets run its config, and others failed it or do not answer;
 * `aborted` where its stages were given up, and those that have it keep it.
 */
export type PushOutcome = 'under_way' | 'applied' | 'in_part' | 'failed' | 'overtaken' | 'aborted'

/** What `judgeOutcome` judges by. */
export interface EndedPush {
  kind: string
  status: string
  phase: string
  counts: { applied: number; failed: number; straggler: number }
}

/**
 * What became of a push. The one place that says it; `IN_PART` of `lib/store/change-feed.ts` is the same for filters.
 * A failed push of something new is taken back, so it has failed wherever it was applied; a rollback is not, and what
 * it brought stays.
 */
export function judgeOutcome({ kind, status, phase, counts }: EndedPush): PushOutcome {
  if (status === 'applied') return counts.failed + counts.straggler > 0 ? 'in_part' : 'applied'
  if (status === 'failed') return kind !== 'approval' && counts.applied > 0 ? 'in_part' : 'failed'
  if (phase === 'aborted') return 'aborted'
  return phase === 'superseded' ? 'overtaken' : 'under_way'
}
