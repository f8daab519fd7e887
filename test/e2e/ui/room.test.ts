import { expect, test } from 'vitest'
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
  expect(await reason.evaluate((part) => part.scrollWidth <= part.clientWidth)).toBe(true)
  const width = (of: string) => row.locator(of).evaluate((part) => part.closest('td')?.clientWidth ?? 0)
  expect(await width('.reason')).toBeGreaterThan(await width('.name'))
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

test('while only a part of the fleet is there its counters say no number', async () => {
  await openPage()
  await page.route('**/api/workloads?limit=*', async (route) => {
    // The second page never comes.
    if (route.request().url().includes('cursor=')) return
    const answer = await route.fetch()
    const link = '</api/workloads?limit=1000&cursor=later>; rel="next"'
    return route.fulfill({ response: answer, headers: { ...answer.headers(), link } })
  })
  await page.reload()
  const degraded = page.getByRole('navigation', { name: 'Counters' }).getByRole('link', { name: /degraded/ })
  await expect.poll(() => degraded.textContent()).toMatch(/^…/)
  await page.unroute('**/api/workloads?limit=*')
  await page.reload()
  await expect.poll(() => degraded.textContent()).toMatch(/^1/)
  await seen.context.close()
})
