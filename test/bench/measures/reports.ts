import type { Db } from '../../../lib/store/db.ts'
import { seedReportFleet } from '../../support/report-fleet.ts'
import { pause, watchCpu } from '../machine.ts'
import type { Figure, MeasureResult } from '../results.ts'
import type { BenchService } from '../service.ts'
import { type Bench, connectFleet } from '../session.ts'
import { watchLoop } from './api.ts'

const WORKLOADS = 1_000
const PUSHES = 20
const EVENTS = 200
const BEATERS = 10
const REQUEST = {
  schema_version: 'report_export_request.v1',
  report_type: 'evidence_pack',
  scope: { group_id: 'checkout' },
  include: {},
  redaction: 'strict',
}

/** Measure 10: an evidence pack of 1,000 workloads, as JSON and as PDF, while a few agents beat. */
export async function measureReports(bench: Bench): Promise<MeasureResult> {
  const session = await connectFleet(bench, { agents: BEATERS, workloads: 1, name: 'reports' })
  const { service, load } = session
  try {
    await seedReportFleet(
      dbOf(service),
      { workloads: WORKLOADS, pushes: PUSHES, events: EVENTS },
      '2026-07-01',
    )
    await load.reconnectAfter({ ms: 200 })
    await service.killAndRestart()
    await pause(1_000)
    // A beat each 10 ms.
    await load.beats({ intervalMs: 10 * BEATERS })
    const figures: Figure[] = []
    const { percent } = await watchCpu(session.pids(), async () => {
      for (const [name, path] of [
        ['JSON', '/api/reports/evidence-pack'],
        ['PDF', '/api/reports/evidence-pack/export?format=pdf'],
      ] as const) {
        const { value, heldMs, replyMs } = await watchLoop(session, async () => {
          const startedAt = performance.now()
          const { status, bytes } = await service.download(path, REQUEST)
          if (status !== 200) throw new Error(`POST ${path} answered ${status}`)
          return { seconds: (performance.now() - startedAt) / 1_000, bytes }
        })
        figures.push(
          { name, value: value.seconds, unit: 's', atMost: 10 },
          { name: `${name}: size`, value: value.bytes / 1_048_576, unit: 'MiB' },
          { name: `${name}: loop held`, value: heldMs, unit: 'ms', atMost: 50 },
          { name: `${name}: longest reply to a beat`, value: replyMs, unit: 'ms' },
        )
      }
    })
    return {
      id: '10',
      title: 'evidence pack',
      agents: BEATERS,
      figures,
      busy: percent,
      note: `${WORKLOADS} workloads with ${PUSHES} revisions and ${EVENTS} events each; the PDF has its row limit`,
    }
  } finally {
    await session.end()
  }
}

/** The bench's own connection, in the form that the functions of `lib/store` take. */
const dbOf = ({ db }: BenchService): Db => ({
  query: async (text, params) => (await db.query(text, params === undefined ? [] : [...params])).rows,
  execute: async (text, params) =>
    (await db.query(text, params === undefined ? [] : [...params])).rowCount ?? 0,
})
