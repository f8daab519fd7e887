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

/** A token that somebody makes for a program of hers. */
async function tokenOf(url: string, email: string, password: string): Promise<string> {
  const post = async (path: string, body: object, session?: string) => {
    const authorization: Record<string, string> =
      session === undefined ? {} : { authorization: `Bearer ${session}` }
    const headers = { 'content-type': 'application/json', ...authorization }
    return (await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const { token } = (await post('/api/auth/login', { email, password })) as { token: string }
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  const made = await post(
    '/api/tokens',
    { name: 'laptop', permissions: ['config:request'], expires_at },
    token,
  )
  return (made as { token: string }).token
}

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

  // A token of hers is taken away where an administrator sees what it may.
  const token = await tokenOf(service.url, 'nadia@example.com', password)
  await page.getByRole('row').filter({ hasText: 'nadia@' }).getByRole('button', { name: 'Rights' }).click()
  await dialog.getByRole('button', { name: 'Revoke laptop' }).click()
  const sure = page.getByRole('dialog', { name: 'Revoke' })
  await sure.getByText('Revoke laptop? Whatever uses it is turned away at once.').waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
  await sure.getByRole('button', { name: 'Revoke', exact: true }).click()
  await expect.poll(() => dialog.getByRole('button', { name: 'Revoke laptop' }).count()).toBe(0)
  const turnedAway = await fetch(`${service.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(turnedAway.status).toBe(401)
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
