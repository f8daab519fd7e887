import { describe, expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import { photograph } from './support/pictures.ts'
import { GATEWAY_FASTER, GATEWAY_KAFKA, SECRETIVE } from './support/scene.ts'
import { connectManaged, page, seen, service, useStage } from './support/stage.ts'

let id = ''

useStage({
  pages: 'each',
  async prepare() {
    id = await connectManaged('asked', {
      capabilities: SECRETIVE,
      behaviour: { kind: 'apply', delayMs: 50 },
    })
  },
})

const approvals = () => `/api/workloads/${id}/config/approvals`
const request = async (yaml = GATEWAY_FASTER, comment = 'Faster batches') =>
  (await service.api.post(approvals(), { draft_yaml: yaml, comment }, 201)).id as string
const open = (request: string) => page.goto(`/workloads/${id}/changes/${request}`)
const button = (name: string) => page.getByRole('button', { name, exact: true })
const story = () => page.getByRole('region', { name: 'What happened' }).getByRole('listitem')

describe('a request', () => {
  test('is talked about and then rejected with a reason, which everybody finds again', async () => {
    await open(await request())
    await expect.poll(() => button('Ask for changes').getAttribute('aria-disabled')).toBe('true')
    await page.getByLabel('Your comment').fill('Please keep the debug exporter out.')
    await button('Ask for changes').click()
    await story().filter({ hasText: 'Please keep the debug exporter out.' }).waitFor()
    await page.getByText('waiting for approval').waitFor()

    await button('Reject').click()
    const dialog = page.getByRole('dialog', { name: 'Reject' })
    await expect
      .poll(() => dialog.getByRole('button', { name: 'Reject' }).getAttribute('aria-disabled'))
      .toBe('true')
    await dialog.getByLabel('Why').fill('Monday is a freeze.')
    await dialog.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('This request was rejected. It cannot be pushed.').waitFor()
    await expect
      .poll(() => story().allTextContents())
      .toEqual([
        expect.stringMatching(/^Requested.*Faster batches$/),
        expect.stringMatching(/^Commented admin@example.com.*debug exporter out\.$/),
        expect.stringMatching(/^Rejected admin@example.com.*Monday is a freeze\.$/),
      ])
    await expect.poll(() => button('Approve').count()).toBe(0)
    await expect.poll(() => findBarriers(page)).toEqual([])
    await page.goto('/approvals?status=closed')
    await page.getByRole('row').filter({ hasText: 'Monday is a freeze.' }).getByText('rejected').waitFor()
    // The legend says of each rule what it counts for.
    await page.getByText('What makes a risk high or medium').click()
    const legend = page.locator('details.risks')
    await legend.getByText(/OTLP endpoint changed.*Sampling rate strongly changed/).waitFor()
    await legend.getByText(/Memory limit lowered.*It replaces what the instances report to run/).waitFor()
    // What was said of it finds it again: in the palette, and on the page of all changes.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('is a freeze')
    await page.getByRole('option', { name: /Monday is a freeze\..*change · asked/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.goto('/changes?text=Monday')
    await page.getByText('Monday is a freeze.').waitFor()
    expect(seen.complaints).toEqual([])
  })

  test('is withdrawn after its approval, and can be edited again', async () => {
    const mine = await request()
    await service.api.post(`${approvals()}/${mine}/approve`, { comment: 'fine' }, 200)
    await open(mine)
    await button('Withdraw').click()
    await page.getByRole('dialog', { name: 'Withdraw' }).getByRole('button', { name: 'Withdraw' }).click()
    await page.getByText('This request was withdrawn. It cannot be pushed.').waitFor()
    await expect.poll(() => button('Push').count()).toBe(0)
    await button('Edit as a new draft').click()
    await page.getByRole('textbox', { name: 'Draft' }).getByText('timeout: 2s').waitFor()
  })

  test('that is approved and not pushed stands on the page of its workload, in the words of the changes', async () => {
    const mine = await request(GATEWAY_FASTER, 'Faster, once approved')
    await service.api.post(`${approvals()}/${mine}/approve`, { comment: 'fine' }, 200)
    await page.goto(`/workloads/${id}`)
    const said = page.getByRole('status').filter({ hasText: '“Faster, once approved”' })
    await said
      .getByText(/“Faster, once approved” is approved by admin@example\.com \(.+\) and waits for the push\./)
      .waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
    await photograph('approved-waits')
    await said.getByRole('link', { name: 'To the push', exact: true }).click()
    await page.getByRole('heading', { name: 'Faster, once approved', level: 1 }).waitFor()
    await button('Push').waitFor()
    await page.goto('/changes')
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Faster, once approved' })
      .getByText('approved, waits for the push', { exact: true })
      .waitFor()
    await service.api.post(`${approvals()}/${mine}/withdraw`, {}, 200)
    await page.goto(`/workloads/${id}`)
    await page.getByText('All is well', { exact: false }).waitFor()
    await expect.poll(() => page.getByText('waits for the push').count()).toBe(0)
  })

  test('that is approved can still be spoken against, and whoever pushes it sees that first', async () => {
    const mine = await request(GATEWAY_FASTER, 'Faster, and doubted')
    await service.api.post(`${approvals()}/${mine}/comments`, { comment: 'Before it was approved.' }, 201)
    await service.api.post(`${approvals()}/${mine}/approve`, { comment: 'fine' }, 200)
    await open(mine)
    await button('Push').waitFor()
    const since = page.getByRole('note').filter({ hasText: 'After it was approved, admin@example.com said:' })
    expect(await since.count()).toBe(0)
    await expect.poll(() => button('Ask for changes').getAttribute('aria-disabled')).toBe('true')
    await page.getByLabel('Your comment').fill('Please wait for the load test.')
    await button('Ask for changes').click()
    await page.getByText('Said. It is approved all the same, and whoever pushes it is shown this.').waitFor()
    await story().filter({ hasText: 'Please wait for the load test.' }).waitFor()
    await expect.poll(() => page.getByLabel('Your comment').inputValue()).toBe('')
    await since.filter({ hasText: 'Please wait for the load test.' }).waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
    await photograph('approved-doubted')
    await button('Push').click()
    await page.getByRole('dialog').getByRole('note').filter({ hasText: 'for the load test.' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await service.api.post(`${approvals()}/${mine}/withdraw`, {}, 200)
    await page.getByText('This request was withdrawn. It cannot be pushed.').waitFor()
    expect(await since.count()).toBe(0)
    expect(seen.complaints).toEqual([])
  })

  test('that a newer one replaced is still there, and says so', async () => {
    const first = await request()
    await request(GATEWAY_FASTER.replace('400', '512'), 'More memory, too')
    await open(first)
    await page.getByText('A newer request took its place').waitFor()
    await page.getByRole('link', { name: 'See what took its place' }).click()
    await page.getByText('More memory, too').first().waitFor()
    await page.goBack()
    await page.goto('/approvals?status=closed')
    await page.getByText('overtaken').first().waitFor()
  })

  test('that was pushed says what became of it', async () => {
    const bad = await request(GATEWAY_KAFKA, 'To Kafka')
    await service.api.post(`${approvals()}/${bad}/approve`, { comment: 'fine' }, 200)
    await service.api.post(`${approvals()}/${bad}/push`, {}, 202)
    await open(bad)
    await page.getByText(/0 applied, 1 failed of 1 instance\. The automatic rollback went back to/).waitFor()
    await page.goto('/approvals?status=pushed')
    const row = page.getByRole('row').filter({ hasText: 'To Kafka' })
    await row.getByText('failed', { exact: true }).waitFor()
    await row.getByText(/The automatic rollback went back to/).waitFor()
  })

  test('is not made of a draft that changes nothing', async () => {
    await page.goto(`/workloads/${id}/change`)
    await page.getByRole('textbox', { name: 'Draft' }).waitFor()
    const ask = button('Request approval')
    await expect.poll(() => ask.getAttribute('title')).toBe('The draft is what is active already.')
  })
})
