import { expect, test } from 'vitest'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import { SUPERVISED } from '../../../runtime/quickstart/simulated-agent.ts'
import { BUNDLE, startService } from '../support/service.ts'
import { signIn, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { GATEWAY, pushAndSettle, workloadId } from './support/scene.ts'
import { browser, connectAgent, connectManaged, page, seen, service, useStage } from './support/stage.ts'

const OLD = { identifying: { 'service.name': 'old', 'service.version': '0.131.0' } }

let gateway = ''

useStage({
  pages: 'each',
  async prepare() {
    gateway = await connectManaged('gateway', { pods: 2 })
    connectAgent('old', 'old-1', OLD)
    // It does not say which components it has, so that nobody knows what it can run.
    await connectManaged('mute', {
      capabilities: SUPERVISED & ~AGENT_CAPABILITIES.reportsAvailableComponents,
    })
    await workloadId(service, 'old')
  },
})

test('each counter of the drift counts the rows that its filter shows', async () => {
  await page.goto('/drift')
  const counters = page.locator('main .quant a')
  await counters.first().waitFor()
  for (const counter of await counters.all()) {
    const count = Number(await counter.locator('b').textContent())
    await counter.click()
    await expect.poll(() => counter.getAttribute('aria-current')).toBe('true')
    const rows = page.getByRole('main').locator('tbody tr')
    await expect.poll(() => rows.count(), { message: (await counter.textContent()) ?? '' }).toBe(count)
  }
  expect(seen.complaints).toEqual([])
})

test('fleet, versions and drift are measured by the one version that somebody recommended', async () => {
  await page.goto('/versions')
  await page.getByText('No version is recommended, so none is outdated.').waitFor()
  await page.getByLabel('Recommended version').fill('0.140.0')
  await page.getByRole('button', { name: 'Recommend', exact: true }).click()
  await page.getByText(/Measured by 0\.140\.0 · stored by admin@example\.com/).waitFor()
  // The page begins with its answer then, and the form is one press away.
  await expect.poll(() => page.getByLabel('Recommended version').isVisible()).toBe(false)
  await page.getByText('Recommend another version').click()
  await page.getByLabel('Recommended version').waitFor()
  const matrix = page
    .getByRole('region', { name: 'Versions in the fleet' })
    .or(page.getByRole('table', { name: 'Versions in the fleet' }))
  const share = (version: string) => matrix.getByRole('row').filter({ hasText: version })
  await share('0.131.0').getByText('below', { exact: true }).waitFor()
  await share('0.131.0').getByText('1 of 3', { exact: true }).waitFor()
  await share('0.149.0').getByText('2 of 3', { exact: true }).waitFor()
  // The bars are as long as their shares.
  const width = (version: string) =>
    share(version)
      .locator('.share-bar i')
      .evaluate((bar) => bar.getBoundingClientRect().width)
  await expect
    .poll(async () => Math.abs((await width('0.149.0')) - 2 * (await width('0.131.0'))))
    .toBeLessThan(2)
  // They are shares of all, not of the greatest.
  const track = await share('0.149.0')
    .locator('.share-bar')
    .evaluate((bar) => bar.getBoundingClientRect().width)
  expect((await width('0.149.0')) / track).toBeCloseTo(2 / 3, 1)
  // What was not reported is not said to be impossible.
  const counts = page.locator('.quant')
  await expect.poll(() => counts.textContent()).toMatch(/0cannot/)
  await expect
    .poll(() => counts.textContent())
    .toMatch(/1has not reported what decides it|2have not reported what decides it/)

  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Fleet', exact: true })
    .click()
  const outdated = page.getByRole('navigation', { name: 'Counters' }).getByRole('link', { name: /outdated/ })
  await expect.poll(() => outdated.textContent()).toMatch(/^1/)
  await outdated.click()
  await page.getByRole('link', { name: 'old', exact: true }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'gateway', exact: true }).count()).toBe(0)
  await page.goto('/drift?all=true')
  await expect.poll(() => page.locator('.quant').textContent()).toMatch(/1outdated/)
  // What somebody else recommends meanwhile shows on an open page as well.
  const recommend = (version: string) =>
    service.api.call('PUT', '/api/settings/recommended-version', { version })
  await page.goto('/versions')
  await page.getByText(/Measured by 0\.140\.0/).waitFor()
  await recommend('0.150.0')
  await page.getByText(/Measured by 0\.150\.0/).waitFor()
  await share('0.149.0').getByText('below', { exact: true }).waitFor()
  await page.goto('/drift?all=true')
  await expect.poll(() => page.locator('.quant').textContent()).toMatch(/3outdated/)
  await recommend('0.151.0')
  await recommend('0.140.0')
  await expect.poll(() => page.locator('.quant').textContent()).toMatch(/1outdated/)
  expect(seen.complaints).toEqual([])
})

