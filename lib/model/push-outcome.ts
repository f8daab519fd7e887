/** What became of a push: `in_part` where some of its targets run its config, and others failed it or do not answer. */
export type PushOutcome = 'under_way' | 'applied' | 'in_part' | 'failed' | 'overtaken'

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
  return phase === 'superseded' || phase === 'aborted' ? 'overtaken' : 'under_way'
}
