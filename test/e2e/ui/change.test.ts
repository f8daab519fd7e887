import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import { SUPERVISED } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { pasteInto, signIn, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { browser, connectAgent, service, useStage } from './support/stage.ts'

const GOOD = `receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 0.0.0.0:4317
processors:
  memory_limiter:
    check_interval: 1s
    limit_mib: 400
  batch:
    timeout: 5s
exporters:
  debug: {}
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, batch]
      exporters: [debug]
`
const BETTER = GOOD.replace('5s', '2s')
const REJECTED = GOOD.replace('debug: {}', 'nosuchvendor: {}').replace('[debug]', '[nosuchvendor]')

let workload = ''

async function workloadId(name: string): Promise<string> {
  return eventually(`${name} is listed`, async () => {
    const list = (await service.api.get('/api/workloads')) as { id: string; display_name: string }[]
    return list.find((one) => one.display_name === name)?.id
  })
}

/** Write a draft and request it with a comment; the browser then shows the review. */
async function propose(page: Page, id: string, yaml: string, comment: string): Promise<void> {
  await page.goto(`/workloads/${id}/change`)
  await pasteInto(page, page.getByRole('textbox', { name: 'Draft' }), yaml)
  await page.getByRole('region', { name: 'Checks' }).getByText('YAML').waitFor()
  await page.getByLabel('Comment for the reviewer').fill(comment)
  const confirm = page.getByLabel('I know that this reaches production.')
  if (await confirm.isVisible()) await confirm.check()
  await page.locator('button[type=submit]:not([aria-disabled])', { hasText: 'Request approval' }).click()
  await page.getByRole('heading', { name: comment }).waitFor()
}

async function approveAndPush(page: Page): Promise<void> {
  await page.getByLabel('Your comment').fill('checked')
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByRole('button', { name: 'Push', exact: true }).click()
  await page.getByRole('button', { name: 'Push now' }).click()
  await page.waitForURL(/\/pushes\//)
}

/** More stops than there are before any part of these pages. */
const STOPS_MAX = 60

/** Go to a part of the page with Tab alone. */
async function tabTo(page: Page, part: Locator): Promise<void> {
  const hasFocus = () => part.evaluate((element) => element.contains(document.activeElement))
  for (let stop = 0; stop < STOPS_MAX && !(await hasFocus()); stop++) await page.keyboard.press('Tab')
  expect(await hasFocus()).toBe(true)
}

useStage({
  pages: 'none',
  env: { MIN_AGENT_VERSION: '0.140.0' },
  async prepare() {
    for (const pod of ['a', 'b', 'c'])
      connectAgent('checkout', `checkout-${pod}`, { behaviour: { kind: 'apply', delayMs: 300 } })
    workload = await workloadId('checkout')
  },
})

describe('a change', () => {
  test('is proposed, approved and pushed, and one watches it converge', async () => {
    const { page, context, complaints } = await visit(browser, service.url)
    await signIn(page)
    await page.getByRole('link', { name: 'checkout', exact: true }).click()
    await page.getByText('It runs its own config; none was pushed from here.').waitFor()
    await page.getByRole('link', { name: 'Propose a change' }).click()
    await propose(page, workload, GOOD, 'The first config from here')
    await page.getByText('waiting for approval').first().waitFor()
    // What is not approved cannot be pushed.
    await expect.poll(() => page.getByRole('button', { name: 'Push', exact: true }).count()).toBe(0)
    await approveAndPush(page)
    await page.getByText(/3 applied · 0 failed/).waitFor()
    await page.getByText(/Every instance applied it within/).waitFor()
    await page.goto(`/workloads/${workload}`)
    await page.getByText('All is well: 3 instances run the assigned config.').waitFor()
    await page
      .getByRole('group', { name: /traces: from otlp through memory_limiter and batch to debug/ })
      .waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('says in words what it does, side by side, before anybody approves', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await propose(page, workload, BETTER, 'Shorter batches')
    await page.getByText(/changes processors\.batch\.timeout/).waitFor()
    await page.locator('.cm-merge-b').waitFor()
    await approveAndPush(page)
    await page.getByText(/3 applied · 0 failed/).waitFor()
    await page.goto(`/workloads/${workload}/history`)
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)
    for (const box of await page.getByRole('checkbox').all()) await box.check()
    await page.getByRole('link', { name: 'Compare' }).click()
    await page.getByRole('heading', { name: 'Compare two configs' }).waitFor()
    await page.getByText(/changes processors\.batch\.timeout/).waitFor()
    await context.close()
  })

  test('shows errors while one types, and cannot be requested with them', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto(`/workloads/${workload}/change`)
    await page.getByRole('textbox', { name: 'Draft' }).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('      processors: [nowhere]')
    await page.locator('.cm-lint-marker-error').first().waitFor()
    const request = page.getByRole('button', { name: 'Request approval' })
    await expect.poll(() => request.getAttribute('aria-disabled'), { timeout: 15_000 }).toBe('true')
    await context.close()
  })

  test('that fails is rolled back, and the page says so with the cause', async () => {
    // Agents that do not report which components they have, so that no check can foresee what they will reject.
    const fragile = ['x', 'y'].map((pod) =>
      connect(service, 'fragile', `fragile-${pod}`, {
        capabilities: SUPERVISED & ~AGENT_CAPABILITIES.reportsAvailableComponents,
        behaviour: { kind: 'apply', delayMs: 200 },
      }),
    )
    const id = await workloadId('fragile')
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await propose(page, id, GOOD, 'A good one first')
    await approveAndPush(page)
    await page.getByText(/2 applied · 0 failed/).waitFor()
    await propose(page, id, REJECTED, 'This one will fail')
    await approveAndPush(page)
    await page.getByText(/of 2 instances could not apply it/).waitFor()
    await page.getByText(/The automatic rollback (went|is going) back to/).waitFor()
    await page.getByText('nosuchvendor is not part of this collector').first().waitFor()
    await page.goto(`/workloads/${id}`)
    await page.getByText(/The automatic rollback went back to/).waitFor()
    await Promise.all(fragile.map((agent) => agent.stop()))
    await context.close()
  })

  test('can break the glass, with its reason and nobody’s approval', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await propose(page, workload, GOOD.replace('400', '500'), 'More memory, now')
    await page.getByRole('button', { name: /Break glass/ }).click()
    const dialog = page.getByRole('dialog', { name: '▲ Break glass' })
    const go = dialog.getByRole('button', { name: 'Push without approval' })
    await expect.poll(() => go.getAttribute('aria-disabled')).toBe('true')
    // It asks for one text, and no box stands in the dialog.
    expect(await dialog.getByRole('textbox').count()).toBe(1)
    expect(await dialog.locator('.pane').count()).toBe(0)
    await dialog.getByLabel('Why it cannot wait').fill('collectors die of memory')
    await go.click()
    await page.waitForURL(/\/pushes\//)
    await page.getByText(/3 applied · 0 failed/).waitFor()
    // What was said once is told once.
    await page.getByText(/^The glass was broken by .*: “collectors die of memory”\.$/).waitFor()
    expect(await page.getByText('For the record', { exact: false }).count()).toBe(0)
    await context.close()
  })

  test('can break the glass in stages too', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await propose(page, workload, GOOD.replace('400', '501'), 'More memory, with care')
    await page.getByRole('button', { name: /Break glass/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Why it cannot wait').fill('collectors die of memory again')
    await dialog.getByLabel('Roll out in stages').check()
    await dialog.getByLabel('Shares of the instances, in percent').fill('34')
    await dialog.getByLabel(/seconds/).fill('1')
    await dialog.getByText('in 2 stages', { exact: false }).waitFor()
    await dialog.getByRole('button', { name: 'Push without approval' }).click()
    await page.waitForURL(/\/rollouts\//)
    await page.getByText(/Every stage is done: 3 instances run it/).waitFor()
    await context.close()
  })
})

describe('production', () => {
  test('asks twice, the second time in writing', async () => {
    const agent = connect(
      service,
      'ledger',
      'ledger-1',
      { behaviour: { kind: 'apply', delayMs: 100 } },
      'prod',
    )
    const ledger = await workloadId('ledger')
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await propose(page, ledger, GOOD, 'Ledger under management')
    await page.getByLabel('Your comment').fill('checked')
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('button', { name: 'Push', exact: true }).click()
    await page.getByLabel('Comment for the record').fill('agreed in the change meeting')
    const push = page.getByRole('button', { name: 'Push now' })
    await expect.poll(() => push.getAttribute('aria-disabled')).toBe('true')
    await page.getByLabel(/This reaches production\. Type ledger/).fill('ledger')
    await push.click()
    await page.getByText(/1 applied · 0 failed/).waitFor()
    await agent.stop()
    await context.close()
  })
})

describe('an alert', () => {
  test('is resolved with feedback, and leads to its cause', async () => {
    const agent = connect(service, 'veteran', 'veteran-1', {
      identifying: { 'service.name': 'veteran', 'service.version': '0.120.0' },
    })
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.goto('/alerts')
    const row = page.getByRole('row', { name: /Version outdated.*veteran/ })
    await row.waitFor({ timeout: 60_000 })
    await row.getByRole('button', { name: 'Resolve' }).click()
    const dialog = page.getByRole('dialog', { name: /Resolve “Version outdated” of veteran/ })
    await dialog.getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('Resolved. It stays quiet').waitFor()
    await expect.poll(() => row.count()).toBe(0)
    await page.getByRole('button', { name: 'Resolved too' }).click()
    await page.getByRole('row', { name: /Version outdated.*veteran/ }).waitFor()
    await agent.stop()
    await context.close()
  })
})

// Last of all: with further accounts the administrator is no sole approver any more. Nobody has written its text before,
// for accounts that an author of a text has made do not count as the second person for it.
describe('a change by two people', () => {
  test('is made by keyboard alone: found, drafted, requested, approved by somebody else, pushed and watched', async () => {
    connectAgent('journal', 'journal-1', { behaviour: { kind: 'apply', delayMs: 300 } })
    await workloadId('journal')
    const [nadia, omar] = ['nadia', 'omar'].map((name) => ({
      email: `${name}@example.com`,
      password: 'long enough to pass',
    }))
    for (const who of [nadia!, omar!])
      await service.api.post('/api/users', { ...who, groups: ['editor'] }, 201)
    const author = await visit(browser, service.url)
    await signIn(author.page, nadia)
    const { keyboard } = author.page
    await keyboard.press('Control+k')
    await author.page.getByRole('dialog').waitFor()
    await keyboard.type('journal')
    await author.page
      .getByRole('option', { name: /journal/ })
      .first()
      .waitFor()
    await keyboard.press('Enter')
    await author.page.getByRole('heading', { name: 'journal', level: 1 }).waitFor()
    await tabTo(author.page, author.page.getByRole('link', { name: 'Propose a change' }))
    await keyboard.press('Enter')
    const draft = author.page.getByRole('textbox', { name: 'Draft' })
    await draft.waitFor()
    await tabTo(author.page, draft)
    await keyboard.press('Control+a')
    await keyboard.insertText(GOOD.replace('5s', '3s'))
    // The editor is no trap: the next stops are behind it.
    await tabTo(author.page, author.page.getByLabel('Comment for the reviewer'))
    await keyboard.type('Without a mouse')
    const request = author.page.locator('button[type=submit]', { hasText: 'Request approval' })
    await tabTo(author.page, request)
    await expect.poll(() => request.getAttribute('aria-disabled')).toBe(null)
    await keyboard.press('Enter')
    await author.page.getByRole('heading', { name: 'Without a mouse' }).waitFor()

    const reviewer = await visit(browser, service.url)
    await signIn(reviewer.page, omar)
    await reviewer.page.goto(author.page.url())
    const comment = reviewer.page.getByLabel('Your comment')
    await comment.waitFor()
    await tabTo(reviewer.page, comment)
    await reviewer.page.keyboard.type('checked')
    await tabTo(reviewer.page, reviewer.page.getByRole('button', { name: 'Approve', exact: true }))
    await reviewer.page.keyboard.press('Enter')

    const push = author.page.getByRole('button', { name: 'Push', exact: true })
    await push.waitFor()
    await tabTo(author.page, push)
    await keyboard.press('Enter')
    const now = author.page.getByRole('button', { name: 'Push now' })
    await now.waitFor()
    await tabTo(author.page, now)
    await keyboard.press('Enter')
    await author.page.waitForURL(/\/pushes\//)
    await author.page.getByText(/1 applied · 0 failed/).waitFor()
    for (const { complaints, context } of [author, reviewer]) {
      expect(complaints).toEqual([])
      await context.close()
    }
  })
})
