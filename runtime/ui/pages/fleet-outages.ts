import { findOutages, lostOf } from '../../../lib/model/outages.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeOutage, describeWhere } from '../i18n/alerts.ts'

/** Workloads of one outage, and what the line says that stands for all of them. */
export interface FoldedOutage {
  key: string
  title: string
  members: WorkloadRecord[]
}

/**
 * The outages among some rows, the largest first as on the overview, and the rows that are of none: thousands of equal
 * rows would hide what else is wrong. `isTight`: there is no room to say where.
 */
export function foldOutages(
  rows: readonly WorkloadRecord[],
  isTight: boolean,
): { outages: FoldedOutage[]; others: WorkloadRecord[] } {
  const found = findOutages(rows, lostOf).sort((a, b) => b.members.length - a.members.length)
  const ofOutage = new Set(found.flatMap(({ members }) => members))
  const outages = found.map(({ minute, outage, members }) => {
    const isDown = members.some(({ trouble }) => trouble?.kind === 'disconnected')
    const where = isTight ? '' : describeWhere(outage)
    const title = describeOutage(isDown ? 'down' : 'leaving', outage)
    return { key: `outage:${minute}`, title: where === '' ? title : `${title} · ${where}`, members }
  })
  return { outages, others: rows.filter((row) => !ofOutage.has(row)) }
}
