import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_CONFIG, startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { runReadmeCommands } from '../../support/readme-commands.ts'
import { runClient, writeMuster } from '../support/client.ts'
import { BUNDLE, type Service, SHARED_SECRET, startService } from '../support/service.ts'
import { readSnippet } from '../support/snippets.ts'

let folder: string
let service: Service
let agent: ReturnType<typeof startSimulatedAgent>
let env: Record<string, string>
let workload: { id: string; display_name: string }
const SECOND = DEFAULT_CONFIG.replace('debug:', 'debug:\n    verbosity: detailed')

const put = (name: string, text: string) => writeFile(join(folder, 'fleet', name), text)
const document = (target: string) =>
  `apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: ${target}\nconfigFile: configs/gateway.yaml\n`
const muster = (...args: string[]) => runClient(args, { env, cwd: folder })
const steps = async (command: string, ...more: string[]) => {
  const { code, output } = await muster(command, 'fleet', '--owner', 'platform', '-o', 'json', ...more)
  expect({ code, output }).toMatchObject({ code: 0 })
  return JSON.parse(output).steps
}
const requests = () => service.api.get(`/api/workloads/${workload.id}/config/approvals`)

/** Approve and push a request, and wait until it runs. */
async function carryOut(id: string): Promise<void> {
  const base = `/api/workloads/${workload.id}/config/approvals/${id}`
  await service.api.post(`${base}/approve`, { comment: 'fine' }, 200)
  await service.api.post(`${base}/push`, { comment: 'go' }, 202)
  await eventually('the push is applied', async () => {
    const { current_config_push: push } = await service.api.get(`/api/workloads/${workload.id}`)
    return push?.approval_id === id && push.status === 'applied'
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-e2e-desired-'))
  await mkdir(join(folder, 'fleet', 'configs'), { recursive: true })
  service = await startService({ args: [BUNDLE, '--edition', 'complete'] })
  agent = startSimulatedAgent({
    url: service.opampUrl,
    secret: SHARED_SECRET,
    nonIdentifying: { 'host.name': 'vm-1', team: 'platform' },
  })
  workload = await eventually('the agent is listed', async () => (await service.api.get('/api/workloads'))[0])
  const body = {
    name: 'pipeline',
    permissions: ['config:read_content', 'config:request', 'workload:push_config'],
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  }
  const { token } = await service.api.post('/api/tokens', body, 201)
  env = { MUSTER_URL: service.url, MUSTER_TOKEN: token, GITHUB_SHA: 'c0ffee', GITHUB_ACTOR: 'ann' }
  await put('gateway.yaml', document(`{ id: ${workload.id} }`))
  await put('configs/gateway.yaml', DEFAULT_CONFIG)
})

afterAll(async () => {
  await agent?.stop()
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('the four lines of the README plan and ask for what a folder holds, and a second run adds nothing', async () => {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeMuster(bin)
  const pipeline = () =>
    runReadmeCommands('pipeline', { ...env, PATH: `${bin}:${process.env['PATH']}` }, folder)
  const said = await pipeline()
  expect(said).toContain('fleet/configs/gateway.yaml: valid')
  expect(said.match(RegExp(`^${workload.display_name} +propose`, 'gm'))).toHaveLength(2)
  const [request, ...others] = await requests()
  expect(others).toEqual([])
  expect(request).toMatchObject({
    status: 'pending',
    draft_yaml: DEFAULT_CONFIG,
    request_comment: 'From Git: platform at c0ffee by ann',
  })
  expect(await pipeline()).toMatch(RegExp(`^${workload.display_name} +waits`, 'm'))
  expect(await requests()).toHaveLength(1)
  await carryOut(request.id)
  expect(await steps('plan')).toMatchObject([{ action: 'unchanged' }])
  expect(await muster('plan', 'fleet', '--owner', 'platform', '--exit-code')).toMatchObject({ code: 0 })
})

test('a plan says what would change in meaning, and that something would', async () => {
  await put('configs/gateway.yaml', SECOND)
  const [step] = await steps('plan')
  expect(step).toMatchObject({ action: 'propose', changes: [expect.stringContaining('verbosity')] })
  expect(await muster('plan', 'fleet', '--owner', 'platform', '--exit-code')).toMatchObject({ code: 4 })
  expect(await requests()).toHaveLength(1)
})

test('what was rolled back is held, and asked for again when somebody says so', async () => {
  const [step] = await steps('apply')
  await carryOut(step.approval_id)
  expect(await muster('rollback', workload.id)).toMatchObject({ code: 0 })
  await eventually('the rollback is applied', async () => {
    const { current_config_push: push } = await service.api.get(`/api/workloads/${workload.id}`)
    return push.status === 'applied' && push.approval_id === undefined
  })
  expect(await steps('apply')).toMatchObject([{ action: 'held', reason: 'replaced' }])
  expect(await steps('plan', '--again')).toMatchObject([{ action: 'propose' }])
})

test('workloads are found by labels that only one has', async () => {
  await put('gateway.yaml', document('{ labels: { host.name: vm-1 } }'))
  expect(await steps('plan')).toMatchObject([{ workload_id: workload.id }])
  await put('gateway.yaml', document('{ labels: { host.name: elsewhere } }'))
  const { code, output } = await muster('plan', 'fleet', '--owner', 'platform', '-o', 'json')
  expect(code).toBe(3)
  const reason = 'fleet/gateway.yaml:1: no workload has these labels'
  expect(JSON.parse(output).steps).toContainEqual(
    expect.objectContaining({ workload: 'host.name=elsewhere', action: 'refused', reason }),
  )
  expect((await muster('plan', 'fleet', '--owner', 'platform')).output).toContain(reason)
})

test('another owner is refused, and so is a config that the service would not run', async () => {
  await put('gateway.yaml', document(`{ id: ${workload.id} }`))
  expect(await muster('apply', 'fleet', '--owner', 'others')).toMatchObject({
    code: 3,
    output: expect.stringContaining('managed_elsewhere'),
  })
  await put('configs/gateway.yaml', 'receivers: {}\n')
  const refused = await muster('apply', 'fleet', '--owner', 'platform')
  expect(refused).toMatchObject({ code: 3, output: expect.stringContaining('fleet/gateway.yaml:1: ') })
})

test.each([
  [
    'an unknown key',
    'apiVersion: muster/v1\nkind: WorkloadConfig\nworkloads: {}\n',
    'unknown key "workloads"',
  ],
  ['another kind', 'apiVersion: muster/v1\nkind: Deployment\n', 'kind must be WorkloadConfig or FleetConfig'],
  [
    'no config',
    `apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: { id: x }\n`,
    'either config or configFile',
  ],
  [
    'a way out of the folder',
    'apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: { id: x }\nconfigFile: ../../etc/passwd\n',
    'leads out of the folder',
  ],
])('a document with %s is refused with its place', async (_, text, message) => {
  await put('wrong.yaml', text)
  const { code, output } = await muster('plan', 'fleet', '--owner', 'platform')
  await rm(join(folder, 'fleet', 'wrong.yaml'))
  expect({ code, output }).toEqual({ code: 3, output: expect.stringContaining(message) })
  expect(output).toContain('fleet/wrong.yaml:1: ')
})

test('what the folder no longer holds is told, and left to people when it is said', async () => {
  await put('gateway.yaml', document('{ id: none }').replace('none', workload.id))
  await put('configs/gateway.yaml', SECOND)
  await steps('apply', '--again')
  const second = startSimulatedAgent({
    url: service.opampUrl,
    secret: SHARED_SECRET,
    nonIdentifying: { 'host.name': 'vm-2' },
  })
  const other = await eventually('another agent is listed', async () =>
    (await service.api.get('/api/workloads')).find((one: { id: string }) => one.id !== workload.id),
  )
  await put('gateway.yaml', document(`{ id: ${other.id} }`))
  expect(await steps('apply')).toMatchObject([
    { workload_id: other.id, action: 'propose' },
    { workload_id: workload.id, action: 'leftover' },
  ])
  expect(await steps('apply', '--prune')).toMatchObject([
    { workload_id: other.id, action: 'waits' },
    { workload_id: workload.id, action: 'released' },
  ])
  const kept = () => service.api.get('/api/managed-configs')
  expect(await kept()).toMatchObject([{ workload_id: other.id, accepted: false }])
  const [{ approval_id: asked }] = await steps('apply')
  const approve = `/api/workloads/${other.id}/config/approvals/${asked}/approve`
  await service.api.post(approve, { comment: 'fine' }, 200)
  expect(await kept()).toMatchObject([{ workload_id: other.id, accepted: true }])
  await second.stop()
})

const fleet = (text: string) =>
  put(
    'edge.yaml',
    `apiVersion: muster/v1
kind: FleetConfig
name: edge
selector: { match_labels: { identity/host.name: vm-* } }
campaign: { takeover: true, waves: [{ dwell_seconds: 0 }] }
variables: [{ name: level, default: basic }]
config: |
${text.replaceAll(/^(?=.)/gm, '  ')}`,
  )

test('a fleet config becomes a version and a campaign that a person approves; a second run adds nothing', async () => {
  const LEVEL = DEFAULT_CONFIG.replace('debug:', 'debug:\n    verbosity: ${muster:level}')
  await rm(join(folder, 'fleet', 'gateway.yaml'))
  await fleet(LEVEL)
  const body = {
    name: 'fleet pipeline',
    permissions: ['config:create', 'config:read_content', 'config:request', 'workload:push_config'],
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  }
  const { token } = await service.api.post('/api/tokens', body, 201)
  env = { ...env, MUSTER_TOKEN: token }
  await steps('apply', '--prune')
  const path = '/api/fleet-configs'
  const [config, ...others] = await service.api.get(path)
  expect(others).toEqual([])
  expect(config).toMatchObject({
    name: 'edge',
    newest_version: 1,
    managed: { owner: 'platform', version: 1, commit_sha: 'c0ffee', commit_author: 'ann' },
  })
  const [campaign] = await service.api.get('/api/campaigns')
  expect(campaign).toMatchObject({
    status: 'requested',
    request_comment: 'From Git: platform at c0ffee by ann',
    change: { kind: 'version', fleet_config_id: config.id, number: 1, takeover: true },
  })
  const wait = { kind: 'FleetConfig', fleet_config: 'edge', action: 'waits', campaign_id: campaign.id }
  expect(await steps('apply')).toMatchObject([wait])
  expect(await service.api.get('/api/campaigns')).toHaveLength(1)
  const approval = { plan_hash: campaign.plan_hash, comment: 'fine' }
  await service.api.post(`/api/campaigns/${campaign.id}/approve`, approval, 200)
  expect(await muster('campaign', 'start', campaign.id, '--wait')).toMatchObject({ code: 0 })
  expect(agent.collector.storage.remoteConfig).toContain('verbosity: basic')
  expect(await steps('plan')).toMatchObject([{ action: 'unchanged', version: 1 }])
  expect(await muster('apply', 'fleet', '--owner', 'platform', '--exit-code')).toMatchObject({ code: 0 })
  // A changed text becomes another version, and a plan shows what it changes.
  await fleet(LEVEL.replace('debug:', 'debug:\n    sampling_initial: 7'))
  const told = await muster('plan', 'fleet', '--owner', 'platform', '--exit-code')
  expect(told).toMatchObject({ code: 4, output: expect.stringContaining('sampling initial') })
  expect(told.output).toMatch(/^edge +propose +new +\d +- +-$/m)
  expect(await service.api.get(path)).toMatchObject([{ newest_version: 1 }])
  // Two pipelines at once ask for it by one campaign.
  const both = await Promise.all([steps('apply'), steps('apply')])
  for (const said of both) expect(said).toMatchObject([{ version: 2, campaign_status: 'requested' }])
  expect(await service.api.get('/api/campaigns')).toHaveLength(2)
  // A selector that is another is told before it counts.
  const text = await readFile(join(folder, 'fleet', 'edge.yaml'), 'utf8')
  await put('edge.yaml', text.replace('vm-*', 'vm-2'))
  const narrower = await muster('plan', 'fleet', '--owner', 'platform')
  expect(narrower.output).toContain('edge: selector changes\n')
  expect(narrower.output).toContain('edge: workloads that come under it: 0, that leave it: 1\n')
  await put('edge.yaml', text)
  // Another owner is refused. Then the folder has no document for `edge` any more.
  expect(await muster('apply', 'fleet', '--owner', 'others')).toMatchObject({
    code: 3,
    output: expect.stringContaining('managed_elsewhere'),
  })
  await rm(join(folder, 'fleet', 'edge.yaml'))
  await put('gateway.yaml', document(`{ id: ${workload.id} }`))
  expect(await steps('plan')).toContainEqual(
    expect.objectContaining({ action: 'leftover', fleet_config: 'edge' }),
  )
  const pruned = await steps('apply', '--prune')
  expect(pruned).toContainEqual(expect.objectContaining({ action: 'released', fleet_config: 'edge' }))
  expect((await service.api.get('/api/campaigns')).map(({ status }: { status: string }) => status)).toEqual([
    ...['withdrawn', 'done'],
  ])
})

test('the documents of the README are planned as they stand', async () => {
  const other = join(folder, 'readme')
  await mkdir(join(other, 'configs'), { recursive: true })
  const label = { 'k8s.deployment.name: otel-gateway, muster/env: staging': 'host.name: vm-1' }
  await writeFile(join(other, 'gateway.yaml'), readSnippet('workload-config', label))
  await writeFile(join(other, 'edge.yaml'), readSnippet('fleet-config').replace('name: edge', 'name: paris'))
  await writeFile(join(other, 'configs', 'gateway.yaml'), `${DEFAULT_CONFIG}# README\n`)
  await writeFile(join(other, 'configs', 'edge.yaml'), `${DEFAULT_CONFIG}# \${muster:region}\n`)
  const { code, output } = await muster('plan', 'readme', '--owner', 'platform', '-o', 'json')
  expect(code, output).toBe(0)
  expect(JSON.parse(output).steps).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'WorkloadConfig', workload_id: workload.id, action: 'propose' }),
      expect.objectContaining({ kind: 'FleetConfig', fleet_config: 'paris', action: 'propose' }),
    ]),
  )
})

test.each([
  ['without a name', 'selector: {}', 'a fleet config needs a name'],
  ['about nobody', 'name: x', 'a fleet config needs a selector'],
  ['with an unknown key', 'name: x\nselector: {}\nlabels: {}', 'unknown key "labels"'],
  ['without a text', 'name: x\nselector: {}', 'either config or configFile'],
])('a fleet config %s is refused with its place', async (_, text, message) => {
  await put('wrong.yaml', `apiVersion: muster/v1\nkind: FleetConfig\n${text}\n`)
  const { code, output } = await muster('plan', 'fleet', '--owner', 'platform')
  await rm(join(folder, 'fleet', 'wrong.yaml'))
  expect({ code, output }).toEqual({ code: 3, output: expect.stringContaining(message) })
  expect(output).toContain('fleet/wrong.yaml:1: ')
})
