import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Api } from '../support/service.ts'
import { findBarriers, SHOTS, signIn, visit } from './support/browser.ts'
import { FAILING_EXPORTER, GATEWAY_KAFKA, pushAndSettle, SECRETIVE, workloadId } from './support/scene.ts'
import { agents, browser, connectAgent, connectManaged, service, useStage } from './support/stage.ts'

useStage({ pages: 'none', withinMs: 120_000 })

const WELL = { ...FAILING_EXPORTER, healthy: true, status: 'StatusOK', lastError: '', componentHealthMap: {} }

test('answers whether it is us: how the fleet is, since when, and what somebody changed', async () => {
  const well = connectAgent('mailer', 'mailer-1')
  connectAgent('otel-node', 'otel-node-1', {
    identifying: { 'service.name': 'otel-node', 'service.version': '0.131.0' },
  })
  await workloadId(service, 'mailer')
  await workloadId(service, 'otel-node')
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page)
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText('All 2 workloads are connected and healthy.').waitFor()
  await page.getByText('No config was changed in the last 24 hours.').waitFor()

  // Nobody changed anything, so that the cause is not here.
  well.say({ health: FAILING_EXPORTER })
  await page.getByText('Something is wrong with 1 of 2 workloads.').waitFor()
  await page.getByText('the cause is likely elsewhere', { exact: false }).waitFor()
  // It names who is unwell, why, and leads to where that is shown.
  const worst = page.getByRole('list', { name: 'The worst' })
  await worst.getByRole('link', { name: /mailer/ }).waitFor()
  const why = worst.getByRole('link', { name: /1 of 1 unhealthy/ })
  expect(await why.getAttribute('href')).toMatch(/\/workloads\/[0-9a-f-]+\/health$/)
  // The cure shows at once, and what nobody changed does not colour the page.
  well.say({ health: WELL })
  await page.getByText('All 2 workloads are connected and healthy.').waitFor()
  await page.locator('main .say.t-ok').waitFor()
  expect(await worst.count()).toBe(0)
  well.say({ health: FAILING_EXPORTER })
  await page.locator('main .say.t-bad').waitFor()
  // Now somebody did, and it failed.
  const gateway = await connectManaged('otel-gateway', { capabilities: SECRETIVE })
  await pushAndSettle(service, gateway, GATEWAY_KAFKA)
  await page.getByText(/3 changes in the last 24 hours, 1 of them failed/).waitFor()
  const changes = page.getByRole('region', { name: 'Changed in the last 24 hours' })
  await changes.getByText(/Automatic rollback from/).waitFor()
  const versions = page.getByRole('region', { name: 'Versions' })
  await versions.getByRole('link', { name: '0.131.0' }).waitFor()

  const where = page.getByRole('region', { name: 'Who exports where' }).first()
  await where.getByRole('row', { name: /telemetry\.example\.com:4318.*otlphttp.*otel-gateway/ }).waitFor()

  // How it was over time is counted by the service; a stretch of it leads to the changes of that time.
  await page.reload()
  const chart = page.getByRole('region', { name: /Workloads over time/ })
  await page.getByText('there is nothing to draw yet', { exact: false }).or(chart).first().waitFor()
  for (const width of [1440, 1024, 390])
    for (const theme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: theme })
      await page.screenshot({ path: join(SHOTS, `overview-${width}-${theme}-en.png`), fullPage: true })
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
        .toBeLessThanOrEqual(0)
    }
  expect(await findBarriers(page, ['landmark-unique'])).toEqual([])
  await page.setViewportSize({ width: 1440, height: 900 })
  await page
    .getByRole('region', { name: 'Health' })
    .getByRole('link', { name: /degraded/ })
    .click()
  await page.getByRole('link', { name: 'mailer' }).waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('?show=degraded')
  expect(complaints).toEqual([])
  await context.close()
})

test('says since which change instances are unhealthy, and takes it back once they are well', async () => {
  await connectManaged('shipper', { capabilities: SECRETIVE })
  const shipper = agents.at(-1)!
  const { page, context } = await visit(browser, service.url)
  await signIn(page)
  await page.goto('/overview')
  const changes = page.getByRole('region', { name: 'Changed in the last 24 hours' })
  await changes.getByText('shipper').first().waitFor()
  const broken = changes.getByText(/1 of 1 unhealthy since/)
  expect(await broken.count()).toBe(0)
  shipper.say({ health: FAILING_EXPORTER })
  await page.getByText(/since 1 of them instances are unhealthy/).waitFor()
  await broken.waitFor()
  shipper.say({ health: WELL })
  await broken.waitFor({ state: 'hidden' })
  expect(await page.getByText(/since 1 of them instances are unhealthy/).count()).toBe(0)
  await context.close()
})

