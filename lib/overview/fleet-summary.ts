import type { Clock } from '../clock.ts'
import type { FleetTally } from '../fleet/views/tally.ts'
import { type AlertGroup, type Groupable, sinceOf } from '../model/alert-groups.ts'
import {
  type Alert,
  listAlertsByIds,
  listPressingAlerts,
  type PressingFacts,
  sumOpenAlerts,
} from '../store/alerts.ts'
import type { Db } from '../store/db.ts'
import { eachInTurns } from '../turns.ts'
import type { AlertAbout, AlertRecord } from '../wire/alerts.ts'
import type { NamedWorkload } from '../wire/fleet-names.ts'
import type { FleetSummary, FleetSummaryWorkload } from '../wire/fleet-summary.ts'
import type { WorkloadRecord } from '../wire/workloads.ts'
import { choosePressing } from './pressing-alerts.ts'

/** Alerts that are told in full, each for all of its cause; all of them are counted. */
const ALERTS_MAX = 5
/** Open alerts among which these are chosen: those of an outage of a whole fleet are one. */
const LOOKED_MAX = 20_000
/** Alerts that are looked at in one turn of the event loop. */
const CHUNK = 500
/** Workloads that are named of those with one cause. */
const NAMED_MAX = 3

/** What the summary is made from. */
export interface SummaryParts {
  db: Db
  clock: Pick<Clock, 'monotonicMs'>
  tally: FleetTally
  /** A workload as the reader may see it; null for one that is gone. */
  recordOf(id: string): WorkloadRecord | null
  /** What an alert says of a workload; null for one that is gone. */
  aboutOf(id: string): AlertAbout | null
  /** Alerts as the wire shows them. */
  toRecords(alerts: readonly Alert[]): Promise<AlertRecord[]>
}

const toLine = ({ id, display_name, fingerprint_keys, trouble }: WorkloadRecord): FleetSummaryWorkload => ({
  id,
  display_name,
  fingerprint_keys,
  ...(trouble === undefined ? {} : { trouble }),
})

const toNamed = (record: WorkloadRecord): NamedWorkload => ({
  ...toLine(record),
  labels: record.labels,
  connected_instance_count: record.connected_instance_count,
})

type Alike = NonNullable<FleetSummary['alerts']['pressing'][number]['alike']>

/** An open alert as far as it is looked at. */
type LookedAt = Groupable & Pick<AlertRecord, 'id'>

const toLookedAt = (
  { id, workloadId, rule, severity, details, firedAt }: PressingFacts,
  about: AlertAbout | null,
): LookedAt => ({
  id,
  workload_id: workloadId,
  rule,
  severity,
  details,
  fired_at: firedAt.toISOString(),
  ...(about === null ? {} : { about }),
})

/** How many alerts have one cause, since when, and some of their workloads. */
function tellAlike(
  { alerts, common }: AlertGroup<LookedAt>,
  lineOf: (id: string) => FleetSummaryWorkload[],
): Alike {
  const since = alerts.map(sinceOf).sort()[0]!
  const workloads = alerts.slice(0, NAMED_MAX).flatMap(({ workload_id: id }) => lineOf(id))
  const outage = common.kind === 'outage' ? { outage: common.outage } : {}
  return { count: alerts.length, since, workloads, ...outage }
}

/** What to look at first of all that is open. */
async function readPressing(
  { db, clock, tally, aboutOf, recordOf, toRecords }: SummaryParts,
  lineOf: (id: string) => FleetSummaryWorkload[],
): Promise<FleetSummary['alerts']['pressing']> {
  const { calmIds, currentIds } = tally
  const isOver = ({ rule, workload_id: id }: LookedAt) =>
    (rule === 'version_outdated' ? currentIds : calmIds).has(id)
  const open: LookedAt[] = []
  await eachInTurns(await listPressingAlerts(db, LOOKED_MAX), { size: CHUNK, clock }, (facts) => {
    open.push(toLookedAt(facts, facts.workloadId === '' ? null : aboutOf(facts.workloadId)))
  })
  const chosen = choosePressing(open, ALERTS_MAX, isOver)
  const stored = await listAlertsByIds(
    db,
    chosen.map(({ alert: { id } }) => id),
  )
  const told = new Map((await toRecords(stored)).map((alert) => [alert.id, alert]))
  return chosen.flatMap(({ alert: looked, group }) => {
    const alert = told.get(looked.id)
    // Whoever removes old alerts may have come between.
    if (alert === undefined) return []
    const record = recordOf(alert.workload_id)
    return {
      alert,
      is_over: isOver(looked),
      ...(record === null ? {} : { workload: toNamed(record) }),
      ...(group === null ? {} : { alike: tellAlike(group, lineOf) }),
    }
  })
}

/** The fleet in numbers, and what to look at first. */
export async function readFleetSummary(parts: SummaryParts): Promise<FleetSummary> {
  const { db, tally, recordOf } = parts
  const lineOf = (id: string) => {
    const record = recordOf(id)
    return record === null ? [] : [toLine(record)]
  }
  const sum = await sumOpenAlerts(db, [...tally.calmIds], [...tally.currentIds])
  const pressing = await readPressing(parts, lineOf)
  const worst = tally.worstIds.flatMap((id) => {
    const outage = tally.outages.get(id)
    const alike = tally.alike.get(id)
    return lineOf(id).map((line) => ({
      ...line,
      ...(outage === undefined ? {} : { outage }),
      ...(alike === undefined ? {} : { alike }),
    }))
  })
  return {
    counts: tally.counts,
    troubled_count: tally.troubledCount,
    loud_count: tally.loudCount,
    of_config_count: tally.ofConfigCount,
    worst,
    versions: { count: tally.versions.count, first: [...tally.versions.first] },
    alerts: {
      open_count: sum.open,
      over_count: sum.over,
      critical_count: sum.critical,
      pressing,
    },
  }
}
