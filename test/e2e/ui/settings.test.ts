import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { findBarriers, signIn, visit } from './support/browser.ts'
import { TEST_ADMIN } from './support/service.ts'
import { browser, connectAgent, service, useStage } from './support/stage.ts'

useStage({
  pages: 'none',
  prepare: async () => void connectAgent('reported', 'reported-1'),
})

describe('one’s own settings', () => {
  test('language and theme change at once, and are there again after signing in elsewhere', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/settings/profile')
    await page.getByLabel('Language').selectOption('fr')
    await page.getByRole('heading', { name: 'Profil', level: 1 }).waitFor()
    await expect.poll(() => page.evaluate(() => document.documentElement.lang)).toBe('fr')
    const stored = page.waitForResponse(
      (response) =>
        response.request().method() === 'PUT' && (response.request().postData() ?? '').includes('dark'),
    )
    await page.getByLabel('Apparence').selectOption('dark')
    await expect
      .poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor))
      .toBe('rgb(17, 18, 20)')
    // Both choices are stored, although the second was made before the first was stored.
    expect(JSON.parse((await stored).request().postData() ?? '')).toEqual({ theme: 'dark', language: 'fr' })
    await context.close()
    const elsewhere = await visit(browser, service.url)
    await signIn(elsewhere.page)
    await elsewhere.page.getByRole('link', { name: 'Parc', exact: true }).waitFor()
    await expect
      .poll(() => elsewhere.page.evaluate(() => document.documentElement.dataset['theme']))
      .toBe('dark')
    // The language is changed back by keyboard.
    await elsewhere.page.keyboard.press('Control+k')
    await elsewhere.page.keyboard.type('Switch to English')
    await elsewhere.page.keyboard.press('Enter')
    await elsewhere.page.getByRole('link', { name: 'Fleet', exact: true }).waitFor()
    await elsewhere.context.close()
  })
})

