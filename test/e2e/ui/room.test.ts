import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SHOTS } from './support/browser.ts'
import { FAILING_EXPORTER, GATEWAY_FASTER } from './support/scene.ts'
import { agents, connectManaged, openPage, page, seen, service, useStage } from './support/stage.ts'

let cart = ''

useStage({
  pages: 'none',
  async prepare() {
    cart = await connectManaged('cart')
    agents[0]?.say({ health: FAILING_EXPORTER })
    const approvals = `/api/workloads/${cart}/config/approvals`
    await service.api.post(approvals, { draft_yaml: GATEWAY_FASTER, comment: 'Faster batches' }, 201)
  },
})

test('on a wide page causes get the width that is there, and are not cut', async () => {
  await openPage({ width: 1920 })
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'cart', exact: true }) })
  const reason = row.locator('.reason')
  await reason.getByText(/10\.3\.0\.17:4318/).waitFor()
  const beneath = row.locator('.beneath')
  expect(await beneath.evaluate((part) => part.scrollWidth <= part.clientWidth)).toBe(true)
  const width = (of: string) => row.locator(of).evaluate((part) => part.closest('td')?.clientWidth ?? 0)
  expect(await width('.reason')).toBeGreaterThan(await width('.name'))
  // On a smaller one the other columns give way first.
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect.poll(() => beneath.evaluate((part) => part.scrollWidth <= part.clientWidth)).toBe(true)
  await page.getByRole('columnheader', { name: 'Why' }).waitFor()
  await seen.context.close()
})

test('at 1,440 px what happened is whole, in French too, and since when, with how many are unhealthy below', async () => {
  await openPage({ width: 1440 })
  // Frames of the service would put what is really so in place of the trouble that is made up here.
  await page.routeWebSocket(/.*/, () => {})
  await page.route('**/api/workloads?limit=*', async (route) => {
    const answer = await route.fetch()
    const all = (await answer.json()) as object[]
    const trouble = {
      kind: 'push_failed',
      since: new Date(Date.now() - 47 * 60_000).toISOString(),
      aftermath: { kind: 'went_back_in_part', applied_count: 11, target_count: 12, running_count: 1 },
      unhealthy_count: 10,
      instance_count: 12,
      error_cause: 'port_in_use',
      error_title: 'A port is in use',
    }
    return route.fulfill({ response: answer, json: all.map((one) => ({ ...one, trouble })) })
  })
  for (const [language, beside] of [
    ['en', '10 of 12 unhealthy'],
    ['fr', '10 sur 12 en défaut'],
  ]) {
    await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language })
    await page.reload()
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'cart', exact: true }) })
    await row.locator('.reason').getByText(beside!).waitFor()
    const parts = row.locator('.headline')
    const cut = () => parts.evaluateAll((all) => all.map((part) => part.scrollWidth - part.clientWidth))
    await expect.poll(async () => Math.max(...(await cut()))).toBeLessThanOrEqual(0)
  }
  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'en' })
  await seen.context.close()
})

test('what a row has no room for is whole for whoever comes to it by key, without a pointer', async () => {
  await openPage({ width: 1440 })
  await page.routeWebSocket(/.*/, () => {})
  await page.route('**/api/workloads?limit=*', async (route) => {
    const answer = await route.fetch()
    const [one] = (await answer.json()) as { display_name: string }[]
    const trouble = {
      kind: 'unhealthy',
      since: new Date(Date.now() - 47 * 60_000).toISOString(),
      count: 1,
      total: 1,
      component: 'exporter:otlphttp/a-backend-with-a-rather-long-name-of-its-own-and-far-away',
      error_cause: 'connection_failed',
      error_parameters: { unknown_host: 'telemetry.exmaple.com' },
    }
    const rows = Array.from({ length: 3 }, (_, at) => ({
      ...one,
      id: `row-${at}`,
      display_name: `row ${at}`,
      trouble,
    }))
    return route.fulfill({ response: answer, json: rows })
  })
  await page.reload()
  const link = page.getByRole('row').filter({ hasText: 'row 0' }).locator('a.whole')
  const beneath = link.locator('.beneath')
  const cut = () => beneath.evaluate((part) => part.scrollWidth - part.clientWidth)
  await expect.poll(cut).toBeGreaterThan(0)
  const before = await page.locator('.big-table').boundingBox()
  await link.focus()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Tab')
  await expect.poll(cut).toBeLessThanOrEqual(0)
  // It lies over the next row, which does not move, and nothing lies over it.
  expect(await page.locator('.big-table').boundingBox()).toEqual(before)
  const isSeen = await beneath.evaluate((part) => {
    const { left, bottom } = part.getBoundingClientRect()
    return part.contains(document.elementFromPoint(left + 12, bottom - 8))
  })
  expect(isSeen).toBe(true)
  await page.screenshot({ path: join(SHOTS, 'why-focused-1440.png') })
  await seen.context.close()
})

