import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { findBarriers, signIn, visit } from './support/browser.ts'
import { GATEWAY_FASTER } from './support/scene.ts'
import { browser, connectManaged, page, seen, service, useStage } from './support/stage.ts'

const EDITOR = { email: 'nadia@example.com', password: 'long enough to pass' }
let id = ''
let request = ''

useStage({
  pages: 'one',
  async prepare() {
    id = await connectManaged('named', { behaviour: { kind: 'apply', delayMs: 50 } })
    const draft = { draft_yaml: GATEWAY_FASTER, comment: 'Faster batches' }
    await service.api.post('/api/users', { ...EDITOR, groups: ['editor'] }, 201)
    request = (await service.api.post(`/api/workloads/${id}/config/approvals`, draft, 201)).id
  },
})

test('the audit log leads from the id of a request to the request', async () => {
  await page.goto('/audit')
  // As long as it tells requests apart; it leads to the whole.
  const link = page.getByRole('link', { name: `${request.slice(0, 12)}…` })
  await expect.poll(() => link.first().getAttribute('href')).toBe(`/workloads/${id}/changes/${request}`)
  expect(await findBarriers(page)).toEqual([])
})

test('a workload that is gone is asked for by its id once, however often the page that names it is drawn', async () => {
  const gone = '0123456789abcdef01234567'
  await page.route('**/api/audit/events?*', async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as { events: object[] }
    const events = json.events.map((event) => ({ ...event, resource: 'workload', resource_id: gone }))
    await route.fulfill({ response, json: { ...json, events } })
  })
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes(`/api/fleet/names?ids=${gone}`)) asked.push(request.url())
  })
  await page.goto('/audit')
  await expect.poll(() => asked.length).toBe(1)
  for (const text of ['a', 'ad', 'adm']) {
    const answer = page.waitForResponse((response) => response.url().includes(`person=${text}`))
    await page.getByLabel('Person', { exact: true }).fill(text)
    await answer
  }
  await page.getByText(/^1–/).waitFor()
  expect(asked).toHaveLength(1)
  await page.unroute('**/api/audit/events?*')
})

test('an evidence pack names people and workloads beside their ids, and leads to them, within its width', async () => {
  await page.goto(`/reports?ids=${id}`)
  await page.getByRole('button', { name: 'Preview' }).click()
  const report = page.locator('.report')
  await report.waitFor()
  await report.getByRole('link', { name: 'admin@example.com' }).first().waitFor()
  // What it comes to stands above all: who allowed what, what runs, and whether the record is whole, in names.
  const short = await page.getByRole('region', { name: 'In short' }).textContent()
  expect(short).toMatch(/Approved\s*1 by admin@example\.com/)
  expect(short).toContain('1 change was approved by whoever asked for it.')
  expect(short).toMatch(/Pushed1 applied.*Runs nownamed.* [0-9a-f]{7} since /)
  expect(short).toMatch(/Audit chain intact up to record \d+/)
  expect(short).not.toMatch(/user:|[0-9a-f]{12}/)
  await expect.poll(() => report.textContent()).toMatch(/admin@example\.com user:[0-9a-f-]{36}/)
  for (const facts of await report.locator('details summary').all()) await facts.click()
  await report.getByRole('link', { name: 'named', exact: true }).first().waitFor()
  await expect.poll(() => report.locator(`a[href*="/workloads/${id}/pushes/"]`).count()).toBeGreaterThan(0)
  const sideways = await page.evaluate(
    () => [...document.querySelectorAll('.sheet')].filter((one) => one.scrollWidth > one.clientWidth).length,
  )
  expect(sideways).toBe(0)
  expect(await findBarriers(page)).toEqual([])
  // A file has names where that is asked for, as the page has them.
  const save = async () => {
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Markdown' }).click()
    return readFile(await (await saved).path(), 'utf8')
  }
  expect(await save()).not.toContain('admin@example.com')
  await page.getByLabel('Markdown and PDF name people by their e-mail address').check()
  expect(await save()).toMatch(/- Approved: 1 by admin@example\.com \\\(user:/)
  expect(seen.complaints).toEqual([])
})

test('an editor, who may not list the users, reads names there as well', async () => {
  const theirs = await visit(browser, service.url)
  await signIn(theirs.page, EDITOR)
  await theirs.page.goto(`/reports?ids=${id}`)
  await theirs.page.getByRole('button', { name: 'Preview' }).click()
  const short = theirs.page.getByRole('region', { name: 'In short' })
  await short.getByText('admin@example.com').first().waitFor()
  expect(await short.textContent()).not.toMatch(/user:/)
  expect(await theirs.page.locator('.report a[href="/settings/users"]').count()).toBe(0)
  await theirs.context.close()
})