test('names a cause that several workloads share once, with how many they are, and leads to them by cause', async () => {
  const elsewhere: typeof FAILING_EXPORTER = JSON.parse(
    JSON.stringify(FAILING_EXPORTER).replaceAll('10.3.0.17', '10.3.0.99'),
  )
  for (const at of [1, 2, 3, 4]) {
    const agent = connectAgent(`shop-${at}`, `shop-${at}-1`)
    await workloadId(service, `shop-${at}`)
    agent.say({ health: elsewhere })
  }
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page)
  await page.goto('/overview')
  const worst = page.getByRole('list', { name: 'The worst' })
  const line = worst.getByRole('listitem').filter({ hasText: 'cannot reach 10.3.0.99:4318' })
  const shared = line.getByRole('link', { name: '4 workloads' })
  await shared.waitFor()
  expect(await line.count()).toBe(1)
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: join(SHOTS, `overview-cause-${width}.png`) })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await shared.click()
  await page.getByText(/cannot reach 10\.3\.0\.99:4318 · 4$/).waitFor()
  await page.screenshot({ path: join(SHOTS, 'fleet-by-cause-1440.png') })
  expect(complaints).toEqual([])
  await context.close()
})

test('says that it does not know what was changed, and counts the fleet without fetching it', async () => {
  const { page, context } = await visit(browser, service.url)
  await signIn(page)
  let isBroken = true
  await page.route('**/api/changes*', (route) =>
    isBroken ? route.fulfill({ status: 500, json: { error: 'broken' } }) : route.continue(),
  )
  const fetched: string[] = []
  page.on('request', (request) => {
    if (request.isNavigationRequest()) fetched.length = 0
    const { pathname } = new URL(request.url())
    if (pathname === '/api/workloads') fetched.push(request.url())
  })
  await page.goto('/overview')
  await page.getByRole('region', { name: 'Versions' }).getByRole('link', { name: '0.131.0' }).waitFor()
  expect(fetched).toEqual([])

  await page.getByText('Whether somebody changed a config could not be read.').waitFor()
  await expect.poll(() => page.getByText('No config was changed', { exact: false }).count()).toBe(0)
  const changes = page.getByRole('region', { name: 'Changed in the last 24 hours' })
  await expect.poll(() => changes.getByText('Nothing was changed.').count()).toBe(0)
  isBroken = false
  await changes.getByRole('button', { name: 'Try again' }).click()
  await page.getByText(/changes in the last 24 hours/).waitFor()
  await context.close()
})

test('the chart of the fleet’s health leads to what was changed, in French and for a viewer too', async () => {
  const who = { email: 'vera@example.com', password: 'long enough to pass' }
  await service.api.post('/api/users', { ...who, groups: ['viewer'] }, 201)
  const api = new Api(service.url)
  await api.login(who)
  expect((await api.call('PUT', '/api/me/preferences', { theme: 'dark', language: 'fr' })).status).toBe(200)
  const { page, context, complaints } = await visit(browser, service.url)
  // Hours would have to pass before there is something to draw.
  const start = Math.floor(Date.now() / 1_800_000) * 1_800_000 - 47 * 1_800_000
  await page.route('**/api/fleet/health*', (route) =>
    route.fulfill({
      json: {
        window: '24h',
        bucket_seconds: 1_800,
        since: new Date(start).toISOString(),
        buckets: Array.from({ length: 48 }, (_, at) => ({
          start: new Date(start + at * 1_800_000).toISOString(),
          connected: at < 30 ? 3 : 2,
          degraded: at < 30 ? 0 : 1,
          disconnected: at > 40 && at < 44 ? 1 : 0,
        })).filter((_, at) => at < 12 || at > 16),
      },
    }),
  )
  await signIn(page, who)
  await page.goto('/overview')
  const chart = page.getByRole('region', { name: /Workloads au fil du temps/ })
  await chart.locator('canvas').waitFor()
  await page.screenshot({ path: join(SHOTS, 'overview-chart-1440-dark-fr.png'), fullPage: true })
  await expect.poll(() => page.getByText('Qui exporte où').count()).toBe(0)
  // Its colours are drawn, so it is drawn anew when the system's change.
  await chart.locator('canvas').evaluate((canvas) => canvas.classList.add('former'))
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(() => chart.locator('canvas.former').count()).toBe(0)
  await chart.locator('canvas').waitFor()
  // Whoever comes by keyboard is told the newest numbers at once, in the words of the counters beside it.
  await chart.focus()
  await expect
    .poll(() => page.locator('.chart-legend').textContent())
    .toMatch(/connectés \d+dégradés \d+.*\d\d:\d\d – \d\d:\d\d/)
  await page.keyboard.press('ArrowLeft')
  // What the keys are on is said in numbers, as it is under the pointer; and Enter goes there.
  await page.getByRole('status').filter({ hasText: '2 connectés · 1 dégradés · 0 déconnectés' }).waitFor()
  await expect.poll(() => page.locator('.chart-legend').textContent()).toMatch(/connectés 2dégradés 1/)
  await page.getByRole('link', { name: 'Ce qui a changé alors' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Changements', level: 1 }).waitFor()
  await page
    .getByText(/Retour automatique de/)
    .first()
    .waitFor()
  expect(await findBarriers(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})
