import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Api } from '../support/service.ts'
import { findBarriers, SHOTS, signIn, visit } from './support/browser.ts'
import { FAILING_EXPORTER, workloadId } from './support/scene.ts'
import { agents, browser, connectAgent, page, seen, service, useStage } from './support/stage.ts'

useStage({
  pages: 'each',
  env: { WORKLOAD_DISCONNECT_GRACE_SECONDS: '3600' },
  async prepare() {
    connectAgent('mailer', 'mailer-1', {}, 'production')
    connectAgent('billing', 'billing-1', {}, 'production')
    connectAgent('ledger', 'ledger-1', {}, 'staging')
    for (const name of ['mailer', 'billing', 'ledger']) await workloadId(service, name)
  },
})

const rows = () => page.locator('tbody tr[aria-rowindex]')
const search = () => page.getByRole('combobox', { name: 'Search the fleet' })
const option = (name: RegExp) => page.getByRole('option', { name })
const filters = () => page.getByRole('list', { name: 'Filters' })

test('a search suggests keys and the values that the fleet has, by keys alone, and shows what narrows it', async () => {
  await expect.poll(() => rows().count()).toBe(3)
  await search().focus()
  await page.keyboard.type('en')
  await option(/^env:/).waitFor()
  expect(await findBarriers(page)).toEqual([])
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => search().getAttribute('aria-activedescendant')).not.toBe(null)
  await page.keyboard.press('Enter')
  await expect.poll(() => search().inputValue()).toBe('env:')
  // The value of most workloads comes first, with how many they are.
  await option(/^env:production ?2$/).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => search().inputValue()).toBe('env:production')
  await expect.poll(() => rows().count()).toBe(2)
  await expect.poll(() => page.getByRole('listbox').count()).toBe(0)
  // Enter takes a suggestion only where one was chosen.
  await page.keyboard.type(' -name:b')
  await option(/^-name:billing/).waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => search().inputValue()).toBe('env:production -name:b')
  await expect.poll(() => rows().count()).toBe(1)
  await filters().getByRole('button', { name: 'Take away -name:b' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => rows().count()).toBe(2)
  await expect.poll(() => new URL(page.url()).search).toBe('?q=env:production')
  await page
    .getByRole('link', { name: /degraded/ })
    .first()
    .click()
  await expect
    .poll(() => filters().getByRole('listitem').allTextContents())
    .toEqual(['degraded×', 'env:production×', 'Show all'])
  await filters().getByRole('button', { name: 'Show all' }).click()
  await expect.poll(() => rows().count()).toBe(3)
  await expect.poll(() => filters().count()).toBe(0)
  expect(seen.complaints).toEqual([])
})

