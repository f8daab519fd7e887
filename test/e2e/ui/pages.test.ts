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

// The looks run at the same time, since each mostly waits. Theme and language belong to a user, so each look has a user
// of its own.
describe.concurrent.each([
  { theme: 'light', width: 1440, language: 'en' },
  { theme: 'dark', width: 1440, language: 'fr' },
  { theme: 'light', width: 320, language: 'fr' },
  { theme: 'dark', width: 320, language: 'en' },
  { theme: 'light', width: 1024, language: 'en' },
  { theme: 'dark', width: 1024, language: 'fr' },
] as const)('every page, $theme, $width wide, in $language', ({ theme, width, language }) => {
  test('has no barrier, a quiet console, and fits its width', { timeout: 480_000 }, async () => {
    const looks = { theme, width, height: width === 1440 ? 900 : width === 1024 ? 700 : 800 }
    const { page, context, complaints } = await visit(browser, service.url, looks)
    const found: string[] = []
    await page.goto('/login')
    await page.locator('input[type=email]').waitFor()
    await page.screenshot({ path: join(SHOTS, `login-${width}-${theme}-${language}.png`) })
    found.push(...(await findBarriers(page)).map((line) => `login ${line}`))
    const who = { email: `${theme}-${width}@example.com`, password: 'a password of this look' }
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
      await page.screenshot({
        path: join(SHOTS, `${name}-${width}-${theme}-${language}.png`),
        fullPage: true,
      })
      found.push(...(await findBarriers(page)).map((line) => `${name} ${line}`))
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      if (overflow > 0) found.push(`${name} is ${overflow} px too wide`)
      if (width >= 1024) found.push(...(await listSideways(page)).map((line) => `${name}: ${line}`))
      found.push(...complaints.splice(0).map((line) => `${name} console: ${line}`))
    }
    await context.close()
    expect(found).toEqual([])
  })
})
