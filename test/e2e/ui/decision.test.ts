import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import { GATEWAY, GATEWAY_FASTER, pushAndSettle, workloadId } from './support/scene.ts'
import { connectAgent, page, seen, service, useStage } from './support/stage.ts'

// Where a request is decided and pushed: in which order it is read, and what the push does unless one says otherwise.
let live = ''
let trial = ''

useStage({
  pages: 'each',
  async prepare() {
    for (const pod of ['till-1', 'till-2', 'till-3']) connectAgent('till', pod, {}, 'production')
    live = await workloadId(service, 'till', 3)
    connectAgent('trial', 'trial-1')
    trial = await workloadId(service, 'trial')
    await pushAndSettle(service, trial, GATEWAY)
  },
})

async function approve(id: string, draft: string, comment: string): Promise<string> {
  const path = `/api/workloads/${id}/config/approvals`
  const asked = await service.api.post(path, { draft_yaml: draft, comment, prod_confirmation: true }, 201)
  await service.api.post(`${path}/${asked.id}/approve`, { comment: 'fine' }, 200)
  return asked.id
}

const topOf = async (of: Locator) => (await of.boundingBox())?.y ?? Number.NaN

test('a high risk in production goes out in stages unless somebody says otherwise', async () => {
  const first = await approve(live, GATEWAY, 'As it runs')
  const path = `/api/workloads/${live}/config/approvals/${first}/push`
  await service.api.post(path, { comment: 'agreed', prod_double_confirmed: true }, 202)
  const stages = page.getByRole('dialog').getByLabel('Roll out in stages')
  for (const [draft, isHigh] of [
    [GATEWAY.replace('//telemetry.example.com', '//elsewhere.example.com'), true],
    [GATEWAY_FASTER, false],
  ] as const) {
    const id = await approve(live, draft, 'Another')
    await page.goto(`/workloads/${live}/changes/${id}`)
    const does = page.getByRole('region', { name: 'What it does' })
    await does.getByText(isHigh ? 'high risk' : /(low|medium|no) risk/).waitFor()
    await page.getByRole('button', { name: 'Push', exact: true }).click()
    await expect.poll(() => stages.isChecked()).toBe(isHigh)
    if (!isHigh) continue
    await page.getByText(/production: 3 instances in 3 stages/).waitFor()
    await page.getByText('Suggested: a high risk in production.', { exact: false }).waitFor()
    await stages.uncheck()
    await page.getByText('production: 3 instances, all at once.', { exact: false }).waitFor()
    await page.getByText(/to all at once: nothing halts it/).waitFor()
    expect(await findBarriers(page)).toEqual([])
  }
  expect(seen.complaints).toEqual([])
})

test('whoever decides on a request sees before it is pushed in which stages it goes out, and so does its author', async () => {
  for (const pod of ['store-1', 'store-2', 'store-3']) connectAgent('store', pod, {}, 'production')
  const store = await workloadId(service, 'store', 3)
  const path = `/api/workloads/${store}/config/approvals`
  const first = await approve(store, GATEWAY, 'As it runs')
  const agreed = { comment: 'agreed', prod_double_confirmed: true }
  await service.api.post(`${path}/${first}/push`, agreed, 202)
  const reach = page.getByRole('region', { name: 'It will reach' })
  const staged = reach.getByText(/in stages.*: 1, then 2, then 3 of 3 instances/i)
  const whole = reach.getByText(/^All at once/)
  for (const [draft, isHigh] of [
    [GATEWAY.replace('//telemetry.example.com', '//stages.example.com'), true],
    [GATEWAY_FASTER, false],
  ] as const) {
    const ask = { draft_yaml: draft, comment: 'To be decided', prod_confirmation: true }
    const { id } = await service.api.post(path, ask, 201)
    await page.goto(`/workloads/${store}/changes/${id}`)
    await (isHigh ? staged : whole).waitFor()
    expect(await (isHigh ? whole : staged).count()).toBe(0)
    await page.getByRole('button', { name: 'Edit as a new draft' }).click()
    await page.waitForURL(/change$/)
    await (isHigh ? staged : whole).waitFor()
  }
  expect(await findBarriers(page)).toEqual([])
  await page.goto(`/workloads/${trial}/change`)
  await reach.waitFor()
  expect(await reach.getByText(/stages|All at once/).count()).toBe(0)
  expect(seen.complaints).toEqual([])
})

