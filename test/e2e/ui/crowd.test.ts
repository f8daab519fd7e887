import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { signIn, type Visit, visit } from './support/browser.ts'
import { announceThousands, connect } from './support/fleet.ts'
import { measure, recordSmoothness, type Smoothness, scrollBy } from './support/smoothness.ts'
import { browser, service, useStage } from './support/stage.ts'

const CROWD = 15_000

let seen: Visit
let page: Page
const figures: Record<string, Smoothness> = {}

const rows = () => page.locator('tbody tr[aria-rowindex]')

/** Check that only the rows in sight are drawn, however many the table holds. */
const expectFewRows = async () => await expect.poll(() => page.locator('tbody tr').count()).toBeLessThan(120)

/** How many columns a cell stands over beyond those that its table has. */
const columnsTooMany = (cell: HTMLElement | SVGElement) => {
  const { colSpan } = cell as HTMLTableCellElement
  return colSpan - cell.closest('table')!.tHead!.rows[0]!.cells.length
}

useStage({
  pages: 'none',
  env: { WORKLOAD_DISCONNECT_GRACE_SECONDS: '3600' },
  withinMs: 400_000,
  async prepare() {
    const startedMs = performance.now()
    await announceThousands(service, CROWD)
    console.log(`${CROWD} workloads announced in ${Math.round((performance.now() - startedMs) / 1000)} s`)
    seen = await visit(browser, service.url)
    page = seen.page
    await recordSmoothness(page)
    await signIn(page)
  },
})

afterAll(() => console.table(figures))

/** Only behaviour is asserted; the measured figures are printed. */
describe('the fleet table with fifteen thousand workloads', () => {
  test('shows rows while the rest is still coming, and counts them all', async () => {
    figures['load'] = await measure(page, async () => {
      await page.reload()
      await rows().first().waitFor()
      await expectFewRows()
      await page
        .getByRole('navigation', { name: 'Counters' })
        .getByRole('link', { name: '15,000 workloads' })
        .waitFor()
    })
    await expectFewRows()
    await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(CROWD + 1))
  })

  test('scrolls a long way, and from one end to the other, and draws only what is in sight', async () => {
    figures['scroll, 120 px a frame'] = await measure(page, async () => {
      expect(await scrollBy(page, 300, 120)).toBeGreaterThan(30_000)
    })
    await expectFewRows()
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
    await page.getByRole('link', { name: 'crowd-14999' }).waitFor()
    await page.evaluate(() => window.scrollTo(0, 0))
    await page.getByRole('link', { name: 'crowd-00000' }).waitFor()
    await expectFewRows()
  })

  test('is searched as one types', async () => {
    const search = page.getByLabel('Search the fleet')
    figures['search'] = await measure(page, async () => {
      await search.pressSequentially('crowd-12345')
      await expect.poll(() => rows().count()).toBe(1)
    })
    await page.getByRole('link', { name: 'crowd-12345' }).waitFor()
    figures['search key:value'] = await measure(page, async () => {
      await search.fill('env:prod -crowd-0')
      await page.getByText('1,666 of 15,000 workloads').waitFor()
    })
    figures['search cleared'] = await measure(page, async () => {
      await search.fill('')
      await page.getByRole('link', { name: 'crowd-00000' }).waitFor()
    })
  })

  test('is filtered, sorted by every column, grouped, and walked with the arrow keys', async () => {
    // Wide enough for all columns.
    await page.setViewportSize({ width: 1720, height: 900 })
    figures['filter'] = await measure(page, async () => {
      await page.getByRole('link', { name: '0 degraded' }).click()
      await page.getByText('No workload fits this search.').waitFor()
      await page.getByRole('link', { name: '15,000 workloads' }).click()
      await rows().first().waitFor()
    })
    for (const column of ['Status', 'Environment', 'Instances', 'Config', 'Version', 'Why', 'Last seen']) {
      figures[`sort ${column}`] = await measure(page, async () => {
        const heading = page.getByRole('columnheader', { name: column })
        await heading.getByRole('button').click()
        await heading.and(page.locator('[aria-sort]')).waitFor()
      })
    }
    figures['sort Workload'] = await measure(page, async () => {
      const heading = page.getByRole('columnheader', { name: 'Workload' })
      await heading.getByRole('button').click()
      await heading.getByRole('button').click()
      await page.getByRole('link', { name: 'crowd-14999' }).waitFor()
    })
    figures['group'] = await measure(page, async () => {
      await page.getByLabel('Group by').selectOption('environment')
      await page.getByRole('rowheader', { name: 'dev · 5,000' }).waitFor()
    })
    await expectFewRows()
    await page.getByLabel('Group by').selectOption('')
    await page.getByRole('link', { name: 'crowd-14999' }).focus()
    figures['60 arrow keys'] = await measure(page, async () => {
      for (let step = 0; step < 60; step++) await page.keyboard.press('ArrowDown')
    })
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('crowd-14939')
  })

  test('takes in what changes live, in place', async () => {
    const agent = connect(service, 'newcomer', 'newcomer-1')
    figures['one arrives'] = await measure(page, async () => {
      await page
        .getByRole('navigation', { name: 'Counters' })
        .getByRole('link', { name: '15,001 workloads' })
        .waitFor()
    })
    await agent.stop()
  })

  test('the palette and every field that asks for a workload find one among them', async () => {
    figures['palette'] = await measure(page, async () => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type('crowd-09876')
      await page.getByRole('option', { name: /crowd-09876/ }).waitFor()
    })
    await page.keyboard.press('Escape')
    for (const path of ['/reports', '/settings/labels', '/templates/tpl-traces-tempo']) {
      await page.goto(path)
      const field = page.getByRole('combobox', { name: /^(Workloads?|For which workload\?)$/ }).last()
      await field.fill('crowd-09876')
      await page.getByRole('option', { name: /crowd-09876/ }).waitFor()
    }
  })

  test('what is shown elsewhere of all of them is shown in parts', async () => {
    for (const path of ['/versions?recommended=0.150.0', '/drift?all=true']) {
      figures[path] = await measure(page, async () => {
        await page.goto(path)
        await page.getByText('The first 200 of').first().waitFor({ timeout: 60_000 })
      })
      await expect.poll(() => page.locator('tbody tr').count()).toBeLessThan(700)
      const foot = page.locator('td', { has: page.getByRole('button', { name: 'Show more' }) }).first()
      expect(await foot.evaluate(columnsTooMany)).toBe(0)
      await page.getByRole('button', { name: 'Show more' }).first().click()
      await page.getByText('The first 400 of').first().waitFor()
    }
    expect(seen.complaints).toEqual([])
  })
})
