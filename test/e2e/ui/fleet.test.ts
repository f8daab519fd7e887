import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SHOTS, signIn, visit } from './support/browser.ts'
import { announceThousands, connect } from './support/fleet.ts'
import { FAILING_EXPORTER } from './support/scene.ts'
import { browser, service, useStage } from './support/stage.ts'

const CROWD = 3_000

useStage({ pages: 'none' })

/** Delete a workload, whatever its state, so that the counts of the other tests hold. */
async function forget(name: string): Promise<void> {
  const all: { id: string; display_name: string }[] = await service.api.get('/api/workloads')
  const { id } = all.find(({ display_name }) => display_name === name)!
  expect((await service.api.call('DELETE', `/api/workloads/${id}`)).status).toBe(204)
}

describe('the fleet', () => {
  test('an empty one shows how to connect, and sees the first collector come', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.getByText('No collector has connected yet').waitFor()
    await expect.poll(() => page.locator('pre').first().textContent()).toContain('/v1/opamp')
    await page.screenshot({ path: join(SHOTS, 'empty-1440-light-en.png'), fullPage: true })
    const agent = connect(service, 'the-first', 'the-first-1')
    await page.getByRole('link', { name: 'the-first' }).waitFor()
    await agent.stop()
    await context.close()
  })

  test('each row draws how much happened to it in the last day', async () => {
    const agent = connect(service, 'the-restless', 'the-restless-1')
    // Where there is less room, it gives way to names and causes.
    const { page, context } = await visit(browser, service.url, { width: 1680, height: 1050 })
    await signIn(page)
    const row = page.getByRole('row', { name: /the-restless.*changed their version 1 time/ })
    await row.waitFor()
    expect(await row.locator('svg.sparkline polyline').count()).toBe(1)
    await agent.stop()
    await forget('the-restless')
    await context.close()
  })

  test('what happens while the list is on its way is not undone by it', async () => {
    const leaver = connect(service, 'the-leaver', 'the-leaver-1')
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.getByRole('link', { name: 'the-leaver' }).waitFor()

    const told: string[] = []
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => told.push(String(payload))))
    const untilTold = (...words: string[]) =>
      expect.poll(() => told.some((frame) => words.every((word) => frame.includes(word)))).toBe(true)
    let newcomer: ReturnType<typeof connect> | undefined
    await page.route(
      '**/api/workloads?limit=*',
      async (route) => {
        const response = await route.fetch()
        await leaver.stop()
        newcomer = connect(service, 'the-newcomer', 'the-newcomer-1')
        await untilTold('"workload_update"', 'the-newcomer')
        await untilTold('"workload_update"', 'the-leaver', '"connected_instance_count":0')
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await page.reload()
    await page.getByRole('link', { name: 'the-newcomer' }).waitFor()
    await page.getByRole('row', { name: /disconnected.*the-leaver/i }).waitFor()
    await newcomer?.stop()
    for (const name of ['the-leaver', 'the-newcomer']) await forget(name)
    await context.close()
  })

  test('a workload among thousands is found by text, by key:value and by palette', async () => {
    await announceThousands(service, CROWD)
    const { page, context, complaints } = await visit(browser, service.url)
    await signIn(page)
    const counter = page
      .getByRole('navigation', { name: 'Counters' })
      .getByRole('link', { name: /workloads/ })
    await expect.poll(() => counter.textContent()).toContain('3,001')
    // Only the rows in sight are drawn.
    await expect.poll(() => page.locator('tbody tr').count()).toBeLessThan(120)
    await page.getByLabel('Search the fleet').fill('crowd-02718')
    await page.getByRole('link', { name: 'crowd-02718' }).waitFor()
    await expect.poll(() => page.locator('tbody tr[aria-rowindex]').count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('q')).toBe('crowd-02718')
    await page.getByLabel('Search the fleet').fill('env:prod -crowd-0000')
    await page
      .getByText('1,000 of 3,001')
      .or(page.getByText(/99\d of 3,001/))
      .first()
      .waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('crowd-00042')
    await page.getByRole('option', { name: /crowd-00042/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'crowd-00042' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('scrolls to the last of thousands, sorts both ways, and the address keeps it all', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.getByRole('link', { name: 'crowd-00000' }).waitFor()
    await expect.poll(() => page.evaluate(() => document.body.scrollHeight)).toBeGreaterThan(CROWD * 30)
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
    await page.getByRole('link', { name: 'crowd-02999' }).waitFor()
    await page.evaluate(() => window.scrollTo(0, 0))
    await page.getByRole('button', { name: /Workload/ }).click()
    await page.getByRole('button', { name: /Workload/ }).click()
    await page.getByRole('link', { name: 'the-first' }).waitFor()
    expect(new URL(page.url()).searchParams.get('sort')).toBe('name:desc')
    await page.reload()
    await page.getByRole('link', { name: 'the-first' }).waitFor()
    await page.getByLabel('Group by').selectOption('environment')
    await page.getByRole('rowheader', { name: /dev · 1,000/ }).waitFor()
    await context.close()
  })

  test('the worst stands first, with the reason and since when, of however many', async () => {
    const well = connect(service, 'aardvark', 'aardvark-1')
    const sick = ['1', '2', '3', '4'].map((pod) => connect(service, 'zebra', `zebra-${pod}`))
    const { page, context, complaints } = await visit(browser, service.url)
    await signIn(page)
    await page.getByRole('link', { name: 'aardvark' }).waitFor()
    for (const agent of sick.slice(0, 3)) agent.say({ health: FAILING_EXPORTER })
    const row = page.getByRole('row').filter({ hasText: 'zebra' })
    await row.getByRole('link', { name: /^3 of 4 unhealthy · (now|\d+ sec)/ }).waitFor()
    // The address is named a moment after the frame, which names none.
    const reason = row.getByText('cannot reach 10.3.0.17:4318 · exporter otlphttp/eu')
    await reason.waitFor()
    const names = () => page.locator('tbody tr[aria-rowindex] .name').allTextContents()
    await expect.poll(async () => (await names()).slice(0, 2)).toEqual(['the-first', 'zebra'])
    await row.getByRole('link', { name: /unhealthy/ }).click()
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/health$/)
    await page.goBack()
    // In a narrow window the columns with names and causes stay.
    for (const width of [1024, 820]) {
      await page.setViewportSize({ width, height: 800 })
      await row.waitFor()
      const cut = await row.evaluate(
        (one) =>
          [...one.querySelectorAll('.name, td .bad')].filter((part) => {
            const cell = part.closest('td')
            return cell === null || cell.scrollWidth > cell.clientWidth
          }).length,
      )
      expect(cut).toBe(0)
    }
    await page.setViewportSize({ width: 390, height: 800 })
    await expect.poll(() => row.getByText('3 of 4 unhealthy').isVisible()).toBe(true)
    expect(await reason.isVisible()).toBe(true)
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
      .toBeLessThanOrEqual(390)
    expect(complaints).toEqual([])
    await context.close()
    await Promise.all([well, ...sick].map((agent) => agent.stop()))
    for (const name of ['aardvark', 'zebra']) await forget(name)
  })

  test('a workload whose last instance just left is not called connected', async () => {
    const agent = connect(service, 'aaa-gone', 'aaa-gone-1')
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    const row = page.getByRole('row').filter({ hasText: 'aaa-gone' })
    await row.getByText('connected', { exact: true }).waitFor()
    await agent.stop()
    await row
      .getByText('leaving', { exact: true })
      .or(row.getByText('disconnected', { exact: true }))
      .waitFor()
    await row.getByRole('link', { name: /its last instance left|no instance is connected/ }).waitFor()
    await context.close()
    await forget('aaa-gone')
  })

  test('the arrow keys walk the rows, the counters filter', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.getByRole('link', { name: 'crowd-00000' }).focus()
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('crowd-00003')
    await page
      .getByRole('link', { name: /disconnected/ })
      .first()
      .click()
    await expect.poll(() => page.locator('tbody tr[aria-rowindex]').count()).toBe(1)
    await page.getByRole('link', { name: 'the-first' }).waitFor()
    await context.close()
  })
})
