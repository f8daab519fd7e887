import { expect, test } from 'vitest'
import { findBarriers, signIn, visit } from './support/browser.ts'
import { workloadId } from './support/scene.ts'
import { browser, connectAgent, service, useStage } from './support/stage.ts'

const password = 'long enough to pass'
const scoped = { email: 'sue@example.com', password }

useStage({
  pages: 'none',
  prepare: async () => {
    connectAgent('shop', 'shop-1')
    connectAgent('bank', 'bank-1')
  },
})

/** Give a workload an environment, as an administrator. */
async function place(name: string, env: string): Promise<void> {
  const id = await workloadId(service, name)
  await service.api.call('PUT', `/api/workloads/${id}/trusted-labels`, { labels: { env } })
}

test('a group with a role and a scope is made, changed and removed', async () => {
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page)
  await page.goto('/settings/user-groups')
  await page.getByRole('button', { name: 'New group' }).click()
  const dialog = page.getByRole('dialog', { name: 'New group' })
  await dialog.getByLabel('Name').fill('staging-editors')
  await dialog.getByLabel('Where it holds').selectOption('within')
  await dialog.getByLabel('Values').fill('staging, dev')
  await dialog.getByLabel('Role').selectOption('administrator')
  const add = dialog.getByRole('button', { name: 'Add the group' })
  await expect.poll(() => add.getAttribute('title')).toContain('Only the role of an editor')
  await dialog.getByLabel('Role').selectOption('editor')
  await add.click()
  const row = page.getByRole('row').filter({ hasText: 'staging-editors' })
  await row.getByText('muster/env is dev or staging').waitFor()
  expect(await findBarriers(page)).toEqual([])

  await row.getByRole('button', { name: 'Change' }).click()
  const change = page.getByRole('dialog', { name: 'Change staging-editors' })
  await change.getByLabel('Where it holds').selectOption('everywhere')
  await change.getByRole('button', { name: 'Save' }).click()
  await row.getByText('everywhere').waitFor()
  await row.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => row.count()).toBe(0)
  expect(complaints).toEqual([])
  await context.close()
})

test('what lies outside the scope is shown and cannot be done, and the page says why, in both languages', async () => {
  await place('shop', 'staging')
  await place('bank', 'live')
  const scope = { key: 'muster/env', values: ['staging'] }
  await service.api.post('/api/groups', { name: 'shop-editors', role: 'editor', scope }, 201)
  const admin = await visit(browser, service.url)
  await signIn(admin.page)
  await admin.page.goto('/settings/users')
  await admin.page.getByRole('button', { name: 'New user' }).click()
  const dialog = admin.page.getByRole('dialog')
  await dialog.getByLabel('E-mail').fill(scoped.email)
  await dialog.getByLabel('New password').fill(password)
  await dialog.getByLabel('Groups').selectOption('shop-editors')
  await dialog.getByRole('button', { name: 'Add the user' }).click()
  const row = admin.page.getByRole('row').filter({ hasText: scoped.email })
  await row.getByRole('button', { name: 'Rights' }).click()
  const rights = admin.page.getByRole('dialog', { name: `What ${scoped.email} may do` })
  const right = rights.getByRole('row').filter({ hasText: 'Push without an approval' })
  await right.getByText('group shop-editors').waitFor()
  await right.getByText('only where muster/env is staging').waitFor()
  await admin.context.close()

  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page, scoped)
  await page.getByRole('link', { name: 'shop' }).click()
  // One that may be used is a link, one that may not is a button.
  await page.getByRole('link', { name: 'Propose a change' }).waitFor()
  await page.goto(`/workloads/${await workloadId(service, 'bank')}`)
  const propose = page.getByRole('button', { name: 'Propose a change' })
  await expect
    .poll(() => propose.getAttribute('title'))
    .toBe('Outside of your scope: you may do this only where muster/env is staging.')
  expect(await findBarriers(page)).toEqual([])
  await place('bank', 'staging')
  await page.getByRole('link', { name: 'Propose a change' }).waitFor()
  await place('bank', 'live')
  await page.goto('/settings/profile')
  await page.getByText('only where muster/env is staging').waitFor()
  await page.getByLabel('Language').selectOption('fr')
  await page.getByText('seulement là où muster/env est staging').waitFor()
  await page.goto(`/workloads/${await workloadId(service, 'bank')}`)
  const refused = page.locator('button[title^="Hors de votre périmètre"]')
  await expect.poll(() => refused.count()).toBeGreaterThan(0)
  expect(complaints).toEqual([])
  await context.close()
})
