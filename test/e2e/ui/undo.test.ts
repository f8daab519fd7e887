import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, SHOTS } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { GATEWAY, GATEWAY_FASTER, pushAndSettle, workloadId } from './support/scene.ts'
import { connectManaged, page, seen, service, useStage } from './support/stage.ts'

// What was done by mistake can be taken back.
let id = ''

useStage({
  pages: 'each',
  async prepare() {
    id = await connectManaged('gateway')
  },
})

test('an alert is resolved with a reason, which is shown, and opened again', async () => {
  const failing = connect(service, 'failing', 'failing-1', {
    behaviour: { kind: 'fail', errorMessage: 'no such exporter', delayMs: 10 },
  })
  const failingId = await workloadId(service, 'failing')
  await pushAndSettle(service, failingId, GATEWAY)
  const alerts = async () => (await service.api.get('/api/alerts')) as AlertRecord[]
  await eventually('it is told', async () => (await alerts()).some(({ rule }) => rule === 'push_failed'))
  await page.goto('/alerts')
  await page
    .getByText('What muster noticed by itself and somebody should look at', { exact: false })
    .waitFor()
  const row = page.getByRole('row', { name: /Push failed/ })
  await row.getByRole('button', { name: 'Resolve' }).click()
  const dialog = page.getByRole('dialog', { name: 'Resolve “Push failed” of failing' })
  await dialog.getByLabel(/^Why/).fill('we know, fixed on Monday')
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  // The mark that closes the message stands beside its text, however narrow the page is.
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    await expect
      .poll(() =>
        page.locator('.toasts .notice').evaluate((notice) => {
          const [text, close] = [notice.firstElementChild!, notice.lastElementChild!].map((one) =>
            one.getBoundingClientRect(),
          )
          return close!.left >= text!.right && close!.top < text!.bottom && close!.right <= innerWidth
        }),
      )
      .toBe(true)
  }
  await expect.poll(() => row.count()).toBe(0)
  await page.getByRole('button', { name: 'Resolved too' }).click()
  await row.getByText('“we know, fixed on Monday”').waitFor()
  await row.getByRole('button', { name: 'Open again' }).click()
  await page.getByText('The alert is open again.').waitFor()
  await row.getByRole('button', { name: 'Resolve' }).waitFor()
  expect(await alerts()).toMatchObject([{ rule: 'push_failed' }])
  await failing.stop()
  expect(seen.complaints).toEqual([])
})

