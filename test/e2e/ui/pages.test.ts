import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { Api } from '../support/service.ts'
import { findBarriers, SHOTS, signIn, visit } from './support/browser.ts'
import { openScene, type Scene } from './support/scene.ts'
import { browser, service, useStage } from './support/stage.ts'

let scene: Scene

useStage({
  pages: 'none',
  env: { MIN_AGENT_VERSION: '0.140.0' },
  withinMs: 180_000,
  async prepare() {
    scene = await openScene(service)
  },
})

afterAll(() => scene?.close())

/** The tables of the page that have to be scrolled sideways, and by how much. */
const listSideways = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.sheet')].flatMap((sheet) => {
      const over = sheet.scrollWidth - sheet.clientWidth
      return over > 0 ? [`${sheet.getAttribute('aria-label')} is cut off by ${over} px`] : []
    }),
  )

/** The sizes of window in px: a desk's, half of one, and a phone's. */
const DESK = { width: 1440, height: 900 }
const HALF = { width: 1024, height: 700 }
const PHONE = { width: 320, height: 800 }

/** What is wrong with the page as it stands, at one size of the window. */
async function findFaults(page: Page, size: { width: number; height: number }): Promise<string[]> {
  const faults: string[] = []
  // Half a desk has the desk's parts, so its barriers are the desk's. Parts of a page are told apart by their names too.
  if (size !== HALF) faults.push(...(await findBarriers(page, ['landmark-unique'])))
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  if (overflow > 0) faults.push(`is ${overflow} px too wide`)
  if (size !== PHONE) faults.push(...(await listSideways(page)))
  return faults
}

/** The photograph that the README shows, where it is `runtime/ui/picture.png`: a workload whose rollout was halted. */
async function photographForReadme(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(scene.pages.find(({ name }) => name === 'gateway')!.path)
  await page.getByText('The staged rollout halted', { exact: false }).waitFor()
  await page
    .getByRole('group', { name: /traces: from/ })
    .first()
    .waitFor()
  await page.screenshot({ path: join(SHOTS, 'readme.png') })
}

// The looks run at the same time, since each mostly waits. Theme and language belong to a user, so each look has a user
// of its own. A page is opened once in each look, and the window resized: one look begins wide and the other narrow, so
// that everything that is done on a page is done at both.
describe.concurrent.each([
  { theme: 'light', language: 'fr', sizes: [DESK, HALF, PHONE] },
  { theme: 'dark', language: 'en', sizes: [PHONE, HALF, DESK] },
] as const)('every page, $theme, in $language, at each width', ({ theme, language, sizes }) => {
  test('has no barrier, a quiet console, and fits its width', { timeout: 900_000 }, async () => {
    const { page, context, complaints } = await visit(browser, service.url, { theme, ...sizes[0] })
    const found: string[] = []
    const look = async (name: string) => {
      for (const size of sizes) {
        await page.setViewportSize(size)
        await page.screenshot({
          path: join(SHOTS, `${name}-${size.width}-${theme}-${language}.png`),
          fullPage: name !== 'login',
        })
        found.push(...(await findFaults(page, size)).map((line) => `${name} at ${size.width}: ${line}`))
      }
      await page.setViewportSize(sizes[0])
    }
    await page.goto('/login')
    await page.locator('input[type=email]').waitFor()
    await look('login')
    const who = { email: `${theme}@example.com`, password: 'a password of this look' }
    await service.api.post('/api/users', { ...who, groups: ['administrator'] }, 201)
    const api = new Api(service.url)
    await api.login(who)
    expect((await api.call('PUT', '/api/me/preferences', { theme, language })).status).toBe(200)
    await signIn(page, who)
    for (const { name, path, act } of scene.pages) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await act?.(page)
      await page.waitForLoadState('networkidle')
      await look(name)
      found.push(...complaints.splice(0).map((line) => `${name} console: ${line}`))
    }
    if (language === 'en') {
      expect((await api.call('PUT', '/api/me/preferences', { theme: 'light', language })).status).toBe(200)
      await photographForReadme(page)
    }
    await context.close()
    expect(found).toEqual([])
  })
})
