import { afterEach, describe, expect, test } from 'vitest'
import { pasteInto } from './support/browser.ts'
import { GATEWAY, workloadId } from './support/scene.ts'
import { connectAgent, page, seen, service, useStage } from './support/stage.ts'

const DATADOG = `api_key: 0123456789abcdef0123456789abcdef
logs_enabled: true
apm_config:
  enabled: true
`

let kiosk = ''

useStage({
  pages: 'each',
  async prepare() {
    for (const name of ['kiosk', 'bank']) connectAgent(name, `${name}-1`)
    kiosk = await workloadId(service, 'kiosk')
    await workloadId(service, 'bank')
  },
})

afterEach(() => expect(seen.complaints).toEqual([]))

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
    await expect.poll(() => save.getAttribute('title')).toBe('Give it a name and a content.')
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
    await expect.poll(() => page.locator('.cm-content').textContent()).not.toContain('0123456789abcdef')
    await openAsChange('bank')
    await page.getByRole('textbox', { name: 'Draft' }).getByText('OTLP_EXPORT_ENDPOINT').waitFor()
  })
})

describe('trusted labels and push groups', () => {
  test('a label is set for one workload, and a group of it says whom it reaches', async () => {
    await page.goto('/settings/labels')
    await page.getByRole('combobox', { name: 'Workload' }).fill('kiosk')
    await page.getByRole('option', { name: 'kiosk · eu-1/shop' }).click()
    await page.getByRole('heading', { name: 'kiosk · eu-1/shop' }).waitFor()
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