test('on a phone what a change does and its text come before the checks, and the buttons stand in columns', async () => {
  const path = `/api/workloads/${trial}/config/approvals`
  const { id } = await service.api.post(path, { draft_yaml: GATEWAY_FASTER, comment: 'Faster' }, 201)
  const main = page.getByRole('main')
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto(`/workloads/${trial}/changes/${id}`)
    const names = ['Approve', 'Ask for changes', 'Edit as a new draft', 'Withdraw', 'Reject', '▲ Break glass']
    const lefts = new Set<number>()
    for (const name of names) {
      const box = await main.getByRole('button', { name, exact: true }).boundingBox()
      lefts.add(Math.round(box?.x ?? Number.NaN))
    }
    expect([...lefts], `${width}`).toHaveLength(2)
  }
  const does = await topOf(main.getByRole('region', { name: 'What it does' }))
  const text = await topOf(main.locator('.cm-mergeView, .cm-editor').first())
  const checks = await topOf(main.getByRole('region', { name: 'Checks' }))
  expect(await topOf(main.getByRole('region', { name: 'It will reach' }))).toBeLessThan(does)
  expect(does).toBeLessThan(text)
  expect(text).toBeLessThan(checks)
  expect(checks).toBeLessThan(await topOf(main.getByRole('button', { name: 'Approve', exact: true })))
  expect(await findBarriers(page)).toEqual([])
})

test('the unchanged lines that a comparison leaves out are opened by keyboard, side by side and in one column', async () => {
  const path = `/api/workloads/${trial}/config/approvals`
  const { id } = await service.api.post(path, { draft_yaml: GATEWAY_FASTER, comment: 'Faster' }, 201)
  const left = page.getByRole('button', { name: /^Show \d+ unchanged lines$/ })
  const focused = () =>
    page.evaluate(() => document.activeElement?.textContent?.match(/^Show \d+ unchanged/)?.[0] ?? '')
  for (const [width, beside] of [
    [1440, 2],
    [390, 1],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto(`/workloads/${trial}/changes/${id}`)
    // What is left out is before the change and after it, in each text.
    await expect.poll(() => left.count()).toBe(2 * beside)
    expect(await findBarriers(page)).toEqual([])
    await page.locator('.cm-content').first().focus()
    for (const key of ['Enter', 'Space']) {
      const before = await left.count()
      await page.keyboard.press('Tab')
      await expect.poll(focused).not.toBe('')
      await page.keyboard.press(key)
      await expect.poll(() => left.count()).toBe(before - beside)
      // One goes on from there: the text that was opened has the focus.
      await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toMatch(/cm-content/)
    }
  }
  expect(seen.complaints).toEqual([])
})

test('a first request that another one overtook shows its text alone, since what it would have replaced is not kept', async () => {
  connectAgent('newcomer', 'newcomer-1')
  const id = await workloadId(service, 'newcomer')
  const path = `/api/workloads/${id}/config/approvals`
  const first = await service.api.post(path, { draft_yaml: GATEWAY, comment: 'The first' }, 201)
  await service.api.post(path, { draft_yaml: GATEWAY_FASTER, comment: 'The second' }, 201)
  await page.goto(`/workloads/${id}/changes/${first.id}`)
  await page.getByText(/that is not kept/).waitFor()
  await page.locator('.cm-editor').getByText('memory_limiter').first().waitFor()
  expect(await page.locator('.cm-mergeView, .cm-changedLine').count()).toBe(0)
  expect(seen.complaints).toEqual([])
})

test('the page of a push has its name from the start, and no heading for those who are not behind', async () => {
  const id = await approve(trial, GATEWAY.replace('timeout: 5s', 'timeout: 4s'), 'A shorter wait')
  const path = `/api/workloads/${trial}/config/approvals/${id}`
  const { config_hash: hash, push_id: push } = await service.api.post(`${path}/push`, {}, 202)
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route(`**${path}`, async (route) => {
    await held
    await route.continue()
  })
  const isRead = page.waitForResponse((reply) => reply.url().includes('/convergence'))
  await page.goto(`/workloads/${trial}/pushes/${hash}?push=${push}`)
  await isRead
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(0)
  answer()
  await page.getByRole('heading', { level: 1, name: 'A shorter wait' }).waitFor()
  await page.getByText('1 applied · 0 failed').waitFor()
  expect(await page.getByText('Not there yet').isVisible()).toBe(false)
  expect(seen.complaints).toEqual([])
})

test('so does one for which the glass is broken, since nobody has approved it', async () => {
  for (const pod of ['desk-1', 'desk-2', 'desk-3']) connectAgent('desk', pod, {}, 'production')
  const desk = await workloadId(service, 'desk', 3)
  const path = `/api/workloads/${desk}/config/approvals`
  const first = await approve(desk, GATEWAY, 'As it runs')
  await service.api.post(`${path}/${first}/push`, { comment: 'agreed', prod_double_confirmed: true }, 202)
  const draft = GATEWAY.replace('//telemetry.example.com', '//broken-glass.example.com')
  const ask = { draft_yaml: draft, comment: 'Cannot wait', prod_confirmation: true }
  const { id } = await service.api.post(path, ask, 201)
  await page.goto(`/workloads/${desk}/changes/${id}`)
  await page.getByRole('region', { name: 'What it does' }).getByText('high risk').waitFor()
  await page.getByRole('button', { name: 'Break glass' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/production: 3 instances in 3 stages/).waitFor()
  await expect.poll(() => dialog.getByLabel('Roll out in stages').isChecked()).toBe(true)
  expect(seen.complaints).toEqual([])
})