test('at 1,024 px the cause is whole, in French too: other columns give way before it', async () => {
  await openPage({ width: 1024 })
  await page.routeWebSocket(/.*/, () => {})
  await page.route('**/api/workloads?limit=*', async (route) => {
    const answer = await route.fetch()
    const [one] = (await answer.json()) as { display_name: string }[]
    const since = new Date(Date.now() - 47 * 60_000).toISOString()
    const troubles = [
      {
        kind: 'rolled_back',
        since,
        aftermath: { kind: 'went_back' },
        error_cause: 'component_unknown',
        error_title: 'A component is not part of this collector',
        error_parameters: { component_type: 'memory_limiter', exit_code: '1' },
      },
      {
        kind: 'unhealthy',
        since,
        count: 3,
        total: 3,
        component: 'exporter:otlphttp/eu',
        error_cause: 'connection_failed',
        error_parameters: { address: '10.30.40.17:4318' },
      },
    ]
    const rows = troubles.map((trouble, at) => ({
      ...one,
      id: `row-${at}`,
      display_name: `row ${at}`,
      trouble,
    }))
    return route.fulfill({ response: answer, json: rows })
  })
  for (const [language, said] of [
    ['en', 'memory_limiter is not part of this collector'],
    ['fr', 'memory_limiter ne fait pas partie de ce collecteur'],
  ]) {
    await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language })
    await page.reload()
    await page.getByText(said!).first().waitFor()
    const cut = () =>
      page
        .locator('.headline, .headline .trouble, .beneath, .reason')
        .evaluateAll((all) => Math.max(...all.map((part) => part.scrollWidth - part.clientWidth)))
    await expect.poll(cut).toBeLessThanOrEqual(0)
    await page.screenshot({ path: join(SHOTS, `why-1024-${language}.png`) })
  }
  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'en' })
  await seen.context.close()
})

test('at 1,440 px the push since which all are unhealthy stands whole in its row, with since when, in French too', async () => {
  await openPage({ width: 1440 })
  await page.routeWebSocket(/.*/, () => {})
  await page.route('**/api/workloads?limit=*', async (route) => {
    const answer = await route.fetch()
    const all = (await answer.json()) as object[]
    const since = new Date(Date.now() - 47 * 60_000).toISOString()
    const push = { push_id: 'p', config_hash: 'c580433a', instance_count: 16 }
    const trouble = { kind: 'unhealthy', since, count: 16, total: 16, under_push: push }
    return route.fulfill({ response: answer, json: all.map((one) => ({ ...one, trouble })) })
  })
  for (const [language, said] of [
    ['en', '16 of 16 unhealthy since push c580433'],
    ['fr', '16 sur 16 en défaut depuis c580433'],
  ]) {
    await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language })
    await page.reload()
    await page.locator('.headline').getByText(said!).first().waitFor()
    const cut = () =>
      page
        .locator('.headline')
        .evaluateAll((all) => Math.max(...all.map((part) => part.scrollWidth - part.clientWidth)))
    await expect.poll(cut).toBeLessThanOrEqual(0)
  }
  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'en' })
  await seen.context.close()
})

