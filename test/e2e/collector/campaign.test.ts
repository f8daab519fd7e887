import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { AdoptGroup } from '../../../lib/wire/adopt.ts'
import type { CampaignRecord, CampaignTarget } from '../../../lib/wire/campaigns.ts'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { eventually } from '../../support/eventually.ts'
import { Api, BUNDLE, type Service, startService } from '../support/service.ts'
import { type Collector, makeConfig, startHost, takesTraces } from './collectors.ts'

/** A host with its trusted labels, and what its collector has to run because of them. */
interface Host {
  name: string
  port: number
  region: string
  timeout: string
  collector: Collector
  workloadId: string
}

/**
 * The config that runs on all hosts before the campaign. Port 0 takes any free port, so that no host needs a setting of
 * its own.
 */
const SOURCE = makeConfig({ batchTimeout: '1s', endpoint: '127.0.0.1:0' })
const TEMPLATE = makeConfig({ batchTimeout: `\${muster:timeout}`, endpoint: `127.0.0.1:\${muster:port}` })
/**
 * The author writes and starts the campaign, the approver approves it. The administrator made both accounts and so may
 * approve for neither.
 */
const AUTHOR = { email: 'nadia@example.com', password: 'correct horse battery' }
const APPROVER = { email: 'omar@example.com', password: 'correct horse battery' }
const PLACES = [
  { name: 'vm-1', region: 'eu', timeout: '11s' },
  { name: 'vm-2', region: 'us', timeout: '12s' },
  { name: 'vm-3', region: 'ap', timeout: '13s' },
]

let service: Service
let author: Api
let approver: Api
const hosts: Host[] = []

const said = () =>
  [
    service.output().slice(-4_000),
    ...hosts.map(({ collector }) => collector.process.output().slice(-3_000)),
  ].join('\n=====\n')

/** Make a user who is an editor, and sign in. */
async function signIn(who: typeof AUTHOR): Promise<Api> {
  await service.api.post('/api/users', { ...who, groups: ['editor'] }, 201)
  const api = new Api(service.url)
  await api.login(who)
  return api
}

async function addHost(place: (typeof PLACES)[number]): Promise<void> {
  const port = await findFreePort('127.0.0.1')
  const collector = await startHost(service, place.name, SOURCE)
  hosts.push({ ...place, port, collector, workloadId: '' })
}

const groups = (): Promise<AdoptGroup[]> => service.api.get('/api/adopt')
const campaignOf = (id: string): Promise<CampaignRecord> => service.api.get(`/api/campaigns/${id}`)
const targetsOf = (id: string): Promise<CampaignTarget[]> => service.api.get(`/api/campaigns/${id}/targets`)

/** The state of each host in a campaign, in the order of the hosts. */
async function statesIn(id: string): Promise<string[]> {
  const targets = await targetsOf(id)
  return hosts.map(
    ({ workloadId }) => targets.find((target) => target.workload_id === workloadId)?.state ?? 'none',
  )
}

/** Wait until the targets of a campaign have these states; a failure says what they were instead. */
const statesAre = (id: string, wanted: readonly string[]) =>
  eventually(
    `the targets are ${wanted.join(', ')}`,
    async () => {
      const states = await statesIn(id)
      if (states.join() !== wanted.join()) throw new Error(`They are ${states.join(', ')}`)
      return true
    },
    { explain: said },
  )

/** Check that a host's collector runs the values of its own labels, as the collector and its supervisor both say. */
async function runsItsOwn({ workloadId, collector, port, timeout }: Host): Promise<void> {
  const report = await eventually(
    `${workloadId} reports what it was given`,
    async () => {
      const { content } = await service.api.get(`/api/workloads/${workloadId}/config/reported`)
      return content.includes(`timeout: ${timeout}`) ? (content as string) : null
    },
    { explain: said },
  )
  expect(report).toContain(`endpoint: 127.0.0.1:${port}`)
  expect(report).not.toContain('muster:')
  const merged = await collector.mergedConfig()
  expect(merged).toContain(`timeout: ${timeout}`)
  expect(merged).toContain(`endpoint: 127.0.0.1:${port}`)
  expect(await takesTraces(port)).toBe(true)
  const [instance] = await service.api.get(`/api/workloads/${workloadId}/instances`)
  expect(instance).toMatchObject({ healthy: true, effective_matches: true })
}

/**
 * Make label rules from a list of hosts, and a fleet config over them whose variables those labels fill. Returns its
 * id.
 */
