import { expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import { carryOut } from './support/carry-out.ts'
import { GATEWAY, GATEWAY_FASTER } from './support/scene.ts'
import { connectManaged, page, service, useStage } from './support/stage.ts'

let id = ''

useStage({
  pages: 'each',
  async prepare() {
    id = await connectManaged('kept', { behaviour: { kind: 'apply', delayMs: 50 } })
    const wish = { owner: 'platform', config: GATEWAY, commit_sha: 'c0ffee', commit_author: 'Ann' }
    await service.api.post(`/api/workloads/${id}/config/desired`, wish, 200)
  },
})

const button = (name: string) => page.getByRole('button', { name, exact: true })
const notice = () => page.getByRole('status').filter({ hasText: 'kept in Git by platform' })

test('a config that is kept in Git says so, and is changed here in an emergency only', async () => {
  await page.goto(`/workloads/${id}/change`)
  await notice().waitFor()
  await expect.poll(() => notice().textContent()).toContain('c0ffee by Ann')
  await expect.poll(() => notice().textContent()).not.toContain('is not what Git asks for')
  const ask = button('Request approval')
  await expect.poll(() => ask.getAttribute('title')).toBe('The config is kept in Git: change it there.')
  await page.getByLabel('This is an emergency: I will push it without approval').check()
  await expect.poll(() => ask.getAttribute('title')).toBe('The draft is what is active already.')
  await expect.poll(() => findBarriers(page)).toEqual([])
})

test('a request from here is not approved, but may be pushed without', async () => {
  const draft = { draft_yaml: GATEWAY_FASTER, comment: 'by hand' }
  const request = await service.api.post(`/api/workloads/${id}/config/approvals`, draft, 201)
  await page.goto(`/workloads/${id}/changes/${request.id}`)
  const approve = button('Approve')
  await expect
    .poll(() => approve.getAttribute('title'))
    .toBe('The config is kept in Git: a request from here is not approved.')
  const broken = {
    comment: 'now',
    break_glass: true,
    break_glass_reason: 'an incident',
    prod_double_confirmed: true,
  }
  await service.api.post(`/api/workloads/${id}/config/approvals/${request.id}/push`, broken, 202)
  // Its first page says so too, and leads to the rest.
  await page.goto(`/workloads/${id}`)
  const line = page.getByRole('paragraph').filter({ hasText: 'What is active is not what Git asks for.' })
  await line.getByRole('link', { name: 'kept in Git by platform, commit c0ffee by Ann' }).click()
  await notice().waitFor()
  await expect.poll(() => notice().textContent()).toContain('What is active is not what Git asks for.')
})

test('it is handed over to another account and another name, and says so at once', async () => {
  const users = (await service.api.call('GET', '/api/users')).body as { id: string }[]
  const account = { name: 'deployer', groups: ['editor'], owner_id: users[0]!.id }
  const { id: machine } = await service.api.post('/api/service-accounts', account, 201)
  await page.goto(`/workloads/${id}/configuration`)
  await button('Hand over…').click()
  const dialog = page.getByRole('dialog', { name: 'Hand over…' })
  const send = dialog.getByRole('button', { name: 'Hand over', exact: true })
  await expect.poll(() => send.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel('Account that speaks for it').selectOption(machine)
  await dialog.getByLabel('Owner from then on').fill('shop')
  await expect.poll(() => findBarriers(page)).toEqual([])
  await send.click()
  await page.getByText('Handed over.').waitFor()
  await page.getByRole('status').filter({ hasText: 'kept in Git by shop' }).waitFor()
  const { body } = await service.api.call('GET', `/api/managed-configs?workload_id=${id}`)
  expect(body).toMatchObject([{ owner: 'shop' }])
  const back = { owner: 'shop', to_owner: 'platform', to_account_id: users[0]!.id }
  await service.api.post('/api/managed-configs/hand-over', back, 200)
})

test('it is said in French', async () => {
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  await page.goto(`/workloads/${id}/change`)
  await page.getByText('La configuration est tenue dans Git par platform, commit c0ffee de Ann.').waitFor()
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'en' })
})

test('a fleet config that is kept in Git says so, and is not changed here, in French too', async () => {
  const wish = {
    owner: 'platform',
    name: 'edge',
    selector: { match_labels: { 'identity/host.name': 'vm-*' } },
  }
  const commit = { content: GATEWAY, commit_sha: 'c0ffee', commit_author: 'Ann' }
  const { fleet_config_id } = await service.api.post(
    '/api/fleet-configs/desired',
    { ...wish, ...commit },
    200,
  )
  await page.goto(`/fleet-configs/${fleet_config_id}`)
  const kept = page.getByRole('status').filter({ hasText: 'kept in Git by platform, commit c0ffee by Ann' })
  await kept.waitFor()
  await kept.getByText('Git asks for version 1.').waitFor()
  const add = page.getByRole('button', { name: 'New version' })
  await expect.poll(() => add.getAttribute('title')).toBe('The fleet config is kept in Git: change it there.')
  await expect.poll(() => findBarriers(page)).toEqual([])
  await page.goto(`/fleet-configs/${fleet_config_id}/new-version`)
  const save = page.locator('form button[type=submit]')
  await expect
    .poll(() => save.getAttribute('title'))
    .toBe('The fleet config is kept in Git: change it there.')
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  await page.goto(`/fleet-configs/${fleet_config_id}`)
  await page.getByText('Cette config de parc est tenue dans Git par platform').waitFor()
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'en' })
})

