import { afterEach, describe, expect, test } from 'vitest'
import { BUNDLE, startService } from '../support/service.ts'
import { signIn, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { FAILING_EXPORTER, GATEWAY, pushAndSettle, workloadId } from './support/scene.ts'
import {
  agents,
  browser,
  connectAgent,
  connectManaged,
  openPage,
  page,
  seen,
  service,
  useStage,
} from './support/stage.ts'

let gateway = ''

const DARK = 'rgb(17, 18, 20)'
const LIGHT = 'rgb(247, 247, 245)'
const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)

useStage({
  pages: 'each',
  async prepare() {
    gateway = await connectManaged('gateway', { pods: 2, behaviour: { kind: 'apply', delayMs: 50 } })
  },
})

afterEach(async () => {
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'en' })
})

describe('the fleet table', () => {
  test('stands still under the pointer: new rows wait behind a pill that says how many', async () => {
    await page.getByRole('link', { name: 'gateway', exact: true }).hover()
    for (const name of ['x', 'y', 'z']) connectAgent(`late-${name}`, `late-${name}-1`)
    await page.getByRole('button', { name: '3 new' }).waitFor()
    await expect.poll(() => page.locator('tbody tr[aria-rowindex]').count()).toBe(1)
    await page.getByRole('button', { name: '3 new' }).click()
    await page.getByRole('link', { name: 'late-z' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: /new$/ }).count()).toBe(0)
  })

  test('does not slide under the pointer when the order changes; it is put right when the pointer leaves', async () => {
    const names = page.locator('tbody tr[aria-rowindex] a.name')
    const late = agents.at(-1)
    await page.getByRole('link', { name: 'gateway', exact: true }).hover()
    const before = await names.allTextContents()
    expect(before.at(-1)).toBe('late-z')
    late!.say({ health: FAILING_EXPORTER })
    const row = page.getByRole('row', { name: /late-z/ })
    await row
      .getByText(/degraded|unhealthy/)
      .first()
      .waitFor()
    expect(await names.allTextContents()).toEqual(before)
    await page.mouse.move(2, 2)
    await expect.poll(async () => (await names.allTextContents())[0]).toBe('late-z')
  })

  test('shows the columns somebody chose, says so in the address, and remembers', async () => {
    await page.locator('summary', { hasText: 'Columns' }).click()
    await page.getByLabel('Labels').check()
    await page.getByLabel('Last seen').uncheck()
    await page.getByRole('columnheader', { name: 'Labels' }).waitFor()
    expect(new URL(page.url()).searchParams.get('cols')).toContain('labels')
    await page.goto('/')
    await page.getByRole('columnheader', { name: 'Labels' }).waitFor()
    await expect.poll(() => page.getByRole('columnheader', { name: 'Last seen' }).count()).toBe(0)
  })

  test('says how long ago, and exactly when on hover', async () => {
    const time = page.locator('time').first()
    await expect.poll(() => time.textContent()).toMatch(/now|ago/)
    await expect.poll(() => time.getAttribute('title')).toMatch(/\d{1,2} \w+ \d{4}.*\d{2}:\d{2}:\d{2}/)
  })
})

describe('the theme', () => {
  test('follows the system, while somebody looks, until one is chosen', async () => {
    await seen.context.close()
    await openPage({ theme: 'dark' })
    await expect.poll(background).toBe(DARK)
    await page.emulateMedia({ colorScheme: 'light' })
    await expect.poll(background).toBe(LIGHT)
    await page.goto('/settings/profile')
    await page.getByLabel('Appearance').selectOption('dark')
    await expect.poll(background).toBe(DARK)
  })
})

describe('the text of a config', () => {
  test('folds, and is searched', async () => {
    await page.goto(`/workloads/${gateway}/configuration`)
    const text = page.getByRole('textbox', { name: 'What it should run' })
    await text.getByText('limit_mib').waitFor()
    await page.locator('.cm-foldGutter span[title="Fold line"]').first().click()
    await text.locator('.cm-foldPlaceholder').first().waitFor()
    await text.click()
    await page.keyboard.press('Control+f')
    const find = page.locator('.cm-search input[name=search]')
    await find.fill('memory_limiter')
    await page.keyboard.press('Enter')
    await text.locator('.cm-searchMatch').first().waitFor()
    // Its fields and buttons are of the size that they have elsewhere.
    const sizes = await page
      .locator('.cm-search')
      .locator('input[name=search], button[name=next], label')
      .evaluateAll((parts) => parts.map((part) => Number.parseFloat(getComputedStyle(part).fontSize)))
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(12)
  })
})

