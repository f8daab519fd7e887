import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { SimulatedAgent, SimulatedAgentOptions } from '../../../../runtime/quickstart/simulated-agent.ts'
import type { Service } from '../../support/service.ts'
import { type Looks, launchBrowser, signIn, type Visit, visit } from './browser.ts'
import { connect } from './fleet.ts'
import { GATEWAY, pushAndSettle, workloadId } from './scene.ts'
import { startComplete } from './service.ts'

// Variables that the tests of one file share. `useStage` sets them before the first test, or before each one.

/** The service that the pages are of. */
export let service: Service
/** The browser of this file. */
export let browser: Browser
/** The open page with its console messages; signed in. */
export let seen: Visit
/** The page of `seen`. */
export let page: Page

/** The collectors that `connectAgent` connected and that have not been stopped since. */
export const agents: SimulatedAgent[] = []

/** What a test file needs before its first test. */
export interface StageOptions {
  /** Settings of the service. */
  env?: Record<string, string>
  /** A page for each test, one for all of them, or none: then tests open their own. */
  pages: 'each' | 'one' | 'none'
  looks?: Looks
  /** Runs once the service is there, before a page is opened. */
  prepare?: () => Promise<void>
  /** How long the service, the preparation and the page together may take, in ms. */
  withinMs?: number
}

/** Start the service and a browser before the tests of this file; both end after them, and so do its collectors. */
export function useStage({ env, pages, looks, prepare, withinMs }: StageOptions): void {
  beforeAll(async () => {
    service = await startComplete(env)
    browser = await launchBrowser()
    await prepare?.()
    if (pages === 'one') await openPage(looks)
  }, withinMs)
  if (pages === 'each') {
    beforeEach(() => openPage(looks))
    afterEach(() => seen.context.close())
  }
  afterAll(async () => {
    await browser?.close()
    await stopAgents()
    await service?.stop()
  })
}

/** Press a button of the page and confirm in the dialog that asks, with a comment where one is given. */
export async function decide(name: string, comment = ''): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
  const dialog = page.getByRole('dialog')
  if (comment !== '') await dialog.getByLabel('Comment').fill(comment)
  await dialog.getByRole('button', { name, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Open a page on the service and sign in. It becomes `page`. */
export async function openPage(looks?: Looks): Promise<void> {
  seen = await visit(browser, service.url, looks)
  page = seen.page
  await signIn(page)
}

/** Connect a collector, which is stopped after the file's tests or by `stopAgents`. */
export function connectAgent(
  name: string,
  pod: string,
  options: Partial<SimulatedAgentOptions> = {},
  environment?: string,
): SimulatedAgent {
  const agent = connect(service, name, pod, options, environment)
  agents.push(agent)
  return agent
}

/** Connect a workload of `pods` collectors and push a config to it; returns its id. */
export async function connectManaged(
  name: string,
  options: Partial<SimulatedAgentOptions> & { pods?: number } = {},
): Promise<string> {
  const { pods = 1, ...rest } = options
  for (let pod = 1; pod <= pods; pod++) connectAgent(name, `${name}-${pod}`, rest)
  const id = await workloadId(service, name, pods)
  await pushAndSettle(service, id, GATEWAY)
  return id
}

/** Stop the collectors that were connected so far. */
export async function stopAgents(): Promise<void> {
  await Promise.all(agents.splice(0).map((agent) => agent.stop()))
}
