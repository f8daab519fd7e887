import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { findBarriers, pasteInto, SHOTS } from './support/browser.ts'
import { announceThousands } from './support/fleet.ts'
import { GATEWAY } from './support/scene.ts'
import { page, seen, service, useStage } from './support/stage.ts'

const CROWD = 300

useStage({
  pages: 'each',
  withinMs: 120_000,
  prepare: () => announceThousands(service, CROWD),
})
beforeEach(() => page.getByText('crowd-00000').waitFor())

const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true })
const host = (at: number) => `crowd-${String(at).padStart(5, '0')}`
const bar = () => page.getByRole('region', { name: 'What to do with the selected workloads' })
const selected = (text: string) => bar().getByText(text, { exact: true }).waitFor()
const dialog = () => page.getByRole('dialog')
/** Search with the pointer in the field: while it is over the table, rows that come to fit wait behind “3 new”. */
async function find(text: string): Promise<void> {
  const field = page.getByLabel('Search the fleet')
  await field.hover()
  await field.fill(text)
}

interface Listed {
  id: string
  display_name: string
  labels?: Record<string, string>
}
const listed = (): Promise<Listed[]> => service.api.get('/api/workloads') as Promise<Listed[]>

describe('rows of the fleet', () => {
  test('are selected by pointer, in ranges and by keyboard, and stay so while another filter shows', async () => {
    await find('crowd-0000')
    await box(host(2)).click()
    await selected('1 selected')
    await box(host(5)).click({ modifiers: ['Shift'] })
    await selected('4 selected')
    await box(host(4)).click()
    await selected('3 selected')
    // By keyboard: Shift and an arrow add the next row to the selection, the space bar toggles one row.
    await box(host(5)).focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Space')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    await selected('5 selected')
    await expect.poll(() => box(host(7)).isChecked()).toBe(true)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await selected('6 selected')
    await find('crowd-00001')
    await selected('6 selected, 6 of them not shown')
    await bar().getByRole('button', { name: 'Clear' }).click()
    await bar().waitFor({ state: 'detached' })
    expect(seen.complaints).toEqual([])
  })

  test('all that a filter shows are labelled together, and what that changes is said before', async () => {
    await find('env:prod')
    await page.getByRole('checkbox', { name: 'Select all 100 rows' }).click()
    await selected('100 selected')
    await bar().getByRole('button', { name: 'Set labels…' }).click()
    const lines = dialog().getByLabel('Labels, one a line as key=value')
    await lines.fill('no pair')
    const send = dialog().getByRole('button', { name: 'Set' })
    await expect.poll(() => send.getAttribute('title')).toBe('“no pair” is no key=value.')
    await lines.fill('tier=edge\nsite=paris')
    await dialog().getByText('Changes 100 of 100 workloads.').waitFor()
    await dialog().getByRole('button', { name: 'Set' }).click()
    // A hundred changes, each in a transaction of its own; the page waits half a minute for them.
    await dialog().waitFor({ state: 'detached', timeout: 35_000 })
    const labelled = (await listed()).filter(({ labels }) => labels?.['muster/tier'] === 'edge')
    expect(labelled).toHaveLength(100)
    expect(
      labelled.every(({ labels }) => labels?.['env'] === 'prod' && labels['muster/site'] === 'paris'),
    ).toBe(true)
    await find('tier:edge')
    await expect.poll(() => page.getByText('100 of 300 workloads').count()).toBe(1)
  })

  test('are held with a reason, and released', async () => {
    await find('crowd-0001')
    await page.getByRole('checkbox', { name: 'Select all 10 rows' }).click()
    await bar().getByRole('button', { name: 'Hold…' }).click()
    await dialog().getByLabel('Why').fill('They are being moved')
    await dialog().getByRole('button', { name: 'Hold', exact: true }).click()
    await page.getByText('10 workloads held.').waitFor()
    const { id } = (await listed()).find(({ display_name }) => display_name === host(12))!
    expect(await service.api.get(`/api/workloads/${id}/fleet-config`)).toMatchObject({
      hold: { reason: 'They are being moved' },
    })
    await bar().getByRole('button', { name: 'Release' }).click()
    await dialog().getByRole('button', { name: 'Release' }).click()
    await page.getByText('10 workloads released.').waitFor()
    // A refusal after some of them says how many.
    await page.route('**/api/holds', (route) =>
      route.fulfill({ status: 403, json: { error: 'no', code: 'out_of_scope', changed_count: 3 } }),
    )
    await bar().getByRole('button', { name: 'Hold…' }).click()
    await dialog().getByLabel('Why').fill('They are being moved')
    await dialog().getByRole('button', { name: 'Hold', exact: true }).click()
    await page.getByText('Stopped after 3 of 10 workloads.').waitFor()
    await page.keyboard.press('Escape')
    await page.unroute('**/api/holds')
    expect(await service.api.get(`/api/workloads/${id}/fleet-config`)).not.toHaveProperty('hold')
  })

  test('go to a campaign, more of them than an address holds, and a reload keeps them', async () => {
    await page.getByRole('checkbox', { name: 'Select all 300 rows' }).click()
    await selected('300 selected')
    await bar().getByRole('button', { name: 'Change these…' }).click()
    await page.getByText('300 workloads chosen in the fleet').waitFor()
    expect(page.url().length).toBeLessThan(200)
    await page.reload()
    await page.getByText('300 workloads chosen in the fleet').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('For all of them')
    await pasteInto(page, page.getByRole('textbox', { name: 'Config' }), GATEWAY)
    await page.getByRole('button', { name: 'Save and plan' }).click()
    await page.getByRole('heading', { name: 'For all of them', level: 1 }).waitFor()
    const [listed] = (await service.api.get('/api/campaigns')) as { id: string; named_count: number }[]
    expect(listed?.named_count).toBe(300)
    const campaign = (await service.api.get(`/api/campaigns/${listed!.id}`)) as {
      scope: { workload_ids: string[] }
    }
    expect(campaign.scope.workload_ids).toHaveLength(300)
    // A selection is known to its own tab only; another one says so, and takes it neither for none nor for all.
    await page.goto('/campaigns/new?chosen=other')
    await page.getByText('are not known to this tab any more').first().waitFor()
  })

  test('stand in groups that are closed and opened, and a group is selected as a whole', async () => {
    await page.goto('/?group=environment')
    await page.getByRole('rowheader', { name: /dev · 100/ }).waitFor()
    await box('dev · 100').click()
    await selected('100 selected')
    const fold = page.getByRole('button', { name: 'dev · 100' })
    await fold.click()
    await expect.poll(() => fold.getAttribute('aria-expanded')).toBe('false')
    await page.getByRole('rowheader', { name: /prod · 100/ }).waitFor()
    await expect.poll(() => page.getByText(host(2), { exact: true }).count()).toBe(0)
    // Rows in a closed group stay selected.
    await selected('100 selected')
    await fold.focus()
    await page.keyboard.press('Enter')
    await page.getByText(host(2), { exact: true }).waitFor()
    await page.screenshot({ path: join(SHOTS, 'selection-1440-light-en.png') })
    await expect.poll(() => findBarriers(page)).toEqual([])
    await page.setViewportSize({ width: 320, height: 800 })
    await box(host(2)).waitFor()
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
      .toBe(0)
    await expect.poll(() => findBarriers(page)).toEqual([])
    await page.screenshot({ path: join(SHOTS, 'selection-320-light-en.png') })
  })

  test('are reached by keyboard on a phone in sight, and no button of the bar stands where a row is ticked', async () => {
    await page.setViewportSize({ width: 320, height: 560 })
    await box(host(0)).click()
    await bar().waitFor()
    await box(host(0)).focus()
    // From box to link to the next row's box, and then through the boxes alone.
    for (const key of [...Array(16).fill('Tab'), 'Tab', 'Shift+Tab', ...Array(4).fill('ArrowDown')]) {
      await page.keyboard.press(key)
      // What has the focus is drawn above everything else at its middle: the bar does not cover it.
      await expect
        .poll(() =>
          page.evaluate(() => {
            const focused = document.activeElement!
            const { x, y, width, height } = focused.getBoundingClientRect()
            return document.elementFromPoint(x + width / 2, y + height / 2) === focused
          }),
        )
        .toBe(true)
    }
    await expect.poll(() => box(host(12)).evaluate((one) => one === document.activeElement)).toBe(true)
    const ticks = (await box(host(12)).boundingBox())!
    for (const button of await bar().getByRole('button').all()) {
      const { x } = (await button.boundingBox())!
      expect(x).toBeGreaterThanOrEqual(ticks.x + ticks.width / 2 + 12)
    }
  })
})
