import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_CONFIG, startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { runReadmeCommands } from '../../support/readme-commands.ts'
import { runClient, writeMuster } from '../support/client.ts'
import { BUNDLE, type Service, SHARED_SECRET, startService } from '../support/service.ts'

let service: Service
let env: Record<string, string>
let agents: ReturnType<typeof startSimulatedAgent>[] = []
const FASTER = DEFAULT_CONFIG.replace('debug:', 'debug:\n    verbosity: detailed')
const HOSTS = ['vm-1', 'vm-2', 'vm-3']

const muster = (...args: string[]) => runClient(['campaign', ...args], { env })
const json = async (...args: string[]) => {
  const { code, output } = await muster(...args, '-o', 'json')
  expect({ code, output }).toMatchObject({ code: 0 })
  return JSON.parse(output)
}

/** Make a campaign over all hosts in two waves without a time to watch; returns its id. */
async function writeDown(name: string, yaml: string): Promise<string> {
  const change = { kind: 'text', yaml, takeover: true }
  const scope = { selector: { match_expressions: [{ key: 'identity/host.name', operator: 'Exists' }] } }
  const waves = [{ count: 1, dwell_seconds: 0 }, { dwell_seconds: 0 }]
  return (await service.api.post('/api/campaigns', { name, change, scope, waves }, 201)).id
}
const approve = async (id: string) => {
  const { plan_hash } = await service.api.get(`/api/campaigns/${id}`)
  await service.api.post(`/api/campaigns/${id}/approve`, { comment: 'fine', plan_hash }, 200)
}

beforeAll(async () => {
  service = await startService({ args: [BUNDLE, '--edition', 'complete'] })
  agents = HOSTS.map((host) =>
    startSimulatedAgent({
      url: service.opampUrl,
      secret: SHARED_SECRET,
      nonIdentifying: { 'host.name': host },
    }),
  )
  await eventually(
    'the agents are listed',
    async () => (await service.api.get('/api/workloads')).length === HOSTS.length,
  )
  const body = {
    name: 'pipeline',
    permissions: ['config:approve', 'config:read_content', 'config:request', 'workload:push_config'],
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  }
  const { token } = await service.api.post('/api/tokens', body, 201)
  env = { MUSTER_URL: service.url, MUSTER_TOKEN: token }
})

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()))
  await service?.stop()
})

test('a campaign is planned, asked for, carried out and taken back, each step waited for', async () => {
  const id = await writeDown('details', FASTER)
  expect(await json('list')).toMatchObject([{ id, status: 'draft' }])
  const planned = await muster('plan', 'details')
  expect(planned.code).toBe(0)
  expect(planned.output).toMatch(/^status +planned$/m)
  expect(planned.output).toMatch(/^changes +3 workloads, 3 instances$/m)
  expect(planned.output).toMatch(/^WAVE +CHANGES +PRODUCTION +WATCHED +WORKLOADS\n1 +1 /m)
  expect(planned.output).toContain('verbosity: detailed')
  const { plan_hash: hash } = await json('get', id)
  const stale = await muster('request', id, '--plan', 'a'.repeat(64), '--production')
  expect(stale).toMatchObject({ code: 3, output: expect.stringContaining('campaign_plan_changed') })
  const early = await muster('start', id)
  expect(early).toMatchObject({ code: 3, output: expect.stringContaining('the campaign is planned') })
  const request = muster('request', id, '--plan', hash, '--comment', 'from a shell', '--production', '--wait')
  await eventually(
    'it is requested',
    async () => (await service.api.get(`/api/campaigns/${id}`)).status === 'requested',
  )
  const machine = await muster('approve', id, '--comment', 'by itself')
  expect(machine).toMatchObject({ code: 3, output: expect.stringContaining('session_required') })
  expect(machine.output).toContain(`the campaign is at ${service.url}/campaigns/${id}`)
  expect((await service.api.get(`/api/campaigns/${id}`)).approvals).toEqual([])
  await approve(id)
  expect(await request).toMatchObject({ code: 0, output: expect.stringMatching(/^status +approved$/m) })
  expect((await service.api.get(`/api/campaigns/${id}`)).request_comment).toBe('from a shell')
  const done = await muster('start', id, '--wait', '--timeout', '60')
  expect(done).toMatchObject({ code: 0, output: expect.stringMatching(/^workloads +3 applied$/m) })
  for (const agent of agents) expect(agent.collector.storage.remoteConfig).toBe(FASTER)
  expect(await muster('get', id, '--exit-code')).toMatchObject({ code: 0 })
  // Workloads that nothing was pushed to before have no config to go back to: that is said before anything is done.
  const back = await muster('roll-back', id, '--comment', 'no', '--wait', '--timeout', '60')
  expect(back).toMatchObject({ code: 3, output: expect.stringContaining('campaign_no_way_back') })
})