test('what Git asks for and nobody has accepted is on the page, handed over there, and let go of', async () => {
  const other = await connectManaged('asked', { behaviour: { kind: 'apply', delayMs: 50 } })
  const wish = { owner: 'shops', config: GATEWAY_FASTER, commit_sha: 'c0ffee', commit_author: 'Ann' }
  await service.api.post(`/api/workloads/${other}/config/desired`, wish, 200)
  const said = page.getByRole('status').filter({ hasText: 'Git (shops) asks for a config here' })
  for (const tab of ['change', 'configuration']) {
    await page.goto(`/workloads/${other}/${tab}`)
    await said.waitFor()
    await expect.poll(() => said.textContent()).toContain('commit c0ffee by Ann, accepted by nobody yet')
    await said.getByRole('button', { name: 'Hand over…' }).waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
  }
  await said.getByRole('button', { name: 'Let go…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Let go…' })
  await expect.poll(() => findBarriers(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Let go', exact: true }).click()
  await page.getByText('Git asks for nothing there any more.').waitFor()
  await expect.poll(() => said.count()).toBe(0)
  const { body } = await service.api.call('GET', `/api/managed-configs?workload_id=${other}`)
  expect(body).toEqual([])
})

test('whoever is to decide reads whom the commit names that nobody here is called', async () => {
  const other = await connectManaged('named', { behaviour: { kind: 'apply', delayMs: 50 } })
  const wish = {
    owner: 'platform',
    config: `${GATEWAY_FASTER}# more\n`,
    commit_author: 'Eve <eve@x.example>',
  }
  const { approval_id } = await service.api.post(`/api/workloads/${other}/config/desired`, wish, 200)
  await page.goto(`/workloads/${other}/changes/${approval_id}`)
  await page.getByText('The commit names Eve <eve@x.example>, and nobody here is called so').waitFor()
})

test('a workload of a fleet config that Git keeps says so on its pages, and is changed here in an emergency only', async () => {
  const till = await connectManaged('till', { behaviour: { kind: 'apply', delayMs: 50 } })
  const wish = { owner: 'tills', name: 'Tills', selector: { match_labels: { 'identity/name': 'till' } } }
  const commit = { commit_sha: 'c0ffee', commit_author: 'Ann', campaign: { waves: [{ dwell_seconds: 0 }] } }
  const ask = (content: string) =>
    service.api.post('/api/fleet-configs/desired', { ...wish, ...commit, content }, 200)
  const { campaign_id, fleet_config_id: config } = await ask(GATEWAY_FASTER)
  // Until it brought something there, it keeps nobody out.
  await page.goto(`/workloads/${till}/change`)
  await button('Request approval').waitFor()
  const said = page.getByRole('status').filter({ hasText: 'Its fleet config Tills is kept in Git by tills' })
  expect(await said.count()).toBe(0)
  await carryOut(campaign_id)
  for (const tab of ['change', 'configuration']) {
    await page.goto(`/workloads/${till}/${tab}`)
    await said.waitFor()
    await expect.poll(() => said.textContent()).toContain('c0ffee by Ann')
    await said.getByRole('button', { name: 'Hand over…' }).waitFor()
    expect(await said.textContent()).not.toContain('is not what Git asks for')
    await expect.poll(() => findBarriers(page)).toEqual([])
  }
  await page.goto(`/workloads/${till}/change`)
  await expect
    .poll(() => button('Request approval').getAttribute('title'))
    .toBe('The config is kept in Git: change it there.')
  const approvals = `/api/workloads/${till}/config/approvals`
  const request = await service.api.post(approvals, { draft_yaml: GATEWAY, comment: 'by hand' }, 201)
  await page.goto(`/workloads/${till}/changes/${request.id}`)
  await expect
    .poll(() => button('Approve').getAttribute('title'))
    .toBe('The config is kept in Git: a request from here is not approved.')
  const broken = { comment: 'now', break_glass: true, break_glass_reason: 'an incident' }
  await service.api.post(`${approvals}/${request.id}/push`, { ...broken, prod_double_confirmed: true }, 202)
  await page.goto(`/workloads/${till}`)
  const line = page.getByRole('paragraph').filter({ hasText: 'What is active is not what Git asks for.' })
  await line.getByRole('link', { name: 'Its fleet config Tills is kept in Git by tills' }).waitFor()
  // Of its versions the one that Git asks for is carried from here.
  await ask(`${GATEWAY_FASTER}# more\n`)
  const why = 'Git asks for version 2: only that one is carried from here.'
  const carry = page.getByRole('region', { name: 'Carry a version' }).getByRole('button')
  await page.goto(`/fleet-configs/${config}?version=1`)
  await expect.poll(() => carry.first().getAttribute('title')).toBe(why)
  await page.goto(`/fleet-configs/${config}?version=2`)
  await expect.poll(() => carry.first().getAttribute('title')).not.toBe(why)
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  await page.goto(`/workloads/${till}/configuration`)
  await page
    .getByText('Sa config de parc Tills est tenue dans Git par tills, commit c0ffee de Ann.')
    .waitFor()
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'en' })
})
