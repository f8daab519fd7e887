import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import type { Service } from '../support/service.ts'
import { launchBrowser, pasteInto, signIn, type Visit, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { GATEWAY, workloadId } from './support/scene.ts'
import { startComplete } from './support/service.ts'

const DATADOG = `api_key: 0123456789abcdef0123456789abcdef
logs_enabled: true
apm_config:
  enabled: true
`

let service: Service
let browser: Browser
let agents: SimulatedAgent[] = []
let seen: Visit
let page: Page
let kiosk = ''

beforeAll(async () => {
  service = await startComplete()
  browser = await launchBrowser()
  agents = ['kiosk', 'bank'].map((name) => connect(service, name, `${name}-1`))
  kiosk = await workloadId(service, 'kiosk')
  await workloadId(service, 'bank')
})

beforeEach(async () => {
  seen = await visit(browser, service.url)
  page = seen.page
  await signIn(page)
})

afterEach(async () => {
  await seen.context.close()
  expect(seen.complaints).toEqual([])
})

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()))
  await browser?.close()
  await service?.stop()
})

/** Choose the workload in the field that asks for one, with the keyboard, and open the change. */
async function openAsChange(name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'For which workload?' }).fill(name)
  await page.getByRole('option', { name: new RegExp(name) }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Open as a change' }).click()
  await page.getByRole('heading', { name: `Change ${name}` }).waitFor()
}

describe('a template', () => {
  test('is made, found again, and used in a change', async () => {
    await page.goto('/templates/new')
    const save = page.getByRole('button', { name: 'Save the template' })
    expect(await save.getAttribute('title')).toBe('Give it a name and a content.')
    await pasteInto(page, page.getByRole('textbox', { name: 'Content' }), GATEWAY)
    await page.getByLabel('Name').fill('Gateway of the house')
    await page.getByLabel('Tags, separated by commas').fill('gateway, house')
    await save.click()
    await page.getByRole('heading', { name: 'Gateway of the house' }).waitFor()
    await page.goto('/templates')
    await page.getByLabel('Filter by name, stack or tag').fill('house')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await page.getByRole('link', { name: 'Gateway of the house' }).click()
    await openAsChange('kiosk')
    await page.getByRole('textbox', { name: 'Draft' }).getByText('memory_limiter').first().waitFor()
  })
})

describe('a vendor’s config', () => {
  test('is converted; what was mapped, what was not and what was redacted is said; it opens as a change', async () => {
    await page.goto('/templates/migrate')
    await page.getByLabel('Their config').fill(DATADOG)
    await page.getByRole('button', { name: 'Convert', exact: true }).click()
    const found = (title: string) => page.locator('section', { hasText: title })
    await found('What was mapped').getByText('apm_config.enabled').waitFor()
    await found('What was not').getByText('logs_enabled').waitFor()
    await found('What was redacted').getByText('api_key', { exact: true }).waitFor()
    expect(await page.locator('.cm-content').textContent()).not.toContain('0123456789abcdef')
    await openAsChange('bank')
    await page.getByRole('textbox', { name: 'Draft' }).getByText('OTLP_EXPORT_ENDPOINT').waitFor()
  })
})

describe('trusted labels and push groups', () => {
  test('a label is set for one workload, and a group of it says whom it reaches', async () => {
    await page.goto('/settings/labels')
    await page.getByRole('combobox', { name: 'Workload' }).fill('kiosk')
    await page.getByRole('option', { name: 'kiosk · shop' }).click()
    await page.getByRole('heading', { name: 'kiosk · shop' }).waitFor()
    expect(new URL(page.url()).searchParams.get('workload')).toBe(kiosk)
    const labels = page.getByLabel('Labels, one key=value a line')
    await labels.fill('team')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/This line is not key=value: team/).waitFor()
    await labels.fill('team=web')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()

    await page.goto('/settings/groups')
    await page.getByRole('button', { name: 'New push group' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Web team')
    await dialog.getByLabel('Conditions on labels, one a line').fill('muster/team=web')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const group = page.locator('section', { hasText: 'Web team' })
    await group.getByRole('button', { name: 'Whom it reaches' }).click()
    await group.getByText('1 workload', { exact: true }).waitFor()
    await group.getByRole('link', { name: 'kiosk' }).waitFor()
  })
})
