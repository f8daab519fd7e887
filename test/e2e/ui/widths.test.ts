import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { Api } from '../support/service.ts'
import { SHOTS, signIn, visit } from './support/browser.ts'
import {
  FAILING_EXPORTER,
  GATEWAY,
  GATEWAY_FASTER,
  GATEWAY_KAFKA,
  pushAndSettle,
  SECRETIVE,
  workloadId,
} from './support/scene.ts'
import { browser, connectAgent, page, service, useStage } from './support/stage.ts'

const QUICK = { behaviour: { kind: 'apply', delayMs: 100 } } as const
const PASSWORD = 'long enough to pass'
/** Instances with names as long as Kubernetes makes them. */
let gateway = ''
/** A request that its policy blocks, with two risks. */
let review = ''

useStage({
  pages: 'one',
  withinMs: 180_000,
  async prepare() {
    const { api } = service
    const sick = connectAgent('inventory-collector', 'inventory-collector-1', QUICK, 'development')
    await workloadId(service, 'inventory-collector')
    sick.say({ health: FAILING_EXPORTER })
    const leaving = connectAgent('leaving', 'leaving-1')
    await workloadId(service, 'leaving')
    await leaving.stop()
    connectAgent('storefront-collector', 'storefront-collector-1', QUICK, 'development')
    for (let pod = 0; pod < 4; pod++)
      connectAgent('otel-gateway', `otel-gateway-7c9f5d8b6-x2k${pod}`, QUICK, 'production')
    gateway = await workloadId(service, 'otel-gateway', 4)
    connectAgent('billing', 'billing-1', { ...QUICK, capabilities: SECRETIVE })
    const failing = await workloadId(service, 'billing')
    await pushAndSettle(service, failing, GATEWAY)
    await pushAndSettle(service, failing, GATEWAY_FASTER)
    await pushAndSettle(service, failing, GATEWAY_KAFKA)
    // There is one who may approve, who asked for it.
    const approvals = `/api/workloads/${gateway}/config/approvals`
    const ask = async (draft_yaml: string, comment: string) =>
      (await api.post(approvals, { draft_yaml, comment, prod_confirmation: true }, 201)).id as string
    const first = await ask(GATEWAY, 'Under management')
    await api.post(`${approvals}/${first}/approve`, { comment: 'as it runs' }, 200)
    await api.post(`${approvals}/${first}/push`, { comment: 'agreed', prod_double_confirmed: true }, 202)
    await api.post('/api/users', { email: 'nadia@example.com', password: PASSWORD, groups: ['editor'] }, 201)
    const draft = GATEWAY_FASTER.replace(', debug]', ']').replace('  debug: {}\n', '')
    review = `/workloads/${gateway}/changes/${await ask(draft, 'Shorter batches, and no debug output')}`
    await eventually('somebody is missed', async () => (await api.get('/api/alerts/count')).open_count > 0)
  },
})

const wide = (width: number) => page.setViewportSize({ width, height: 844 })
const heightOf = async (of: Locator) => (await of.boundingBox())?.height ?? Number.NaN
/** Whether all of a text is shown. */
const isWhole = (of: Locator) => of.evaluate((one) => one.scrollWidth <= one.clientWidth)

/** On how many lines a text stands. */
const linesOf = (of: Locator) =>
  of.evaluate((one) => {
    const range = document.createRange()
    range.selectNodeContents(one)
    let lines = 0
    let under = Number.NEGATIVE_INFINITY
    for (const { top, bottom } of [...range.getClientRects()].sort((a, b) => a.top - b.top)) {
      if (top >= under - 3) lines++
      under = Math.max(under, bottom)
    }
    return lines
  })

describe('on a phone', () => {
  test('the navigation shows the page that one is on, also once what waits has been counted', async () => {
    await wide(390)
    await page.goto('/audit')
    const nav = page.getByRole('navigation', { name: 'Main' })
    await nav.getByRole('link', { name: /^Alerts\s*\d/ }).waitFor({ state: 'attached' })
    const current = nav.getByRole('link', { name: 'Audit' })
    // Its right end is clear of where the row fades.
    await expect
      .poll(async () => {
        const box = await current.boundingBox()
        return box !== null && box.x >= 14 && box.x + box.width <= 390 - 44
      })
      .toBe(true)
  })

  test('a row of the fleet is as high as what it says', async () => {
    await wide(390)
    await page.goto('/?group=environment')
    const rowOf = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
    await rowOf('storefront-collector').waitFor()
    await expect.poll(() => heightOf(rowOf('storefront-collector'))).toBeLessThanOrEqual(58)
    expect(await heightOf(rowOf('inventory-collector'))).toBeGreaterThan(70)
    expect(await heightOf(page.locator('tr.group').first())).toBeLessThanOrEqual(46)
    // Nothing of the higher one is cut off.
    expect(
      await rowOf('inventory-collector')
        .locator('.narrow-row')
        .evaluate((one) => one.scrollHeight <= one.clientHeight),
    ).toBe(true)
  })

  test('what would end that nobody can approve has the width, and its button stands below', async () => {
    await wide(320)
    await page.goto('/approvals')
    await page.goto(review)
    await page.getByRole('region', { name: 'Policy' }).waitFor()
    const ways = page.getByRole('list', { name: 'What ends it' }).locator('li > div')
    await ways.first().waitFor()
    for (const way of await ways.all()) expect((await way.boundingBox())?.width).toBeGreaterThan(200)
    const name = page.getByText('MUSTER_POLICY_CRITICAL_EXPORTERS', { exact: false }).last()
    await name.waitFor()
    // A name breaks between its words, and not within one.
    expect(await name.evaluate(brokenWords)).toEqual([])
    const paths = page.locator('main .mono:visible')
    for (const path of await paths.all()) expect(await path.evaluate(brokenWords)).toEqual([])
  })
})