test('the README carries a draft to all its workloads, once somebody has approved', async () => {
  const changed = `${FASTER}# by the README\n`
  const id = await writeDown('readme', changed)
  const folder = await mkdtemp(join(tmpdir(), 'muster-e2e-campaign-'))
  try {
    await writeMuster(folder)
    const PATH = `${folder}:${process.env['PATH']}`
    const said = runReadmeCommands('campaign', { ...env, PATH, CAMPAIGN: 'readme' })
    await eventually(
      'it is requested',
      async () => (await service.api.get(`/api/campaigns/${id}`)).status === 'requested',
    )
    await approve(id)
    expect(await said).toMatch(/^workloads +3 applied$/m)
  } finally {
    await rm(folder, { recursive: true })
  }
  for (const agent of agents) expect(agent.collector.storage.remoteConfig).toBe(changed)
})

test('it pauses, goes on, is aborted, and says that it is not done', async () => {
  const id = await writeDown('paused', `${FASTER}# again\n`)
  for (const agent of agents) agent.collector.behaviour = { kind: 'silent' }
  await muster('plan', id)
  await muster('request', id, '--production')
  await approve(id)
  expect(await json('start', id)).toMatchObject({ status: 'running' })
  expect(await muster('start', id, '--wait')).toMatchObject({ code: 3 })
  expect(await json('pause', id, '--comment', 'lunch')).toMatchObject({ status: 'paused' })
  const raised = await muster('continue', id, '--raise', 'silent=3')
  expect(raised).toMatchObject({ code: 3, output: expect.stringContaining('comment_required') })
  const comment = ['--comment', 'they are slow']
  expect(await json('continue', id, '--raise', 'silent=3', ...comment)).toMatchObject({
    status: 'running',
    raised: { silent: 3 },
  })
  const late = await muster('get', id, '--wait', '--timeout', '1')
  expect(late).toMatchObject({ code: 4, output: expect.stringMatching(/^status +running$/m) })
  expect(await json('abort', 'paused')).toMatchObject({ status: 'aborted' })
  expect(await muster('get', id, '--exit-code')).toMatchObject({ code: 4 })
})

test('a request that somebody rejects ends the wait with a refusal', async () => {
  const id = await writeDown('rejected', `${FASTER}# once more\n`)
  await muster('plan', id)
  const request = muster('request', id, '--production', '--wait')
  const path = `/api/campaigns/${id}`
  await eventually('it is requested', async () => (await service.api.get(path)).status === 'requested')
  await service.api.post(`${path}/reject`, { comment: 'not today' }, 200)
  expect(await request).toMatchObject({ code: 3, output: expect.stringContaining('not today') })
})

test.each([
  [['nonsense'], 'there are list, get, plan'],
  [['get'], 'get which campaign?'],
  [['list', 'x'], 'Unknown argument "x"'],
  [['continue', 'x', '--raise', 'luck=3'], '--raise must be failed=N'],
  [['start', 'x', '--timeout', '0'], '--timeout must be 1 to 86400'],
])('takes %j for wrong arguments', async (args, message) => {
  expect(await muster(...args)).toMatchObject({ code: 64, output: expect.stringContaining(message) })
})

test('one that is nowhere is an error', async () => {
  expect(await muster('get', 'nowhere')).toMatchObject({
    code: 1,
    output: expect.stringContaining('no campaign is called "nowhere"'),
  })
})
