import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { eventually } from '../../support/eventually.ts'
import { ROOT } from '../support/environment.ts'
import { type Running, startProgram } from '../support/processes.ts'
import { launchBrowser, SHOTS, signIn, visit } from './support/browser.ts'

let data: string
let browser: Browser
let running: Running
let welcome: { url: string; email: string; password: string }

/** Run the script of `npm start` until it has printed its address and how to sign in. */
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'muster-e2e-newcomer-'))
  browser = await launchBrowser()
  const [api, opamp] = [await findFreePort('127.0.0.1'), await findFreePort('127.0.0.1')]
  running = startProgram(process.execPath, [join(ROOT, 'runtime/build/start.mjs')], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      MUSTER_DATA_DIR: data,
      LISTEN_ADDR: `127.0.0.1:${api}`,
      OPAMP_ADDR: `127.0.0.1:${opamp}`,
    },
  })
  const printed = await eventually(
    'the welcome is printed',
    async () => {
      if (running.hasEnded()) throw new Error(running.output())
      return /Open {2,}(\S+)\s+Log in {2,}(\S+)\s+(\S+)/.exec(running.output())
    },
    { explain: () => running.output() },
  )
  welcome = { url: printed[1] ?? '', email: printed[2] ?? '', password: printed[3] ?? '' }
})

afterAll(async () => {
  await browser?.close()
  await running?.stop()
  await rm(data, { recursive: true, force: true })
})

test('whoever has never seen it finds what fails, corrects it, watches it get well, and takes the evidence along', async () => {
  const { page, context, complaints } = await visit(browser, welcome.url, { width: 1280, height: 800 })
  await signIn(page, welcome)

  // A number on the fleet's page leads to the workload that is degraded.
  await page.getByRole('link', { name: '1 degraded' }).click()
  await expect.poll(() => page.locator('tbody tr[aria-rowindex]').count()).toBe(1)
  // The host that is not found is named right there, also after frames that name none.
  await page.getByText('no such host telemetry.exmaple.com').first().waitFor()
  await page.getByRole('link', { name: 'payments-collector' }).click()

  // One sentence, the picture and the component's own words say why.
  await page.getByText('2 of 2 instances are unhealthy: exporter otlphttp.').waitFor()
  await page.getByRole('group', { name: /exporter:otlphttp is unhealthy on 2 instances/ }).waitFor()
  await page.mouse.move(640, 790)
  await page.screenshot({ path: join(SHOTS, 'newcomer-1280-light-en.png') })
  await page.getByRole('link', { name: 'See the health' }).click()
  await page
    .getByText(/lookup telemetry\.exmaple\.com: no such host/)
    .first()
    .waitFor()

  // From there the newcomer proposes a correction in the config itself.
  await page.getByRole('link', { name: 'Propose a change' }).click()
  const draft = page.getByRole('textbox', { name: 'Draft' })
  await draft.getByText('exmaple').click()
  await page.keyboard.press('Home')
  await page.keyboard.press('Shift+End')
  await page.keyboard.type('endpoint: https://telemetry.example.com:4318')
  await page.getByText(/changes exporters\.otlphttp\.endpoint/).waitFor()
  await page.getByText('Nothing in the policy speaks against it.').waitFor()
  await page.getByLabel('Comment for the reviewer').fill('The host was misspelt')
  await page.locator('button[type=submit]:not([aria-disabled])', { hasText: 'Request approval' }).click()

  await page.getByRole('heading', { name: 'The host was misspelt' }).waitFor()
  await page.getByLabel('Your comment').fill('It is the right host now')
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByRole('button', { name: 'Push', exact: true }).click()
  await page.getByRole('button', { name: 'Push now' }).click()

  await page.getByText(/Every instance applied it within/).waitFor()
  await page.getByText('2 applied · 0 failed · 0 applying · 0 waiting of 2 instances').waitFor()
  await page.getByRole('link', { name: 'History', exact: true }).click()
  await page.getByText('All is well: 2 instances run the assigned config.').waitFor()

  // The report of the change can be downloaded.
  await page.getByRole('link', { name: 'Reports' }).click()
  await page.getByRole('combobox', { name: 'Workloads' }).fill('payments')
  await page.getByRole('option', { name: /payments-collector/ }).click()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Hash of the report').waitFor()
  // What was left out is said where something was.
  await page.getByText('Redacted: secrets and what may hold one were left out of it').waitFor()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'JSON' }).click()
  const pack = JSON.parse(await readFile(await (await coming).path(), 'utf8'))
  const plan = pack.sections.find(({ id }: { id: string }) => id === 'config_plan')
  expect(
    plan.items.map(({ facts }: { facts: { request_comment: string } }) => facts.request_comment),
  ).toContain('The host was misspelt')
  expect(complaints).toEqual([])
  await context.close()
})
