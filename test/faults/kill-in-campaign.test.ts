import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import type { CampaignRecord } from '../../lib/wire/campaigns.ts'
import { type SimulatedAgent, startSimulatedAgent } from '../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../support/eventually.ts'
import { COMMITS, expectNoneOf, KillableFleet } from './support/killable-fleet.ts'
import { runnableConfig } from './support/supervised-agents.ts'

// When the process is killed during a campaign, no target is forgotten, and the next process pushes to none a second
// time.

const HOSTS = ['vm-1', 'vm-2', 'vm-3', 'vm-4', 'vm-5']

let fleet: KillableFleet
let hosts: SimulatedAgent[]
/** What every host runs between the tests. */
let good: string

beforeAll(async () => {
  fleet = await KillableFleet.start(1)
  hosts = HOSTS.map((host) =>
    startSimulatedAgent({
      url: fleet.service.opampUrl,
      beatMs: 1_000,
      reconnectMs: 100,
      nonIdentifying: { 'host.name': host },
      behaviour: { kind: 'apply', delayMs: 20 },
    }),
  )
  await eventually(
    'every host is stored',
    async () => (await fleet.count('agent_workloads')) === HOSTS.length + 1,
  )
  const yaml = runnableConfig('taken over')
  await untilDone(await start(await approved(yaml, { takeover: true })))
  good = configHash(yaml)
})
afterAll(async () => {
  for (const host of hosts ?? []) host.kill()
  await fleet?.end()
})

const call = (method: string, path: string, body?: unknown) =>
  fleet.service.api.call(method, `/api/campaigns${path}`, body)

async function approved(yaml: string, change: object = {}): Promise<string> {
  const { body } = await call('POST', '', {
    name: 'step by step',
    change: { kind: 'text', yaml, ...change },
    scope: {
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
    },
    // The first wave is one workload, the second all others.
    waves: [{ count: 1 }, {}],
    limits: { silent: 0 },
  })
  const { id } = body
  expect((await call('POST', `/${id}/plan`)).status).toBe(202)
  const planned: CampaignRecord = await eventually('it is planned', async () => {
    const { body } = await call('GET', `/${id}`)
    return body.status === 'planned' && body
  })
  expect(planned.plan!.target_count).toBe(HOSTS.length)
  const decision = { comment: 'yes', plan_hash: planned.plan_hash }
  expect((await call('POST', `/${id}/request`, decision)).status).toBe(200)
  expect((await call('POST', `/${id}/approve`, decision)).status).toBe(200)
  return id
}

async function start(id: string): Promise<string> {
  expect((await call('POST', `/${id}/start`)).status).toBe(200)
  return id
}

const until = (id: string, status: string, counts: object) =>
  eventually(
    `the campaign is ${status}`,
    async () => {
      const { body } = await call('GET', `/${id}`)
      expect({ status: body.status, counts: body.counts }).toEqual({ status, counts })
      return true
    },
    { explain: () => fleet.service.output().slice(-2_000) },
  )
const untilDone = (id: string) => until(id, 'done', { applied: HOSTS.length })

const whoRuns = (hash: string) =>
  hosts.filter(({ collector: { storage } }) => storage.remoteConfigHash === hash).length

/**
 * Check that every target of this campaign was pushed to once and has ended, and that each push and roll-back has one
 * audit record.
 */
async function expectNothingBroken(id: string): Promise<void> {
  const [hasForward, hasBack] = [
    `t.campaign_id = $1 and t.push_id`,
    `t.campaign_id = $1 and t.rollback_push_id`,
  ]
  expectNoneOf({
    'targets without their push': await fleet.count(
      `campaign_targets t where t.campaign_id = $1 and not exists (select from pushes p where p.push_id = t.push_id
         and p.workload_id = t.workload_id and p.config_hash = t.result_hash)`,
      [id],
    ),
    'workloads that were pushed to twice': await fleet.count(
      `(select from pushes p join campaign_targets t using (workload_id)
         where t.campaign_id = $1 and p.config_hash = t.result_hash group by t.workload_id having count(*) > 1) twice`,
      [id],
    ),
    'pushes without exactly one record': await fleet.count(
      `campaign_targets t where ${hasForward} is not null and (select count(*) from audit_events e
         where e.action = 'campaign.push' and position(t.push_id::text in e.detail) > 0) <> 1`,
      [id],
    ),
    'roll-backs without exactly one record': await fleet.count(
      `campaign_targets t where ${hasBack} is not null and (select count(*) from audit_events e
         where e.action = 'campaign.roll_back' and position(t.rollback_push_id::text in e.detail) > 0) <> 1`,
      [id],
    ),
    'targets that are open': await fleet.count(
      `campaign_targets t where t.campaign_id = $1 and t.state in ('waiting', 'offline', 'started', 'rolling_back')`,
      [id],
    ),
    'audit chains that are cut': (await fleet.service.api.get('/api/audit/verify')).valid ? 0 : 1,
  })
}

describe.each(COMMITS)('killed %s the commit', (when, verdict) => {
  const isStored = verdict === 'kill-after'

  test('of the start', async () => {
    const yaml = runnableConfig(`start, ${when}`)
    const id = await approved(yaml)
    fleet.killAtCommit('campaign.decide', verdict)
    expect(await fleet.afterTheKill(call('POST', `/${id}/start`))).toBeNull()
    if (!isStored) await start(id)
    await untilDone(id)
    good = configHash(yaml)
    expect(whoRuns(good)).toBe(HOSTS.length)
    await expectNothingBroken(id)
  })

  test.each([
    ['of the pushes', 'campaign.push'],
    ['of what became of them', 'campaign.note-ends'],
    ['of the end of a wave', 'campaign.move'],
  ])('%s', async (what, transaction) => {
    const yaml = runnableConfig(`${what}, ${when}`)
    const id = await approved(yaml)
    fleet.killAtCommit(transaction, verdict)
    await fleet.afterTheKill(call('POST', `/${id}/start`))
    await untilDone(id)
    good = configHash(yaml)
    expect(whoRuns(good)).toBe(HOSTS.length)
    await expectNothingBroken(id)
  })

  test.each([
    ['of a roll-back', 'rollback'],
    ['of what became of a roll-back', 'campaign.note-ends'],
    ['of its end', 'campaign.move'],
  ])('%s', async (what, transaction) => {
    const yaml = runnableConfig(`${what}, ${when}`)
    const id = await start(await approved(yaml))
    await untilDone(id)
    fleet.killAtCommit(transaction, verdict)
    await fleet.afterTheKill(call('POST', `/${id}/roll-back`, { comment: 'no' }))
    await until(id, 'rolled_back', { rolled_back: HOSTS.length })
    expect(whoRuns(good)).toBe(HOSTS.length)
    await expectNothingBroken(id)
  })
})