describe('the keyboard', () => {
  test('alone is enough to approve and push, and a dialog gives the focus back', async () => {
    const approvals = `/api/workloads/${gateway}/config/approvals`
    const draft = { draft_yaml: GATEWAY.replace('400', '401'), comment: 'By keyboard' }
    const request = await service.api.post(approvals, draft, 201)
    await page.goto(`/workloads/${gateway}/changes/${request.id}`)
    await page.getByText(/You asked for it: you can approve it, and that is noted/).waitFor()
    await page.getByLabel('Your comment').focus()
    await page.keyboard.type('looks right')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const push = page.getByRole('button', { name: 'Push', exact: true })
    await push.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => push.evaluate((button) => button === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Push now' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText(/2 applied · 0 failed/).waitFor()
  })

  test('opens the palette again by the key that comes right after Escape, and finds there who changed something', async () => {
    await page.goto('/alerts')
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
    const palette = page.getByRole('dialog')
    await page.keyboard.press('Control+k')
    await palette.waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('who changed')
    await palette.getByRole('option', { name: /^Changes/ }).waitFor()
    await palette.getByRole('option', { name: /^Audit/ }).waitFor()
    // Other words for what is wrong, and for what was done about it, find the same.
    await palette.getByRole('combobox').fill('failing')
    await palette.getByRole('option', { name: /^Fleet: failed/ }).waitFor()
    await palette.getByRole('combobox').fill('rollback')
    await palette.getByRole('option', { name: /^Changes/ }).waitFor()
    for (const [typed, found] of [
      ['push', /^Changes/],
      ['failing', /^Fleet: failed/],
      ['add user', /^Settings: Users/],
      ['new user', /^Settings: Users/],
      ['invite', /^Settings: Users/],
      ['connect', /^Connect a collector/],
      ['add collector', /^Connect a collector/],
    ] as const) {
      await palette.getByRole('combobox').fill(typed)
      await palette.getByRole('option', { name: found }).waitFor()
    }
    await page.keyboard.press('Escape')
    // How a workload stands names none of them, also where the page knows it.
    await page.goto('/')
    await page.getByRole('row', { name: /gateway/ }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('connect')
    await palette.getByRole('option', { name: /^Connect a collector/ }).waitFor()
    await expect.poll(() => palette.getByRole('option', { name: /^gateway/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await expect.poll(() => palette.count()).toBe(0)
  })

  test('finds in the palette where the glass can be broken', async () => {
    const approvals = `/api/workloads/${gateway}/config/approvals`
    const draft = { draft_yaml: GATEWAY.replace('400', '402'), comment: 'In a hurry' }
    const request = await service.api.post(approvals, draft, 201)
    await page.goto('/alerts')
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('break')
    await page.getByRole('option', { name: 'Break glass for a request that waits' }).waitFor()
    await page.getByRole('option', { name: /^Break glass for gateway.*request · admin@example\.com/ }).click()
    await page.waitForURL(`**/changes/${request.id}`)
    await page.getByRole('button', { name: 'Break glass' }).waitFor()
    // What goes without an approval is offered to nobody who only means to push.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('push')
    await page.getByRole('option', { name: /^Approvals/ }).waitFor()
    await expect.poll(() => page.getByRole('option', { name: /^Break glass/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await service.api.post(`${approvals}/${request.id}/withdraw`, {}, 200)
  })

  test('passes the tools of a page by, to its table', async () => {
    await page.goto('/')
    await page.getByRole('row', { name: /gateway/ }).waitFor()
    await page.getByRole('button', { name: 'Skip to the table' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate(() => document.activeElement?.closest('tbody') !== null)).toBe(true)
  })

  test('opens the palette anywhere, which finds pages and actions too', async () => {
    await page.goto('/alerts')
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('audit')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    await page.goto(`/workloads/${gateway}/instances`)
    const find = page.getByRole('searchbox', { name: /^Find instances/ })
    await find.waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('unheal/')
    await expect.poll(() => find.inputValue()).toBe('unheal/')
    await page.getByText('No instance fits.').waitFor()
    await find.fill('healthy')
    await page.getByText('2 of 2', { exact: true }).first().waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('roll back')
    await page.getByRole('option', { name: /Roll back gateway/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/history\?rollback=1/)
    await page.goto('/')
    await page.getByRole('row', { name: /gateway/ }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('push gateway')
    await page.getByRole('option', { name: /Propose a change to gateway/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/change$/)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('freeze')
    await page.getByRole('option', { name: /Settings: Freeze/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/settings\/freeze$/)
    const sick = connectAgent('sick', 'sick-1')
    await page.goto('/')
    await page.getByRole('row', { name: /sick/ }).waitFor()
    sick.say({ health: FAILING_EXPORTER })
    await page
      .getByRole('row', { name: /sick.*unhealthy/ })
      .first()
      .waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('degraded')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/\?show=degraded$/)
    const selector = { match_expressions: [{ key: 'identity/name', operator: 'In', values: ['shop-*'] }] }
    await service.api.post('/api/fleet-configs', { name: 'Bound for shops', selector }, 201)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('bound')
    await page.getByRole('option', { name: 'Bound for shops fleet config' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Bound for shops', level: 1 }).waitFor()
    await page.goto('/')
    await page.locator('main').click({ position: { x: 2, y: 2 } })
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keys' })
    await keys.getByText('Search this page').waitFor()
    await keys.getByLabel(/^Single keys/).uncheck()
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await expect.poll(() => keys.count()).toBe(0)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('dark')
    await page.keyboard.press('Enter')
    await expect.poll(background).toBe(DARK)
  })
})

describe('the pages of the console', () => {
  const main = () => page.getByRole('navigation', { name: 'Main' })

  test('stand beside the page in groups where there is room, and above it where there is none', async () => {
    const beside = await main().boundingBox()
    expect(beside?.height).toBeGreaterThan(beside?.width ?? 0)
    await main().getByRole('group', { name: 'Change' }).getByRole('link', { name: 'Templates' }).click()
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor()
    await page.setViewportSize({ width: 1024, height: 700 })
    await expect.poll(async () => (await main().boundingBox())?.height).toBeLessThan(60)
  })

  test('set the rows of the fleet as close as this browser was told', async () => {
    const height = async () => (await page.locator('tbody tr[aria-rowindex]').first().boundingBox())?.height
    const dense = (await height()) ?? 0
    await page.goto('/settings/profile')
    await page.getByLabel('Rows of the fleet').selectOption('comfortable')
    await page.goto('/')
    await page.getByRole('link', { name: 'gateway', exact: true }).waitFor()
    await expect.poll(height).toBe(dense + 8)
  })
})

describe('what an edition cannot do', () => {
  const nav = () => page.getByRole('navigation', { name: 'Main' }).getByRole('link')

  test('is not shown, and neither is anything when the capabilities cannot be read', async () => {
    await expect.poll(() => nav().allTextContents()).toEqual(expect.arrayContaining(['Versions', 'Drift']))
    await page.route('**/api/v1/capabilities', (route) => route.fulfill({ json: { capabilities: 'all' } }))
    await page.reload()
    await nav().first().waitFor()
    await expect
      .poll(() => nav().allTextContents())
      .toEqual(['Overview', 'Fleet', 'Alerts', 'Changes', 'Templates', 'Reports', 'Audit'])
    await page.goto(`/workloads/${gateway}`)
    await page.getByRole('heading', { name: 'gateway' }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Propose a change' }).count()).toBe(0)
  })

  test('in Community there are approvals, and no versions, drift, stages or guided rollback', async () => {
    const community = await startService({ args: [BUNDLE] })
    const agent = connect(community, 'plain', 'plain-1', { behaviour: { kind: 'apply', delayMs: 50 } })
    const id = await workloadId(community, 'plain')
    await pushAndSettle(community, id, GATEWAY)
    const { page: plain, context } = await visit(browser, community.url)
    await signIn(plain)
    const links = plain.getByRole('navigation', { name: 'Main' }).getByRole('link')
    await expect
      .poll(() => links.allTextContents())
      .toEqual(['Overview', 'Fleet', 'Alerts', 'Changes', 'Approvals', 'Templates', 'Reports', 'Audit'])
    await plain.goto(`/workloads/${id}/history`)
    await plain.getByRole('button', { name: 'Label' }).waitFor()
    await expect
      .poll(() => plain.getByRole('button', { name: /Pin as known good|Roll back/ }).count())
      .toBe(0)
    await context.close()
    await agent.stop()
    await community.stop()
  })
})

describe('Settings', () => {
  test('say which build runs, on what, since when, and where it listens', async () => {
    await page.goto('/settings/system')
    const listeners = new URL(service.url).host
    await page.getByText('0.1.0', { exact: true }).waitFor()
    await page.getByText('complete', { exact: true }).waitFor()
    await page.getByText(listeners, { exact: true }).waitFor()
    await page.getByText(process.versions.node, { exact: true }).waitFor()
  })
})

describe('a report in French', () => {
  test('has French names for sections, facts and states, and the pack as it is', async () => {
    await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'fr' })
    await page.goto(`/reports?ids=${gateway}`)
    await page.reload()
    await page.getByRole('button', { name: 'Aperçu' }).click()
    await page.getByRole('heading', { name: /^Historique des configs/ }).waitFor()
    await page
      .getByText(/^gateway\s: config [0-9a-f]{7} appliquée$/)
      .first()
      .waitFor()
    const intact = page.getByText(/^Chaîne d’audit intacte jusqu’à l’enregistrement \d+$/)
    await intact.first().waitFor()
    await page.getByText('instances visées').first().waitFor()
    const headings = await page.locator('.report h2').allTextContents()
    expect(headings.join(' ')).not.toMatch(/history|Drift|readiness|verification/)
    const text = await page.locator('.report dt').allTextContents()
    expect(text.filter((label) => label.includes('_'))).toEqual([])
  })
})
