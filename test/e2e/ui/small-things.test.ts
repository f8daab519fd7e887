import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { Api } from '../support/service.ts'
import { findBarriers, signIn, visit } from './support/browser.ts'
import { GATEWAY, pushAndSettle, workloadId } from './support/scene.ts'
import { browser, connectAgent, openPage, page, seen, service, useStage } from './support/stage.ts'

const VIEWER = { email: 'vera@example.com', password: 'long enough to pass' }
let gateway = ''
let hash = ''

useStage({
  pages: 'none',
  async prepare() {
    connectAgent('gateway', 'gateway-1', { behaviour: { kind: 'apply', delayMs: 100 } })
    gateway = await workloadId(service, 'gateway')
    hash = await pushAndSettle(service, gateway, GATEWAY)
    await service.api.post('/api/users', { ...VIEWER, groups: ['viewer'] }, 201)
  },
})

const leftOf = async (of: Locator) => Math.round((await of.boundingBox())?.x ?? Number.NaN)

test('all of the sign-in page begins at one edge', async () => {
  const { page: plain, context } = await visit(browser, service.url)
  await plain.goto('/login')
  const field = await leftOf(plain.getByLabel('E-mail'))
  const textLeft = (of: Locator) =>
    of.evaluate((one) => {
      const range = document.createRange()
      range.selectNodeContents(one)
      return Math.round(range.getBoundingClientRect().left)
    })
  expect(await textLeft(plain.locator('.brand'))).toBe(field)
  // Its border, which is not seen, is a pixel wide.
  expect((await textLeft(plain.getByRole('button', { name: 'Français' }))) - field).toBeLessThanOrEqual(1)
  await context.close()
})