/** The words of an element's text that stand on two lines. */
function brokenWords(one: Element): string[] {
  const broken: string[] = []
  const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    for (const { index, 0: word } of (node.textContent ?? '').matchAll(/[\p{L}\d]+/gu)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word)
    }
  return broken
}

describe('on half a desk', () => {
  test('the fleet says how many instances and which environment it is about', async () => {
    await wide(1024)
    await page.goto('/')
    for (const name of ['Why', 'Environment', 'Config'])
      await page.getByRole('columnheader', { name }).waitFor()
    // Instances have no column of their own there, so that the cause has room.
    const environment = page.getByRole('cell', { name: 'development' }).first()
    await page.getByRole('row').filter({ hasText: 'otel-gateway' }).getByText('4 instances').waitFor()
    await environment.waitFor()
    expect(await isWhole(environment)).toBe(true)
    expect(await isWhole(page.getByRole('link', { name: 'inventory-collector', exact: true }))).toBe(true)
    const counters = page.locator('.counters a, .pulse')
    const edge = (await page.locator('.big-table').boundingBox())?.x
    for (const one of await counters.all()) expect((await one.boundingBox())?.x).toBeGreaterThanOrEqual(edge!)
    await wide(1440)
    await expect.poll(() => isWhole(environment)).toBe(true)
    for (const one of await counters.all())
      expect((await one.boundingBox())?.x).toBeGreaterThanOrEqual(
        (await page.locator('.big-table').boundingBox())!.x,
      )
  })

  test('the name of an instance stands on one line, for which its id goes first', async () => {
    await wide(1024)
    await page.goto(`/workloads/${gateway}/instances`)
    const name = page.getByRole('link', { name: 'otel-gateway-7c9f5d8b6-x2k0' })
    await name.waitFor()
    expect(await linesOf(name)).toBe(1)
    await expect.poll(() => page.getByRole('columnheader', { name: 'Uid' }).isVisible()).toBe(false)
    await wide(1440)
    await page.getByRole('columnheader', { name: 'Uid' }).waitFor()
  })

  test('no cell of the approvals is a column of small lines', async () => {
    await wide(1024)
    await page.goto('/approvals')
    await page.getByText('The policy blocks the push', { exact: false }).waitFor()
    for (const cell of await page.getByRole('cell').all()) expect(await linesOf(cell)).toBeLessThanOrEqual(5)
  })

  test('what blocks the push is read before the decision', async () => {
    await wide(1440)
    await page.goto('/approvals')
    const blocked = page.getByRole('row').filter({ hasText: 'The policy blocks the push' }).first()
    await blocked.getByRole('link').first().click()
    const policy = page.getByRole('region', { name: 'Policy' })
    await policy.getByText('The policy blocks the push', { exact: false }).waitFor()
    const top = async (of: Locator) => (await of.boundingBox())!.y
    for (const below of [
      page.getByRole('button', { name: 'Break glass' }),
      page.getByRole('heading', { name: 'What happened' }),
    ])
      expect(await top(policy)).toBeLessThan(await top(below))
    await page.screenshot({ path: join(SHOTS, 'review-blocked-1440.png') })
  })

  test('all pages stand in one row, in French too', async () => {
    const who = { email: 'fleur@example.com', password: PASSWORD }
    await service.api.post('/api/users', { ...who, groups: ['administrator'] }, 201)
    const api = new Api(service.url)
    await api.login(who)
    await api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'fr' })
    const french = await visit(browser, service.url, { width: 1024 })
    await signIn(french.page, who)
    const nav = french.page.getByRole('navigation', { name: 'Principal' })
    await nav.getByRole('link', { name: 'Audit' }).waitFor()
    expect(await heightOf(nav)).toBeLessThan(50)
    await french.context.close()
  })
})

test('second lines begin where the first one does, and one mark means applied', async () => {
  await wide(1440)
  await page.goto('/approvals?status=pushed')
  const back = page.getByText('The automatic rollback went back to', { exact: false })
  await back.waitFor()
  const leftOf = async (of: Locator) => Math.round((await of.boundingBox())?.x ?? Number.NaN)
  const cell = page.getByRole('cell').filter({ has: back })
  expect(await leftOf(back)).toBe(await leftOf(cell.locator('.st').first()))
  // What was known of its risk when it was asked for is told of what was pushed as well.
  await page
    .getByRole('row')
    .filter({ has: back })
    .getByText(/ risk$/)
    .waitFor()
  const applied = page.getByRole('cell', { name: /pushed and applied/ }).first()
  expect(await applied.locator('svg path').count()).toBe(1)
})
