import { expect, it } from 'vitest'
import { judgeOutcome } from '../../../lib/model/push-outcome.ts'
import { IN_PART } from '../../../lib/store/change-feed.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

const KINDS = ['approval', 'rollback', 'auto-rollback']
const STATES = [
  ['pending', 'applying'],
  ['pending', 'no_status'],
  ['pending', 'superseded'],
  ['applied', 'applied'],
  ['applied', 'superseded'],
  ['failed', 'failed'],
] as const
const COUNTS = [0, 1].flatMap((applied) =>
  [0, 1].flatMap((failed) => [0, 1].map((straggler) => ({ applied, failed, straggler }))),
)
const ALL = KINDS.flatMap((kind) =>
  STATES.flatMap(([status, phase]) => COUNTS.map((counts) => ({ kind, status, phase, counts }))),
)

it('says of each push what became of it', () => {
  const of = (kind: string, status: string, applied: number, failed: number, straggler = 0) =>
    judgeOutcome({ kind, status, phase: status, counts: { applied, failed, straggler } })
  expect(of('auto-rollback', 'applied', 4, 0)).toBe('applied')
  expect(of('auto-rollback', 'applied', 2, 2)).toBe('in_part')
  expect(of('rollback', 'applied', 3, 0, 1)).toBe('in_part')
  expect(of('auto-rollback', 'failed', 2, 2)).toBe('in_part')
  expect(of('auto-rollback', 'failed', 0, 4)).toBe('failed')
  expect(of('approval', 'failed', 2, 2)).toBe('failed')
  expect(of('approval', 'pending', 2, 0)).toBe('under_way')
})

it('the filter of the changes finds the same pushes', async () => {
  const rows = await database.pool.query<{ said: boolean }>(
    `select ${IN_PART} as said from jsonb_to_recordset($1::jsonb)
       as p (n int, kind text, status text, applied_count int, failed_count int, straggler_count int) order by n`,
    [
      JSON.stringify(
        ALL.map(({ kind, status, counts }, n) => ({
          n,
          kind,
          status,
          applied_count: counts.applied,
          failed_count: counts.failed,
          straggler_count: counts.straggler,
        })),
      ),
    ],
  )
  expect(rows.map(({ said }) => said)).toEqual(ALL.map((push) => judgeOutcome(push) === 'in_part'))
})
