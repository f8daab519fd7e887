import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { findBarriers, SHOTS, signIn, visit } from './support/browser.ts'
import { openScene, type Scene } from './support/scene.ts'
import { browser, service, useStage } from './support/stage.ts'

// Without a pointer and without sight: what axe does not look at, on every page of the scene.
let scene: Scene

useStage({
  pages: 'none',
  withinMs: 180_000,
  async prepare() {
    scene = await openScene(service)
  },
})

afterAll(() => scene?.close())

/** More stops than any page of the scene is walked through; a page that has more is walked in part. */
const STOPS_MAX = 40

/** Where the focus is: what it is called, whether it can be seen and is marked, and whether it was there before. */
const lookAtFocus = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    if (element === null || element === document.body) return null
    const seen = element.hasAttribute('data-walked')
    element.setAttribute('data-walked', '')
    const box = element.getBoundingClientRect()
    const x = Math.min(Math.max(box.left + box.width / 2, 0), innerWidth - 1)
    const y = Math.min(Math.max(box.top + Math.min(box.height / 2, 20), 0), innerHeight - 1)
    const top = document.elementFromPoint(x, y)
    return {
      seen,
      what: `${element.tagName.toLowerCase()}.${element.className} “${(element.getAttribute('aria-label') ?? element.textContent ?? '').slice(0, 40)}”`,
      isOrdered: (element as HTMLElement).tabIndex === 0,
      isVisible: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight,
      isCovered: top !== null && !element.contains(top) && !top.contains(element),
    }
  })

/** Whether the focus is to be seen. An editor marks itself a moment after it got the focus. */
const isMarked = (page: Page) =>
  page
    .waitForFunction(
      () => {
        const element = document.activeElement!
        return [element, element.parentElement!, element.closest('.cm-editor') ?? element].some((one) => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one)
          return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
        })
      },
      undefined,
      { timeout: 5_000 },
    )
    .then(
      () => true,
      () => false,
    )

/** Walk through a page with Tab alone, from its content on or from its very start, and tell what is wrong on the way. */
async function walk(page: Page, from: 'content' | 'start'): Promise<string[]> {
  const found: string[] = []
  if (from === 'content') await page.locator('main').focus()
  await page.evaluate(() => {
    for (const one of document.querySelectorAll('[data-walked]')) one.removeAttribute('data-walked')
  })
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    await page.keyboard.press('Tab')
    const at = await lookAtFocus(page)
    // Beyond the last stop is the browser's own window, and the walk is over.
    if (at === null) return found
    if (at.seen) return [...found, ...(stop < 2 ? [`the focus stays at ${at.what}`] : [])]
    if (!at.isOrdered) found.push(`${at.what} has an order of its own`)
    if (!at.isVisible) found.push(`${at.what} is out of sight with the focus`)
    else if (at.isCovered) found.push(`${at.what} is covered with the focus`)
    if (!(await isMarked(page))) found.push(`${at.what} does not show that it has the focus`)
  }
  return found
}

test('every page can be walked through with Tab, and each stop is seen', { timeout: 480_000 }, async () => {
  const { page, context } = await visit(browser, service.url, { width: 1280 })
  await signIn(page)
  const found: string[] = []
  // What stands around the content is the same on every page, and is walked through once.
  let from: 'content' | 'start' = 'start'
  for (const { name, path, act } of scene.pages) {
    if (act) continue
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.waitForLoadState('networkidle')
    found.push(...(await walk(page, from)).map((line) => `${name}: ${line}`))
    from = 'content'
  }
  await context.close()
  expect([...new Set(found)]).toEqual([])
})

test('every dialog keeps the focus while it is open, and gives it back', { timeout: 240_000 }, async () => {
  const { page, context } = await visit(browser, service.url, { width: 1280 })
  await signIn(page)
  const found: string[] = []
  for (const { name, path, act } of scene.pages) {
    if (!act) continue
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    // Something has the focus before, to which it can go back.
    await page.keyboard.press('Tab')
    await act(page)
    const dialog = page.getByRole('dialog')
    if ((await dialog.count()) === 0) continue
    const isWithin = () => page.evaluate(() => document.activeElement?.closest('dialog') !== null)
    for (let stop = 0; stop < 25; stop++) {
      await page.keyboard.press('Tab')
      const isBeyond = await page.evaluate(() => document.activeElement === document.body)
      if (!isBeyond && !(await isWithin()))
        found.push(`${name}: the focus leaves the dialog after ${stop + 1} stops`)
    }
    await page.keyboard.press('Escape')
    // An editor within takes the first Escape.
    if ((await dialog.count()) > 0) await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect
      .poll(() => page.evaluate(() => document.activeElement !== document.body), { message: name })
      .toBe(true)
  }
  await context.close()
  expect([...new Set(found)]).toEqual([])
})

