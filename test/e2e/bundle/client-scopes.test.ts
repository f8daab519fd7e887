import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_CONFIG, startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { runClient } from '../support/client.ts'
import { Api, BUNDLE, type Service, SHARED_SECRET, startService } from '../support/service.ts'

// Sue may do things where muster/env is shop. Each config has a number of its own, by which it would be told if it
// stood anywhere.

const configWith = (number: number) =>
  DEFAULT_CONFIG.replace('debug: {}', `debug:\n    sampling_initial: ${number}`)
const SHOP = 4_101
const BANK = 7_741
const ASKED = 7_742
const SECRETS = RegExp(`${BANK}|${ASKED}|a quiet reason`)
const PERMISSIONS = ['config:create', 'config:read_content', 'config:request', 'workload:push_config']
const OUTSIDE = { code: 3, output: expect.stringContaining('out_of_scope') }

let folder: string
let service: Service
let agents: ReturnType<typeof startSimulatedAgent>[] = []
let ids: { shop: string; bank: string }
let hers: Api
let other: Api
let sue: Record<string, string> = {}

/** Make Sue a member of this group and of no other. */
async function setGroups(...groups: string[]): Promise<void> {
  const all: { id: string; email: string }[] = await service.api.get('/api/users')
  const { id } = all.find(({ email }) => email === 'sue@example.com')!
  expect((await service.api.call('PATCH', `/api/users/${id}`, { groups })).status).toBe(200)
}

const muster = (...args: string[]) => runClient(args, { env: sue, cwd: folder })
const put = (file: string, text: string) => writeFile(join(folder, file), text)
const indent = (text: string) => text.replaceAll(/^(?=.)/gm, '  ')
const document = (id: string, config: string) =>
  `apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: { id: ${id} }\nconfig: |\n${indent(config)}`
const fleet = (name: string, env: string) => `apiVersion: muster/v1
kind: FleetConfig
name: ${name}
selector: { match_expressions: [{ key: muster/env, operator: In, values: [${env}] }] }
priority: ${name === 'own' ? -2 : -1}
campaign: { takeover: true }
config: |
${indent(configWith(5_000))}`

async function tokenOf(api: Api): Promise<Record<string, string>> {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const { token } = await api.post('/api/tokens', { name: 'cli', permissions: PERMISSIONS, expires_at }, 201)
  return { MUSTER_URL: service.url, MUSTER_TOKEN: token, GITHUB_SHA: 'c0ffee', GITHUB_ACTOR: 'sue' }
}

async function connect(name: string, number: number, env = name): Promise<string> {
  agents.push(
    startSimulatedAgent({
      url: service.opampUrl,
      secret: SHARED_SECRET,
      behaviour: { kind: 'apply', delayMs: 50 },
      identifying: { 'service.name': name },
      nonIdentifying: { 'host.name': name },
    }),
  )
  const all = () => service.api.get('/api/workloads')
  const { id } = await eventually(`${name} is listed`, async () =>
    (await all()).find((one: { display_name: string }) => one.display_name === name),
  )
  for (const config of [DEFAULT_CONFIG, configWith(number)]) {
    const hash = await service.api.pushConfig(id, config)
    await eventually('the push is applied', async () => {
      const { current_config_push: push } = await service.api.get(`/api/workloads/${id}`)
      return push.config_hash === hash && push.status === 'applied'
    })
  }
  await service.api.call('PUT', `/api/workloads/${id}/trusted-labels`, { labels: { env } })
  return id
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-e2e-scopes-'))
  service = await startService({ args: [BUNDLE, '--edition', 'complete'] })
  ids = { shop: await connect('shop', SHOP), bank: await connect('bank', BANK) }
  await connect('store', 4_201, 'shop')
  for (const [id, number, comment] of [
    [ids.shop, 4_102, 'of the shop'],
    [ids.bank, ASKED, 'a quiet reason'],
  ] as const) {
    const draft = { draft_yaml: configWith(number), target_group: 'g', comment }
    await service.api.post(`/api/workloads/${id}/config/approvals`, draft, 201)
  }
  const scope = { key: 'muster/env', values: ['shop'] }
  await service.api.post('/api/groups', { name: 'shop-editors', role: 'editor', scope }, 201)
  const who = { email: 'sue@example.com', password: 'long enough to pass' }
  await service.api.post('/api/users', { ...who, groups: ['shop-editors'] }, 201)
  hers = new Api(service.url)
  await hers.login(who)
  const max = { email: 'max@example.com', password: 'long enough to pass' }
  await service.api.post('/api/users', { ...max, groups: ['editor'] }, 201)
  other = new Api(service.url)
  await other.login(max)
  sue = await tokenOf(hers)
})

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()))
  agents = []
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('the fleet is listed whole, and what was asked for where it may be read', async () => {
  const { code, output } = await muster('get', 'workloads')
  expect({ code, output }).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^shop +shop +connected/m),
  })
  expect(output).toMatch(/^bank +bank +connected/m)
  for (const [kind, ...of] of [
    ['workloads'],
    ['requests'],
    ['alerts'],
    ['revisions', 'bank'],
    ['instances', 'bank'],
  ]) {
    const told = await muster('get', kind!, ...of, '-o', 'json')
    expect(told, kind).toMatchObject({ code: 0, output: expect.not.stringMatching(SECRETS) })
  }
  const requests = JSON.parse((await muster('get', 'requests', '-o', 'json')).output)
  expect(requests.map((one: { workload_id: string }) => one.workload_id)).not.toContain(ids.bank)
  expect(requests[0]).toMatchObject({ status: 'pending', request_comment: 'of the shop' })
})

