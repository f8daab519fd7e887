import { listStartedAutoApplyTargets } from '../store/auto-apply-targets.ts'
import type { AutoApplyReason } from '../wire/auto-apply.ts'
import type { AutoApplyParts } from './parts.ts'

/** Why a workload is left out. */
export interface LeftOut {
  reason: AutoApplyReason
  /** The variable that has no value, or a wrong one. */
  variable?: string
}

/** What this process keeps in memory of a version that applies by itself; all of it can be found again. */
export interface AutoApplyRun {
  /** Pushes that have not ended, by workload. */
  inFlight: Map<string, { pushId: string; startedMs: number }>
  /** Why workloads are left out, by workload, as of the last look and of their last turn. */
  leftOut: Map<string, LeftOut>
  /** Workloads that it reaches and that have not had their turn. */
  queue: string[]
  /** How often in a row the config workers took too long over a text, and until when such are left alone; heard time. */
  unread: { times: number; untilMs: number }
  /** When a newcomer is tried again; heard time. Infinity once it runs the version. */
  nextTryMs: Map<string, number>
  /** Workloads under the fleet config at the last look. */
  underCount: number
  lookedAt: Date | null
  nextLookMs: number
  nextLapseLookMs: number
  /** Whether a push ended since failures were last counted. */
  hasNews: boolean
  /**
   * Whether this may differ from the database, after an error or a commit of unknown outcome, and is to be read again.
   */
  isStale: boolean
}

/**
 * Read the run of a version in force: its pushes that have not ended. The rest is found by looking. When pushes that the
 * former run knew were started is taken over from it. This process looks since `sinceMs` (heard time): before that nobody
 * could see a push end.
 */
export async function loadRun(
  { db, clock, fleet }: AutoApplyParts,
  autoApplyId: string,
  { former, sinceMs }: { former: AutoApplyRun | undefined; sinceMs: number },
): Promise<AutoApplyRun> {
  const nowMs = fleet.clock.heardMs()
  const open = await listStartedAutoApplyTargets(db, autoApplyId)
  return {
    inFlight: new Map(
      open.map(({ workloadId, pushId, startedAt }) => {
        const known = former?.inFlight.get(workloadId)
        if (known?.pushId === pushId) return [workloadId, known]
        const ageMs = Math.max(0, clock.now().getTime() - startedAt.getTime())
        return [workloadId, { pushId, startedMs: Math.max(sinceMs, nowMs - ageMs) }]
      }),
    ),
    leftOut: new Map(),
    queue: [],
    unread: { times: 0, untilMs: 0 },
    nextTryMs: new Map(),
    underCount: 0,
    lookedAt: null,
    nextLookMs: 0,
    nextLapseLookMs: 0,
    hasNews: true,
    isStale: false,
  }
}
