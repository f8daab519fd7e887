import { beforeEach, describe, expect, it } from 'vitest'
import {
  endQuiet,
  findAlert,
  insertAlerts,
  listAlerts,
  listCurrentAlerts,
  listOpenAlertsOf,
  resolveAlerts,
  resolveAlertsOfWorkloads,
  resolveByOperator,
} from '../../../lib/store/alerts.ts'
import {
  claimDelivery,
  deleteDelivery,
  dropStaleDeliveries,
  insertDeliveries,
} from '../../../lib/store/webhook-deliveries.ts'
import type { AlertRule } from '../../../lib/wire/alerts.ts'
import { ALERT_RULES } from '../../../lib/wire/values.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const { pool: db } = await useTestDatabase()
const at = (minute: number) => new Date(Date.UTC(2026, 6, 1, 8, minute))
const alertId = (n: number) => n.toString(16).padStart(32, '0')

const fired = (n: number, workloadId: string, rule: AlertRule = 'workload_down', minute = 0) => ({
  id: alertId(n),
  workloadId,
  rule,
  severity: 'critical' as const,
  message: `alert ${n}`,
  subject: '',
  details: {},
  firedAt: at(minute),
})

async function insertWorkload(id: string, archivedAt: Date | null = null): Promise<void> {
  await db.execute(
    `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status,
       last_seen_at, labels, trusted_labels, accepts_remote_config, generation, push_seq, archived_at, created_at)
     values ($1, 'uid', '{}', $1, 'collector', '', 'connected', $2, '{}', '{}', true, 0, 0, $3, $2)`,
    [id, at(0), archivedAt],
  )
}

beforeEach(async () => {
  await db.execute('delete from workloads')
  await db.execute('delete from webhook_deliveries')
  await insertWorkload('w1')
  await insertWorkload('w2')
})

describe('insertAlerts', () => {
  it('opens one alert a workload and rule, whatever is asked for at once', async () => {
    const opened = await Promise.all(
      [1, 2, 3, 4].map((n) => insertAlerts(db, [fired(n, 'w1'), fired(n + 10, 'w1', 'config_drift')])),
    )
    expect(opened.flat()).toHaveLength(2)
    expect(await listCurrentAlerts(db)).toHaveLength(2)
    expect(await listOpenAlertsOf(db, 'w1')).toHaveLength(2)
    expect(await listOpenAlertsOf(db, 'w2')).toEqual([])
  })

  it('passes over workloads that are archived or gone', async () => {
    await insertWorkload('w3', at(1))
    const opened = await insertAlerts(db, [fired(1, 'w3'), fired(2, 'gone'), fired(3, 'w2')])
    expect(opened).toEqual([{ ...fired(3, 'w2'), resolvedAt: null, resolveReason: '', isQuiet: false }])
  })

  it('opens a new one after the former was resolved, and none while the rule is quiet', async () => {
    await insertAlerts(db, [fired(1, 'w1')])
    expect(await resolveAlerts(db, [alertId(1)], at(1))).toEqual([
      { ...fired(1, 'w1'), resolvedAt: at(1), resolveReason: '', isQuiet: false },
    ])
    expect(await insertAlerts(db, [fired(2, 'w1')])).toHaveLength(1)
    await resolveByOperator(db, alertId(2), at(2))
    expect(await listCurrentAlerts(db)).toEqual([
      {
        id: alertId(2),
        workloadId: 'w1',
        rule: 'workload_down',
        state: 'quiet',
        subject: '',
        message: 'alert 2',
      },
    ])
    expect(await insertAlerts(db, [fired(3, 'w1')])).toEqual([])
    await endQuiet(db, [alertId(2)])
    expect(await insertAlerts(db, [fired(4, 'w1')])).toHaveLength(1)
  })
})

