import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Service } from '../support/service.ts'
import { findBarriers, launchBrowser, signIn, visit } from './support/browser.ts'
import { startComplete } from './support/service.ts'

let service: Service
let browser: Browser

beforeAll(async () => {
  service = await startComplete()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

test('what somebody may do, and by which group, stands behind Rights, in both languages', async () => {
  const password = 'long enough to pass'
  await service.api.post('/api/users', { email: 'nadia@example.com', password, groups: ['editor'] }, 201)
  const admin = (await service.api.get('/api/me')) as { id: string }
  await service.api.post(
    '/api/service-accounts',
    { name: 'bot', owner_id: admin.id, groups: ['editor'] },
    201,
  )
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page)
  await page.goto('/settings/users')
  await page.getByRole('row').filter({ hasText: 'nadia@' }).getByRole('button', { name: 'Rights' }).click()
  const dialog = page.getByRole('dialog', { name: 'What nadia@example.com may do' })
  const right = (name: string) => dialog.getByRole('row').filter({ hasText: name })
  await right('Push without an approval').getByText('group editor').waitFor()
  await right('See the audit trail').getByText('no', { exact: true }).waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Close' }).click()

  await page.goto('/settings/machines')
  await page.getByRole('region', { name: 'bot' }).getByRole('button', { name: 'Rights' }).click()
  const machine = page.getByRole('dialog', { name: 'What bot may do' })
  await machine
    .getByRole('row')
    .filter({ hasText: 'Push without an approval' })
    .getByText('takes a person who is signed in')
    .waitFor()
  await machine.getByRole('button', { name: 'Close' }).click()

  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  await page.goto('/settings/profile')
  await page.getByRole('button', { name: 'Droits' }).click()
  const own = page.getByRole('dialog', { name: 'Ce que admin@example.com peut faire' })
  await own
    .getByRole('row')
    .filter({ hasText: 'Voir le journal d’audit' })
    .getByText('groupe administrateur')
    .waitFor()
  expect(complaints).toEqual([])
  await context.close()
})
