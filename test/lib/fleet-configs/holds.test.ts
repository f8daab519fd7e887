import { describe, expect, it } from 'vitest'
import {
  HOLD_REASON_LENGTH_MAX,
  type HoldParts,
  holdWorkload,
  holdWorkloads,
  readUntil,
  releaseWorkload,
  releaseWorkloads,
} from '../../../lib/fleet-configs/holds.ts'
import { fakeClock } from '../../support/fakes.ts'

const NOW = fakeClock().now()
const DAY_MS = 86_400_000
const inMs = (ms: number) => new Date(NOW.getTime() + ms).toISOString()
const ANN = { userId: 'u1', email: 'ann@example.com', askAgain: null }

/** Parts with these workloads; `failing` is the number of the transaction that fails for want of the audit sink. */
function partsOf(ids: readonly string[], { failing = 0 } = {}) {
  const held = new Set<string>()
  const transactions: string[][] = []
  /** What was written and recorded, in its order. */
  const steps: string[] = []
  let loads = 0
  const parts = {
    clock: fakeClock(),
    fleet: { workload: (id: string) => (ids.includes(id) ? {} : null) },
    fleetConfigs: {
      load: async () => {
        loads++
      },
    },
    db: {
      async change(_: string, __: unknown, work: (tx: object) => Promise<{ ok: boolean }>) {
        const records: string[] = []
        transactions.push(records)
        if (transactions.length === failing)
          return { ok: false, code: 'audit-unavailable', sideEffect: 'none' }
        const [id] = [(params: readonly unknown[]) => String(params[0])]
        const write = async (sql: string, params: readonly unknown[]) => {
          steps.push(`write ${id(params)}`)
          if (!/^\s*delete/i.test(sql)) held.add(id(params))
          else if (!held.delete(id(params))) return 0
          return 1
        }
        const rows = async (sql: string, params: readonly unknown[]) =>
          Array.from({ length: await write(sql, params) }, () => ({ workload_id: id(params) }))
        const record = async ({ action, resourceId }: { action: string; resourceId: string }) => {
          records.push(`${action} ${resourceId}`)
          steps.push(`record ${resourceId}`)
        }
        return work({ execute: write, query: rows, record })
      },
    },
  } as unknown as HoldParts
  return { parts, held, transactions, steps, loads: () => loads }
}

const may = async () => true
const ask = (more: object = {}) => ({
  reason: 'being moved',
  until: null,
  actor: ANN,
  stillMay: may,
  ...more,
})

describe('the end that somebody gives', () => {
  it.each<[string, string, boolean]>([
    ['is to come', inMs(1), true],
    ['is as far away as may be', inMs(DAY_MS), true],
    ['is now', inMs(0), false],
    ['is over', inMs(-1), false],
    ['is further away than may be', inMs(DAY_MS + 1), false],
    ['is no time', 'tomorrow', false],
    ['is empty', '', false],
  ])('that %s', (_, text, isTaken) => {
    expect(readUntil(text, NOW, DAY_MS)).toEqual(isTaken ? new Date(text) : null)
  })
})

