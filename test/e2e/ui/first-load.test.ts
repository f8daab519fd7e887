import type { Page, Route } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { type Looks, signIn, visit } from './support/browser.ts'
import { openScene, type Scene } from './support/scene.ts'
import { browser, service, useStage } from './support/stage.ts'

let scene: Scene

useStage({
  pages: 'none',
  prepare: async () => {
    scene = await openScene(service)
  },
  withinMs: 120_000,
})

afterAll(() => scene?.close())

interface Shift {
  /** The share of the window that moved, times how far. */
  value: number
  what: string[]
}

/** Let every document that this page opens note what was pushed aside on it, as the browser judges it. */
const recordShifts = (page: Page) =>
  page.addInitScript(() => {
    const shifts: Shift[] = []
    Object.assign(globalThis, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as {
        value: number
        sources: { node: Element | null; previousRect: DOMRect; currentRect: DOMRect }[]
      }[])
        shifts.push({
          value: entry.value,
          what: entry.sources.map(
            ({ node, previousRect, currentRect }) =>
              `${node?.textContent?.slice(0, 40)} from ${previousRect.top} to ${currentRect.top}`,
          ),
        })
    }).observe({ type: 'layout-shift', buffered: true })
  })

/** What a page asked of the service, and what moved on it. */
interface Load {
  asked: string[]
  shifts: Shift[]
}

/** Open an address with the answers coming one by one, each drawn before the next: as over a slow line, and in the order asked. */
async function loadSlowly(page: Page, address: string): Promise<Load> {
  const asked: string[] = []
  const waiting: Route[] = []
  let isOver = false
  let wake = () => {}
  await page.route('**/api/**', (route) => {
    const { pathname, search } = new URL(route.request().url())
    asked.push(`${route.request().method()} ${pathname}${search}`)
    waiting.push(route)
    wake()
  })
  const answering = (async () => {
    for (;;) {
      const route = waiting.shift()
      if (route === undefined) {
        if (isOver) return
        await new Promise<void>((resolve) => (wake = resolve))
        continue
      }
      // A page that has moved on does not wait for it any more.
      const answer = await route.fetch().catch(() => null)
      if (answer === null) continue
      await route.fulfill({ response: answer }).catch(() => {})
      await page
        .evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
        .catch(() => {})
    }
  })()
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForLoadState('networkidle')
  isOver = true
  wake()
  await answering
  await page.unroute('**/api/**')
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: Shift[] }).shifts)
  return { asked, shifts }
}

const openPage = async (looks: Looks) => {
  const { page, context } = await visit(browser, service.url, looks)
  await signIn(page)
  await recordShifts(page)
  return { page, context }
}

for (const width of [1440, 1024, 390])
  test(`the overview does not jump while it loads, at ${width}`, async () => {
    const { page, context } = await openPage({ width })
    const { shifts } = await loadSlowly(page, '/overview')
    const moved = shifts.reduce((sum, { value }) => sum + value, 0)
    expect(moved, JSON.stringify(shifts, null, 1)).toBeLessThan(0.1)
    await context.close()
  })

/** What comes on these pages comes into a place of its own. */
for (const width of [1440, 1024, 390])
  test(`neither a change, its review nor a comparison jumps while it loads, at ${width}`, async () => {
    const { page, context } = await openPage({ width })
    const found: string[] = []
    for (const name of ['review', 'compare', 'change']) {
      const { shifts } = await loadSlowly(page, scene.pages.find((one) => one.name === name)!.path)
      const moved = shifts.reduce((sum, { value }) => sum + value, 0)
      if (moved >= 0.1) found.push(`${name} by ${moved}: ${JSON.stringify(shifts, null, 1)}`)
    }
    expect(found).toEqual([])
    await context.close()
  })

test('a page asks once for what it and the navigation show', async () => {
  const { page, context } = await openPage({})
  // What happens in the fleet meanwhile is read again, as it should be, and is not what is counted here.
  await page.routeWebSocket(/\/ws$/, (socket) => {
    socket.connectToServer().onMessage((message) => {
      if (String(message).includes('"pong"')) socket.send(message)
    })
  })
  const review = scene.pages.find(({ name }) => name === 'review')!.path
  const paths = ['/overview', '/approvals', '/approvals?status=reviews', '/campaigns', review]
  const twice: string[] = []
  for (const path of paths) {
    const { asked } = await loadSlowly(page, path)
    expect(asked.length).toBeGreaterThan(4)
    twice.push(...asked.filter((one, at) => asked.indexOf(one) !== at).map((one) => `${path}: ${one}`))
  }
  expect(twice).toEqual([])
  await context.close()
})
