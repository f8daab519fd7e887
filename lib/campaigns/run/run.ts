import { timeOfUuidv7 } from '../../ids.ts'
import { countCampaignTargets, listCampaignTargets } from '../../store/campaign-targets.ts'
import type { CampaignParts } from '../judge/parts.ts'
import type { StateCounts } from './limits.ts'

/** A push of a campaign that has not ended. */
export interface InFlight {
  pushId: string
  startedMs: number
  instances: number
  /** It gives a target its former config back. */
  isBack: boolean
  /** The workload was not well when it was started: what it is like then says nothing of the campaign. */
  wasDegraded: boolean
}

/** What a process keeps of a campaign that is at work; all of it can be read again from the database. */
export interface CampaignRun {
  inFlight: Map<string, InFlight>
  /** Applied targets that were well when they were started. */
  watched: Set<string>
  /** Workloads that are away, in the campaign's order. */
  offline: Set<string>
  /** Since when a workload is busy with something else; monotonic. */
  busy: Map<string, { sinceMs: number; nextLookMs: number }>
  /** Targets that run no more what the campaign brought, and stay as they ended when it is rolled back. */
  leftAlone: Set<string>
  /** Whether a commit was in doubt, so that what the database knows is to be read again. */
  isStale: boolean
  nextApproverLookMs: number
  nextOfflineLookMs: number
}

const ROWS_MAX = 100_000

/** Read what is kept of a campaign; who is busy since when is known of a former reading only. */
export async function loadRun(
  { db, clock }: CampaignParts,
  campaignId: string,
  former: CampaignRun | undefined,
): Promise<CampaignRun> {
  const nowMs = clock.monotonicMs()
  const read = (states: Parameters<typeof listCampaignTargets>[2]['states'] & {}) =>
    listCampaignTargets(db, campaignId, { states }, { after: null, limit: ROWS_MAX })
  const open = await read(['started', 'rolling_back'])
  const applied = await read(['applied'])
  const offline = await read(['offline'])
  return {
    inFlight: new Map(
      open.map((target) => {
        const isBack = target.state === 'rolling_back'
        const pushId = (isBack ? target.rollbackPushId : target.pushId)!
        // One that is taken back was started long before.
        const ageMs = Math.max(0, clock.now().getTime() - timeOfUuidv7(pushId).getTime())
        const { wasDegraded } = target
        const instances = Math.max(1, target.instanceCount)
        return [target.workloadId, { pushId, startedMs: nowMs - ageMs, instances, isBack, wasDegraded }]
      }),
    ),
    watched: new Set(applied.flatMap(({ workloadId, wasDegraded }) => (wasDegraded ? [] : workloadId))),
    offline: new Set(offline.map(({ workloadId }) => workloadId)),
    busy: former?.busy ?? new Map(),
    leftAlone: new Set(),
    isStale: false,
    nextApproverLookMs: 0,
    nextOfflineLookMs: 0,
  }
}

/** How many targets are in each state: over all waves, and in each. */
export interface RunCounts {
  all: StateCounts
  waves: StateCounts[]
}

/** Count the targets of a campaign. */
export async function countRun({ db }: Pick<CampaignParts, 'db'>, campaignId: string): Promise<RunCounts> {
  const all: StateCounts = {}
  const waves: StateCounts[] = []
  for (const { wave, state, count } of await countCampaignTargets(db, [campaignId])) {
    all[state] = (all[state] ?? 0) + count
    waves[wave] ??= {}
    waves[wave][state] = count
  }
  return { all, waves: Array.from(waves, (counts) => counts ?? {}) }
}