test('on a phone the host that an error is about is whole, in French too: it is what tells one error from the other', async () => {
  await openPage({ width: 390 })
  await page.routeWebSocket(/.*/, () => {})
  await page.route('**/api/workloads?limit=*', async (route) => {
    const answer = await route.fetch()
    const all = (await answer.json()) as object[]
    const trouble = {
      kind: 'unhealthy',
      since: new Date(Date.now() - 47 * 60_000).toISOString(),
      count: 1,
      total: 1,
      component: 'exporter:otlphttp/eu-west-for-the-checkout',
      error_cause: 'connection_failed',
      error_parameters: { unknown_host: 'telemetry.exmaple.com' },
    }
    return route.fulfill({ response: answer, json: all.map((one) => ({ ...one, trouble })) })
  })
  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'fr' })
  await page.reload()
  const reason = page.locator('.narrow-row .reason').first()
  await reason.getByText(/hôte introuvable/).waitFor()
  const over = await reason.evaluate((part) => {
    const text = part.firstChild!
    const range = document.createRange()
    range.setStart(text, 0)
    range.setEnd(text, text.textContent!.indexOf('.com') + '.com'.length)
    return range.getBoundingClientRect().right - part.closest('.beneath')!.getBoundingClientRect().right
  })
  expect(over).toBeLessThanOrEqual(0)
  // All of it is there, and its row is as high as that: a finger does not hover.
  const hidden = await reason.evaluate((part) => {
    const [line, cell] = [part.closest('.beneath')!, part.closest('td')!]
    return [line.scrollHeight - line.clientHeight, cell.scrollHeight - cell.clientHeight]
  })
  expect(Math.max(...hidden)).toBeLessThanOrEqual(0)
  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'en' })
  await seen.context.close()
})

test('a change that waits stands below what is wrong, which keeps the width', async () => {
  await openPage({ width: 1440 })
  await page.goto(`/workloads/${cart}`)
  const banner = page.locator('.say')
  await banner.getByText('1 change waits for approval.').waitFor()
  await banner.getByText(/connection refused/).waitFor()
  const cause = await banner.locator('p').first().boundingBox()
  const waiting = await banner.getByText('1 change waits for approval.').boundingBox()
  expect(waiting!.y).toBeGreaterThanOrEqual(cause!.y + cause!.height)
  expect(cause!.width).toBeGreaterThanOrEqual(480)
  await seen.context.close()
})

test('while only a part of the fleet is there its counters say what the server counts, or no number', async () => {
  await openPage()
  await page.route('**/api/workloads?limit=*', async (route) => {
    // The second page never comes.
    if (route.request().url().includes('cursor=')) return
    const answer = await route.fetch()
    const link = '</api/workloads?limit=1000&cursor=later>; rel="next"'
    return route.fulfill({ response: answer, headers: { ...answer.headers(), link } })
  })
  await page.reload()
  const counters = page.getByRole('navigation', { name: 'Counters' })
  const degraded = counters.getByRole('link', { name: /degraded/ })
  await counters.getByRole('link', { name: /^… ?drifted/ }).waitFor()
  await expect.poll(() => degraded.textContent()).toMatch(/^1/)
  await counters.getByRole('link', { name: /^\d+ ?workloads/ }).waitFor()
  await page.unroute('**/api/workloads?limit=*')
  await page.reload()
  await expect.poll(() => degraded.textContent()).toMatch(/^1/)
  await counters.getByRole('link', { name: /^0 ?drifted/ }).waitFor()
  await seen.context.close()
})

test('how many wait for somebody stands within its line of the navigation, in French too', async () => {
  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'fr' })
  await openPage({ width: 1440 })
  const link = page.getByRole('navigation').getByRole('link', { name: /^Approbations/ })
  // On its own page its name is bold.
  await page.goto('/approvals')
  await link.getByText(/^\d+ à vous$/).evaluate((one) => (one.textContent = '9 à vous'))
  await page.screenshot({
    path: join(SHOTS, 'nav-1440-fr.png'),
    clip: { x: 0, y: 0, width: 260, height: 900 },
  })
  const beyond = await link.evaluate((one) => {
    const { right, height } = one.getBoundingClientRect()
    const name = one.ownerDocument.createRange()
    name.selectNodeContents(one)
    const ends = [...name.getClientRects()].map((box) => box.right)
    return { over: Math.max(...ends) - right, height }
  })
  expect(beyond.over).toBeLessThanOrEqual(0)
  const other = await page.getByRole('navigation').getByRole('link', { name: 'Campagnes' }).boundingBox()
  expect(beyond.height).toBe(other?.height)
  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'en' })
  await seen.context.close()
})