describe('a hold', () => {
  const hold = (more: object) => holdWorkload(partsOf(['w1']).parts, { ...ask(more), workloadId: 'w1' })

  it('says who holds it, why, and since when; it is due after seven days where nobody says', async () => {
    expect(await hold({ reason: '  being moved ' })).toEqual({
      ok: true,
      hold: {
        workloadId: 'w1',
        reason: 'being moved',
        heldBy: ANN.email,
        heldById: ANN.userId,
        heldAt: NOW,
        dueAt: new Date(NOW.getTime() + 7 * DAY_MS),
      },
    })
  })

  it('is due within a year', async () => {
    expect(await hold({ until: inMs(365 * DAY_MS) })).toMatchObject({ ok: true })
    expect(await hold({ until: inMs(365 * DAY_MS + 1) })).toMatchObject({ code: 'until-invalid' })
  })

  it('needs a reason that can be kept', async () => {
    expect(await hold({ reason: 'x'.repeat(HOLD_REASON_LENGTH_MAX) })).toMatchObject({ ok: true })
    for (const reason of ['', '  ', 'x'.repeat(HOLD_REASON_LENGTH_MAX + 1), 'a\0b'])
      expect(await hold({ reason })).toMatchObject({ code: 'reason-invalid' })
  })

  it('is of a workload that is there, by somebody who may still push to it', async () => {
    const { parts, held } = partsOf(['w1'])
    expect(await holdWorkload(parts, { ...ask(), workloadId: 'gone' })).toMatchObject({
      code: 'workload-not-found',
    })
    const stillMay = async () => false
    expect(await holdWorkload(parts, { ...ask({ stillMay }), workloadId: 'w1' })).toMatchObject({
      code: 'out-of-scope',
    })
    expect(await releaseWorkload(parts, { workloadId: 'w1', actor: ANN, stillMay })).toMatchObject({
      code: 'out-of-scope',
    })
    expect(held.size).toBe(0)
  })

  it('is in the audit trail, and its end too; an end of none is not', async () => {
    const { parts, transactions, held } = partsOf(['w1'])
    await holdWorkload(parts, { ...ask(), workloadId: 'w1' })
    const release = () => releaseWorkload(parts, { workloadId: 'w1', actor: ANN, stillMay: may })
    expect([await release(), await release()]).toEqual([{ ok: true }, { ok: true }])
    expect(transactions).toEqual([['workload.hold w1'], ['workload.release w1'], []])
    expect(held.size).toBe(0)
  })
})

describe('holds of many', () => {
  const ids = Array.from({ length: 120 }, (_, n) => `w${String(n).padStart(3, '0')}`)

  it('go in order, fifty in a transaction, each workload once and nobody who is not there', async () => {
    const { parts, transactions, loads } = partsOf(ids)
    const workloadIds = [...ids].reverse().concat('w000', 'gone')
    expect(await holdWorkloads(parts, { ...ask(), workloadIds })).toEqual({ ok: true, changedCount: 120 })
    expect(transactions.map((records) => records.length)).toEqual([50, 50, 20])
    expect(transactions.flat()).toEqual(ids.map((id) => `workload.hold ${id}`))
    expect(loads()).toBe(1)
  })

  it('count only whom a release changes', async () => {
    const { parts } = partsOf(ids)
    await holdWorkloads(parts, { ...ask(), workloadIds: ids.slice(0, 7) })
    const released = await releaseWorkloads(parts, { workloadIds: ids, actor: ANN, stillMay: may })
    expect(released).toEqual({ ok: true, changedCount: 7 })
  })

  it('that end half-way leave what was done, say so, and are read again', async () => {
    const { parts, held, transactions, loads } = partsOf(ids, { failing: 2 })
    expect(await holdWorkloads(parts, { ...ask(), workloadIds: ids })).toMatchObject({
      ok: false,
      code: 'audit-unavailable',
      sideEffect: 'applied',
    })
    expect([held.size, transactions.length, loads()]).toEqual([50, 2, 1])
  })

  it('that fail at once have done nothing, and say that', async () => {
    const { parts, held } = partsOf(ids, { failing: 1 })
    expect(await holdWorkloads(parts, { ...ask(), workloadIds: ids })).toMatchObject({ sideEffect: 'none' })
    expect(held.size).toBe(0)
  })

  it('stop where the right to it ends, and say how many there are', async () => {
    const { parts, held } = partsOf(ids)
    const stillMay = async (_: unknown, some: readonly string[]) => !some.includes('w060')
    expect(await holdWorkloads(parts, { ...ask({ stillMay }), workloadIds: ids })).toMatchObject({
      code: 'out-of-scope',
      details: { changed_count: 50 },
    })
    expect(held.size).toBe(50)
  })
})

it('of many workloads records last: a record has the lock of the audit trail, and must wait for no workload', async () => {
  for (const change of [holdWorkloads, releaseWorkloads]) {
    const { parts, steps } = partsOf(['w1', 'w2'])
    if (change === releaseWorkloads) await holdWorkloads(parts, { ...ask(), workloadIds: ['w1', 'w2'] })
    steps.length = 0
    await change(parts, { ...ask(), workloadIds: ['w2', 'w1'] })
    expect(steps).toEqual(['write w1', 'write w2', 'record w1', 'record w2'])
  }
})
