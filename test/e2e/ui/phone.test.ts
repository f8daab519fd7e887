import { describe, expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import {
  FAILING_EXPORTER,
  GATEWAY_FASTER,
  GATEWAY_KAFKA,
  pushAndSettle,
  SECRETIVE,
  startRollout,
} from './support/scene.ts'
import { agents, connectManaged, page, service, useStage } from './support/stage.ts'

let id = ''
/** The push that failed on each of its six pods. */
let failed = ''
/** The workload of it. */
let failing = ''
let rollout = ''
let review = ''
let campaign = ''

useStage({
  pages: 'one',
  looks: { width: 390, height: 844 },
  env: { MIN_AGENT_VERSION: '0.140.0' },
  async prepare() {
    id = await connectManaged('a-gateway-with-a-long-name', { pods: 3 })
    agents[0]?.say({ health: FAILING_EXPORTER })
    const staged = await connectManaged('staged', { pods: 4 })
    const of = await startRollout(service, staged, GATEWAY_FASTER, [
      { percentage: 25, dwell_seconds: 3600 },
      { percentage: 100, dwell_seconds: 0 },
    ])
    rollout = `/workloads/${staged}/rollouts/${of}`
    const asked = await service.api.post(
      `/api/workloads/${id}/config/approvals`,
      { draft_yaml: GATEWAY_FASTER, comment: 'Faster batches' },
      201,
    )
    review = `/workloads/${id}/changes/${asked.id}`
    const many = await service.api.post(
      '/api/campaigns',
      {
        name: 'Faster batches in the shop',
        change: { kind: 'text', yaml: GATEWAY_FASTER },
        scope: { workload_ids: [id] },
      },
      201,
    )
    campaign = `/campaigns/${many.id}`
    await service.api.post(`/api${campaign}/plan`, {}, 202)
    failing = await connectManaged('a-gateway-of-many-pods-with-names-that-wrap', {
      pods: 6,
      capabilities: SECRETIVE,
      behaviour: { kind: 'apply', delayMs: 150 },
    })
    failed = await pushAndSettle(service, failing, GATEWAY_KAFKA)
    for (const agent of agents.slice(-4)) agent.say({ health: FAILING_EXPORTER })
  },
})

/** How many pixels each table of the page can be scrolled sideways, by the table's name. */
const sideways = () =>
  page.evaluate(() =>
    [...document.querySelectorAll('.sheet')].flatMap((sheet) => {
      const over = sheet.scrollWidth - sheet.clientWidth
      return over > 0 ? [`${sheet.getAttribute('aria-label')} by ${over} px`] : []
    }),
  )

describe('on a telephone', () => {
  test.each([
    ['/versions?recommended=0.150.0', 2],
    ['/audit', 1],
    ['/settings/users', 1],
    ['/templates', 1],
    ['/workloads/:id/instances', 1],
  ])('nothing of %s is out of sight to the side', async (path, tables) => {
    await page.goto(path.replace(':id', id))
    await page.locator('.sheet tbody tr').first().waitFor()
    await expect.poll(() => page.locator('.sheet').count()).toBeGreaterThanOrEqual(tables)
    await expect.poll(() => sideways()).toEqual([])
    await expect.poll(() => findBarriers(page)).toEqual([])
  })

  test('nobody is told of keys that a telephone does not have', async () => {
    await page.goto('/')
    await page.locator('.narrow-row').first().waitFor()
    await expect.poll(() => page.locator('header kbd').isVisible()).toBe(false)
    // The button still shows what it is for.
    await expect.poll(() => page.locator('header .find svg').isVisible()).toBe(true)
  })

  test('the component that fails is in sight, though the picture of the pipelines is wider than the page', async () => {
    await page.goto(`/workloads/${id}`)
    const sick = page.locator('.pipe .x').first()
    await sick.waitFor()
    await expect
      .poll(() =>
        sick.evaluate((one) => {
          const { left, right } = one.getBoundingClientRect()
          return left >= 0 && right <= window.innerWidth
        }),
      )
      .toBe(true)
    expect(await page.evaluate(() => window.scrollX)).toBe(0)
  })

  test('each number of a stage says what it counts', async () => {
    await page.goto(rollout)
    const stage = page.locator('.stacked tr').filter({ hasText: 'Stage 1' }).first()
    await stage.waitFor()
    const names = () =>
      stage
        .locator('td.n')
        .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content))
    await expect
      .poll(names)
      .toEqual(['Applied', 'Elapsed', 'Watched for'].map((name) => expect.stringContaining(name)))
  })

  test('a reviewer reads how many it will reach before the decision', async () => {
    await page.goto(review)
    const reach = page.getByRole('region', { name: 'It will reach' })
    await reach.waitFor()
    const decision = page.getByRole('button', { name: 'Approve', exact: true })
    const topOf = (of: typeof reach) => of.evaluate((one) => one.getBoundingClientRect().top)
    await expect.poll(async () => (await topOf(decision)) - (await topOf(reach))).toBeGreaterThan(0)
  })

  test('what waits for approval is seen in the navigation, and boxes are large enough to be ticked', async () => {
    await page.goto('/alerts')
    const approvals = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Approvals/ })
    await expect
      .poll(() => approvals.evaluate((one) => window.innerWidth - one.getBoundingClientRect().right))
      .toBeGreaterThan(0)
    const box = page.locator('.pick input').first()
    await expect
      .poll(() => box.evaluate((one) => one.getBoundingClientRect().width))
      .toBeGreaterThanOrEqual(24)
    // Beside the box a finger meets its label: in a table of alerts, and in that of the fleet.
    const isWide = async (label: string) => {
      const of = page.locator(label).first()
      await of.waitFor()
      return of.evaluate((one) => {
        const { width, height } = one.getBoundingClientRect()
        return Math.min(width, height) >= 44
      })
    }
    expect(await isWide('.pick label')).toBe(true)
    await page.goto('/')
    expect(await isWide('tbody .tick-box')).toBe(true)
    // Of a row of the fleet all that says something leads to its page.
    expect(await isWide('.narrow-row')).toBe(true)
    const leads = await page
      .locator('.narrow-row .second')
      .last()
      .evaluate((one) => {
        const { x, y, height } = one.getBoundingClientRect()
        return document.elementFromPoint(x + 20, y + height / 2)?.closest('a') !== null
      })
    expect(leads).toBe(true)
  })

  test('a row of the fleet says what tells a workload from its namesakes', async () => {
    await page.goto('/')
    await page.locator('.narrow-row').first().getByText('eu-1/shop', { exact: true }).waitFor()
  })
})

