import { timeOfUuidv7 } from '../../ids.ts'
import { statesThat } from '../../model/target-states.ts'
import { listTakenBack } from '../../store/auto-apply-roll-back.ts'
import {
  countCampaignTargets,
  listCampaignTargets,
  type StoredCampaignTarget,
} from '../../store/campaign-targets.ts'
import type { Db } from '../../store/db.ts'
import type { CampaignTargetState } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { instancesOf } from './choose.ts'
import type { StateCounts } from './limits.ts'
import { NOTHING_SEEN, type Sight } from './look-at-applied.ts'
import { withSizes } from './size.ts'

/** A push of a campaign that has not ended. */
export interface InFlight {
  pushId: string
  /** What a target of the campaign is to run by it; null where the push gives something back. */
  resultHash: string | null
  /** Heard time. */
  startedMs: number
  instances: number
  /** The push gives a target its former config back. */
  isBack: boolean
  /** It got the version by itself, and is no target of the campaign; only with `isBack`. */
  isByItself: boolean
  /** The workload was degraded when the push was started, so its health afterwards says nothing about the campaign. */
  wasDegraded: boolean
  /** The workload drifted when the push was started, so its drift afterwards says nothing about the campaign. */
  wasDrifted: boolean
}

/** What this process keeps in memory of a campaign at work. But for `busy`, all of it can be found again. */
export interface CampaignRun {
  /** Pushes that have not ended, by workload. */
  inFlight: Map<string, InFlight>
  /**
   * Workloads whose health counts, with what they should run: targets that applied the change and were well when they
   * were started.
   */
  watched: Map<string, string>
  /** Workloads whose drift counts, with what they should run: targets that applied it and did not drift before. */
  steady: Map<string, string>
  /** Since when workloads of these have drifted; heard time. */
  driftingSinceMs: Map<string, number>
  /** How all of these were when they were last looked at. */
  sight: Sight
  /** Targets that are away, in the campaign's order, each with since when; null for since the campaign began. */
  offline: Map<string, Date | null>
  /**
   * Workloads that are busy with something else: since when, and when they are looked at again; heard time. `givenUp`: how
   * often the config workers took too long over what it would run.
   */
  busy: Map<string, { sinceMs: number; nextLookMs: number; givenUp?: number }>
  /**
   * Targets that a roll-back leaves in the state in which they ended: for good, or for as long as they run something else
   * than what the campaign brought.
   */
  leftAlone: Map<string, 'elsewhere' | 'for-good'>
  /**
   * Whether this may differ from the database, after an error or a commit of unknown outcome, and is to be read again.
   */
  isStale: boolean
  /**
   * Since when this process watches the wave that is over; heard time. Null before that: after a restart a wave is
   * watched anew.
   */
  watchingSinceMs: number | null
  /**
   * When approvers are looked at again, what is stored of those that applied, how those are, and targets that are away;
   * heard time.
   */
  nextApproverLookMs: number
  nextAppliedLookMs: number
  nextSightMs: number
  nextOfflineLookMs: number
}

const ROWS_MAX = 100_000
/** Targets that are read at once: other work goes on between two pages. */
const PAGE = 500

/**
 * Read the run of a campaign from the database. What is not stored, as which workloads are busy, is taken over from the
 * former run. This process carries campaigns since `sinceMs` (heard time): before that nobody could see a push end.
 */
