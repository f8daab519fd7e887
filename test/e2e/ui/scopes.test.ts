import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, signIn, visit } from './support/browser.ts'
import { carryOut } from './support/carry-out.ts'
import { GATEWAY, pushAndSettle, SECRETIVE, workloadId } from './support/scene.ts'
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
  await row.getByText('0 members', { exact: true }).waitFor()
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

const TEXT = GATEWAY.replace('timeout: 5s', 'timeout: 3s')
const QUICK = { behaviour: { kind: 'apply', delayMs: 100 }, capabilities: SECRETIVE } as const

/** Break the glass on a workload, which somebody else then has to look at. */
async function breakGlass(id: string): Promise<void> {
  const approvals = `/api/workloads/${id}/config/approvals`
  const { id: request } = await service.api.post(approvals, { draft_yaml: GATEWAY, comment: 'now' }, 201)
  const glass = { break_glass: true, break_glass_reason: 'now', comment: 'now' }
  await service.api.post(`${approvals}/${request}/push`, glass, 202)
}

/** Carry version 1 of a fleet config to all under it, so that it may apply by itself. Returns the campaign's id. */
async function carry(configId: string): Promise<string> {
  const change = { kind: 'version', fleet_config_id: configId, number: 1, takeover: true }
  const draft = { name: 'Both', change, scope: {}, waves: [{ dwell_seconds: 0 }] }
  const { id } = await service.api.post('/api/campaigns', draft, 201)
  await carryOut(id)
  return id
}

