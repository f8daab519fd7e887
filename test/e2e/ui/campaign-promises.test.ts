import { afterEach, describe, expect, test } from 'vitest'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { eventually } from '../../support/eventually.ts'
import { readPdfText } from '../../support/pdf-text.ts'
import { findBarriers } from './support/browser.ts'
import { GATEWAY, GATEWAY_FASTER, GATEWAY_KAFKA, SECRETIVE } from './support/scene.ts'
import { TEST_ADMIN } from './support/service.ts'
import { agents, connectAgent, decide, page, service, stopAgents, useStage } from './support/stage.ts'

// What campaigns promise to those who read their pages, each from its beginning to what the pages say afterwards.

useStage({ pages: 'one', withinMs: 120_000 })
afterEach(stopAgents)

type Behaviour = NonNullable<Parameters<typeof connectAgent>[2]>
const HIDING: Behaviour = { capabilities: SECRETIVE, behaviour: { kind: 'apply', delayMs: 100 } }

/** Connect hosts of a service of this name; answers the ids of their workloads, by host. */
async function connectHosts(team: string, hosts: readonly string[], more: Behaviour): Promise<string[]> {
  for (const host of hosts)
    connectAgent(team, `${host}-agent`, { nonIdentifying: { 'host.name': host }, ...more })
  return eventually('all are there', async () => {
    const all = (await service.api.get('/api/workloads')) as WorkloadRecord[]
    const ids = hosts.map(
      (host) => all.find(({ fingerprint_keys: keys }) => keys?.['host.name'] === host)?.id ?? '',
    )
    return ids.every((id) => id !== '') && ids
  })
}

interface Carried {
  status: string
  plan_hash: string
  counts: Record<string, number>
}
const read = (id: string) => service.api.get(`/api/campaigns/${id}`) as Promise<Carried>

async function planned(name: string, change: object, more: object = {}): Promise<string> {
  const { id } = await service.api.post(
    '/api/campaigns',
    { name, change, scope: {}, waves: [{}], ...more },
    201,
  )
  await service.api.post(`/api/campaigns/${id}/plan`, {}, 202)
  await eventually('it is planned', async () => (await read(id)).status === 'planned')
  return id
}
/** Request, approve and start a planned campaign, and wait until it has this status. */
async function started(id: string, status: string): Promise<void> {
  const { plan_hash } = await read(id)
  for (const step of ['request', 'approve', 'start'])
    await service.api.post(`/api/campaigns/${id}/${step}`, { plan_hash, comment: 'looked at' }, 200)
  await eventually(`it is ${status}`, async () => (await read(id)).status === status)
}
const text = (yaml: string, takeover = false) => ({ kind: 'text', yaml, takeover })
const of = (team: string) => ({ selector: { match_labels: { 'identity/service.name': team } } })
const says = (what: string | RegExp) => page.getByText(what).first().waitFor()
const workloads = () => page.getByRole('region', { name: 'Workloads' })
const rowOf = (host: string) => workloads().getByRole('row').filter({ hasText: host })
const hasNoBarrier = () => expect.poll(() => findBarriers(page)).toEqual([])