describe('on a desk', () => {
  test('names of instances that wrap are far enough apart to be pressed', async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    const names = () => page.locator('.who a.mono').count()
    await page.goto(`/workloads/${failing}/pushes/${failed}`)
    await expect.poll(names).toBeGreaterThan(2)
    await expect.poll(() => findBarriers(page)).toEqual([])
    await page.goto(`/workloads/${failing}`)
    await expect.poll(names).toBeGreaterThan(2)
    await expect.poll(() => findBarriers(page)).toEqual([])
  })

  test('a campaign that waits for approval reads from top to bottom, and says each of its rules once', async () => {
    await page.goto(campaign)
    const notice = page.locator('main > .say, main .say').first()
    await expect.poll(() => notice.locator('> p').count()).toBeGreaterThan(1)
    const lefts = () =>
      notice
        .locator('> p')
        .evaluateAll((all) => new Set(all.map((one) => Math.round(one.getBoundingClientRect().left))).size)
    expect(await lefts()).toBe(1)
    await page.getByText('Failed, Became unhealthy, Drifted', { exact: true }).waitFor()
    await page.getByText(/^Created .*admin@example\.com$/).waitFor()
  })

  test('a freeze is a notice of its own, apart from the bar under it', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString()
    await service.api.call('PUT', '/api/freeze', { reason: 'Black Friday', until })
    await page.goto('/')
    const notice = page.getByRole('note').filter({ hasText: 'Black Friday' })
    await notice.waitFor()
    const gap = () =>
      notice.evaluate((one) => {
        const bar = document.querySelector('.pulse')
        return (bar?.getBoundingClientRect().top ?? 0) - one.getBoundingClientRect().bottom
      })
    await expect.poll(gap).toBeGreaterThanOrEqual(8)
    expect(await notice.evaluate((one) => getComputedStyle(one).borderLeftWidth)).toBe('4px')
    await service.api.call('DELETE', '/api/freeze')
  })
})

test('the audit begins with its events, and its filters open where they are wanted', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/audit')
  const first = page.locator('.stacked tbody tr').first()
  await first.waitFor()
  expect((await first.boundingBox())?.y).toBeLessThan(480)
  const action = page.getByLabel('Action', { exact: true })
  expect(await action.isVisible()).toBe(false)
  await page.getByText('More filters').click()
  await action.fill('push')
  await expect.poll(() => new URL(page.url()).search).toContain('action=push')
  // What narrows it is in sight, also after a reload.
  await page.reload()
  await action.waitFor()
})

test('instances have no block of headings above them, and a field orders them', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/workloads/${id}/instances`)
  const rows = page.locator('.stacked tbody tr')
  await rows.first().waitFor()
  const top = async (of: string) => (await page.locator(of).first().boundingBox())?.y ?? Number.NaN
  expect((await top('.stacked tbody tr')) - (await top('.stacked'))).toBeLessThan(8)
  const names = () => rows.locator('.name').allTextContents()
  const odd = await names()
  await page.getByLabel('Order', { exact: true }).selectOption('Instance')
  await expect.poll(() => new URL(page.url()).search).toBe('?sort=instance')
  await expect.poll(names).toEqual([...odd].sort())
  await page.getByLabel('Order', { exact: true }).selectOption('The odd ones first')
  await expect.poll(names).toEqual(odd)
})