export async function loadRun(
  { db, clock, fleet }: CampaignParts,
  campaignId: string,
  { former, sinceMs }: { former: CampaignRun | undefined; sinceMs: number },
): Promise<CampaignRun> {
  const read = (...states: CampaignTargetState[]) => readAll(db, campaignId, states)
  const open = await withSizes({ db, fleet }, await read('started', 'rolling_back'))
  const applied = await read('applied')
  const offline = await read('offline')
  const byItself = await withSizes(
    { db, fleet },
    (await listTakenBack(db, campaignId, ['rolling_back'], ROWS_MAX)).map((one) => ({
      ...one,
      instanceCount: 0,
    })),
  )
  const startOf = (workloadId: string, pushId: string) =>
    startOfPush({ clock, fleet }, { former, sinceMs }, workloadId, pushId)
  return {
    inFlight: new Map([
      ...open.map((target): [string, InFlight] => {
        const isBack = target.state === 'rolling_back'
        const pushId = (isBack ? target.rollbackPushId : target.pushId)!
        const { workloadId, wasDegraded, wasDrifted } = target
        const resultHash = isBack ? null : target.resultHash
        const [startedMs, instances] = [startOf(workloadId, pushId), instancesOf(target)]
        const before = { isBack, isByItself: false, wasDegraded, wasDrifted }
        return [workloadId, { pushId, resultHash, startedMs, instances, ...before }]
      }),
      ...byItself.map((target): [string, InFlight] => [
        target.workloadId,
        {
          pushId: target.rollbackPushId!,
          resultHash: null,
          startedMs: startOf(target.workloadId, target.rollbackPushId!),
          instances: instancesOf(target),
          isBack: true,
          isByItself: true,
          wasDegraded: false,
          wasDrifted: false,
        },
      ]),
    ]),
    watched: resultsOf(applied.filter(({ wasDegraded }) => !wasDegraded)),
    steady: resultsOf(applied.filter(({ wasDrifted }) => !wasDrifted)),
    driftingSinceMs: former?.driftingSinceMs ?? new Map(),
    sight: NOTHING_SEEN,
    offline: new Map(
      offline.map(({ workloadId, awaySince }) => [workloadId, former?.offline.get(workloadId) ?? awaySince]),
    ),
    busy: former?.busy ?? new Map(),
    leftAlone: new Map(),
    isStale: false,
    watchingSinceMs: former?.watchingSinceMs ?? null,
    nextApproverLookMs: 0,
    nextAppliedLookMs: 0,
    nextSightMs: 0,
    nextOfflineLookMs: 0,
  }
}

/** When a push was started, from its id: what is taken back was itself started long before. Heard time. */
function startOfPush(
  { clock, fleet }: Pick<CampaignParts, 'clock' | 'fleet'>,
  { former, sinceMs }: { former: CampaignRun | undefined; sinceMs: number },
  workloadId: string,
  pushId: string,
): number {
  const known = former?.inFlight.get(workloadId)
  if (known?.pushId === pushId) return known.startedMs
  const ageMs = Math.max(0, clock.now().getTime() - timeOfUuidv7(pushId).getTime())
  return Math.max(sinceMs, fleet.clock.heardMs() - ageMs)
}

/** What targets should run, by workload. */
const resultsOf = (targets: readonly StoredCampaignTarget[]): Map<string, string> =>
  new Map(
    targets.flatMap(({ workloadId, resultHash }): [string, string][] =>
      resultHash === null ? [] : [[workloadId, resultHash]],
    ),
  )

/** All targets in these states, read page by page. */
async function readAll(
  db: CampaignParts['db'],
  campaignId: string,
  states: readonly CampaignTargetState[],
): Promise<StoredCampaignTarget[]> {
  const all: StoredCampaignTarget[] = []
  for (;;) {
    const after = all.at(-1)?.position ?? null
    const page = await listCampaignTargets(db, campaignId, { states }, { after, limit: PAGE })
    all.push(...page)
    if (page.length < PAGE) return all
  }
}

/** How many targets are in each state: over all waves, and in each. */
export interface RunCounts {
  all: StateCounts
  waves: StateCounts[]
}

/** Count the targets of a campaign. */
export async function countRun(parts: { db: Db }, campaignId: string): Promise<RunCounts> {
  return (await countRuns(parts, [campaignId])).get(campaignId)!
}

/** How many workloads a campaign has, and how it stands with them, as the audit trail says it beside each step. */
export function tellCounts(counts: StateCounts): Record<string, number> {
  const of = (states: readonly CampaignTargetState[]) =>
    states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  return {
    workload_count: Object.values(counts).reduce((sum, count) => sum + count, 0),
    waiting_count: of(statesThat('waits')),
    started_count: of(['started']),
    applied_count: of(['applied']),
    failed_count: of(statesThat('went-wrong')),
  }
}

/** Count the targets of some campaigns, by campaign. */
export async function countRuns(
  { db }: { db: Db },
  campaignIds: readonly string[],
): Promise<Map<string, RunCounts>> {
  const runs = new Map<string, RunCounts>(campaignIds.map((id) => [id, { all: {}, waves: [] }]))
  if (campaignIds.length === 0) return runs
  for (const { campaignId, wave, state, count } of await countCampaignTargets(db, campaignIds)) {
    const { all, waves } = runs.get(campaignId)!
    all[state] = (all[state] ?? 0) + count
    waves[wave] ??= {}
    waves[wave][state] = count
  }
  // A wave without targets has no row.
  for (const run of runs.values()) run.waves = Array.from(run.waves, (counts) => counts ?? {})
  return runs
}