describe('the page of a campaign', () => {
  test('names what a workload is missing, and asks for nothing that changes nothing', async () => {
    await connectHosts('lacks', ['lacks-1', 'lacks-2'], { behaviour: { kind: 'apply', delayMs: 100 } })
    const id = await planned('Without Kafka', text(GATEWAY_KAFKA, true), { scope: of('lacks') })
    await page.goto(`/campaigns/${id}`)
    await rowOf('lacks-1').getByText('a component is not installed: exporters.kafka').waitFor()
    const ask = page.getByRole('button', { name: 'Ask for approval' })
    await expect.poll(() => ask.getAttribute('aria-disabled')).toBe('true')
    expect(await ask.getAttribute('title')).toMatch(
      /^The plan changes no workload, so there is nothing to approve/,
    )
    await hasNoBarrier()
  })

  test('names on whom it halted, and offers no Continue where nothing is left to be changed', async () => {
    const failing = { kind: 'fail', delayMs: 50, errorMessage: 'unknown type: "kafka"' } as const
    const initialConfig = GATEWAY.replace('telemetry.example.com', 'old-backend.example.com').replace(
      '    metrics:',
      '    logs:\n      receivers: [otlp]\n      exporters: [otlphttp/eu]\n    metrics:',
    )
    const [host] = await connectHosts('stuck', ['stuck-1'], { ...HIDING, behaviour: failing, initialConfig })
    await eventually('it is known what it runs', async () => {
      const { status } = await service.api.call('GET', `/api/workloads/${host}/config/reported`)
      return status === 200
    })
    const id = await planned('Stuck', text(GATEWAY_KAFKA, true), { scope: of('stuck') })
    await started(id, 'halted')
    await page.goto(`/campaigns/${id}`)
    const alert = page.getByRole('alert')
    await alert.getByText(/Halted in wave 1: 1 workload failed, at most 0 may\./).waitFor()
    await alert.getByText(/stuck-1/).waitFor()
    // Nothing was ever pushed to it: what it loses is told by what it reported.
    const changes = page.getByRole('region', { name: 'What changes' })
    await changes.getByText('They are compared with what their instances report to run.').waitFor()
    await changes.getByText('Pipeline logs removed').waitFor()
    await changes.getByText('-    endpoint: https://old-backend.example.com:4318').waitFor()
    await hasNoBarrier()
    const go = page.getByRole('button', { name: 'Continue', exact: true })
    const reason = await go.getAttribute('title')
    const { counts } = await read(id)
    // One that may run what failed can still be taken back, so it goes on to its end.
    expect(reason === null ? counts : reason).toEqual(
      reason === null ? { failed: 1 } : expect.stringMatching(/^No workload is left to be changed/),
    )
  })

  test('says by which rule it is approved and why; aborted as it runs it says what is done and what was not begun, and so do the lists and the workloads', async () => {
    const ids = await connectHosts('half', ['half-1', 'half-2', 'half-3'], HIDING)
    await started(await planned('Base', text(GATEWAY, true), { scope: of('half') }), 'done')
    const waves = [{ count: 1, dwell_seconds: 3_600 }, {}]
    const id = await planned('Half way', text(GATEWAY_FASTER), { scope: of('half'), waves })
    await page.goto(`/campaigns/${id}`)
    await says(/^Rule: .+\. Why: .*no trusted label names the environment of 3 workloads of it/)
    await started(id, 'running')
    await says(/^Wave 1 is done and watched for/)
    await decide('Abort', 'it is enough')
    await says(/^Aborted by .*\.$/)
    await says(/What was done stays/)
    await says('it is enough')
    const rows = workloads().locator('tbody tr')
    await expect.poll(() => rows.filter({ hasText: 'not started' }).count()).toBe(2)
    await expect.poll(() => rows.filter({ hasText: 'applied' }).count()).toBe(1)
    expect((await read(id)).counts).toEqual({ applied: 1, cancelled: 2 })
    await hasNoBarrier()
    for (const address of ['/campaigns', '/changes']) {
      await page.goto(address)
      const entry = page
        .locator(address === '/campaigns' ? 'tbody tr' : '.changes > li')
        .filter({ hasText: 'Half way' })
        .first()
      await entry
        .getByText(/aborted/)
        .first()
        .waitFor()
      await entry.getByText(/1 of 3/).waitFor()
      await hasNoBarrier()
    }
    const faster = agents.filter(({ collector }) => collector.storage.remoteConfig === GATEWAY_FASTER)
    expect(faster).toHaveLength(1)
    // What was not begun is nobody's trouble: its workload runs what it ran, and nothing of it is open.
    const untouched = ids[agents.findIndex(({ collector }) => collector.storage.remoteConfig === GATEWAY)]!
    await page.goto(`/workloads/${untouched}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await service.api.get(`/api/workloads/${untouched}`)).not.toHaveProperty('trouble')
    await hasNoBarrier()
  })
})

test('hosts that run several configs are adopted for real, into a fleet config, and the outlier is left as it is', async () => {
  await connectHosts('wild', ['wild-1', 'wild-2'], { ...HIDING, initialConfig: GATEWAY })
  const [outlier] = await connectHosts('wild', ['wild-3'], { ...HIDING, initialConfig: GATEWAY_FASTER })
  const selector = { match_labels: { 'identity/service.name': 'wild' } }
  const { id: configId } = await service.api.post('/api/fleet-configs', { name: 'Wild', selector }, 201)
  await service.api.post(
    `/api/fleet-configs/${configId}/versions`,
    { content: GATEWAY, comment: 'as most of them run' },
    201,
  )
  await page.goto('/adopt')
  const groups = page.getByRole('region', { name: 'Adopt' }).locator('tbody tr').filter({ hasText: 'wild' })
  await expect.poll(() => groups.count()).toBe(2)
  await hasNoBarrier()
  await page.goto(`/fleet-configs/${configId}`)
  await page.getByRole('checkbox', { name: /^Also take over workloads that muster never pushed to/ }).check()
  await page.getByRole('button', { name: 'Carry version 1 to all of them' }).click()
  await page.getByRole('heading', { name: 'Wild: version 1', level: 1 }).waitFor()
  await says('Workloads that change')
  const id = new URL(page.url()).pathname.split('/').at(-1)!
  const { name, change } = await service.api.get(`/api/campaigns/${id}`)
  const scope = { exclude_ids: [outlier] }
  const edited = await service.api.call('PUT', `/api/campaigns/${id}`, { name, change, scope, waves: [{}] })
  expect(edited.status, JSON.stringify(edited)).toBe(200)
  await service.api.post(`/api/campaigns/${id}/plan`, {}, 202)
  await eventually('it is planned', async () => (await read(id)).status === 'planned')
  await page.reload()
  await rowOf('wild-3').getByText('left out by name').first().waitFor()
  await says('Without a way back')
  await decide('Ask for approval')
  await decide('Approve', 'both run it already')
  await decide('Start')
  await eventually('it is done', async () => (await read(id)).status === 'done')
  await says('Done: ')
  expect((await read(id)).counts).toEqual({ applied: 2 })
  // What an agent runs already it takes without a restart.
  expect(agents.map(({ collector }) => collector.offeredHashes.length > 0)).toEqual([true, true, false])
  await page.goto('/adopt')
  await expect.poll(() => groups.count()).toBe(1)
  await groups.getByText('1', { exact: true }).first().waitFor()
  await page.goto(`/fleet-configs/${configId}`)
  await says('wild-3')
  await hasNoBarrier()
})

test('a version that was taken back says so where it is listed, carried anew and planned, with the way to who took it back', async () => {
  await connectHosts('back', ['back-1'], HIDING)
  const selector = { match_labels: { 'identity/service.name': 'back' } }
  const { id: configId } = await service.api.post('/api/fleet-configs', { name: 'Back', selector }, 201)
  for (const [content, comment] of [
    [GATEWAY, 'one'],
    [GATEWAY_FASTER, 'two'],
  ])
    await service.api.post(`/api/fleet-configs/${configId}/versions`, { content, comment }, 201)
  const change = (number: number) => ({ kind: 'version', fleet_config_id: configId, number, takeover: true })
  await started(await planned('To one', change(1)), 'done')
  const taken = await planned('To two', change(2))
  await started(taken, 'done')
  await service.api.post(`/api/campaigns/${taken}/roll-back`, { comment: 'it loses spans' }, 200)
  await eventually('it is taken back', async () => (await read(taken)).status === 'rolled_back')
  const way = `/campaigns/${taken}`
  // By name, in the list and on its own page.
  await page.goto('/campaigns')
  await page
    .getByRole('row', { name: /To two/ })
    .getByText('Back, version 2', { exact: true })
    .waitFor()
  await page.goto(way)
  const carried = page.getByRole('link', { name: 'Back, version 2', exact: true })
  await expect.poll(() => carried.getAttribute('href')).toBe(`/fleet-configs/${configId}?version=2`)
  await page.goto(`/fleet-configs/${configId}`)
  const listed = page.getByRole('row', { name: /Version 2/ }).getByRole('link', { name: 'rolled back' })
  expect(await listed.getAttribute('href')).toBe(way)
  const tookBack = page.getByRole('link', { name: 'The campaign that took it back' })
  expect(await tookBack.getAttribute('href')).toBe(way)
  await hasNoBarrier()
  await page.goto(`/campaigns/new?fleet_config=${configId}&version=1`)
  await says('Version 1 of a fleet config')
  await page.goto(`/campaigns/new?fleet_config=${configId}&version=2`)
  await says(/^Version 2 was carried once and rolled back/)
  expect(await tookBack.getAttribute('href')).toBe(way)
  await hasNoBarrier()
  await page.goto(`/campaigns/${await planned('To two again', change(2))}`)
  await says(/^Version 2 was carried once and rolled back/)
  await tookBack.click()
  await page.getByRole('heading', { name: 'To two', level: 1 }).waitFor()
})

test('the evidence pack of a campaign says in each of its forms what its page says', async () => {
  const [, away] = await connectHosts('proof', ['proof-1', 'proof-2'], HIDING)
  await service.api.post(`/api/workloads/${away}/hold`, { reason: 'a disk is changed' }, 200)
  const id = await planned('Proven', text(GATEWAY, true), { scope: of('proof') })
  await started(id, 'done')
  const { plan_hash: planHash } = await read(id)
  await page.goto(`/campaigns/${id}`)
  await says('Done: ')
  await rowOf('proof-1').getByText('applied').waitFor()
  await rowOf('proof-2')
    .getByText(/a disk is changed/)
    .waitFor()
  const body = { scope: { whole_fleet: true }, include: { campaigns: true } }
  const pack = await service.api.post('/api/reports/evidence-pack', body, 200)
  const items = pack.sections.flatMap((section: { items: { id: string; facts: object }[] }) => section.items)
  const itemOf = (key: string) => items.find((item: { id: string }) => item.id === key)
  expect(itemOf(`campaign:${id}`).facts).toMatchObject({
    name: 'Proven',
    status: 'done',
    plan_hash: planHash,
  })
  expect(itemOf(`campaign_target:${id}:${away}`).facts).toMatchObject({ outcome: 'left_out' })
  const { token } = await service.api.post('/api/auth/login', TEST_ADMIN, 200)
  for (const form of ['markdown', 'csv', 'pdf']) {
    const answer = await fetch(`${service.url}/api/reports/evidence-pack/export?format=${form}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(200)
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const said = form === 'pdf' ? readPdfText(bytes).join('') : new TextDecoder().decode(bytes)
    const flat = said.replace(/\s+/g, '')
    for (const part of ['Proven', planHash, id, 'applied']) expect(flat, `${form}: ${part}`).toContain(part)
  }
})
