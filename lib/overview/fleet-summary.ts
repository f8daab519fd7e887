import { toAlertRecord } from '../alerts/alert-record.ts'
import type { FleetTally } from '../fleet/views/tally.ts'
import type { Alert } from '../store/alerts.ts'
import { listPressingAlerts, sumOpenAlerts } from '../store/alerts.ts'
import type { Db } from '../store/db.ts'
import type { AlertRecord } from '../wire/alerts.ts'
import type { NamedWorkload } from '../wire/fleet-names.ts'
import type { FleetSummary, FleetSummaryWorkload } from '../wire/fleet-summary.ts'
import type { WorkloadRecord } from '../wire/workloads.ts'
import { choosePressing } from './pressing-alerts.ts'

/** Alerts that are told in full, each for all of its cause; all of them are counted. */
const ALERTS_MAX = 5
/** Open alerts among which these are chosen. */
const LOOKED_MAX = 100
/** Workloads that are named of those with one cause. */
const NAMED_MAX = 3

/** What the summary is made from. */
export interface SummaryParts {
  db: Db
  now: Date
  tally: FleetTally
  /** A workload as the reader may see it; null for one that is gone. */
  recordOf(id: string): WorkloadRecord | null
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

/** How many alerts have one cause, since when, and some of their workloads. */
function tellAlike(
  alerts: readonly AlertRecord[],
  lineOf: (id: string) => FleetSummaryWorkload[],
): NonNullable<FleetSummary['alerts']['pressing'][number]['alike']> {
  const since = alerts.map(({ fired_at: at }) => at).sort()[0]!
  const workloads = alerts.slice(0, NAMED_MAX).flatMap(({ workload_id: id }) => lineOf(id))
  return { count: alerts.length, since, workloads }
}

/** The fleet in numbers, and what to look at first. */
export async function readFleetSummary(parts: SummaryParts): Promise<FleetSummary> {
  const { db, now, tally, recordOf } = parts
  const { calmIds, currentIds } = tally
  const lineOf = (id: string) => {
    const record = recordOf(id)
    return record === null ? [] : [toLine(record)]
  }
  const isOver = ({ rule, workload_id: id }: AlertRecord) =>
    (rule === 'version_outdated' ? currentIds : calmIds).has(id)
  const sum = await sumOpenAlerts(db, [...calmIds], [...currentIds])
  const open = (await listPressingAlerts(db, LOOKED_MAX)).map((stored) => ({
    stored,
    alert: toAlertRecord(stored, now),
  }))
  const records = new Map(open.map(({ alert: { workload_id: id } }) => [id, recordOf(id)]))
  const chosen = choosePressing(
    open.map(({ alert }) => alert),
    ALERTS_MAX,
    { subjectOf: (id) => records.get(id) ?? undefined, isOver },
  )
  const storedOf = new Map(open.map(({ stored, alert }) => [alert, stored]))
  const told = await parts.toRecords(chosen.map(({ alert }) => storedOf.get(alert)!))
  const pressing = chosen.map(({ alert, alike }, at) => {
    const record = records.get(alert.workload_id)
    return {
      alert: told[at]!,
      is_over: isOver(alert),
      ...(record ? { workload: toNamed(record) } : {}),
      ...(alike.length < 2 ? {} : { alike: tellAlike(alike, lineOf) }),
    }
  })
  const worst = tally.worstIds.flatMap((id) => {
    const outage = tally.outages.get(id)
    return lineOf(id).map((line) => (outage === undefined ? line : { ...line, outage }))
  })
  return {
    counts: tally.counts,
    troubled_count: tally.troubledCount,
    loud_count: tally.loudCount,
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