describe('resolving', () => {
  it('keeps the first time when it is asked for twice', async () => {
    await insertAlerts(db, [fired(1, 'w1')])
    expect(await resolveByOperator(db, alertId(1), at(1))).toMatchObject({ resolvedAt: at(1) })
    expect(await resolveByOperator(db, alertId(1), at(2))).toBeNull()
    expect(await resolveAlerts(db, [alertId(1)], at(3))).toEqual([])
    expect(await findAlert(db, alertId(1))).toMatchObject({ resolvedAt: at(1) })
  })

  it('resolves all of a workload that leaves the inventory and lets its rules speak again', async () => {
    await insertAlerts(db, [fired(1, 'w1'), fired(2, 'w1', 'config_drift'), fired(3, 'w2')])
    await resolveByOperator(db, alertId(2), at(1))
    const resolved = await resolveAlertsOfWorkloads(db, ['w1'], at(2))
    expect(resolved.map((alert) => alert.id)).toEqual([alertId(1)])
    expect(await listCurrentAlerts(db)).toMatchObject([{ workloadId: 'w2', state: 'open' }])
    expect(await findAlert(db, alertId(2))).toMatchObject({ resolvedAt: at(1) })
  })

  it('removes the alerts of a deleted workload', async () => {
    await insertAlerts(db, [fired(1, 'w1')])
    await db.execute(`delete from workloads where id = 'w1'`)
    expect(await findAlert(db, alertId(1))).toBeNull()
  })
})

describe('listAlerts', () => {
  it('goes through all of them, newest first and by id, page by page', async () => {
    await insertAlerts(db, [
      fired(5, 'w1', 'workload_down', 1),
      fired(4, 'w1', 'config_drift', 2),
      fired(3, 'w1', 'version_outdated', 2),
      fired(2, 'w2', 'workload_down', 2),
      fired(1, 'w2', 'config_drift', 3),
    ])
    await resolveAlerts(db, [alertId(3)], at(5))
    const everything = { includeResolved: true, workloadId: null, after: null, limit: null }
    const all = await listAlerts(db, everything)
    expect(all.map((alert) => alert.id)).toEqual([1, 2, 3, 4, 5].map(alertId))
    const active = await listAlerts(db, { ...everything, includeResolved: false })
    expect(active.map((alert) => alert.id)).toEqual([1, 2, 4, 5].map(alertId))
    const paged: string[] = []
    for (let after = null as { firedAt: Date; id: string } | null; ; ) {
      const [page] = await listAlerts(db, { includeResolved: true, workloadId: null, after, limit: 1 })
      if (page === undefined) break
      paged.push(page.id)
      after = page
    }
    expect(paged).toEqual(all.map((alert) => alert.id))
  })
})

describe('webhook deliveries', () => {
  const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
  const delays = [60, 300, 0]
  const owe = (n: number, minute = 0) =>
    insertDeliveries(db, [{ id: id(n), alertId: alertId(n), body: `{"n":${n}}` }], at(minute))

  it('hands out each delivery three times at most, with pauses between and the same body', async () => {
    await owe(1)
    expect(await claimDelivery(db, at(0), delays)).toEqual({
      id: id(1),
      alertId: alertId(1),
      body: '{"n":1}',
      attempts: 1,
      createdAt: at(0),
    })
    expect(await claimDelivery(db, at(0), delays)).toBeNull()
    expect(await claimDelivery(db, at(1), delays)).toMatchObject({ attempts: 2, body: '{"n":1}' })
    expect(await claimDelivery(db, at(5), delays)).toBeNull()
    expect(await claimDelivery(db, at(6), delays)).toMatchObject({ attempts: 3 })
    expect(await claimDelivery(db, at(9), delays)).toBeNull()
    expect(await dropStaleDeliveries(db, at(0), at(9))).toBe(1)
  })

  it('gives different deliveries to those who ask at once, the longest due first', async () => {
    await owe(1, 1)
    await owe(2, 0)
    expect(await claimDelivery(db, at(2), delays)).toMatchObject({ id: id(2) })
    await owe(3, 2)
    const both = await Promise.all([claimDelivery(db, at(2), delays), claimDelivery(db, at(2), delays)])
    expect(both.map((one) => one?.id).sort()).toEqual([id(1), id(3)])
  })

  it('forgets what was delivered and what is too old', async () => {
    await owe(1)
    await deleteDelivery(db, id(1))
    await owe(2, 0)
    await owe(3, 10)
    expect(await dropStaleDeliveries(db, at(5), at(20))).toBe(1)
    expect(await claimDelivery(db, at(20), delays)).toMatchObject({ id: id(3) })
    expect(await claimDelivery(db, at(20), delays)).toBeNull()
  })
})

it('the table takes every rule that an alert can be of, and no other', async () => {
  const [row] = await db.query<{ definition: string }>(
    `select pg_get_constraintdef(oid) as definition from pg_constraint where conname = 'alerts_rule_check'`,
  )
  const taken = [...row!.definition.matchAll(/'([a-z_]+)'/g)].map(([, rule]) => rule)
  expect([...new Set(taken)].sort()).toEqual([...ALERT_RULES].sort())
})