test('a view is saved for whoever saves it, found again after a reload, and removed', async () => {
  await page.goto('/?sort=name&q=env:production')
  await expect.poll(() => rows().count()).toBe(2)
  const menu = page.locator('summary', { hasText: 'Views' })
  await menu.focus()
  await page.keyboard.press('Enter')
  await page.getByText('You have saved no view yet.').waitFor()
  await page.getByRole('button', { name: 'Save this view' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save this view' })
  await dialog.getByLabel('Name').fill('What matters')
  await page.keyboard.press('Enter')
  await page.getByText('View “What matters” saved.').waitFor()
  await dialog.waitFor({ state: 'detached' })

  await page.goto('/')
  await expect.poll(() => rows().count()).toBe(3)
  await menu.click()
  const view = page.getByRole('link', { name: 'What matters' })
  await view.waitFor()
  for (const [width, theme] of [
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: theme })
    await page.screenshot({ path: join(SHOTS, `fleet-views-${width}-${theme}.png`) })
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
      .toBeLessThanOrEqual(0)
  }
  expect(await findBarriers(page)).toEqual([])
  await page.setViewportSize({ width: 1440, height: 900 })
  await view.click()
  // The menu gives way to what the view shows.
  await view.waitFor({ state: 'hidden' })
  await expect.poll(() => rows().count()).toBe(2)
  await expect.poll(() => new URL(page.url()).search).toBe('?q=env:production&sort=name')
  await page.screenshot({ path: join(SHOTS, 'fleet-chips-1440.png') })

  // It is nobody else's.
  const who = { email: 'vera@example.com', password: 'long enough to pass' }
  await service.api.post('/api/users', { ...who, groups: ['viewer'] }, 201)
  const vera = new Api(service.url)
  await vera.login(who)
  expect(await vera.get('/api/me/views')).toEqual([])
  const other = await visit(browser, service.url)
  await signIn(other.page, who)
  await other.page.locator('summary', { hasText: 'Views' }).click()
  await other.page.getByText('You have saved no view yet.').waitFor()
  // Until it is shared: then everybody has it, with who shares it, and only its own user can remove it.
  await page.goto('/?sort=name&q=env:production')
  await menu.click()
  await page.getByRole('button', { name: 'Save this view' }).click()
  await dialog.getByLabel('Name').fill('What matters')
  await dialog.getByLabel('Everybody sees it').check()
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await other.page.goto('/')
  await other.page.locator('summary', { hasText: 'Views' }).click()
  await other.page.getByRole('link', { name: 'What matters by admin@example.com' }).waitFor()
  expect(await other.page.getByRole('button', { name: 'Remove view What matters' }).count()).toBe(0)
  expect(await findBarriers(other.page)).toEqual([])
  await other.page.getByRole('link', { name: 'What matters by admin@example.com' }).click()
  await expect.poll(() => new URL(other.page.url()).search).toBe('?q=env:production&sort=name')
  await other.context.close()

  await page.goto('/')
  await menu.click()
  // It may be removed only once the menu is closed again.
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route('**/api/me/views/*', async (route) => {
    await held
    await route.continue()
  })
  const removed = page.waitForResponse((response) => response.request().method() === 'DELETE')
  await page.getByRole('button', { name: 'Remove view What matters' }).click()
  await page.keyboard.press('Escape')
  await expect.poll(() => menu.evaluate((one) => one === document.activeElement)).toBe(true)
  letGo()
  await removed
  await menu.click()
  await page.getByText('You have saved no view yet.').waitFor()
  expect(seen.complaints).toEqual([])
})

test('the counters show in small how the last day was', async () => {
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
  await page.goto('/')
  const counters = page.getByRole('navigation', { name: 'Counters' })
  await expect.poll(() => counters.locator('svg.sparkline').count()).toBe(5)
  // One line before the gap, and one after it.
  const degraded = counters.getByRole('link', { name: /degraded/ })
  await expect.poll(() => degraded.locator('polyline').count()).toBe(2)
  expect(await findBarriers(page)).toEqual([])
  for (const [width, theme] of [
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: theme })
    await page.screenshot({ path: join(SHOTS, `fleet-counters-${width}-${theme}.png`) })
  }
  expect(seen.complaints).toEqual([])
})

test('what is in trouble has parts, each a filter, in words of their own, and no counter comes, goes or moves', async () => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto('/')
  await expect.poll(() => rows().count()).toBe(3)
  const counters = page.getByRole('navigation', { name: 'Counters' })
  const places = async () => {
    const boxes = await counters.getByRole('link').evaluateAll((all) =>
      all.map((link) => {
        const { x, y } = link.getBoundingClientRect()
        return `${link.querySelector('span')?.textContent} ${Math.round(x)} ${Math.round(y)}`
      }),
    )
    return boxes
  }
  const before = await places()
  expect(before).toHaveLength(12)
  const [mailer, billing] = agents
  mailer!.say({ health: FAILING_EXPORTER })
  await billing!.stop()
  // It stands beside those of which it is a part, and says so.
  await counters.getByRole('link', { name: /^1 ?of them all unhealthy/ }).waitFor()
  await counters.getByRole('link', { name: /^1 ?leaving/ }).waitFor()
  expect(await places()).toEqual(before)
  for (const width of [1440, 1024]) {
    await page.setViewportSize({ width, height: 900 })
    const edge = (await page.locator('.big-table').boundingBox())!
    for (const one of await counters.getByRole('link').all()) {
      const box = (await one.boundingBox())!
      expect(box.x + box.width).toBeLessThanOrEqual(edge.x + edge.width + 1)
      expect(await one.evaluate((link) => link.scrollWidth - link.clientWidth)).toBeLessThanOrEqual(0)
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await counters.getByRole('link', { name: /in trouble/ }).click()
  const kinds = page.getByRole('navigation', { name: 'Kinds of trouble' })
  await expect.poll(() => kinds.getByRole('link').allTextContents()).toEqual(['unhealthy 1', 'leaving 1'])
  expect(await findBarriers(page)).toEqual([])
  for (const [width, theme] of [
    [1440, 'light'],
    [1440, 'dark'],
    [1024, 'light'],
    [390, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: theme })
    await page.screenshot({ path: join(SHOTS, `fleet-kinds-${width}-${theme}.png`) })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await kinds.getByRole('link', { name: /leaving/ }).click()
  await page.getByRole('link', { name: 'billing' }).waitFor()
  await expect.poll(() => rows().count()).toBe(1)
  await kinds.getByRole('link', { name: /leaving/ }).click()
  await expect.poll(() => rows().count()).toBe(2)
  expect(seen.complaints).toEqual([])
})
