import { join } from 'node:path'
import { expect } from 'vitest'
import { SHOTS } from './browser.ts'
import { page } from './stage.ts'

/** Photograph the page, wide and narrow, in both themes; nothing of it is beyond the side of the window. */
export async function photograph(name: string): Promise<void> {
  for (const width of [1440, 390])
    for (const theme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: theme })
      await page.screenshot({ path: join(SHOTS, `${name}-${width}-${theme}.png`) })
      const beyond = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      await expect.poll(beyond).toBeLessThanOrEqual(0)
    }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}
