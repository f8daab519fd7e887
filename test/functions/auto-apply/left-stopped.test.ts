import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { eventually } from '../../support/eventually.ts'
import { openTestConnection, useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
  await scene.carry(1)
  await scene.apply(1)
})
afterEach(() => scene.ctx.close())

const HOUR_MS = 3_600_000
const HOLD = { gate: 'failed_in_a_row', value: 3, limit: 3, workload_ids: [] }
/** Stop the version, as its page or as failures do. */
const STOPS = {
  paused: () => scene.on('POST', '/pause', { comment: 'wait' }),
  held: () =>
    database.pool.execute(`update auto_applies set status = 'held', hold = $1`, [JSON.stringify(HOLD)]),
} as const

/** Nothing was changed about it for so many days, and it is looked at once more. */
async function pass(days: number): Promise<void> {
  await database.pool.execute(
    `update auto_applies set updated_at = updated_at - $1 * interval '1 day', ended_at = ended_at - $1 * interval '1 day'`,
    [days],
  )
  scene.ctx.clock.advance(HOUR_MS)
  await scene.work(1_000)
  await scene.ctx.alerts.run(new AbortController().signal)
}
const alerts = async () => (await scene.call('GET /api/alerts')).json as AlertRecord[]

describe.each(['paused', 'held'] as const)('a version that is %s', (status) => {
  it('ends where nobody continues it for thirty days, with a word on its page, in the audit trail and as an alert', async () => {
    await STOPS[status]()
    await pass(29)
    const { in_force: stopped } = await scene.state()
    expect(stopped).toMatchObject({ status, ends_at: expect.any(String) })
    await pass(1)
    const { in_force: inForce, ended } = await scene.state()
    expect(inForce).toBeUndefined()
    expect(ended).toMatchObject({ status: 'ended', number: 1, end_cause: 'not_continued' })
    const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(record).toMatchObject({
      action: 'auto_apply.expire',
      resourceId: scene.configId,
      detail: JSON.stringify({ auto_apply_id: stopped!.id, number: 1, idle_days: 30 }),
    })
    expect(await alerts()).toMatchObject([
      {
        rule: 'auto_apply_held',
        message:
          'Version 1 of fleet config "Hosts" does not apply by itself any more: nobody continued it for 30 days',
        next: 'Ask for it anew where it is to apply by itself.',
      },
    ])
    await pass(8)
    expect(await alerts()).toEqual([])
  })
})

it('a version that is paused is told of a week before it ends, until somebody continues it', async () => {
  await STOPS.paused()
  await pass(22)
  expect(await alerts()).toEqual([])
  await pass(1)
  const { ends_at } = (await scene.state()).in_force!
  expect(await alerts()).toMatchObject([
    {
      rule: 'auto_apply_held',
      details: { gate: 'paused', ends_at, number: 1 },
      next: 'Continue it, or turn it off.',
    },
  ])
  expect((await scene.on('POST', '/continue', { comment: 'on' })).status).toBe(200)
  await scene.ctx.alerts.run(new AbortController().signal)
  expect(await alerts()).toEqual([])
  expect((await scene.state()).in_force).toMatchObject({ status: 'active' })
})

it('a version that ended as nobody continued it is told of no longer once another one applies', async () => {
  await STOPS.paused()
  await pass(31)
  expect(await alerts()).toHaveLength(1)
  await scene.apply(1)
  await scene.ctx.alerts.run(new AbortController().signal)
  expect(await alerts()).toEqual([])
  expect(await scene.state()).not.toHaveProperty('ended')
})

it('a version that ended as nobody continued it is told of no longer once another one applies, also where the clock was put back in between', async () => {
  await STOPS.paused()
  await pass(31)
  expect(await alerts()).toHaveLength(1)
  await scene.apply(1)
  await database.pool.execute(
    `update auto_applies set ended_at = ended_at + interval '1 day' where status = 'ended'`,
  )
  await scene.ctx.alerts.run(new AbortController().signal)
  expect(await alerts()).toEqual([])
})

it('a request that nobody decides has expired before it is waited for what somebody else holds of one that is stopped', async () => {
  await STOPS.paused()
  await scene.write(2)
  await scene.carry(2)
  expect((await scene.request(2)).status).toBe(201)
  await database.pool.execute(`update auto_applies set updated_at = updated_at - interval '40 days'`)
  scene.ctx.clock.advance(HOUR_MS)
  const holder = await openTestConnection(database.dsn)
  try {
    await holder.query('begin')
    await holder.query(`select from auto_applies where status = 'paused' for update`)
    const swept = scene.ctx.autoApply.work(new AbortController().signal)
    await eventually('it waits', async () => {
      const waiting = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return waiting.length > 0
    })
    // Who decides about both locks the request as well, before or after the other one.
    const left = await database.pool.query<{ status: string }>(
      'select status from auto_applies order by status',
    )
    await holder.query('commit')
    await swept
    expect(left.map(({ status }) => status)).toEqual(['expired', 'paused'])
  } finally {
    await holder.close()
  }
})
