import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from '../../support/oidc/provider.ts'
import type { Service } from '../support/service.ts'
import { findBarriers, launchBrowser, SHOTS, signIn, visit } from './support/browser.ts'
import { startComplete } from './support/service.ts'

let provider: TestProvider
let service: Service
let browser: Browser

beforeAll(async () => {
  const port = await findFreePort('127.0.0.1')
  const publicUrl = `http://127.0.0.1:${port}`
  provider = await startProvider(publicUrl)
  const settings = {
    MUSTER_PUBLIC_URL: publicUrl,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    OIDC_SCOPES: 'openid profile email groups',
    OIDC_NAME: 'Example SSO',
    OIDC_GROUP_MAP: '{"otel": "editor", "staff": ["viewer", "nowhere"]}',
  }
  service = await startComplete(settings, port)
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await service?.stop()
  await provider?.stop()
})

test('somebody of the provider gets in by the button, to the page that was wanted, and has no password here', async () => {
  await provider.tell({ claims: { sub: 'grace', email: 'grace@example.com', groups: ['otel'] } })
  const { page, context, complaints } = await visit(browser, service.url)
  await page.goto('/settings/profile')
  await page.getByRole('link', { name: 'Continue with Example SSO' }).click()
  await page.getByText('grace@example.com').first().waitFor()
  expect(new URL(page.url()).pathname).toBe('/settings/profile')
  await page.getByText('You sign in with the identity provider, which keeps your password.').waitFor()
  expect(complaints).toEqual([])
  // A logout at the provider ends the session here at once.
  await context.newPage().then(async (other) => {
    await other.goto(`${provider.issuer}/session/end`)
    await other.getByRole('button', { name: 'Yes, sign me out' }).click()
    await other.close()
  })
  await page.getByText('Your session has ended.').waitFor()
  await context.close()
})

test('whoever has no group that means something reads which groups came, in French too', async () => {
  await provider.tell({ claims: { sub: 'heidi', email: 'heidi@example.com', groups: ['cooks'] } })
  const { page, context } = await visit(browser, service.url)
  await page.goto('/')
  await page.getByRole('link', { name: 'Continue with Example SSO' }).click()
  await page.getByText('none of your groups has access to muster').waitFor()
  await page.getByText('cooks').waitFor()
  await page.getByRole('button', { name: 'Français' }).click()
  await page.getByText('aucun de vos groupes n’a accès à muster').waitFor()
  await context.close()
})

test('an address cannot make the page say anything', async () => {
  const { page, context } = await visit(browser, service.url)
  await page.goto('/login?sso=refused&reason=no_group&groups=call-me')
  await page.getByRole('link', { name: 'Continue with Example SSO' }).waitFor()
  await expect.poll(() => page.getByText('call-me').count()).toBe(0)
  await context.close()
})

test('an administrator links whoever has the e-mail of a local user', async () => {
  const user = { email: 'ivan@example.com', password: 'correct horse battery', groups: ['viewer'] }
  await service.api.post('/api/users', user, 201)
  await provider.tell({ claims: { sub: 'ivan', email: 'Ivan@Example.com', groups: ['otel'] } })
  const theirs = await visit(browser, service.url)
  await theirs.page.goto('/')
  await theirs.page.getByRole('link', { name: 'Continue with Example SSO' }).click()
  await theirs.page.getByText('An administrator has been asked whether that is you.').waitFor()
  const { page, context } = await visit(browser, service.url)
  await signIn(page)
  await page.goto('/settings/users')
  const links = page.getByRole('region', { name: 'Who is this?' })
  await links.getByText('Subject: ivan').waitFor()
  await links.getByRole('button', { name: 'Link', exact: true }).click()
  await page.getByText('Linked.').waitFor()
  await theirs.page.getByRole('link', { name: 'Continue with Example SSO' }).click()
  await theirs.page.getByRole('link', { name: 'Fleet', exact: true }).waitFor()
  await page.reload()
  await page
    .getByRole('row', { name: /ivan@example\.com/ })
    .getByText('identity provider', { exact: true })
    .waitFor()
  // Its groups come from there, and so does the account itself, which a removal does not shut out.
  const change = page.getByRole('button', { name: 'Change the groups of ivan@example.com' })
  expect(await change.getAttribute('aria-disabled')).toBe('true')
  expect(await change.getAttribute('title')).toContain('follow the identity provider: change them there')
  await page
    .getByRole('row', { name: /ivan@example\.com/ })
    .getByRole('button', { name: 'Remove' })
    .click()
  await page.getByText('The next sign-in with the identity provider brings this user back.').waitFor()
  await context.close()
  await theirs.context.close()
})

test('where none is configured, an administrator reads that, what is missing, and the steps in their order', async () => {
  const plain = await startComplete()
  const { page, context, complaints } = await visit(browser, plain.url)
  await signIn(page)
  await page.goto('/settings/single-sign-on')
  await page.getByText('No identity provider is configured: everybody signs in with a password').waitFor()
  await page.getByText('Set MUSTER_PUBLIC_URL: these addresses derive from it.').waitFor()
  const steps = page.getByRole('list').filter({ hasText: 'Register a web application' })
  expect(await steps.evaluate((list) => [list.tagName, getComputedStyle(list).listStyleType])).toEqual([
    'OL',
    'decimal',
  ])
  expect(await steps.getByRole('listitem').count()).toBe(3)
  // The address comes first: what is registered derives from it.
  await steps.getByRole('listitem').first().getByText('MUSTER_PUBLIC_URL').waitFor()
  // There are no groups of a provider that is not there.
  expect(await page.getByRole('heading', { name: 'Groups' }).count()).toBe(0)
  expect(await findBarriers(page)).toEqual([])
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: join(SHOTS, `single-sign-on-off-${width}.png`) })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
  }
  expect(complaints).toEqual([])
  await context.close()
  await plain.stop()
})

test('whoever came back to a server that gave no answer reads to sign in once more', async () => {
  const { page, context } = await visit(browser, service.url)
  await page.goto('/login?sso=unanswered')
  await page.getByText('Sign in once more.').waitFor()
  await page.getByRole('link', { name: 'Continue with Example SSO' }).waitFor()
  await context.close()
})

test('an administrator reads whether and how it is configured, what the provider is to know, and which groups map', async () => {
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page)
  await page.goto('/settings/single-sign-on')
  await page.getByText('People sign in with Example SSO.').waitFor()
  const fact = (name: string) =>
    page
      .locator('dt', { hasText: new RegExp(`^${name}$`) })
      .locator('xpath=following-sibling::dd[1]')
      .textContent()
  expect(await fact('Issuer')).toBe(provider.issuer)
  expect(await fact('Redirect URI')).toBe(`${service.url}/api/auth/oidc/callback`)
  expect(await fact('Back-channel logout URI')).toBe(`${service.url}/api/auth/oidc/backchannel-logout`)
  const row = page.getByRole('row').filter({ hasText: 'staff' })
  await row.getByText('nowhere: there is no such group here').waitFor()
  await page.getByRole('row').filter({ hasText: 'otel' }).getByText('editor').waitFor()
  expect(await page.content()).not.toContain(CLIENT_SECRET)
  expect(await findBarriers(page)).toEqual([])
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: join(SHOTS, `single-sign-on-${width}.png`) })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
  }
  expect(complaints).toEqual([])
  await context.close()
})