test('whoever has chosen no language reads that of the browser, before and after signing in', async () => {
  const who = { email: 'colette@example.com', password: 'correct horse battery' }
  expect((await service.api.call('POST', '/api/users', { ...who, groups: ['viewer'] })).status).toBe(201)
  const { page, context, complaints } = await visit(browser, service.url, { locale: 'fr-FR' })
  await signIn(page, who)
  await page.getByRole('link', { name: 'Parc', exact: true }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Parc', exact: true }).waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

describe('links out', () => {
  test('are set up once, and lead from each workload to another program about it', async () => {
    const { page, context, complaints } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/settings/links')
    await page.getByRole('button', { name: 'Add a link' }).click()
    await page.getByLabel('Name').fill('Dashboard')
    await page.getByLabel('Address').fill('https://{name}.example.com/')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('“name” in its host', { exact: false }).waitFor()
    await page.getByLabel('Address').fill('https://g.example.com/d/x?name={name}&id={id}')
    await page.getByRole('button', { name: 'Add a link' }).click()
    await page.getByLabel('Name').nth(1).fill('Elsewhere')
    await page.getByLabel('Address').nth(1).fill('https://g.example.com/{label:not.there}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Stored by', { exact: false }).waitFor()
    expect(await findBarriers(page)).toEqual([])

    await page.goto('/')
    await page.getByRole('link', { name: 'reported' }).click()
    await page.getByText('Open in', { exact: true }).click()
    const link = page.getByRole('link', { name: /Dashboard/ })
    const id = page.url().split('/').at(-1)
    expect(await link.getAttribute('href')).toBe(`https://g.example.com/d/x?name=reported&id=${id}`)
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
    // Where a fact is missing it says so rather than lead to something else.
    await page.getByText('this workload has no not.there', { exact: false }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(() => link.isVisible()).toBe(false)

    await page.goto('/settings/links')
    for (const name of ['Dashboard', 'Elsewhere'])
      await page.getByRole('button', { name: `Remove ${name}` }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('There is no link yet.').waitFor()
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([])
    await context.close()
  })
})

describe('users', () => {
  test('one is added, may look and not touch, is promoted, and removed', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/settings/users')
    await page.getByRole('button', { name: 'New user' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail').fill('viewer@example.com')
    await dialog.getByLabel('New password').fill('too short')
    await dialog.getByRole('button', { name: 'Add the user' }).click()
    await dialog.getByText('It needs at least 12 characters.').waitFor()
    await dialog.getByLabel('New password').fill('long enough to pass')
    // A second person who may approve ends for good that the only one counts as the author: said before the click.
    const ends = 'Only one person may approve today'
    await dialog.getByLabel('editor', { exact: true }).check()
    await dialog.getByText(ends).waitFor()
    await dialog
      .getByText(
        'From then on neither of you can approve what you or the other one asks for, so nothing can be approved in: Production (wherever the request, the agents or a trusted label say production); No environment (where no trusted label names one: it may be production).',
        { exact: false },
      )
      .waitFor()
    await dialog.getByLabel('editor', { exact: true }).uncheck()
    await expect.poll(() => dialog.getByText(ends).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Add the user' }).click()
    await page.getByRole('row', { name: /viewer@example\.com/ }).waitFor()

    const theirs = await visit(browser, service.url)
    await signIn(theirs.page, { email: 'viewer@example.com', password: 'long enough to pass' })
    await theirs.page.getByRole('link', { name: 'reported' }).click()
    const propose = theirs.page.getByRole('button', { name: 'Propose a change' })
    await propose.waitFor()
    await expect.poll(() => propose.getAttribute('aria-disabled')).toBe('true')
    await expect.poll(() => propose.getAttribute('title')).toContain('Your role does not allow this')
    await expect.poll(() => theirs.page.getByRole('link', { name: 'Audit' }).count()).toBe(0)

    // A group that comes to give its members the right to approve does the same.
    const { api } = service
    const made = await api.call('POST', '/api/groups', { name: 'watchers', role: 'viewer' })
    const all = (await api.call('GET', '/api/users')).body as { id: string; email: string }[]
    const { id } = all.find(({ email }) => email === 'viewer@example.com')!
    await api.call('PATCH', `/api/users/${id}`, { groups: ['watchers'] })
    await page.goto('/settings/user-groups')
    await page
      .getByRole('row', { name: /watchers/ })
      .getByRole('button', { name: 'Change' })
      .click()
    await dialog.getByLabel('Role').selectOption('editor')
    await dialog.getByText(ends).waitFor()
    await dialog.getByLabel('Role').selectOption('viewer')
    await expect.poll(() => dialog.getByText(ends).count()).toBe(0)
    await api.call('PATCH', `/api/users/${id}`, { groups: ['viewer'] })
    await api.call('DELETE', `/api/groups/${(made.body as { id: string }).id}`)
    await page.goto('/settings/users')

    // No key changes what somebody may do: it is asked for in a dialog, which says what changes, and takes several groups.
    const groupsOf = async () =>
      ((await api.call('GET', '/api/users')).body as { id: string; groups: string[] }[]).find(
        (one) => one.id === id,
      )?.groups
    const groups = page.getByRole('button', { name: 'Change the groups of viewer@example.com' })
    await groups.focus()
    await page.keyboard.press('ArrowDown')
    await groups.press('Enter')
    await dialog.getByText('Nothing changes.').waitFor()
    await dialog.getByLabel('editor', { exact: true }).check()
    await dialog.getByText(ends).waitFor()
    await dialog.getByText('viewer@example.com joins: editor').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await groupsOf()).toEqual(['viewer'])
    await groups.click()
    await dialog.getByLabel('editor', { exact: true }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await groupsOf()).toEqual(['editor', 'viewer'])
    await page.getByRole('cell', { name: 'editor, viewer' }).waitFor()
    await groups.click()
    await dialog.getByLabel('viewer', { exact: true }).uncheck()
    await dialog.getByText('viewer@example.com leaves: viewer').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect.poll(groupsOf).toEqual(['editor'])
    // The two may approve now, and the one made the other.
    await page.getByText('Nobody counts for anybody else yet').waitFor()
    await page.goto('/settings/approvals')
    await page.getByText('make another account that may approve').waitFor()
    await page.goto('/settings/users')
    await page
      .getByRole('row', { name: /viewer@example\.com/ })
      .getByRole('button', { name: 'Remove' })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed.').waitFor()
    await expect.poll(() => page.getByRole('row', { name: /viewer@example\.com/ }).count()).toBe(0)
    await theirs.page.getByText('Your session has ended.').waitFor()
    await theirs.context.close()
    await context.close()
  })

  test('the last administrator stays', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/settings/users')
    await page.getByRole('button', { name: 'Change the groups of admin@example.com' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('viewer', { exact: true }).check()
    await dialog.getByLabel('administrator', { exact: true }).uncheck()
    await dialog.getByText('This is your own account', { exact: false }).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/it cannot be removed or demoted|last administrator cannot/).waitFor()
    await context.close()
  })
})

describe('on the first day', () => {
  test('the pages on which accounts and the policy are made say who is no second person, in both languages', async () => {
    const { page, context, complaints } = await visit(browser, service.url)
    await signIn(page)
    for (const [language, text] of [
      ['en', /^An account that you make, .* does not count for what you ask for/],
      ['fr', /^Un compte que vous créez, .* ne compte pas pour ce que vous demandez/],
    ] as const) {
      await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language })
      for (const section of ['users', 'approvals']) {
        await page.goto(`/settings/${section}`)
        await page.getByText(text).waitFor()
      }
    }
    await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'en' })
    expect(complaints).toEqual([])
    await context.close()
  })
})

describe('the approval policy', () => {
  test('is read, made stricter at once, and a laxer one waits for somebody else', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/settings/approvals')
    const production = page.getByRole('group', { name: 'Production' })
    await production.getByLabel('Approvals').selectOption('2')
    await production.getByLabel('Valid for, in hours').fill('none')
    await production.getByText('Whole hours, from 1 to 8,760.').waitFor()
    await production.getByLabel('Valid for, in hours').fill('24')
    await page.getByRole('button', { name: 'Change the policy' }).click()
    await page.getByText('This is the policy now.').waitFor()
    await page.reload()
    await expect.poll(() => production.getByLabel('Approvals').inputValue()).toBe('2')
    await production.getByLabel('Approvals').selectOption('1')
    await page.getByRole('button', { name: 'Change the policy' }).click()
    await page.getByText(/asked for a policy that asks less/).waitFor()
    // Whoever is to confirm it reads what it asks for, and what counts until then.
    await page
      .getByText(/^Production: two approvals, valid for 24 h, .+ → one approval, valid for 24 h, /)
      .waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Confirm it' }).count()).toBe(0)
    const { body } = await service.api.call('GET', '/api/approval-policy')
    expect(body).toMatchObject({
      production: { approvals: 2, valid_hours: 24 },
      pending: { production: { approvals: 1 } },
    })
    await context.close()
  })

  test('is shown as it counts after it was asked for or confirmed, and whoever may not confirm it reads why', async () => {
    const { api } = service
    const rule = { approvals: 2, author_counts: false, valid_hours: 24 }
    await api.call('PUT', '/api/approval-policy', { production: rule, other: rule, unlabelled: rule })
    const people = ['carol@example.com', 'dave@example.com'].map((email) => ({
      email,
      password: 'correct horse battery',
    }))
    for (const one of people) await api.post('/api/users', { ...one, groups: ['administrator'] }, 201)
    const open = async (who?: { email: string; password: string }) => {
      const visited = await visit(browser, service.url)
      await signIn(visited.page, who)
      await visited.page.goto('/settings/approvals')
      const production = visited.page.getByRole('group', { name: 'Production' })
      return { ...visited, production, approvals: production.getByLabel('Approvals') }
    }
    const asker = await open(people[0])
    await asker.approvals.selectOption('1')
    await asker.page.getByRole('button', { name: 'Change the policy' }).click()
    await asker.page.getByText(/asked for a policy that asks less/).waitFor()
    await expect.poll(() => asker.approvals.inputValue()).toBe('2')
    // The account of whoever asked is of the administrator's making.
    const maker = await open()
    const confirm = maker.page.getByRole('button', { name: 'Confirm it' })
    await maker.page.getByText('Another person must confirm it', { exact: false }).waitFor()
    expect(await confirm.getAttribute('aria-disabled')).toBe('true')
    const other = await open(people[1])
    await other.page.getByRole('button', { name: 'Confirm it' }).click()
    await other.page.getByText('This is the policy now.').waitFor()
    await expect.poll(() => other.approvals.inputValue()).toBe('1')
    // Whoever asked reads so without a reload: saving a stale form would ask for what was before.
    await expect.poll(() => asker.page.getByText(/asked for a policy that asks less/).count()).toBe(0)
    await expect.poll(() => asker.approvals.inputValue()).toBe('1')
    await other.production.getByLabel('Valid for, in hours').fill('12')
    await other.page.getByRole('button', { name: 'Change the policy' }).click()
    const read = async () => (await api.call('GET', '/api/approval-policy')).body
    await expect.poll(read).toMatchObject({ production: { approvals: 1, valid_hours: 12 } })
    for (const { context } of [asker, maker, other]) await context.close()
    const users = (await api.call('GET', '/api/users')).body as { id: string; email: string }[]
    for (const { id, email } of users)
      if (people.some((one) => one.email === email)) await api.call('DELETE', `/api/users/${id}`)
  })

  test('and rights are found in the palette by other words for them', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.getByRole('link', { name: 'Fleet', exact: true }).waitFor()
    for (const [text, entry] of [
      ['policy', 'Settings: Approvals'],
      ['identity provider', 'Settings: Users'],
      ['rights', 'Settings: User groups'],
      ['sso', 'Settings: Single sign-on'],
      ['evidence', 'Reports'],
      ['admin@', 'Changes by admin@example.com'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(text)
      await page.getByRole('option', { name: entry }).waitFor()
      await page.keyboard.press('Escape')
    }
    await context.close()
  })
})

describe('tokens for programs', () => {
  test('say that no token does what takes a person, and list none of it as what one may do', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    const [created_at, expires_at] = [
      new Date().toISOString(),
      new Date(Date.now() + 3_600_000).toISOString(),
    ]
    // As one that a command line signed in with, which has all rights of its holder.
    const permissions = ['config:approve', 'config:break_glass', 'config:create']
    const token = { id: crypto.randomUUID(), name: 'laptop', permissions, created_at, expires_at }
    await page.route(/\/api\/tokens(\?|$)/, (route) => route.fulfill({ json: [token] }))
    await page.goto('/settings/tokens')
    await page.getByText('take a person who is signed in: no token can', { exact: false }).waitFor()
    const row = page.getByRole('row', { name: /laptop/ })
    // In the words of every other page, which name the right, not its code.
    await row.getByText('Write templates, fleet configs and variables').waitFor()
    expect(await row.textContent()).not.toMatch(/[Aa]pprove|break_glass|without an approval|config:/)
    await context.close()
  })

  test('one is made with a right, told once, used, and revoked', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/settings/tokens')
    await page.getByText('There is no token.').waitFor()
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Make the token' }).click()
    await dialog.getByText('The name must have 1 to 64 characters.').waitFor()
    await dialog.getByLabel('Name').fill('nightly')
    // What takes a person is not offered: a token with it would be refused.
    await dialog.getByText('Write templates, fleet configs and variables').waitFor()
    expect(await dialog.getByLabel(/config:(approve|break_glass)/).count()).toBe(0)
    await dialog
      .getByText('Approving, rejecting and breaking the glass take a person', { exact: false })
      .waitFor()
    await dialog.getByLabel(/settings:manage.*some of it takes a person/).waitFor()
    await dialog.getByLabel('config:create').check()
    await dialog.getByRole('button', { name: 'Make the token' }).click()
    const token = await dialog.getByLabel('Token', { exact: true }).inputValue()
    expect(token).toMatch(/^mst_[\w-]{43}$/)
    await dialog.getByRole('button', { name: 'I have it' }).click()
    const ask = () => fetch(`${service.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(await (await ask()).json()).toMatchObject({ permissions: ['config:create'] })
    // A new password ends it, which is said beside the new password, with a way to keep it.
    await page.goto('/settings/profile')
    await page.getByText('With the old password, your API tokens end: nightly.').waitFor()
    await page.getByLabel('Keep my API tokens').check()
    await page.goto('/settings/tokens')
    const row = page.getByRole('row', { name: /nightly/ })
    await row.getByText('Write templates, fleet configs and variables').waitFor()
    await expect.poll(() => page.content()).not.toContain(token.slice(4))
    await row.getByRole('button', { name: 'Revoke nightly' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('There is no token.').waitFor()
    expect((await ask()).status).toBe(401)
    await context.close()
  })

  test('a service account gets an owner, a group and a token, and goes with it', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    const heir = { email: 'heir@example.com', password: 'correct horse battery', groups: ['viewer'] }
    await service.api.post('/api/users', heir, 201)
    await page.goto('/settings/machines')
    await page.getByRole('button', { name: 'New service account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('deploy-bot')
    await dialog.getByLabel('Owner').selectOption({ label: TEST_ADMIN.email })
    await dialog.getByLabel('viewer', { exact: true }).uncheck()
    await dialog.getByText('Choose one at least.').waitFor()
    await dialog.getByLabel('editor', { exact: true }).check()
    await dialog.getByRole('button', { name: 'Add the account' }).click()
    const account = page.getByRole('region', { name: 'deploy-bot', exact: true }).first()
    await account.getByRole('button', { name: 'New token' }).click()
    await dialog.getByLabel('Name').fill('ci')
    await expect.poll(() => dialog.getByLabel('users:manage').count()).toBe(0)
    await dialog.getByLabel('workload:push_config').check()
    await dialog.getByRole('button', { name: 'Make the token' }).click()
    const token = await dialog.getByLabel('Token', { exact: true }).inputValue()
    await dialog.getByRole('button', { name: 'I have it' }).click()
    const headers = { authorization: `Bearer ${token}` }
    expect(await (await fetch(`${service.url}/api/me`, { headers })).json()).toMatchObject({
      email: 'service:deploy-bot',
    })
    await account.getByRole('cell', { name: TEST_ADMIN.email }).waitFor()
    await account.getByText(`Owner: ${TEST_ADMIN.email}`).waitFor()
    await account.getByRole('button', { name: 'Change deploy-bot' }).click()
    await dialog.getByLabel('viewer', { exact: true }).check()
    await dialog.getByText('deploy-bot joins: viewer').waitFor()
    await dialog.getByLabel('Owner').selectOption({ label: 'heir@example.com' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await account.getByText('Groups: editor, viewer').waitFor()
    await account.getByText('may still have them: ci.').waitFor()
    await account.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('There is no service account.').waitFor()
    expect((await fetch(`${service.url}/api/me`, { headers })).status).toBe(401)
    await context.close()
  })
})

describe('labels that operators set', () => {
  test('name the environment and the cluster in the fleet and on the workload, and keep their names', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/settings/labels')
    await page.getByRole('combobox', { name: 'Workload' }).fill('report')
    await page.getByRole('option', { name: /reported/ }).click()
    const lines = page.getByLabel('Labels, one key=value a line')
    await lines.fill('env=atlantis\ncluster=deep-1\nselector.kept=yes')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.reload()
    await lines.waitFor()
    await expect.poll(() => lines.inputValue()).toBe('cluster=deep-1\nenv=atlantis\nselector.kept=yes')
    // Who does not know its name finds it in the list of those that have labels.
    await page.goto('/settings/labels')
    const labelled = page.getByRole('region', { name: 'Workloads with labels' })
    const set = labelled
      .getByRole('row')
      .filter({ hasText: 'cluster=deep-1 · env=atlantis · selector.kept=yes' })
    await set.getByText('admin@example.com').waitFor()
    await set.getByRole('link', { name: 'reported' }).click()
    await expect.poll(() => lines.inputValue()).toBe('cluster=deep-1\nenv=atlantis\nselector.kept=yes')
    await page.goto('/?q=env%3Aatlantis')
    const row = page.getByRole('row', { name: /reported/ })
    await row.getByText('atlantis', { exact: true }).waitFor()
    await row.getByRole('link', { name: 'reported' }).click()
    await page.getByText(/deep-1 · .*atlantis/).waitFor()
    await context.close()
  })
})

describe('evidence', () => {
  test('is previewed as a page and kept as a file with its hash in the name', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/reports')
    await page.getByRole('combobox', { name: 'Workloads' }).fill('report')
    await page.getByRole('option', { name: 'reported · eu-1/shop' }).click()
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('Hash of the report').waitFor()
    await page.getByRole('heading', { name: /^Workloads/ }).waitFor()
    const kept = page.waitForEvent('download')
    await page.getByRole('button', { name: 'JSON' }).click()
    // The downloaded file is the report that is shown, byte for byte: its hashes and signatures are about these bytes.
    const text = await readFile(await (await kept).path(), 'utf8')
    await page.getByText((JSON.parse(text) as { report_hash: string }).report_hash).waitFor()
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Markdown' }).click()
    const file = await coming
    expect(file.suggestedFilename()).toMatch(/^evidence-pack-[0-9a-f]{12}\.md$/)
    const document = await readFile(await file.path(), 'utf8')
    expect(document).toContain('# Evidence Pack')
    // Files of other formats are made from the same report.
    expect(document).toContain((JSON.parse(text) as { report_hash: string }).report_hash)
    await page.getByLabel('What it covers').selectOption('fleet')
    await page.getByText(/^All \d+ workloads? that/).waitFor()
    await page.getByRole('button', { name: 'Preview' }).click()
    const table = page.getByRole('region', { name: 'Workloads', exact: true })
    await table.getByRole('columnheader', { name: 'version' }).waitFor()
    await table.getByText('All fields').first().click()
    await table.locator('dt').first().waitFor()
    await context.close()
  })

  test('of a policy that was changed is told in words', async () => {
    const rule = { approvals: 2, author_counts: false, valid_hours: 1 }
    const strict = { production: rule, other: rule, unlabelled: rule }
    const { status } = await service.api.call('PUT', '/api/approval-policy', strict)
    expect(status).toBe(200)
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/audit?action=settings.approval_policy')
    const row = page.getByRole('row', { name: /Approval policy changed/ }).first()
    await row.getByText('settings approval policy').waitFor()
    await expect
      .poll(() => row.textContent())
      .toContain('toProduction: two approvals, valid for 1 h, the author does not count.')
    await context.close()
  })

  test('of who did what is shown, and its chain verified with one button', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/audit')
    await page.getByText('Signed in', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText(/The chain is intact/).waitFor()
    await page.getByLabel('Action', { exact: true }).fill('auth.login.failure')
    await page.getByText('No event fits.').waitFor()
    expect(new URL(page.url()).searchParams.get('action')).toBe('auth.login.failure')
    await page.getByLabel('Action', { exact: true }).fill('report')
    await page.getByLabel('Person', { exact: true }).fill(TEST_ADMIN.email.slice(0, 5).toUpperCase())
    const row = page.getByRole('row', { name: /Report exported/ }).first()
    await row.getByText('markdown', { exact: true }).waitFor()
    await expect
      .poll(() => row.locator('dt').allTextContents())
      .toEqual(['format', 'report type', 'workloads'])
    await row.getByRole('button', { name: /As JSON/ }).click()
    await page.getByRole('dialog').getByText('"event_hash"').waitFor()
    await context.close()
  })
})
