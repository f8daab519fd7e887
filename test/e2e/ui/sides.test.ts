import { expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import { photograph } from './support/pictures.ts'
import { GATEWAY_FASTER, pushAndSettle } from './support/scene.ts'
import { connectManaged, page, seen, service, useStage } from './support/stage.ts'

// Two texts beside each other are told apart by what stands above them: which config, whose, and from when.

let id = ''
let former = ''
let active = ''

useStage({
  pages: 'each',
  async prepare() {
    id = await connectManaged('told-apart')
    await pushAndSettle(service, id, GATEWAY_FASTER)
    const pushes = (await service.api.get(`/api/workloads/${id}/configs`)) as { config_hash: string }[]
    ;[active, former] = pushes.map(({ config_hash }) => config_hash.slice(0, 7)) as [string, string]
  },
})

const WHO = ', pushed by admin@example.com, '
/** What stands above the two texts; each text has that name for screen readers as well. */
async function sidesAre(before: string, after: string): Promise<void> {
  const shown = () => page.locator('.sides > span').allTextContents()
  await expect.poll(shown).toEqual([expect.stringContaining(before), expect.stringContaining(after)])
  const names = await page
    .locator('.cm-mergeView .cm-content')
    .evaluateAll((texts) => texts.map((text) => text.getAttribute('aria-label') ?? ''))
  expect(names).toEqual([expect.stringContaining(before), expect.stringContaining(after)])
  expect(await findBarriers(page)).toEqual([])
}

test('a request, a draft, two configs of the history and a rollback say what is left and what is right', async () => {
  const draft = GATEWAY_FASTER.replace('400', '512')
  const ask = { draft_yaml: draft, comment: 'More memory' }
  const { id: request, draft_hash: asked } = await service.api.post(
    `/api/workloads/${id}/config/approvals`,
    ask,
    201,
  )
  await page.goto(`/workloads/${id}/changes/${request}`)
  await sidesAre(`Active: ${active}${WHO}`, `Requested: ${asked.slice(0, 7)}, by admin@example.com, `)
  await photograph('sides-request')
  await page.getByRole('button', { name: 'Edit as a new draft' }).click()
  await page.waitForURL(/change$/)
  await page.getByRole('button', { name: 'Compare with what runs', exact: true }).click()
  await sidesAre(`Active: ${active}${WHO}`, 'Your draft, which nobody else sees yet')
  await page.goto(`/workloads/${id}/history`)
  await expect.poll(() => page.getByRole('checkbox').count()).toBe(2)
  for (const box of await page.getByRole('checkbox').all()) await box.check()
  await page.getByRole('link', { name: 'Compare' }).click()
  await sidesAre(`${former}${WHO}`, `${active}${WHO}`)
  await page.goto(`/workloads/${id}/history`)
  const row = page.getByRole('row').filter({ hasText: former })
  await row.getByRole('button', { name: 'Roll back to this' }).click()
  await page.getByRole('dialog').locator('.sides').waitFor()
  await sidesAre(`From ${active}${WHO}`, `Back to ${former}${WHO}`)
  await photograph('sides-rollback')
  expect(seen.complaints).toEqual([])
})