test('alerts with one cause stand together, and several are resolved at once and opened again', async () => {
  const failing = { behaviour: { kind: 'fail', errorMessage: 'no such exporter', delayMs: 10 } } as const
  const agents = ['north', 'south', 'west'].map((name) => connect(service, name, `${name}-1`, failing))
  for (const name of ['north', 'south'])
    await pushAndSettle(service, await workloadId(service, name), GATEWAY_FASTER)
  await pushAndSettle(service, await workloadId(service, 'west'), GATEWAY.replace('400', '512'))
  const ids = await Promise.all(['north', 'south', 'west'].map((name) => workloadId(service, name)))
  const count = async () => {
    const all = (await service.api.get('/api/alerts')) as AlertRecord[]
    return all.filter((one) => one.rule === 'push_failed' && ids.includes(one.workload_id)).length
  }
  await eventually('they are told', async () => (await count()) === 3)
  await page.goto('/alerts')
  const group = page.getByRole('region', { name: /^Push failed · config [0-9a-f]{7}$/ }).first()
  await group.getByRole('link', { name: 'north' }).waitFor()
  await group.getByRole('link', { name: 'south' }).waitFor()
  await expect.poll(() => group.getByRole('link', { name: 'west' }).count()).toBe(0)
  await expect.poll(() => findBarriers(page, ['landmark-unique'])).toEqual([])
  await page.screenshot({ path: join(SHOTS, 'alerts-grouped.png'), fullPage: true })
  await group.getByRole('button', { name: 'Resolve 2 alerts' }).click()
  const dialog = page.getByRole('dialog', { name: 'Resolve 2 alerts' })
  await dialog.getByLabel(/^Why/).fill('the exporter of Monday')
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('2 alerts resolved.').waitFor()
  await eventually('one is left', async () => (await count()) === 1)
  await page.getByRole('button', { name: 'Undo' }).click()
  await eventually('all are back', async () => (await count()) === 3)
  // By hand: two that have nothing in common.
  for (const name of ['north', 'west']) await page.getByLabel(`Select “Push failed” of ${name}`).check()
  const bar = page.getByRole('region', { name: 'Selected alerts' })
  await bar.getByText('2 selected').waitFor()
  await bar.getByRole('button', { name: 'Resolve 2 alerts' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
  await eventually('one is left again', async () => (await count()) === 1)
  await bar.waitFor({ state: 'detached' })
  await Promise.all(agents.map((agent) => agent.stop()))
  expect(seen.complaints).toEqual([])
})

test('a draft that was started over is kept for ten minutes, also through a reload', async () => {
  await page.clock.install()
  await page.goto(`/workloads/${id}/change`)
  const editor = page.getByRole('textbox', { name: 'Draft' })
  const back = page.getByRole('button', { name: 'Bring back my draft' })
  const typeAndStartOver = async () => {
    await editor.click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('# mine ')
    await editor.getByText('# mine').waitFor()
    await expect.poll(() => back.count()).toBe(0)
    await page.getByRole('button', { name: 'Start over' }).click()
    await back.waitFor()
    await expect.poll(() => editor.textContent()).not.toContain('# mine')
  }
  await typeAndStartOver()
  await page.reload()
  await back.click()
  await editor.getByText('# mine').waitFor()
  await expect.poll(() => back.count()).toBe(0)
  await page.getByRole('button', { name: 'Start over' }).click()
  await back.waitFor()
  await page.clock.fastForward(601_000)
  await back.waitFor({ state: 'detached' })
})

const ownWords = '# mine'
/** Write something of one's own at the beginning of the draft. */
async function typeOwn(): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Draft' })
  await editor.click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type(`${ownWords}\n`)
  await editor.getByText(ownWords).waitFor()
}

test('a draft that is being written is kept aside where a request is edited as a new one', async () => {
  const asked = { draft_yaml: GATEWAY.replace('400', '512'), comment: 'More room' }
  const request = await service.api.post(`/api/workloads/${id}/config/approvals`, asked, 201)
  await page.goto(`/workloads/${id}/change`)
  await typeOwn()
  await page.goto(`/workloads/${id}/changes/${request.id}`)
  await page.getByRole('button', { name: 'Edit as a new draft' }).click()
  const editor = page.getByRole('textbox', { name: 'Draft' })
  await editor.getByText('512').waitFor()
  await page.getByRole('button', { name: 'Bring back my draft' }).click()
  await editor.getByText(ownWords).waitFor()
  expect(seen.complaints).toEqual([])
})

test('what is written where the address says what to start from outlives a reload, and the page says where it is kept', async () => {
  const mended = await connectManaged('mended')
  const first = await pushAndSettle(service, mended, GATEWAY_FASTER)
  await pushAndSettle(service, mended, GATEWAY)
  await page.goto(`/workloads/${mended}/change?hash=${first}`)
  const editor = page.getByRole('textbox', { name: 'Draft' })
  await editor.getByText('2s').first().waitFor()
  await typeOwn()
  await page.getByText('Your draft is kept in this tab only.').waitFor()
  await page.reload()
  await editor.getByText(ownWords).waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Bring back my draft' }).count()).toBe(0)
  // From another start it is what was asked for, and what was written can be brought back.
  await page.goto(`/workloads/${mended}/change?hash=reported`)
  await page.getByRole('button', { name: 'Bring back my draft' }).click()
  await editor.getByText(ownWords).waitFor()
  expect(seen.complaints).toEqual([])
})

test('the editor says that another config became active meanwhile, and compares with that one when it is asked to', async () => {
  const mover = await connectManaged('mover')
  await page.goto(`/workloads/${mover}/change`)
  const editor = page.getByRole('textbox', { name: 'Draft' })
  await typeOwn()
  const does = page.getByRole('region', { name: 'What it does' })
  const reverts = does.getByText(/2s.*5s/)
  const hash = await pushAndSettle(service, mover, GATEWAY_FASTER)
  const moved = page.getByText(/^The active config has changed since this draft was begun/)
  await moved.waitFor()
  expect(await moved.textContent()).toContain(hash.slice(0, 7))
  expect(await reverts.count()).toBe(0)
  // What would take back what somebody has just pushed is not requested before one has seen that.
  const send = page.locator('button[type=submit]', { hasText: 'Request approval' })
  await expect.poll(() => send.getAttribute('aria-disabled')).toBe('true')
  const take = page.getByRole('button', { name: 'Compare with what is active now' })
  await take.click()
  await moved.waitFor({ state: 'detached' })
  await editor.getByText(ownWords).waitFor()
  await reverts.first().waitFor()
  await expect.poll(() => send.getAttribute('aria-disabled')).not.toBe('true')
  // Where nothing was written yet, the draft is what is active now.
  await page.getByRole('button', { name: 'Start over' }).click()
  await editor.getByText('timeout: 2s').waitFor()
  await pushAndSettle(service, mover, GATEWAY.replace('timeout: 5s', 'timeout: 7s'))
  await take.click()
  await editor.getByText('timeout: 7s').waitFor()
  expect(seen.complaints).toEqual([])
})

test('a rollback says what goes back, for whom and from which to which, and keeps why', async () => {
  const name = 'ledger'
  const ledger = await connectManaged(name, { pods: 3 })
  const far = `https://${'a-rather-long-name.'.repeat(8)}example.com:4318`
  await pushAndSettle(service, ledger, GATEWAY_FASTER.replace('https://telemetry.example.com:4318', far))
  const [newest, first] = (await service.api.get(`/api/workloads/${ledger}/configs`)) as {
    config_hash: string
  }[]
  await page.goto(`/workloads/${ledger}/history`)
  const row = page.getByRole('row').filter({ hasText: first!.config_hash.slice(0, 7) })
  await row.getByRole('button', { name: 'Roll back to this' }).click()
  const dialog = page.getByRole('dialog', { name: `Roll ledger back to ${first!.config_hash.slice(0, 7)}` })
  await dialog.getByText(/^To ledger.*: 3 instances, all at once\./).waitFor()
  const sides = dialog.locator('dl').first()
  await expect
    .poll(() => sides.textContent())
    .toMatch(new RegExp(`From\\s*${newest!.config_hash.slice(0, 7)}.*pushed by admin@example.com`))
  await expect
    .poll(() => sides.textContent())
    .toMatch(new RegExp(`Back to\\s*${first!.config_hash.slice(0, 7)}`))
  await dialog.getByText(/changes processors\.batch\.timeout/).waitFor()
  await dialog.locator('.cm-merge-b').waitFor()
  expect(await findBarriers(page)).toEqual([])
  // Side by side there is half a page for a line: none is cut.
  const isCut = () =>
    dialog
      .locator('.cm-scroller')
      .evaluateAll((panes) => panes.some((pane) => pane.scrollWidth > pane.clientWidth))
  await expect.poll(isCut).toBe(false)
  for (const [width, theme] of [
    [1440, 'light'],
    [1280, 'dark'],
    [390, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: theme })
    await page.screenshot({ path: join(SHOTS, `rollback-${width}-${theme}.png`) })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await dialog.getByLabel(/^Why/).fill('the batches were too large')
  await dialog.getByRole('button', { name: 'Roll back now' }).click()
  // The dialog's own heading ends alike: only that of the page says that the rollback has begun.
  await page
    .getByRole('heading', { level: 1, name: new RegExp(`Back to ${first!.config_hash.slice(0, 7)}`) })
    .waitFor()
  await page.goto('/audit?q=rollback')
  await page.getByText('the batches were too large').first().waitFor()
  // Also where the page is the first that is opened, before the fleet is known.
  const kept = page.getByRole('row').filter({ hasText: 'the batches were too large' }).first()
  await kept.getByRole('link', { name: 'ledger' }).waitFor()
  await kept.getByText('eu-1/shop', { exact: true }).waitFor()
  await page.setViewportSize({ width: 1024, height: 768 })
  const isOver = () => page.locator('.sheet').evaluate((sheet) => sheet.scrollWidth > sheet.clientWidth)
  await expect.poll(isOver).toBe(false)
  await kept
    .locator('dd')
    .filter({ hasText: /^rb_.{9}…$/ })
    .waitFor()
  await page.screenshot({ path: join(SHOTS, 'audit-1024-light.png') })
  expect(seen.complaints).toEqual([])
})