/** The buttons of an open dialog that are not to be seen as it stands. */
const outOfSight = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('dialog .dialog > .actions .btn, dialog .dialog > form > .actions .btn')]
      .filter((button) => {
        const box = button.getBoundingClientRect()
        const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)
        return top === null || !(button.contains(top) || top.contains(button))
      })
      .map((button) => button.textContent),
  )

test.each([
  [1024, 700],
  [390, 700],
  [320, 568],
])(
  'the buttons of every dialog are in sight, at %i by %i, and cover nothing that has the focus',
  {
    timeout: 240_000,
  },
  async (width, height) => {
    const { page, context } = await visit(browser, service.url, { width, height })
    await signIn(page)
    const found: string[] = []
    let looked = 0
    for (const { name, path, act } of scene.pages) {
      if (!act) continue
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await act(page)
      const dialog = page.getByRole('dialog')
      if ((await dialog.count()) === 0 || name === 'palette') continue
      await page.waitForLoadState('networkidle')
      looked++
      found.push(...(await outOfSight(page)).map((text) => `${name}: “${text}” is out of sight`))
      await dialog.evaluate((element) => element.scrollTo(0, 0))
      for (let stop = 0; stop < 25; stop++) {
        await page.keyboard.press('Tab')
        const at = await lookAtFocus(page)
        if (at?.isCovered) found.push(`${name}: ${at.what} is covered with the focus`)
      }
      await dialog.evaluate((element) => element.scrollTo(0, element.scrollHeight))
      found.push(...(await outOfSight(page)).map((text) => `${name}: “${text}” is out of sight at the end`))
      found.push(...(await findBarriers(page)).map((line) => `${name}: ${line}`))
      await page.screenshot({ path: join(SHOTS, `${name}-${width}x${height}.png`) })
    }
    await context.close()
    expect(looked).toBeGreaterThanOrEqual(4)
    expect([...new Set(found)]).toEqual([])
  },
)

test('what changes by itself is told in a live region that was there before', {
  timeout: 120_000,
}, async () => {
  const { page, context } = await visit(browser, service.url, { width: 1280 })
  await signIn(page)
  // A region that comes together with its text is not read by every screen reader.
  await page.goto('/')
  const toasts = page.locator('.toasts[role=status]')
  await expect.poll(() => toasts.count()).toBe(1)
  await page.goto('/settings/profile')
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await expect.poll(() => toasts.count()).toBe(1)
  // Another page is told by its title and its heading, which takes the focus.
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Audit', exact: true })
    .click()
  await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
  await expect.poll(() => page.title()).toMatch(/Audit/)
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
  await context.close()
})

test('the way from a workload to a page of its own takes the focus along, and a tab keeps it', {
  timeout: 120_000,
}, async () => {
  const { page, context } = await visit(browser, service.url, { width: 1280 })
  await signIn(page)
  const isAtStart = () => page.evaluate(() => document.activeElement?.id === 'main')
  const follow = async (href: string) => {
    const link = page.locator(`main a[href*="${href}"]:not([href*="rollback"])`).first()
    await link.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.includes(href))
  }
  const workload = scene.pages.find(({ name }) => name === 'gateway')?.path
  const history = scene.pages.find(({ name }) => name === 'billing-history')?.path
  const push = scene.pages.find(({ name }) => name === 'push-failed')?.path
  for (const [from, href] of [
    [workload, '/rollouts/'],
    [workload, '/change'],
    [history, '/pushes/'],
    [push, '/changes/'],
    [push, '/compare'],
  ] as const) {
    await page.goto(from!)
    await follow(href)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await expect.poll(isAtStart, { message: href }).toBe(true)
  }
  // Between tabs the reader stays on the tab, to go on to the next one.
  await page.goto(workload!)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await follow('/health')
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  const tab = await page.evaluate(() => document.activeElement?.getAttribute('href') ?? '')
  expect(tab).toMatch(/\/health$/)
  await context.close()
})