test('the bars of the activity stand in their hours, say what is under the pointer, and no number is cut', async () => {
  const hour = 3_600_000
  const first = Math.floor(Date.now() / hour) * hour - 23 * hour
  const busy = 17
  await page.route(`**/api/workloads/${gateway}/events/stats*`, (route) =>
    route.fulfill({
      json: {
        window: '24h',
        bucket_seconds: 3_600,
        churn_rate_per_hour: 0,
        connected: 12_345,
        disconnected: 0,
        version_changed: 0,
        buckets: Array.from({ length: 24 }, (_, at) => ({
          start: new Date(first + at * hour).toISOString(),
          connected: at === busy ? 12_345 : 0,
          disconnected: 0,
          version_changed: 0,
        })),
      },
    }),
  )
  await page.goto(`/workloads/${gateway}/activity`)
  const canvas = page.locator('.chart canvas')
  await canvas.waitFor()
  const plot = page.locator('.chart .u-over')
  // The ink of the bar, as shares of the plot's width: from the start of its hour, and not beyond its end.
  const inked = () =>
    page.evaluate(() => {
      const drawn = document.querySelector<HTMLCanvasElement>('.chart canvas')!
      const over = document.querySelector('.chart .u-over')!.getBoundingClientRect()
      const all = drawn.getBoundingClientRect()
      const scale = drawn.width / all.width
      const { data } = drawn
        .getContext('2d')!
        .getImageData(0, Math.round((over.bottom - all.top - 4) * scale), drawn.width, 1)
      const at = (x: number) => (x / scale + all.left - over.left) / over.width
      const ink = Array.from({ length: drawn.width }, (_, x) => x).filter((x) => {
        const [red = 0, green = 0, , alpha = 0] = data.slice(4 * x, 4 * x + 4)
        return alpha > 200 && green - red > 40
      })
      return ink.length === 0 ? null : [at(ink[0]!), at(ink.at(-1)!)]
    })
  await expect.poll(async () => (await inked())?.[0]).toBeGreaterThan((busy - 0.1) / 24)
  await expect.poll(async () => (await inked())?.[1]).toBeLessThan((busy + 1.1) / 24)
  const box = (await plot.boundingBox())!
  await page.mouse.move(box.x + (box.width * (busy + 0.5)) / 24, box.y + box.height / 2)
  const legend = page.locator('.chart-legend')
  await expect.poll(() => legend.textContent()).toMatch(/connects 12,345/)
  await expect
    .poll(() =>
      page.evaluate((iso) => {
        const shown = document.querySelector('.chart-legend')!.textContent ?? ''
        return shown.includes(`${String(new Date(iso).getHours()).padStart(2, '0')}:00 –`)
      }, new Date(first + busy * hour).toISOString()),
    )
    .toBe(true)
  // Nothing is drawn at the very edge, where it would be cut.
  const edges = () =>
    canvas.evaluate((drawn) => {
      const { width, height } = drawn as HTMLCanvasElement
      const context = (drawn as HTMLCanvasElement).getContext('2d')!
      return [0, width - 1].map(
        (x) =>
          context.getImageData(x, 0, 1, height).data.filter((value, at) => at % 4 === 3 && value > 0).length,
      )
    })
  await expect.poll(edges).toEqual([0, 0])
})

test('where an edition lacks something, one line says so, and in the complete one none does', async () => {
  await page.goto('/')
  await page.getByRole('link', { name: 'gateway', exact: true }).waitFor()
  await expect.poll(() => page.getByText(/^This edition is without/).count()).toBe(0)
  const community = await startService({ args: [BUNDLE] })
  try {
    const agent = connect(community, 'plain', 'plain-1')
    const id = await workloadId(community, 'plain')
    await pushAndSettle(community, id, GATEWAY)
    const { page: plain, context } = await visit(browser, community.url)
    await signIn(plain)
    await plain.getByText('This edition is without: the versions page, the drift page.').waitFor()
    await plain.goto(`/workloads/${id}/history`)
    await plain.getByText('This edition is without: rollback and pinning of revisions.').waitFor()
    await context.close()
    await agent.stop()
  } finally {
    await community.stop()
  }
})

test('a workload whose instances run different versions says so wherever its version is shown', async () => {
  const of = (version: string) => ({ identifying: { 'service.name': 'mixed', 'service.version': version } })
  connectAgent('mixed', 'mixed-1', of('0.131.0'))
  connectAgent('mixed', 'mixed-2', of('0.149.0'))
  connectAgent('mixed', 'mixed-3', of('0.149.0'))
  const id = await workloadId(service, 'mixed', 3)
  // On a narrower page the version gives way to the cause.
  const usual = page.viewportSize()!
  await page.setViewportSize({ width: 1720, height: usual.height })
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'mixed', exact: true }) })
  await row.getByText('mixed: 0.131.0 on 1, 0.149.0 on 2').waitFor()
  await page.goto('/?q=version%3A0.149.0')
  await row.waitFor()
  await page.goto('/?q=version%3A0.131.0')
  await row.waitFor()
  await page.setViewportSize(usual)
  await page.goto(`/workloads/${id}`)
  await page.getByText('mixed: 0.131.0 on 1, 0.149.0 on 2').waitFor()
  await page.goto('/overview')
  const counted = page.getByRole('region', { name: 'Versions' }).getByRole('listitem')
  await counted.filter({ hasText: '0.149.0' }).getByText('1 only in part').waitFor()
  await page.goto('/versions')
  const share = page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: '0.149.0', exact: true }) })
  await share.getByText('1 only in part').waitFor()
  expect(seen.complaints).toEqual([])
})
