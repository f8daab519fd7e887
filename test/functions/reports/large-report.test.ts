import { afterAll, expect, it } from 'vitest'
import { producePack, renderProduced } from '../../../lib/reports/produce.ts'
import { communitySigner } from '../../../lib/reports/signer.ts'
import type { Database, Db } from '../../../lib/store/db.ts'
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

/**
 * The database; of each answer that came from it in a snapshot how long it was, as JSON; and after how many of them
 * others had their turn in the event loop before the next.
 */
function watch(db: Database): { db: Database; answers: number[]; turns(): number } {
  const answers: number[] = []
  let turns = 0
  let isAwaited = false
  const countTurn = () => {
    turns++
    isAwaited = false
  }
  const watched: Database = {
    ...db,
    snapshot: (name, work) =>
      db.snapshot(name, (tx) => {
        const query: Db['query'] = async (text, params) => {
          const rows = await tx.query(text, params)
          answers.push(JSON.stringify(rows).length)
          if (!isAwaited) setImmediate(countTurn)
          isAwaited = true
          return rows as never
        }
        return work({ ...tx, query })
      }),
  }
  return { db: watched, answers, turns: () => turns }
}

it.each(['json', 'pdf'] as const)(
  'makes a pack of 1,000 workloads with 220,000 dated rows as %s piece by piece, with turns of the event loop between',
  { timeout: 180_000 },
  async (target) => {
    const request = reportRequest({ scope: { group_id: 'checkout' } })
    const parts = { signer: communitySigner, verifySignedAudit: null }
    const { db, answers, turns } = watch(ctx.db)
    const deps = {
      db,
      clock: ctx.clock,
      log: ctx.log,
      workers: ctx.reportWorkers,
      turns: ctx.reportTurns,
      parts,
      minAgentVersion: '',
      canRun: () => true,
      mayCover: () => true,
    }
    const produced = await producePack(deps, request, target)
    if (!produced.ok) throw new Error(produced.code)
    if (target === 'pdf') await renderProduced(deps, produced.pack, target, { withNames: false })
    expect(produced.pack.frame.warnings?.map(({ code }) => code) ?? []).toEqual(
      target === 'json'
        ? []
        : ['config_history_truncated', 'workload_events_truncated', 'pdf_minimal_renderer'],
    )
    const read = answers.reduce((sum, length) => sum + length, 0)
    expect(Math.max(...answers)).toBeLessThan(read / 50)
    expect(turns()).toBe(answers.length)
  },
)
