import { expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import { GATEWAY_FASTER, GATEWAY_KAFKA, pushAndSettle, SECRETIVE } from './support/scene.ts'
import { connectManaged, page, seen, service, useStage } from './support/stage.ts'

// Who works by keyboard goes on from where it happened: a button that is gone leaves the focus on what says so.

let id = ''

useStage({
  pages: 'each',
  async prepare() {
    id = await connectManaged('by-keyboard', {
      capabilities: SECRETIVE,
      behaviour: { kind: 'apply', delayMs: 50 },
    })
  },
})

const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
const ask = async (comment: string): Promise<string> => {
  const draft = { draft_yaml: GATEWAY_FASTER, comment }
  return (await service.api.post(`/api/workloads/${id}/config/approvals`, draft, 201)).id
}

test('after an approval, and after a withdrawal, the focus is on the sentence that says so', async () => {
  await page.goto(`/workloads/${id}/changes/${await ask('By keys')}`)
  await page.getByLabel('Your comment').fill('I read it.')
  await page.getByRole('button', { name: 'Approve', exact: true }).press('Enter')
  await expect.poll(focused).toBe('Approved by admin@example.com.')
  await page.getByRole('button', { name: 'Withdraw', exact: true }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw', exact: true }).press('Enter')
  await expect.poll(focused).toBe('This request was withdrawn. It cannot be pushed.')
  expect(await findBarriers(page)).toEqual([])
  expect(seen.complaints).toEqual([])
})

test('“Correct it” opens the editor with the cursor on the line that the push failed of', async () => {
  const hash = await pushAndSettle(service, id, GATEWAY_KAFKA)
  await page.goto(`/workloads/${id}/pushes/${hash}`)
  await page.getByRole('link', { name: 'Correct it' }).first().click()
  await page.waitForURL(/change\?hash=/)
  const draft = page.getByRole('textbox', { name: 'Draft' })
  await draft.getByText('kafka').first().waitFor()
  const line = () => page.locator('.cm-activeLine').textContent()
  await expect.poll(line).toContain('kafka')
  expect(seen.complaints).toEqual([])
})
