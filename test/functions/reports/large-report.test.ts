import { readFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { producePack, renderProduced } from '../../../lib/reports/produce.ts'
import { communitySigner } from '../../../lib/reports/signer.ts'
import { createTestContext } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { seedReportFleet } from '../../support/report-fleet.ts'
import { reportRequest } from '../../support/report-material.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
await seedReportFleet(
  database.pool,
  { workloads: 1_000, pushes: 20, events: 200 },
  '2026-07-01T00:00:00.000Z',
)

/** Milliseconds of processor time of this thread, which other work on the machine does not change. */
const threadMs = () =>
  process.platform === 'linux'
    ? Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    : performance.now()

/**
 * Run `work`; returns its value, the longest that this thread ran between two firings of a 10 ms timer, and the
 * processor time of all threads, in ms.
 */
async function measure<T>(work: () => Promise<T>): Promise<{ value: T; heldMs: number; tookMs: number }> {
  let heldMs = 0
  let last = threadMs()
  const before = process.cpuUsage()
  const timer = setInterval(() => {
    const now = threadMs()
    heldMs = Math.max(heldMs, now - last)
    last = now
  }, 10)
  const value = await work()
  clearInterval(timer)
  const used = process.cpuUsage(before)
  return { value, heldMs, tookMs: (used.user + used.system) / 1_000 }
}

it.each(['json', 'pdf'] as const)(
  'makes a pack of 1,000 workloads with 220,000 dated rows as %s without holding the event loop',
  { timeout: 180_000 },
  async (target) => {
    const request = reportRequest({ scope: { group_id: 'checkout' } })
    const parts = { signer: communitySigner, verifySignedAudit: null }
    const deps = {
      db: ctx.db,
      clock: ctx.clock,
      log: ctx.log,
      workers: ctx.reportWorkers,
      turns: ctx.reportTurns,
      parts,
      minAgentVersion: '',
      canRun: () => true,
      mayCover: () => true,
    }
    const { value, heldMs, tookMs } = await measure(async () => {
      const produced = await producePack(deps, request, target)
      if (!produced.ok) throw new Error(produced.code)
      if (target === 'pdf') await renderProduced(deps, produced.pack, target)
      return produced.pack
    })
    expect(value.frame.warnings?.map(({ code }) => code) ?? []).toEqual(
      target === 'json'
        ? []
        : ['config_history_truncated', 'workload_events_truncated', 'pdf_minimal_renderer'],
    )
    expect(heldMs).toBeLessThan(50)
    // Processor time of all threads. What takes 10 s on an idle machine may take twice that on a busy one.
    expect(tookMs).toBeLessThan(20_000)
  },
)
