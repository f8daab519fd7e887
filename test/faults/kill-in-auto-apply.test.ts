import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import type { CampaignRecord } from '../../lib/wire/campaigns.ts'
import { type SimulatedAgent, startSimulatedAgent } from '../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../support/eventually.ts'
import { COMMITS, expectNoneOf, KillableFleet } from './support/killable-fleet.ts'
import { runnableConfig } from './support/supervised-agents.ts'

// When the process is killed while a version applies by itself, nobody outside of what was approved is pushed to,
// nobody is pushed to twice, and every push comes to its end after the restart.

/** The host to which a campaign brings each version first. */
const FIRST = 'vm-1'
/** Hosts on the version before, which auto-apply reaches after the campaign. */
const OLDER = ['vm-2', 'vm-3']
/** Under the fleet config and on the version before, but held. */
const HELD = 'vm-held'
/** Not selected by the fleet config. */
const OUTSIDE = 'db-1'

let fleet: KillableFleet
const agents = new Map<string, SimulatedAgent>()
let configId: string
let number = 0
/** The hash that every host got of the newest version. */
let hash: string
let newcomers: string[] = []
let newcomerCount = 0

beforeAll(async () => {
  fleet = await KillableFleet.start(1)
  for (const host of [FIRST, ...OLDER, HELD, OUTSIDE]) connect(host)
  await eventually('every host is stored', async () => (await fleet.count('agent_workloads')) === 6)
  const { status, body } = await call('POST', '/fleet-configs', {
    name: 'Hosts',
    selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
  })
  expect(status, JSON.stringify(body)).toBe(201)
  configId = body.id
  await writeVersion()
  await carry({})
  const { id } = await workloadOf(HELD)
  expect((await call('POST', `/workloads/${id}/hold`, { reason: 'mine' })).status).toBeLessThan(300)
})
afterAll(async () => {
  for (const agent of agents.values()) agent.kill()
  await fleet?.end()
})

beforeEach(async () => {
  // Each test begins with the hosts that were there first, and with nothing that waits, however the one before ended.
  await fleet.recover()
  if ((await fleet.service.api.get(`/api/fleet-configs/${configId}/auto-apply`)).request !== undefined)
    expect((await onAutoApply('/withdraw', { comment: 'once more' })).status).toBe(200)
  for (const host of newcomers) agents.get(host)!.kill()
  newcomers = []
  await writeVersion()
  await carry({ workload_ids: [(await workloadOf(FIRST)).id] })
})

const call = (method: string, path: string, body?: unknown) =>
  fleet.service.api.call(method, `/api${path}`, body)
const onAutoApply = (path: string, body: object) =>
  call('POST', `/fleet-configs/${configId}/auto-apply${path}`, body)

function connect(host: string, behaviour: 'apply' | 'fail' = 'apply'): void {
  const agent = startSimulatedAgent({
    url: fleet.service.opampUrl,
    beatMs: 1_000,
    reconnectMs: 100,
    nonIdentifying: { 'host.name': host },
    behaviour:
      behaviour === 'apply'
        ? { kind: 'apply', delayMs: 20 }
        : { kind: 'fail', delayMs: 20, errorMessage: 'no such processor' },
  })
  agents.set(host, agent)
}

/** Connect so many hosts that are new. */
function join(count: number, behaviour: 'apply' | 'fail' = 'apply'): void {
  for (let n = 0; n < count; n++) {
    const host = `vm-new-${++newcomerCount}`
    newcomers.push(host)
    connect(host, behaviour)
  }
}

async function workloadOf(host: string): Promise<{ id: string }> {
  const [row] = await fleet.rows<{ id: string }>(
    `select workload_id as id from agent_workloads where instance_uid = $1`,
    [agents.get(host)!.uidHex()],
  )
  return row!
}

async function writeVersion(): Promise<void> {
  const content = runnableConfig(`version ${number + 1}`)
  const { status, body } = await call('POST', `/fleet-configs/${configId}/versions`, {
    content,
    comment: 'next',
  })
  expect(status, JSON.stringify(body)).toBe(201)
  number = body.number
  hash = configHash(content)
}

