import type { FleetTally } from '../fleet/views/tally.ts'
import type { Alert } from '../store/alerts.ts'
import { listPressingAlerts, sumOpenAlerts } from '../store/alerts.ts'
import type { Db } from '../store/db.ts'
import type { AlertRecord } from '../wire/alerts.ts'
import type { FleetSummary, FleetSummaryWorkload } from '../wire/fleet-summary.ts'
import type { WorkloadRecord } from '../wire/workloads.ts'

/** Alerts that are told in full; all of them are counted. */
const ALERTS_MAX = 5

/** What the summary is made from. */
export interface SummaryParts {
  db: Db
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

/** The fleet in numbers, and what to look at first. */
export async function readFleetSummary(parts: SummaryParts): Promise<FleetSummary> {
  const { db, tally, recordOf } = parts
  const { calmIds, currentIds } = tally
  const lineOf = (id: string) => {
    const record = recordOf(id)
    return record === null ? [] : [toLine(record)]
  }
  const isOver = ({ rule, workload_id: id }: AlertRecord) =>
    (rule === 'version_outdated' ? currentIds : calmIds).has(id)
  const sum = await sumOpenAlerts(db, [...calmIds], [...currentIds])
  const alerts = await parts.toRecords(await listPressingAlerts(db, ALERTS_MAX))
  const worst = tally.worstIds.flatMap(lineOf)
  const pressing = alerts.map((alert) => {
    const [workload] = lineOf(alert.workload_id)
    return { alert, is_over: isOver(alert), ...(workload === undefined ? {} : { workload }) }
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