async function writeFleetConfig(): Promise<string> {
  const list = [
    'host.name,port,region',
    ...hosts.map(({ name, port, region }) => `${name},${port},${region}`),
  ]
  await service.api.post('/api/label-rules', { name: 'Hosts', list: list.join('\n') }, 201)
  const selector = { match_expressions: [{ key: 'muster/region', operator: 'Exists' }] }
  const { id } = await author.post('/api/fleet-configs', { name: 'Hosts', selector }, 201)
  const rows = Object.fromEntries(hosts.map(({ region, timeout }) => [region, { timeout }]))
  const version = {
    content: TEMPLATE,
    variables: [
      { name: 'port', type: 'integer', required: true, label: 'muster/port' },
      { name: 'timeout', type: 'duration', required: true },
    ],
    table: { label: 'muster/region', rows },
    comment: 'the first',
  }
  await author.post(`/api/fleet-configs/${id}/versions`, version, 201)
  return id
}

/** Plan the takeover of all hosts by the first version. Returns the planned campaign. */
async function plan(fleetConfigId: string): Promise<CampaignRecord> {
  const campaign = {
    name: 'Take over',
    change: { kind: 'version', fleet_config_id: fleetConfigId, number: 1, takeover: true },
    scope: {},
    waves: [{ dwell_seconds: 0 }],
    catch_up_seconds: 600,
  }
  const { id } = await author.post('/api/campaigns', campaign, 201)
  await author.post(`/api/campaigns/${id}/plan`, {}, 202)
  return eventually('it is planned', async () => {
    const found = await campaignOf(id)
    return found.status === 'planned' ? found : null
  })
}

describe.skipIf(!inject('hasCollector'))('three real supervisors on hosts of their own', () => {
  let campaignId: string

  beforeAll(async () => {
    service = await startService({ args: [BUNDLE, '--edition', 'complete'] })
    author = await signIn(AUTHOR)
    approver = await signIn(APPROVER)
    for (const place of PLACES) await addHost(place)
  })

  afterAll(async () => {
    await Promise.all(hosts.map(({ collector }) => collector.stop()))
    await service?.stop()
  })

  test('that run one config are one group to take over, and their text is told to be that', async () => {
    const group = await eventually(
      'they are one group',
      async () => {
        const found = await groups()
        const [only] = found
        if (found.length !== 1 || only?.workload_count !== hosts.length || !only.reported_config_hash)
          throw new Error(JSON.stringify(found))
        return only
      },
      { explain: said },
    )
    for (const host of hosts) {
      const workloads: { id: string; fingerprint_keys: Record<string, string> }[] =
        await service.api.get('/api/workloads')
      host.workloadId = workloads.find((one) => one.fingerprint_keys['host.name'] === host.name)?.id ?? ''
    }
    expect(group.workloads.map(({ id }) => id).sort()).toEqual(hosts.map((host) => host.workloadId).sort())
    const check = { reported_config_hash: group.reported_config_hash, content: SOURCE }
    expect(await service.api.post('/api/adopt/check', check, 200)).toMatchObject({
      effective_matches: true,
      paths: [],
      workload_count: 3,
      instance_count: 3,
    })
  })

  test('get a config each by one decision, but the one that is away', async () => {
    const fleetConfigId = await writeFleetConfig()
    const away = hosts[2]!
    await away.collector.leave()
    await eventually(
      'it is away',
      async () => (await service.api.get(`/api/workloads/${away.workloadId}`)).status === 'disconnected',
      { explain: said },
    )
    const planned = await plan(fleetConfigId)
    campaignId = planned.id
    expect(planned.plan?.verdicts).toEqual({ changes: 2, offline: 1 })
    const results = (await targetsOf(campaignId)).map((target) => target.result_hash)
    expect(new Set(results).size).toBe(hosts.length)
    const decision = { comment: 'all hosts', plan_hash: planned.plan_hash, prod_confirmation: true }
    const path = `/api/campaigns/${campaignId}`
    await author.post(`${path}/request`, decision, 200)
    const alone = await author.call('POST', `${path}/approve`, decision)
    expect(alone).toMatchObject({ status: 409, body: { code: 'approval_needs_another' } })
    await approver.post(`${path}/approve`, decision, 200)
    await author.post(`${path}/start`, {}, 200)
    await statesAre(campaignId, ['applied', 'applied', 'offline'])
    await runsItsOwn(hosts[0]!)
    await runsItsOwn(hosts[1]!)
    expect(await away.collector.mergedConfig()).not.toContain(away.timeout)
  })

  test('and that one gets its own when it is back, with no other decision', async () => {
    await hosts[2]!.collector.restart()
    await statesAre(campaignId, ['applied', 'applied', 'applied'])
    for (const host of hosts) await runsItsOwn(host)
    await eventually('the campaign is done', async () => (await campaignOf(campaignId)).status === 'done')
    expect((await campaignOf(campaignId)).approvals).toHaveLength(1)
    for (const { workloadId } of hosts) {
      const revisions = await service.api.get(`/api/workloads/${workloadId}/configs`)
      expect(revisions).toMatchObject([{ status: 'applied' }])
    }
  })
})
