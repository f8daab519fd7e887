import type { Browser } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import type { Cluster, ClusterMember } from '../../../lib/wire/system.ts'
import { startBalancer } from '../../../runtime/quickstart/balancer.ts'
import { type HealthWatch, watchHealth } from '../../../runtime/quickstart/health.ts'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { type OneOfSeveral, startSeveral } from '../../faults/support/several.ts'
import { startStandby } from '../../faults/support/standby.ts'
import { eventually } from '../../support/eventually.ts'
import type { Service } from '../support/service.ts'
import { findBarriers, launchBrowser, signIn, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { SHARED_SECRET, startComplete } from './support/service.ts'

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function browse(): Promise<Browser> {
  const browser = await launchBrowser()
  cleanups.push(() => browser.close())
  return browser
}

test('a process that runs alone says so', async () => {
  const service = await startComplete()
  cleanups.push(() => service.stop())
  const { page, complaints } = await visit(await browse(), service.url)
  await signIn(page)
  await page.goto('/settings/processes')
  await page.getByText('One process serves this fleet.').waitFor()
  await expect.poll(() => page.getByRole('table').count()).toBe(0)
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  await page.reload()
  await page.getByText('Un seul processus sert ce parc.').waitFor()
  expect(complaints).toEqual([])
})

test('one that waits for older ones to stop is named, with those', async () => {
  const service = await startComplete()
  cleanups.push(() => service.stop())
  const { page } = await visit(await browse(), service.url)
  await signIn(page)
  const member = (address: string, waits_for: string[]): ClusterMember => ({
    id: address,
    address,
    host: 'box',
    pid: 7,
    version: '1',
    started_at: '2026-07-01T08:00:00.000Z',
    silent_ms: 0,
    is_owner: waits_for.length === 0,
    waits_for,
    is_silent: false,
    linked_since: null,
    agents: 0,
    counts: null,
  })
  const cluster: Cluster = {
    is_one_of_several: true,
    epoch: 3,
    served_by: '10.0.0.2:8090',
    takeovers: 0,
    owned_since: '2026-07-01T08:00:00.000Z',
    members: [member('10.0.0.2:8090', ['10.0.0.1:8090']), member('10.0.0.1:8090', [])],
    departed: [
      {
        id: 'c',
        address: '10.0.0.3:8090',
        host: 'third',
        pid: 12,
        version: '1',
        until: '2026-07-01T08:00:00.000Z',
        has_left: false,
      },
    ],
    agents: { websocket: 5, polling: 2, awaited: 1 },
  }
  await page.route('**/api/system/cluster', (route) => route.fulfill({ json: cluster }))
  await page.goto('/settings/processes')
  await page
    .getByText('box, process 7 (10.0.0.2:8090) is of a newer version, which changes the database')
    .waitFor()
  await page.getByText('does not decide before this one has stopped').waitFor()
  // Which process answers this page; three starts are no takeover.
  await page.getByRole('row', { name: '10.0.0.2:8090' }).getByText('(serves you)').waitFor()
  expect(await page.getByText('serves you').count()).toBe(1)
  // Another one may answer the next call, as a load balancer likes: what is said of the page does not hop about.
  const others = cluster.members.filter(({ id }) => id !== cluster.served_by)
  const next = page.waitForResponse('**/api/system/cluster')
  await page.route('**/api/system/cluster', (route) =>
    route.fulfill({ json: { ...cluster, served_by: others[0]!.id } }),
  )
  await next
  await page.waitForResponse('**/api/system/cluster')
  await page.getByRole('row', { name: '10.0.0.2:8090' }).getByText('(serves you)').waitFor()
  // Where a process has no link the owner knows of no agents there, which is not that there are none: it may have ended.
  await page
    .getByText(
      'box, process 7 (10.0.0.2:8090) has no link to the owner, so the agents there are not counted.',
    )
    .waitFor()
  expect(await page.getByRole('row', { name: '10.0.0.2:8090' }).getByRole('cell').nth(5).textContent()).toBe(
    '–',
  )
  await page.getByText('Takeovers').locator('..').getByText('none').waitFor()
  // Who is gone, and where every agent is.
  const gone = page.getByRole('region', { name: 'Gone in the last hour' })
  await gone.getByText('third, process 12').waitFor()
  await gone.getByText('vanished', { exact: true }).waitFor()
  await page.getByText('8: 5 on WebSockets of these processes, 2 that poll over HTTP, 1 awaited').waitFor()
  // On a narrow page each number has its name.
  await page.setViewportSize({ width: 390, height: 844 })
  const labels = await page
    .getByRole('row', { name: '10.0.0.1:8090' })
    .getByRole('cell')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-label')))
  expect(labels.filter((label) => label !== null)).toEqual([
    'Started',
    'Link since',
    'Agents',
    'Waiting',
    'Answered alone',
    'Passed on',
    'Told again',
  ])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  // A mark stands on the line of its word, also beside a sentence of several lines.
  const middles = await gone
    .locator('.st > *')
    .evaluateAll((parts) =>
      parts.map((part) => part.getBoundingClientRect()).map((box) => box.top + box.height / 2),
    )
  expect(middles).toHaveLength(2)
  expect(Math.abs(middles[0]! - middles[1]!)).toBeLessThan(3)
  await page.setViewportSize({ width: 1440, height: 900 })
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  await page.reload()
  await page.getByText('box, processus 7 (10.0.0.2:8090) est d’une version plus récente').waitFor()
})

test('several are listed with who decides and what each carries, and one that falls silent is missed', async () => {
  const addresses = [0, 0].map(async () => `127.0.0.1:${await findFreePort('127.0.0.1')}`)
  const [ownerAt = '', frontAt = ''] = await Promise.all(addresses)
  const owner = await startComplete({ MUSTER_INTERNAL_ADDR: ownerAt })
  cleanups.push(() => owner.stop())
  const opampPort = await findFreePort('127.0.0.1')
  const env = { MUSTER_INTERNAL_ADDR: frontAt, OPAMP_SHARED_SECRET: SHARED_SECRET }
  const front = await startStandby(owner.dsn, opampPort, env)
  cleanups.push(() => front.process.stop())
  await eventually('the front is ready', async () => (await front.statusOf('/readyz')) === 200)
  const at = { ...owner, opampUrl: `ws://127.0.0.1:${opampPort}/v1/opamp` }
  const agents = ['pod-1', 'pod-2'].map((pod) => connect(at, 'on-front', pod, { beatMs: 500 }))
  cleanups.push(() => Promise.all(agents.map((agent) => agent.stop())))

  const { page } = await visit(await browse(), owner.url)
  await signIn(page)
  await page.getByRole('link', { name: 'on-front' }).waitFor()
  await page.goto('/settings/processes')
  const row = (address: string) => page.getByRole('row', { name: address })
  const cell = (address: string, column: number) => row(address).getByRole('cell').nth(column).textContent()
  await row(ownerAt).getByText('owner').waitFor()
  await row(frontAt).getByText('front', { exact: true }).waitFor()
  await expect.poll(() => cell(ownerAt, 5)).toBe('0')
  await expect.poll(() => cell(frontAt, 5)).toBe('2')
  // The count of beats that the front answers without the owner grows on the open page.
  await expect.poll(async () => Number(await cell(frontAt, 7)), { timeout: 20_000 }).toBeGreaterThan(2)
  expect(Number(await cell(frontAt, 8))).toBeGreaterThan(0)
  await expect.poll(() => cell(frontAt, 6)).toBe('0')
  await expect.poll(() => findBarriers(page)).toEqual([])
  await expect.poll(() => page.getByRole('status').filter({ hasText: frontAt }).count()).toBe(0)

  process.kill(front.process.pid, 'SIGSTOP')
  cleanups.push(() => process.kill(front.process.pid, 'SIGCONT'))
  await page.getByText(`(${frontAt}) has not been heard of for some seconds`).waitFor()
  await row(frontAt).getByText('missing').waitFor()
})

test('a page at an owner that stands still is served by another process, and shows what is so', async () => {
  const several = await startSeveral(3)
  cleanups.push(() => several.end())
  const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral, OneOfSeveral]
  const health = watchHealth(several.all.map(({ url }) => url))
  cleanups.push(() => health.close())
  // At first the page is led to the owner and nowhere else.
  let isHeld = true
  const held: Pick<HealthWatch, 'of' | 'onSilent'> = {
    of: (index) => (isHeld && index > 0 ? 'unready' : health.of(index)),
    onSilent: (listener) => health.onSilent(listener),
  }
  const port = await findFreePort('127.0.0.1')
  const ports = several.all.map(({ url }) => Number(new URL(url).port))
  const balancer = await startBalancer({ host: '127.0.0.1', port }, ports, held)
  cleanups.push(() => balancer.close())
  const at = { ...front, opampUrl: `ws://127.0.0.1:${front.opampPort}/v1/opamp` } as unknown as Service
  const agent = connect(at, 'stays', 'stays-1')
  cleanups.push(() => agent.stop())

  const { page } = await visit(await browse(), `http://127.0.0.1:${port}`)
  await signIn(page)
  await page.getByRole('link', { name: 'stays', exact: true }).waitFor()
  await page.getByText('live', { exact: true }).waitFor()
  isHeld = false
  const { pid } = owner.running()
  cleanups.push(() => process.kill(pid, 'SIGCONT'))
  process.kill(pid, 'SIGSTOP')
  await page.getByText(/^stale since/).waitFor()
  const late = connect(at, 'comes-late', 'comes-late-1')
  cleanups.push(() => late.stop())
  // The list is fetched again and followed, a page that was not loaded is too, and nothing is left that failed.
  await page.getByRole('link', { name: 'comes-late', exact: true }).waitFor()
  await page.getByText('live', { exact: true }).waitFor()
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Alerts', exact: true })
    .click()
  await page.getByText('No alert is open.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})