/** Bring the newest version to a part of the fleet config's workloads by a campaign. */
async function carry(scope: object): Promise<void> {
  const change = { kind: 'version', fleet_config_id: configId, number, takeover: true }
  const draft = { name: `To ${number}`, change, scope, waves: [{}] }
  const { id } = (await call('POST', '/campaigns', draft)).body
  expect((await call('POST', `/campaigns/${id}/plan`)).status).toBe(202)
  const planned: CampaignRecord = await eventually('it is planned', async () => {
    const { body } = await call('GET', `/campaigns/${id}`)
    return body.status === 'planned' && body
  })
  const decision = { comment: 'yes', plan_hash: planned.plan_hash }
  for (const step of ['request', 'approve', 'start'])
    expect((await call('POST', `/campaigns/${id}/${step}`, decision)).status).toBe(200)
  await eventually('the campaign is done', async () => {
    expect((await call('GET', `/campaigns/${id}`)).body.status).toBe('done')
    return true
  })
}

async function request(): Promise<{ id: string; plan_hash: string }> {
  const planned = await onAutoApply('/plan', { number })
  const { plan_hash } = planned.body
  const { status, body } = await onAutoApply('', { number, plan_hash, comment: 'for newcomers' })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

const approve = (planHash: string) => onAutoApply('/approve', { comment: 'yes', plan_hash: planHash })

async function inForce(): Promise<string> {
  const { id, plan_hash } = await request()
  expect((await approve(plan_hash)).status).toBe(200)
  return id
}

/**
 * Wait until the newest version reached these hosts by this auto-apply, and all of these pushes have ended in `state`.
 */
const untilReached = (id: string, hosts: readonly string[], state: string) =>
  eventually(
    `${hosts.join(', ')} ended as ${state}`,
    async () => {
      const rows = await fleet.rows<{ uid: string; state: string }>(
        `select a.instance_uid as uid, t.state from auto_apply_targets t join agent_workloads a using (workload_id)
         where t.auto_apply_id = $1 order by 1`,
        [id],
      )
      const wanted = hosts.map((host) => ({ uid: agents.get(host)!.uidHex(), state }))
      expect(rows).toEqual(wanted.sort((one, other) => (one.uid < other.uid ? -1 : 1)))
      return true
    },
    { explain: () => fleet.service.output().slice(-2_000) },
  )

/** How often a host was offered the newest version. */
const offersTo = (host: string): number =>
  agents
    .get(host)!
    .heard.filter(({ remoteConfig }) => Buffer.from(remoteConfig?.configHash ?? []).toString('hex') === hash)
    .length

/** Check that this auto-apply pushed once to each of its targets, with one record, and to nobody else. */
async function expectNothingBroken(id: string): Promise<void> {
  expectNoneOf({
    'pushes of the version that neither the campaign nor the auto-apply made': await fleet.count(
      `pushes p where p.config_hash = $1
         and not exists (select from campaign_targets t where t.push_id = p.push_id)
         and not exists (select from auto_apply_targets t where t.push_id = p.push_id and t.workload_id = p.workload_id
           and t.auto_apply_id = $2)`,
      [hash, id],
    ),
    'targets without their push': await fleet.count(
      `auto_apply_targets t where t.auto_apply_id = $1 and not exists (select from pushes p where p.push_id = t.push_id
         and p.workload_id = t.workload_id and p.config_hash = t.result_hash)`,
      [id],
    ),
    'workloads that were pushed to twice': await fleet.count(
      `(select from pushes p where p.config_hash = $1 group by workload_id having count(*) > 1) twice`,
      [hash],
    ),
    'pushes without exactly one record': await fleet.count(
      `auto_apply_targets t where t.auto_apply_id = $1 and (select count(*) from audit_events e
         where e.action = 'auto_apply.push' and position(t.push_id::text in e.detail) > 0) <> 1`,
      [id],
    ),
    'offers to a held host': offersTo(HELD),
    'offers to a host outside': offersTo(OUTSIDE),
    'audit chains that are cut': (await fleet.service.api.get('/api/audit/verify')).valid ? 0 : 1,
  })
}

describe.each(COMMITS)('killed %s the commit', (_, verdict) => {
  const isStored = verdict === 'kill-after'

  test('of the request', async () => {
    const { plan_hash } = (await onAutoApply('/plan', { number })).body
    const asked = { number, plan_hash, comment: 'for newcomers' }
    fleet.killAtCommit('auto-apply.decide', verdict)
    expect(await fleet.afterTheKill(onAutoApply('', asked))).toBeNull()
    const again = await onAutoApply('', asked)
    expect(again.status).toBe(isStored ? 409 : 201)
    expect(offersTo(OLDER[0]!)).toBe(0)
    expect((await approve(plan_hash)).status).toBe(200)
    const [row] = await fleet.rows<{ id: string }>(`select id from auto_applies where status = 'active'`)
    await untilReached(row!.id, OLDER, 'applied')
    await expectNothingBroken(row!.id)
  })

  test('of the approval', async () => {
    const { id, plan_hash } = await request()
    fleet.killAtCommit('auto-apply.decide', verdict)
    expect(await fleet.afterTheKill(approve(plan_hash))).toBeNull()
    if (!isStored) expect((await approve(plan_hash)).status).toBe(200)
    await untilReached(id, OLDER, 'applied')
    await expectNothingBroken(id)
  })

  test.each([
    ['of the pushes', 'auto-apply.push'],
    ['of what became of them', 'auto-apply.note-ends'],
  ])('%s, to those on the version before', async (_what, transaction) => {
    const { id, plan_hash } = await request()
    fleet.killAtCommit(transaction, verdict)
    await fleet.afterTheKill(approve(plan_hash))
    await untilReached(id, OLDER, 'applied')
    await expectNothingBroken(id)
  })

  test.each([
    ['of whom a newcomer belongs to', 'fleet-config.members'],
    ['of the push', 'auto-apply.push'],
    ['of what became of it', 'auto-apply.note-ends'],
  ])('%s, to newcomers', async (_what, transaction) => {
    const id = await inForce()
    await untilReached(id, OLDER, 'applied')
    fleet.killAtCommit(transaction, verdict)
    join(2)
    await fleet.afterTheKill(null)
    await untilReached(id, [...OLDER, ...newcomers], 'applied')
    await expectNothingBroken(id)
  })

  test('of the stop after failures', async () => {
    const id = await inForce()
    await untilReached(id, OLDER, 'applied')
    fleet.killAtCommit('auto-apply.move', verdict)
    join(3, 'fail')
    await fleet.afterTheKill(null)
    await eventually('it stopped', async () => {
      const { in_force } = await fleet.service.api.get(`/api/fleet-configs/${configId}/auto-apply`)
      expect(in_force).toMatchObject({ status: 'held', counts: { applied: OLDER.length, failed: 3 } })
      return true
    })
    const failed = newcomers
    join(1)
    await eventually(
      'the newcomer is stored',
      async () => (await workloadOf(newcomers.at(-1)!)) !== undefined,
    )
    expect((await onAutoApply('/pause', {})).status).toBe(409)
    await expectNothingBroken(id)
    for (const host of newcomers.slice(failed.length)) expect(offersTo(host)).toBe(0)
    expect(
      await fleet.count(`audit_events where action = 'auto_apply.hold' and position($1 in detail) > 0`, [id]),
    ).toBe(1)
  })

  test('of the end of a forgotten request', async () => {
    const { id } = await request()
    await fleet.rows(`update auto_applies set updated_at = updated_at - interval '15 days' where id = $1`, [
      id,
    ])
    fleet.killAtCommit('auto-apply.sweep', verdict)
    // The sweep is done right after the start, so the process may be killed before it was ready.
    const restarted = fleet.service.restart('SIGKILL').then(
      () => ({ status: 200 }),
      () => ({ status: 0 }),
    )
    await fleet.afterTheKill(restarted)
    await eventually(
      'it expired',
      async () => (await fleet.count(`auto_applies where id = $1 and status = 'expired'`, [id])) === 1,
    )
    expect(offersTo(OLDER[0]!)).toBe(0)
  })
})
