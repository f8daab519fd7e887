import { existsSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { ROOT } from '../../support/environment.ts'
import { TEST_ADMIN } from './service.ts'

/** The folder for screenshots of the pages, which Git ignores. */
export const SHOTS = join(ROOT, 'test', 'e2e', 'shots')

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Start the system's Chromium, with everything off that connects to its maker. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = CANDIDATES.find((path) => existsSync(path))
  if (executablePath === undefined) throw new Error(`No Chromium is installed: ${CANDIDATES.join(', ')}`)
  mkdirSync(SHOTS, { recursive: true })
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** An open page, with the errors and warnings of its console. */
export interface Visit {
  page: Page
  context: BrowserContext
  complaints: string[]
}

/** How a page is displayed. */
export interface Looks {
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  locale?: string
}

/** Open an empty page on the service. */
export async function visit(browser: Browser, url: string, looks: Looks = {}): Promise<Visit> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: looks.width ?? 1440, height: looks.height ?? 900 },
    colorScheme: looks.theme ?? 'light',
    locale: looks.locale ?? 'en-GB',
    acceptDownloads: true,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(error.stack ?? error.message))
  return { page, context, complaints }
}

/** Sign in by typing, and wait for the page behind the login. */
export async function signIn(
  page: Page,
  who: { email: string; password: string } = TEST_ADMIN,
): Promise<void> {
  await page.goto('/')
  await page.getByLabel(/E-mail|Courriel/).fill(who.email)
  await page.getByLabel(/Password|Mot de passe/).fill(who.password)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: /Main|Principal/ }).waitFor()
}

/** Replace an editor's text. Pasted, so that the editor's own indentation does not add to it. */
export async function pasteInto(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.evaluate((pasted) => {
    const data = new DataTransfer()
    data.setData('text/plain', pasted)
    document.activeElement?.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
    )
  }, text)
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe finds against WCAG 2.2 AA, and by the rules `more`, on the page as it stands, as readable lines. */
export async function findBarriers(page: Page, more: readonly string[] = []): Promise<string[]> {
  const { readFile } = await import('node:fs/promises')
  // axe is evaluated and not added as a script element, so that the page's own content security policy stays in force.
  await page.evaluate(await readFile(axeFile, 'utf8'))
  const results = await page.evaluate(async (ids) => {
    const { axe } = globalThis as unknown as {
      axe: { run(root: Document, options: object): Promise<unknown> }
    }
    return axe.run(document, {
      runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
      rules: Object.fromEntries(ids.map((id) => [id, { enabled: true }])),
    })
  }, more)
  return (results as AxeResults).violations.flatMap((violation) =>
    violation.nodes.map((node) => `${violation.id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`),
  )
}
