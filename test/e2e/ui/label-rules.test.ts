import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, SHOTS, signIn, visit } from './support/browser.ts'
import { browser, connectAgent, service, useStage } from './support/stage.ts'

useStage({
  pages: 'none',
  withinMs: 60_000,
  async prepare() {
    for (const name of ['web-1', 'web-2', 'db-1']) host(name)
    for (const name of ['web-1', 'web-2', 'db-1'])
      await eventually(`${name} is listed`, async () => (await labelOf(name, 'env')) === 'qa')
  },
})

/** Connect a collector on a host of its own. */
const host = (name: string) =>
  connectAgent('otelcol', name, { nonIdentifying: { 'host.name': name, 'os.type': 'linux', env: 'qa' } })

interface Listed {
  labels?: Record<string, string>
  fingerprint_keys: Record<string, string>
}
const labelOf = async (name: string, key: string) => {
  const all = (await service.api.get('/api/workloads')) as Listed[]
  return all.find(({ fingerprint_keys }) => fingerprint_keys['host.name'] === name)?.labels?.[key]
}

const dialog = (page: Page) => page.getByRole('dialog')

describe('label rules', () => {
  test('are looked at, made, changed and removed on their page, and newcomers get their labels', async () => {
    const { page, context, complaints } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/settings/label-rules')
    await page.getByText('No rule yet.').waitFor()
    await page.getByRole('button', { name: 'New rule' }).click()
    await dialog(page).getByLabel('Name').fill('Web servers')
    await dialog(page).getByLabel('Conditions on the identity, one a line').fill('identity/host.name=web-*')
    await dialog(page).getByLabel('Labels that they get, one a line as key=value').fill('tier=web\nenv=test')
    const save = dialog(page).getByRole('button', { name: 'Save the rule' })
    await expect.poll(() => save.getAttribute('title')).toBe('Look at what changes first.')
    await dialog(page).getByRole('button', { name: 'See what changes' }).click()
    await dialog(page).getByText('Means 2 workloads now. Changes the labels of 2 workloads.').waitFor()
    await dialog(page).getByText('On 2 of them a change would need less of an approval.').waitFor()
    await expect.poll(() => save.getAttribute('title')).toBe('Say that the lower bar is meant.')
    await page.screenshot({ path: join(SHOTS, 'label-rule-1440-light-en.png') })
    await expect.poll(() => findBarriers(page)).toEqual([])
    await dialog(page)
      .getByRole('checkbox', { name: /This is meant/ })
      .click()
    await save.click()
    await page.getByRole('cell', { name: 'Web servers', exact: true }).waitFor()
    await expect.poll(() => labelOf('web-1', 'muster/tier')).toBe('web')
    expect(await labelOf('db-1', 'muster/tier')).toBeUndefined()
    host('web-3')
    await expect.poll(() => labelOf('web-3', 'muster/env')).toBe('test')
    // The open page is told that labels have changed, and shows new counts when they are fetched again.
    await page.getByRole('button', { name: 'Edit Web servers' }).click()
    const labels = dialog(page).getByLabel('Labels that they get, one a line as key=value')
    await expect.poll(() => labels.inputValue()).toBe('env=test\ntier=web')
    await labels.fill('tier=front')
    await dialog(page).getByRole('button', { name: 'See what changes' }).click()
    await dialog(page).getByText('Changes the labels of 3 workloads.').waitFor()
    await save.click()
    await expect.poll(() => labelOf('web-3', 'muster/tier')).toBe('front')
    await page.getByRole('button', { name: 'Remove Web servers' }).click()
    await dialog(page).getByText('− tier').first().waitFor()
    await dialog(page).getByRole('button', { name: 'Remove the rule' }).click()
    await page.getByText('No rule yet.').waitFor()
    await expect.poll(() => labelOf('web-1', 'muster/tier')).toBeUndefined()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('take a list of hosts from a file, and what is set by hand stands beside what they give', async () => {
    const { page, context, complaints } = await visit(browser, service.url, { width: 320, height: 800 })
    await signIn(page)
    await page.goto('/settings/label-rules')
    await page.getByRole('button', { name: 'New rule' }).click()
    await dialog(page).getByLabel('Name').fill('Sites')
    await dialog(page).getByLabel('For whom').selectOption('list')
    await dialog(page)
      .getByLabel('Or from a file')
      .setInputFiles({
        name: 'hosts.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('host.name;site\r\nweb-1;paris\r\nweb-7;lyon\r\n'),
      })
    await expect.poll(() => dialog(page).getByLabel('List of hosts, as CSV').inputValue()).toContain('paris')
    await dialog(page).getByRole('button', { name: 'See what changes' }).click()
    await dialog(page).getByText('1 line is of hosts that have not come yet.').waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
    await dialog(page).getByRole('button', { name: 'Save the rule' }).click()
    await page.getByText('2 lines by host.name').waitFor()
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
      .toBe(0)
    const id = await workloadIdOf('web-1')
    await page.goto(`/settings/labels?workload=${id}`)
    await page.getByText('site=paris (Sites)').waitFor()
    // What the table gives can be selected by, as by any trusted label.
    await page.goto('/campaigns/new')
    await page.getByLabel('For whom').fill('muster/site=paris')
    await page.getByText('Means 1 workload.').waitFor()
    await page.getByText('They are web-1.').waitFor()
    await page.goto(`/settings/labels?workload=${id}`)
    const byHand = page.getByLabel('Labels, one key=value a line')
    await expect.poll(() => byHand.inputValue()).toBe('')
    await byHand.fill('site=nantes')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => labelOf('web-1', 'muster/site')).toBe('nantes')
    expect(complaints).toEqual([])
    await context.close()
  })
})

async function workloadIdOf(name: string): Promise<string> {
  const all = (await service.api.get('/api/workloads')) as (Listed & { id: string })[]
  return all.find(({ fingerprint_keys }) => fingerprint_keys['host.name'] === name)!.id
}
