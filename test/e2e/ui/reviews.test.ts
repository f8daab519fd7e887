import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { Api, type Service } from '../support/service.ts'
import { findBarriers, launchBrowser, signIn, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { GATEWAY, GATEWAY_FASTER, pushAndSettle, workloadId } from './support/scene.ts'
import { startComplete } from './support/service.ts'

const PASSWORD = 'long enough to pass'
const NADIA = { email: 'nadia@example.com', password: PASSWORD }
const OMAR = { email: 'omar@example.com', password: PASSWORD }
let service: Service
let browser: Browser
let agent: SimulatedAgent
let id = ''

beforeAll(async () => {
  service = await startComplete()
  browser = await launchBrowser()
  agent = connect(service, 'broken', 'broken-1', { behaviour: { kind: 'apply', delayMs: 50 } })
  id = await workloadId(service, 'broken')
  await pushAndSettle(service, id, GATEWAY)
  for (const who of [NADIA, OMAR]) await service.api.post('/api/users', { ...who, groups: ['editor'] }, 201)
})
afterAll(async () => {
  await agent?.stop()
  await browser?.close()
  await service?.stop()
})

test('broken glass waits under Approvals, for everybody but whoever broke it, until somebody has looked', async () => {
  const nadia = new Api(service.url)
  await nadia.login(NADIA)
  const path = `/api/workloads/${id}/config/approvals`
  const asked = await nadia.post(path, { draft_yaml: GATEWAY_FASTER }, 201)
  const body = { comment: 'now', break_glass: true, break_glass_reason: 'The exporter fills the disk' }
  await nadia.post(`${path}/${asked.id}/push`, body, 202)

  const mine = await visit(browser, service.url)
  await signIn(mine.page, NADIA)
  await mine.page.goto('/approvals?status=reviews')
  const own = mine.page.getByRole('row').filter({ hasText: 'The exporter fills the disk' })
  await own.getByText('nadia@example.com').waitFor()
  await expect
    .poll(() => own.getByRole('button', { name: 'Looked at' }).getAttribute('aria-disabled'))
    .toBe('true')
  await expect.poll(() => findBarriers(mine.page)).toEqual([])
  expect(mine.complaints).toEqual([])
  await mine.context.close()

  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page, OMAR)
  // The page of the push says so first, with both texts.
  const [row0] = (await service.api.get(`/api/workloads/${id}/configs`)) as { config_hash: string }[]
  await page.goto(`/workloads/${id}/pushes/${row0!.config_hash}`)
  await page.getByText(/^The glass was broken by nadia@.*: “The exporter fills the disk”\.$/).waitFor()
  await page.getByText(/For the record: “now”\. *Nobody else has looked at it yet\./).waitFor()
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Approvals/ })
  await expect.poll(() => link.textContent()).toBe('Approvals1 for you')
  await link.click()
  await page.getByRole('link', { name: 'To look at (1)' }).click()
  const row = page.getByRole('row').filter({ hasText: 'The exporter fills the disk' })
  await row.getByRole('link', { name: /^Broken glass/ }).waitFor()
  await row.getByRole('button', { name: 'Looked at' }).click()
  const dialog = page.getByRole('dialog', { name: 'Look at what was done' })
  expect(
    await dialog.getByRole('button', { name: 'In order', exact: true }).getAttribute('aria-disabled'),
  ).toBe('true')
  await expect.poll(() => findBarriers(page)).toEqual([])
  await dialog.getByLabel('What you found').fill('It was right.')
  await dialog.getByRole('button', { name: 'In order', exact: true }).click()
  await page.getByText('Nobody has to look at anything.').waitFor()
  await expect.poll(() => link.textContent()).toBe('Approvals')
  await eventually('it is noted', async () => {
    const [done] = await service.api.get('/api/reviews?status=done')
    return done?.reviewed_by === OMAR.email && done.accepted === true && done.comment === 'It was right.'
  })
  expect(complaints).toEqual([])
  await context.close()
})

test('the same is said in French', async () => {
  const omar = new Api(service.url)
  await omar.login(OMAR)
  await omar.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  const { page, context } = await visit(browser, service.url)
  await signIn(page, OMAR)
  await page.goto('/approvals?status=reviews')
  await page.getByText('Personne n’a rien à regarder.').waitFor()
  await page.getByRole('link', { name: 'À regarder' }).waitFor()
  // A label rule by which approvals ask less of newcomers comes there as well, to be looked at by who could have made it.
  const rule = {
    name: 'QA hosts',
    selector: { match_labels: { 'identity/host.name': 'qa-*' } },
    labels: { env: 'qa' },
    confirm_lowering: true,
  }
  await service.api.post('/api/label-rules', rule, 201)
  const row = page.getByRole('row').filter({ hasText: 'QA hosts' })
  const link = row.getByRole('link', { name: 'Une règle d’étiquettes exige moins des nouveaux venus' })
  expect(await link.getAttribute('href')).toBe('/settings/label-rules')
  await row.getByText('La règle la plus stricte vaut jusqu’au').waitFor()
  expect(await row.getByRole('button', { name: 'Regardé' }).getAttribute('aria-disabled')).toBe('true')
  await context.close()
})