// This comes before there is a second person who may approve: so far the author counts, wherever it is.
test('lists that are cut to a scope say how much lies outside of it, in both languages', async () => {
  for (const [name, env] of [
    ['pos-1', 'staging'],
    ['pos-2', 'dev'],
  ] as const) {
    connectAgent(name, `${name}-pod`, QUICK)
    const id = await workloadId(service, name)
    await place(name, env)
    await pushAndSettle(service, id, GATEWAY.replace('timeout: 5s', 'timeout: 9s'))
  }
  const selector = {
    match_labels: { 'identity/name': 'pos-*' },
    match_expressions: [{ key: 'muster/env', operator: 'In', values: ['staging', 'dev'] }],
  }
  const config = await service.api.post('/api/fleet-configs', { name: 'Tills', selector }, 201)
  await service.api.post(`/api/fleet-configs/${config.id}/versions`, { content: TEXT }, 201)
  const campaign = await carry(config.id)
  const auto = `/api/fleet-configs/${config.id}/auto-apply`
  const { plan_hash: hash } = await service.api.post(`${auto}/plan`, { number: 1 }, 200)
  await service.api.post(
    auto,
    { number: 1, plan_hash: hash, comment: 'newcomers too', prod_confirmation: true },
    201,
  )
  await service.api.post(`${auto}/approve`, { plan_hash: hash, comment: 'yes' }, 200)
  for (const [name, env] of [
    ['pos-3', 'staging'],
    ['pos-4', 'dev'],
  ] as const) {
    connectAgent(name, `${name}-pod`, QUICK)
    await workloadId(service, name)
    await place(name, env)
  }
  const pushed = async () => (await service.api.get(`${auto}/targets`)).length === 2
  await eventually('both newcomers were pushed to', pushed)
  const dev = { selector: { match_expressions: [{ key: 'muster/env', operator: 'In', values: ['dev'] }] } }
  const change = { kind: 'text', yaml: TEXT }
  await service.api.post('/api/campaigns', { name: 'Theirs', change, scope: dev, waves: [{}] }, 201)
  await breakGlass(await workloadId(service, 'pos-2'))

  const scope = { key: 'muster/env', values: ['staging'] }
  const who = { email: 'sam@example.com', password }
  await service.api.post('/api/groups', { name: 'staging-only', role: 'editor', scope }, 201)
  await service.api.post('/api/users', { ...who, groups: ['staging-only'] }, 201)
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page, who)
  const told = page.getByText('1 outside your scope.')
  await page.goto('/campaigns')
  await page.getByRole('link', { name: 'Both' }).waitFor()
  await told.waitFor()
  await page.goto(`/campaigns/${campaign}`)
  const title = page.getByRole('heading', { name: 'Workloads', exact: true })
  const targets = page.locator('section').filter({ has: title })
  await targets.getByText('pos-1').waitFor()
  await targets.getByText('1 outside your scope.').waitFor()
  await page.goto(`/fleet-configs/${config.id}`)
  const newcomers = page.getByRole('region', { name: 'Pushed by itself' })
  await newcomers.getByText('pos-3').waitFor()
  await newcomers.getByText('1 outside your scope.').waitFor()
  await page.goto('/approvals?status=reviews')
  await page.getByText(/outside your scope\./).waitFor()
  await expect.poll(() => page.getByText('Nobody has to look at anything.').count()).toBe(0)
  expect(await findBarriers(page)).toEqual([])
  await page.goto('/campaigns/new')
  await page.getByLabel('For whom').fill('identity/name=pos-*')
  await page.getByText('2 outside your scope.').waitFor()

  const everything = await visit(browser, service.url)
  await signIn(everything.page)
  await everything.page.goto('/campaigns')
  await everything.page.getByRole('link', { name: 'Theirs' }).waitFor()
  await expect.poll(() => everything.page.getByText('outside your scope').count()).toBe(0)
  await everything.context.close()
  await page.goto('/settings/profile')
  await page.getByLabel('Language').selectOption('fr')
  await page.getByRole('button', { name: 'Droits' }).click()
  await page.getByText('il peut être modifié là où tout ce qu’elle choisit est dans le périmètre').waitFor()
  await page.goto('/campaigns')
  await page.getByText('1 hors de votre périmètre.').waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('what lies outside the scope is shown and cannot be done, and the page says why, in both languages', async () => {
  await place('shop', 'staging')
  await place('bank', 'live')
  connectAgent('loan', 'loan-1', {}, 'staging')
  const scope = { key: 'muster/env', values: ['staging'] }
  await service.api.post('/api/groups', { name: 'shop-editors', role: 'editor', scope }, 201)
  const admin = await visit(browser, service.url)
  await signIn(admin.page)
  await admin.page.goto('/settings/users')
  await admin.page.getByRole('button', { name: 'New user' }).click()
  const dialog = admin.page.getByRole('dialog')
  await dialog.getByLabel('E-mail').fill(scoped.email)
  await dialog.getByLabel('New password').fill(password)
  await dialog.getByLabel('viewer', { exact: true }).uncheck()
  await dialog.getByLabel('shop-editors').check()
  await dialog.getByRole('button', { name: 'Add the user' }).click()
  const row = admin.page.getByRole('row').filter({ hasText: scoped.email })
  await row.getByRole('button', { name: 'Rights' }).click()
  const rights = admin.page.getByRole('dialog', { name: `What ${scoped.email} may do` })
  const right = rights.getByRole('row').filter({ hasText: 'Push without an approval' })
  await right.getByText('group shop-editors').waitFor()
  await right.getByText('only where muster/env is staging').waitFor()
  await rights.getByText('it may be changed where all that it selects lies within the scope').waitFor()
  await admin.context.close()

  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page, scoped)
  await page.getByRole('link', { name: 'shop' }).click()
  // One that may be used is a link, one that may not is a button.
  await page.getByRole('link', { name: 'Propose a change' }).waitFor()
  await page.goto(`/workloads/${await workloadId(service, 'bank')}`)
  // What one may do elsewhere does not go away on the page of a workload outside of the scope.
  const main = page.getByRole('navigation', { name: 'Main' })
  for (const name of ['Approvals', 'Campaigns', 'Reports'])
    await main.getByRole('link', { name: new RegExp(`^${name}`) }).waitFor()
  const propose = page.getByRole('button', { name: 'Propose a change' })
  await expect
    .poll(() => propose.getAttribute('title'))
    .toBe('Outside of your scope: you may do this only where muster/env is staging. Here muster/env is live.')
  expect(await findBarriers(page)).toEqual([])
  // What its agents say is shown as its environment, and is no label that a scope goes by.
  await page.goto(`/workloads/${await workloadId(service, 'loan')}`)
  await expect.poll(() => propose.getAttribute('title')).toContain('muster/env is not set: what agents say')
  await page.goto('/approvals')
  await page.getByText('There is none within your scope.').waitFor()
  // Somebody sends her the address of a request that is not hers to see.
  const bank = await workloadId(service, 'bank')
  const { id: request } = await service.api.post(
    `/api/workloads/${bank}/config/approvals`,
    { draft_yaml: TEXT, comment: 'not to be seen by her' },
    201,
  )
  await page.goto(`/workloads/${bank}/changes/${request}`)
  await page.getByRole('heading', { name: 'A request for bank', level: 1 }).waitFor()
  await page.getByText('You may do so only where muster/env is staging. Here muster/env is live.').waitFor()
  await page.getByText('what your groups (shop-editors) reach').waitFor()
  await expect.poll(() => page.getByText('not to be seen by her').count()).toBe(0)
  expect(await findBarriers(page)).toEqual([])
  // A refused request is an error in the console of every browser; what else it says is not expected.
  expect(complaints.splice(0).filter((line) => !line.includes('403'))).toEqual([])
  await page.goto(`/workloads/${await workloadId(service, 'bank')}`)
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
