import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { eventually } from '../../support/eventually.ts'
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from '../../support/oidc/provider.ts'
import { runReadmeCommands } from '../../support/readme-commands.ts'
import { runClient } from '../support/client.ts'
import { type Running, startProgram } from '../support/processes.ts'
import { BUNDLE, type Service } from '../support/service.ts'
import { findBarriers, launchBrowser, signIn, visit } from './support/browser.ts'
import { startComplete, TEST_ADMIN } from './support/service.ts'

let provider: TestProvider
let service: Service
let browser: Browser
let folder: string
let context: BrowserContext | undefined
const started: Running[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-e2e-login-'))
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
    OIDC_GROUP_MAP: '{"otel": "editor"}',
  }
  service = await startComplete(settings, port)
  browser = await launchBrowser()
})

afterEach(async () => {
  await context?.close()
  await Promise.all(started.splice(0).map((one) => one.stop()))
})

afterAll(async () => {
  await browser?.close()
  await service?.stop()
  await provider?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Start `muster login`, with a program in place of the browser that writes down the address that it was to open. */
async function begin(name: string, ...more: string[]) {
  const shown = join(folder, `${name}-address`)
  const program = join(folder, `${name}-browser`)
  await writeFile(
    program,
    `#!/bin/sh\nprintf %s "$1" > '${shown}.part' && /bin/mv '${shown}.part' '${shown}'\n`,
  )
  await chmod(program, 0o755)
  const env = { XDG_CONFIG_HOME: join(folder, name), BROWSER: program }
  const args = ['login', '--url', service.url, ...more]
  const login = startProgram(process.execPath, [BUNDLE, ...args], { cwd: folder, env })
  started.push(login)
  const printed = await eventually('it says where to confirm it', async () =>
    /^ {2}(http:\S+)\n\nThe page shows this code: (\S+)$/m.exec(login.output()),
  )
  return { env, login, shown, address: printed[1]!, code: printed[2]! }
}

async function open(locale = 'en-GB'): Promise<{ page: Page; complaints: string[] }> {
  const seen = await visit(browser, service.url, { locale })
  context = seen.context
  return seen
}
const confirm = (page: Page) => page.getByRole('button', { name: 'The code is the same: sign it in' })

test('somebody who logs in on the way confirms a command line, which then is signed in for 12 hours', async () => {
  const { env, login, shown, code } = await begin('password')
  const opened = await eventually('a browser is opened', () => readFile(shown, 'utf8').catch(() => null))
  const { page, complaints } = await open()
  // The arguments of its process, which everybody on the machine sees, say nothing of the question.
  expect(opened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}$/)
  await page.goto(opened)
  await page.getByLabel('E-mail').fill(TEST_ADMIN.email)
  await page.getByLabel('Password').fill(TEST_ADMIN.password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Let a command line act as you?' }).waitFor()
  await page.getByText(code).waitFor()
  await page.getByText(TEST_ADMIN.email).first().waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
  // The command line is not signed in before somebody confirms it.
  expect(login.hasEnded()).toBe(false)
  await confirm(page).click()
  await page.getByText('The command line is signed in. You can close this page.').waitFor()
  expect(page.url()).toBe(`${service.url}/command-line?end=done`)
  await login.ended
  expect({ code: login.exitCode(), output: login.output() }).toEqual({
    code: 0,
    output: expect.stringContaining(`Signed in to ${service.url} as ${TEST_ADMIN.email}`),
  })
  const file = join(env.XDG_CONFIG_HOME, 'muster/credentials.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const token = JSON.parse(await readFile(file, 'utf8')).tokens[service.url]
  expect(token).toMatch(/^mst_/)
  expect(login.output()).not.toContain(token)
  expect(await runClient(['get', 'workloads'], { env })).toMatchObject({ code: 0 })
  const [listed] = await service.api.get('/api/tokens')
  const lasts = Date.parse(listed.expires_at) - Date.parse(listed.created_at)
  expect(lasts).toBe(12 * 3_600_000)
  expect(await runClient(['logout', '--revoke'], { env })).toMatchObject({ code: 0 })
  expect(await service.api.get('/api/tokens')).toEqual([])
  expect(complaints).toEqual([])
})

test('the commands of the README sign in, look and sign out', async () => {
  const bin = join(folder, 'bin')
  const shown = join(folder, 'readme-address')
  await mkdir(bin)
  await writeFile(join(bin, 'muster'), `#!/bin/sh\nexec '${process.execPath}' '${BUNDLE}' "$@"\n`)
  await writeFile(
    join(bin, 'browser'),
    `#!/bin/sh\nprintf %s "$1" > '${shown}.part' && /bin/mv '${shown}.part' '${shown}'\n`,
  )
  for (const name of ['muster', 'browser']) await chmod(join(bin, name), 0o755)
  const said = runReadmeCommands('login', {
    MUSTER_URL: service.url,
    XDG_CONFIG_HOME: join(folder, 'readme'),
    BROWSER: join(bin, 'browser'),
    PATH: `${bin}:${process.env['PATH']}`,
  })
  const { page } = await open()
  await signIn(page)
  await page.goto(await eventually('a browser is opened', () => readFile(shown, 'utf8').catch(() => null)))
  await confirm(page).click()
  await page.getByText('The command line is signed in.').waitFor()
  expect(await said).toMatch(/Signed in to .*\nNAME +PLACE +STATUS[\s\S]*\nRevoked the token/)
})

test('somebody of the identity provider comes back to the page and confirms', async () => {
  await provider.tell({ claims: { sub: 'grace', email: 'grace@example.com', groups: ['otel'] } })
  const { login, address, code } = await begin('provider', '--no-browser')
  const { page } = await open()
  await page.goto(address)
  await page.getByRole('link', { name: 'Continue with Example SSO' }).click()
  await page.getByText(code).waitFor()
  await confirm(page).click()
  await page.getByText('The command line is signed in. You can close this page.').waitFor()
  await login.ended
  expect(login.output()).toContain('as grace@example.com')
})

test('a refusal ends the command line, in French as well', async () => {
  const { login, address } = await begin('refused', '--no-browser')
  const { page } = await open('fr-FR')
  await signIn(page)
  await page.goto(address)
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  await page.reload()
  await page.getByRole('heading', { name: 'Laisser une ligne de commande agir en votre nom ?' }).waitFor()
  await page.getByRole('link', { name: 'Refuser' }).click()
  await page.getByText('La ligne de commande a été refusée. Vous pouvez fermer cette page.').waitFor()
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'en' })
  await login.ended
  expect({ code: login.exitCode(), output: login.output() }).toEqual({
    code: 3,
    output: expect.stringContaining('the sign-in was refused in the browser'),
  })
})

test('an answer to another sign-in, or from another name of this machine, is not taken', async () => {
  const first = await begin('first', '--no-browser')
  const second = await begin('second', '--no-browser')
  const of = (address: string) => new URL(address).searchParams
  const port = of(first.address).get('port')
  const answers = [
    `http://127.0.0.1:${port}/?code=mine&state=${of(second.address).get('state')}`,
    `http://127.0.0.1:${port}/?code=mine`,
    `http://127.0.0.1:${port}/?error=denied&state=`,
    `http://127.0.0.1:${port}/elsewhere?code=mine&state=${of(first.address).get('state')}`,
    `http://localhost:${port}/?code=mine&state=${of(first.address).get('state')}`,
  ]
  for (const address of answers) expect((await fetch(address)).status).toBe(400)
  expect(first.login.hasEnded()).toBe(false)
  // An attacker who knows the state has another challenge confirmed, and sends that code.
  const mixed = new URL(first.address)
  mixed.searchParams.set('challenge', of(second.address).get('challenge')!)
  const { page } = await open()
  await signIn(page)
  await page.goto(mixed.href)
  await page.getByText(second.code).waitFor()
  await expect.poll(() => page.getByText(first.code).count()).toBe(0)
  await confirm(page).click()
  await page.getByText('The command line was not signed in; it says why.').waitFor()
  await first.login.ended
  expect({ code: first.login.exitCode(), output: first.login.output() }).toEqual({
    code: 3,
    output: expect.stringContaining('command_line_code_invalid'),
  })
  expect(second.login.hasEnded()).toBe(false)
})

test('nobody waits for ever, and an address of something else is no question', async () => {
  const { login } = await begin('late', '--no-browser', '--timeout', '1')
  await login.ended
  expect({ code: login.exitCode(), output: login.output() }).toEqual({
    code: 1,
    output: expect.stringContaining('nobody confirmed the sign-in in time'),
  })
  const { page } = await open()
  await signIn(page)
  const wrong = new URLSearchParams({ challenge: 'x', state: 'y', port: '80@evil.example.com', machine: 'z' })
  await page.goto(`/command-line?${wrong}`)
  await page.getByText('This address is no sign-in of a command line.').waitFor()
  await expect.poll(() => confirm(page).count()).toBe(0)
})

test('the page cannot be put into a frame of another page', async () => {
  const { headers } = await fetch(`${service.url}/command-line`)
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  const { address } = await begin('framed', '--no-browser')
  const { page } = await open()
  await signIn(page)
  const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
  await page.setContent(`<iframe src="${address.replaceAll('&', '&amp;')}"></iframe>`)
  await refused
  await expect.poll(() => page.frameLocator('iframe').getByRole('button').count()).toBe(0)
})