test('where a workload stands is read once for each of its pages', async () => {
  await openPage()
  for (const tab of ['', '/configuration']) {
    let reads = 0
    // It is read again, rightly, once the page is told that something has changed there.
    let isTold = false
    const count = (request: { url(): string }) => {
      if (!isTold && request.url().endsWith(`/workloads/${gateway}/fleet-config`)) reads++
    }
    page.on('request', count)
    page.on('websocket', (hub) =>
      hub.on('framereceived', ({ payload }) => {
        isTold ||= String(payload).includes('_update"')
      }),
    )
    await page.goto(`/workloads/${gateway}${tab}`)
    await page.locator('main .say').getByText('All is well', { exact: false }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(reads, tab).toBe(1)
    page.off('request', count)
  }
  await seen.context.close()
})

describe('who only reads', () => {
  test.each([
    ['/approvals', 'Approvals', 'config:request'],
    ['/campaigns', 'Campaigns', 'config:request'],
    ['/reports', 'Reports', 'reports:export'],
    ['/audit', 'Audit', 'audit:view'],
    ['/settings/users', 'Users', 'users:manage'],
    ['/settings/freeze', 'Freeze', 'settings:manage'],
  ])(
    'is told on %s which right it takes, beside no control that does nothing',
    async (path, title, right) => {
      const { page: plain, context, complaints } = await visit(browser, service.url)
      await signIn(plain, VIEWER)
      await plain.goto(path)
      const main = plain.getByRole('main')
      await main.getByRole('heading', { name: title, level: 1 }).waitFor()
      await main.getByText(`(${right}). Whoever manages the users here can give it to you.`).waitFor()
      expect(await main.locator('button, input, select, .tabs').count()).toBe(0)
      expect(await findBarriers(plain)).toEqual([])
      expect(complaints).toEqual([])
      await context.close()
    },
  )
})

test('what a reader may not see of a page is refused in the same words', async () => {
  const { page: plain, context, complaints } = await visit(browser, service.url)
  await signIn(plain, VIEWER)
  for (const path of [
    `/workloads/${gateway}`,
    `/workloads/${gateway}/configuration`,
    `/workloads/${gateway}/change`,
    '/templates/tpl-traces-tempo',
  ]) {
    await plain.goto(path)
    await plain
      .getByText('(config:read_content). Whoever manages the users here can give it to you.')
      .waitFor()
  }
  // Nothing was asked for that is refused.
  expect(complaints).toEqual([])
  await context.close()
})

test('a section of the settings has its own heading', async () => {
  await openPage()
  for (const [path, title] of [
    ['profile', 'Profile'],
    ['labels', 'Trusted labels'],
    ['label-rules', 'Label rules'],
  ]) {
    await page.goto(`/settings/${path}`)
    await page.getByRole('heading', { name: title!, level: 1, exact: true }).waitFor()
  }
  await seen.context.close()
})

test('the way to the table is offered where there is one', async () => {
  await openPage()
  const way = page.getByRole('button', { name: 'Skip to the table' })
  await page.getByRole('link', { name: 'gateway' }).waitFor()
  expect(await way.isVisible()).toBe(true)
  await page.goto(`/workloads/${gateway}/change`)
  await page.locator('.cm-content').first().waitFor()
  await expect.poll(() => way.isVisible()).toBe(false)
  await seen.context.close()
})

test('the page of a push begins with whose it is', async () => {
  await openPage()
  await page.goto(`/workloads/${gateway}/pushes/${hash}`)
  await page.getByRole('heading', { name: 'gateway · end to end', level: 1, exact: true }).waitFor()
  await seen.context.close()
})

test('what a campaign is saved with stands at the end of its form', async () => {
  await openPage()
  await page.goto('/campaigns/new')
  const save = page.getByRole('button', { name: 'Save and plan' })
  await save.waitFor()
  await page.locator('main form select').first().selectOption('patch')
  await page.getByRole('textbox', { name: /JSON|Patch/ }).waitFor()
  const top = (await save.boundingBox())!.y
  for (const field of await page.locator('main form :is(.input, .area, .cm-editor)').all()) {
    const box = await field.boundingBox()
    if (box !== null) expect(top).toBeGreaterThanOrEqual(box.y + box.height)
  }
  await seen.context.close()
})

test('on half a desk the buttons of a user share a line, in French too, beside a long address', async () => {
  const long = { email: 'marguerite.delacroix@observability.example.com', password: 'long enough to pass' }
  await service.api.post('/api/users', { ...long, groups: ['editor'] }, 201)
  await openPage({ width: 1024, locale: 'fr-FR' })
  await page.goto('/settings/users')
  const row = page.getByRole('row').filter({ hasText: long.email })
  await row.getByText('créé', { exact: false }).waitFor()
  const lines = new Set<number>()
  for (const name of ['Droits', 'Mot de passe…', 'Supprimer'])
    lines.add((await row.getByRole('button', { name, exact: true }).boundingBox())!.y)
  expect([...lines]).toHaveLength(1)
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  await seen.context.close()
})

test('on half a desk the conditions of a label rule break between their words, and its buttons share a line', async () => {
  const api = new Api(service.url)
  await api.login()
  await api.post(
    '/api/label-rules',
    {
      name: 'Stores',
      priority: 10,
      selector: { match_labels: { 'identity/host.name': 'store-checkout-front-*' } },
      labels: { 'cost.centre': 'retail-front-office' },
      confirm_lowering: true,
    },
    201,
  )
  await openPage({ width: 1024 })
  await page.goto('/settings/label-rules')
  const edit = page.getByRole('button', { name: 'Edit Stores' })
  await edit.waitFor()
  const remove = page.getByRole('button', { name: 'Remove Stores' })
  expect((await edit.boundingBox())!.y).toBe((await remove.boundingBox())!.y)
  const broken = await page.getByRole('cell', { name: /identity\/host/ }).evaluate((cell) => {
    const range = document.createRange()
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
    const words: string[] = []
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      for (const { index, 0: word } of (node.textContent ?? '').matchAll(/[\p{L}\d]+/gu)) {
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) words.push(word)
      }
    return words
  })
  expect(broken).toEqual([])
  await seen.context.close()
})

test('boxes to tick have one size on every page, and the filters of changes stand in one line', async () => {
  await openPage()
  const sizes = new Set<string>()
  for (const path of ['/', `/workloads/${gateway}/history`, '/reports']) {
    await page.goto(path)
    const box = page.locator('main input[type=checkbox]:visible').first()
    await box.waitFor()
    sizes.add(
      await box.evaluate((one) => {
        const { width, height } = one.getBoundingClientRect()
        return `${width} ${height}`
      }),
    )
  }
  expect([...sizes]).toHaveLength(1)
  for (const language of ['en', 'fr']) {
    await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language })
    await page.goto('/changes')
    await page.locator('.filters .field').nth(6).waitFor()
    const tops = await page
      .locator('.filters .field')
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)))
    expect(new Set(tops).size).toBe(1)
    // None lies over the next one.
    const over = await page
      .locator('.filters .field :is(input, select)')
      .evaluateAll((all) =>
        all.map(
          (one) => one.getBoundingClientRect().right - one.closest('.field')!.getBoundingClientRect().right,
        ),
      )
    expect(Math.max(...over)).toBeLessThanOrEqual(1)
  }
  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'en' })
  await seen.context.close()
})