test('a config is compared and rolled back within the scope, and outside is neither', async () => {
  await put('new.yaml', configWith(9_000))
  const shop = await muster('diff', 'shop', 'new.yaml', '--exit-code')
  expect(shop).toMatchObject({ code: 4, output: expect.stringContaining(String(SHOP)) })
  for (const args of [
    ['diff', 'bank', 'new.yaml'],
    ['rollback', 'bank'],
  ]) {
    const { code, output } = await muster(...args)
    expect({ code, output }, args[0]).toMatchObject(OUTSIDE)
    expect(output).not.toMatch(SECRETS)
  }
  // What was approved while only one person could is not enough for a token any more.
  const refused = { code: 3, output: expect.stringContaining('approved_for_less') }
  expect(await muster('rollback', 'shop')).toMatchObject(refused)
  for (const number of [4_103, 4_104]) await bring(number)
  expect(await muster('rollback', 'shop')).toMatchObject({ code: 0 })
})

/** Sue asks for a config of the shop, and somebody else approves it and pushes it. */
async function bring(number: number): Promise<void> {
  const path = `/api/workloads/${ids.shop}`
  const draft = { draft_yaml: configWith(number), comment: 'more' }
  const { id, draft_hash } = await hers.post(`${path}/config/approvals`, draft, 201)
  const way = `${path}/config/approvals/${id}`
  expect((await other.call('POST', `${way}/approve`, { comment: 'fine' })).status).toBe(200)
  await service.api.post(`${way}/push`, { comment: 'now' }, 202)
  await eventually('the push is applied', async () => {
    const { current_config_push: push } = await service.api.get(path)
    return push.config_hash === draft_hash && push.status === 'applied'
  })
}

/** Fill a folder with these files, and with nothing else. */
async function fill(name: string, files: Record<string, string>): Promise<void> {
  await rm(join(folder, name), { recursive: true, force: true })
  await mkdir(join(folder, name))
  for (const [file, text] of Object.entries(files)) await put(join(name, file), text)
}
const own = () => ({ 'shop.yaml': document(ids.shop, configWith(9_001)), 'own.yaml': fleet('own', 'shop') })
const others = () => ({
  'bank.yaml': document(ids.bank, configWith(9_001)),
  'wide.yaml': fleet('wide', 'shop, bank'),
})

test.each([
  ['plan', 'propose'],
  ['apply', 'propose'],
  ['apply', 'waits'],
])(
  '%s takes what lies within the scope (%s), and refuses the rest with its place',
  async (command, action) => {
    await fill('fleet', { ...own(), ...others() })
    const { code, output } = await muster(command, 'fleet', '--owner', 'shop-team')
    expect(code, output).toBe(3)
    for (const name of ['shop', 'own']) expect(output).toMatch(RegExp(`^${name} +${action}`, 'm'))
    for (const name of ['bank', 'wide']) {
      expect(output).toMatch(RegExp(`^${name} +refused`, 'm'))
      expect(output).toMatch(
        RegExp(
          `^fleet/${name}\\.yaml:1: .*\\(out_of_scope\\): config:\\w+ is needed on all that this reaches$`,
          'm',
        ),
      )
    }
    expect(output).not.toMatch(SECRETS)
  },
)

test('what is left over outside of the scope is kept, and does not keep the rest from being done', async () => {
  // She had a wider scope once: an owner's name belongs to one account.
  await fill('all', { ...own(), ...others() })
  await setGroups('editor')
  const all = await muster('apply', 'all', '--owner', 'shop-team')
  expect(all, all.output).toMatchObject({ code: 0 })
  await setGroups('shop-editors')
  await fill('fleet', own())
  const planned = await muster('plan', 'fleet', '--owner', 'shop-team')
  expect(planned, planned.output).toMatchObject({ code: 0 })
  for (const name of ['bank', 'wide']) expect(planned.output).toMatch(RegExp(`^${name} +leftover`, 'm'))
  const { code, output } = await muster('apply', 'fleet', '--owner', 'shop-team', '--prune')
  expect(code, output).toBe(3)
  for (const name of ['shop', 'own']) expect(output).toMatch(RegExp(`^${name} +waits`, 'm'))
  for (const name of ['bank', 'wide']) {
    expect(output).toMatch(RegExp(`^${name} +refused`, 'm'))
    expect(output).toMatch(
      RegExp(`^${name}: .*\\(out_of_scope\\)(: \\w+:\\w+ is needed on all that this reaches)?$`, 'm'),
    )
  }
  expect(output).not.toMatch(SECRETS)
  const kept = await service.api.get('/api/managed-configs?owner=shop-team')
  expect(kept.map(({ workload_id: id }: { workload_id: string }) => id).sort()).toEqual(
    [ids.shop, ids.bank].sort(),
  )
})
