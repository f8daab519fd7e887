import { NOTHING_SEEN } from '../../lib/campaigns/run/look-at-applied.ts'
import type { CampaignRun, InFlight } from '../../lib/campaigns/run/run.ts'

/** What a process keeps in memory of a campaign in which nothing has happened yet. */
export const emptyRun = (): CampaignRun => ({
  inFlight: new Map(),
  watched: new Map(),
  steady: new Map(),
  driftingSinceMs: new Map(),
  sight: NOTHING_SEEN,
  offline: new Map(),
  busy: new Map(),
  leftAlone: new Map(),
  isStale: false,
  watchingSinceMs: null,
  nextApproverLookMs: 0,
  nextAppliedLookMs: 0,
  nextSightMs: 0,
  nextOfflineLookMs: 0,
})

/** An open push of a campaign, started at 0 ms. */
export const inFlight = (more: Partial<InFlight> = {}): InFlight => ({
  pushId: 'p1',
  resultHash: null,
  startedMs: 0,
  instances: 1,
  isBack: false,
  isByItself: false,
  wasDegraded: false,
  wasDrifted: false,
  ...more,
})
