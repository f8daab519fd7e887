import { expect, test } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { FleetStanding, FreezeRecord } from '../../../lib/wire/fleet-configs.ts'
import { eventually } from '../../support/eventually.ts'
import { GATEWAY, workloadId } from './support/scene.ts'
import { connectAgent, page, service, useStage } from './support/stage.ts'

// A push by hand to a workload under a fleet config holds it. The page says so before the push, and can release it
// after.
let id = ''

useStage({
  pages: 'one',
  async prepare() {
    connectAgent('gateway', 'gateway-1')
    id = await workloadId(service, 'gateway')
  },
})

test('a push that holds a workload says so before the click, and the hold is released on its page', async () => {
  const selector = { match_labels: { 'identity/name': 'gate*' } }
  await service.api.post('/api/fleet-configs', { name: 'Gateways', selector }, 201)
  const path = `/api/workloads/${id}/config/approvals`
  const asked = (await service.api.post(
    path,
    { draft_yaml: GATEWAY, target_env: 'test' },
    201,
  )) as ApprovalRecord
  await page.goto(`/workloads/${id}/changes/${asked.id}`)
  // Whoever decides is told, before and after the approval.
  const held = page.getByRole('main').getByText('A push to it alone holds it')
  await held.waitFor()
  await service.api.post(`${path}/${asked.id}/approve`, { comment: 'fine' }, 200)
  await page.getByText('Approved by admin@example.com.').waitFor()
  await held.waitFor()
  await page.getByRole('button', { name: 'Push', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('It is under the fleet config Gateways.').waitFor()
  await dialog.getByText('A push to it alone holds it').waitFor()
  await dialog.getByLabel(/comment/i).fill('only here')
  await dialog.getByRole('button', { name: 'Push now' }).click()
  const standing = async () => (await service.api.get(`/api/workloads/${id}/fleet-config`)) as FleetStanding
  await eventually('it is held', async () => (await standing()).hold?.reason === 'only here')
  await page.goto(`/workloads/${id}`)
  await page.getByText('campaigns leave it alone').waitFor()
  await page.getByRole('button', { name: 'Release' }).click()
  await page.getByText('Released. Nothing was pushed by it.').waitFor()
  expect(await standing()).not.toHaveProperty('hold')
})

test('a freeze is replaced by what is in force with a part of it changed, once it was said whom it is about', async () => {
  const until = new Date(Date.now() + 7_200_000).toISOString()
  const selector = { match_labels: { 'identity/name': 'gate*' } }
  await service.api.call('PUT', '/api/freeze', { reason: 'Black Friday', until, selector })
  await page.goto('/settings/freeze')
  const conditions = page.getByRole('textbox', { name: /Conditions/ })
  const change = page.getByRole('button', { name: 'Change the freeze…' })
  await change.waitFor()
  expect(await conditions.count()).toBe(0)
  await change.click()
  await expect.poll(() => conditions.inputValue()).toBe('identity/name=gate*')
  await page.getByText('1 workload meets these conditions now.').waitFor()
  await expect.poll(() => page.getByLabel('Why').inputValue()).toBe('Black Friday')
  await conditions.fill('')
  await page.getByText(/^The whole fleet.* is to be frozen\.$/).waitFor()
  await conditions.fill('identity/name=nobody*')
  await page.getByText('No workload meets these conditions now').waitFor()
  // What is no condition is said at its field, and what a condition looks like too.
  await conditions.fill('env is prod')
  await expect.poll(() => conditions.evaluate((field) => field.getAttribute('aria-invalid'))).toBe('true')
  await page.getByText('This line is no condition: env is prod').first().waitFor()
  await page.getByText(/env is prod. For example: muster\/env=prod/).waitFor()
  await conditions.fill('identity/name=gate*')
  await page.getByLabel('Why').fill('Black Friday, and Monday')
  await page.getByRole('button', { name: 'Replace the freeze' }).click()
  await page.getByText('Frozen.').waitFor()
  await change.waitFor()
  expect(await conditions.count()).toBe(0)
  const { freeze } = (await service.api.get('/api/freeze')) as FreezeRecord
  expect(freeze).toMatchObject({ reason: 'Black Friday, and Monday', selector })
  // To the minute, as the field shows it.
  expect(freeze?.until).toBe(`${until.slice(0, 16)}:00.000Z`)
  await page.goto('/audit')
  await page
    .getByRole('row')
    .filter({ hasText: 'Workloads frozen' })
    .getByText('identity/name=gate*')
    .first()
    .waitFor()
  await service.api.call('DELETE', '/api/freeze')
})
