import { expect, test } from 'vitest'
import { findBarriers, signIn, visit } from './support/browser.ts'
import { photograph } from './support/pictures.ts'
import { GATEWAY_FASTER, workloadId } from './support/scene.ts'
import { browser, connectAgent, page, seen, service, useStage } from './support/stage.ts'

// Whoever waits for a second person is told why one is needed, and where that is set.

const PASSWORD = 'long enough to pass'
const EDITOR = { email: 'nadia@example.com', password: PASSWORD }
let id = ''
let ask = ''
let production = ''

useStage({
  pages: 'each',
  async prepare() {
    connectAgent('staged', 'staged-1')
    connectAgent('live', 'live-1', {}, 'production')
    id = await workloadId(service, 'staged')
    production = await workloadId(service, 'live')
    const draft = { draft_yaml: GATEWAY_FASTER, comment: 'Faster batches' }
    ask = (await service.api.post(`/api/workloads/${id}/config/approvals`, draft, 201)).id
    await service.api.post('/api/users', { ...EDITOR, groups: ['editor'] }, 201)
  },
})

const UNLABELLED =
  'It may be production: no trusted label names its environment. That its agents report env=staging does not count, since agents may say anything.'

test('a request says why “staging” asks for another person, and leads to where that is changed', async () => {
  await page.goto(`/workloads/${id}/changes/${ask}`)
  const why = page.getByText(UNLABELLED, { exact: false })
  await why.waitFor()
  const said = page.getByRole('note').filter({ has: why })
  await expect
    .poll(() => said.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href'))))
    .toEqual([`/settings/labels?workload=${id}`, '/settings/label-rules'])
  expect(await findBarriers(page)).toEqual([])
  await photograph('why-class')
  // So does the page of the workload, and the form before it is asked for.
  await page.goto(`/workloads/${id}`)
  await page.getByText(UNLABELLED, { exact: false }).waitFor()
  await photograph('why-class-workload')
  await page.goto(`/workloads/${production}`)
  await page.getByText('It is production: its agents report env=production.', { exact: false }).waitFor()
  expect(seen.complaints).toEqual([])
})

test('an editor reads whom to ask', async () => {
  const theirs = await visit(browser, service.url)
  await signIn(theirs.page, EDITOR)
  await theirs.page.goto(`/workloads/${id}/changes/${ask}`)
  const said = theirs.page.getByRole('note').filter({ hasText: UNLABELLED })
  await said
    .getByText(
      'An administrator (admin@example.com) sets it in the settings, under “Trusted labels” or “Label rules”.',
      { exact: false },
    )
    .waitFor()
  expect(await said.getByRole('link').count()).toBe(0)
  await theirs.context.close()
})

test('the rule that gives the label is named', async () => {
  const rule = {
    name: 'Staging by its env',
    selector: { match_labels: { 'identity/name': 'staged' } },
    labels: { env: 'staging' },
    confirm_lowering: true,
  }
  await service.api.post('/api/label-rules', rule, 201)
  await page.goto(`/workloads/${id}`)
  await page
    .getByText(
      'It is not production: the trusted label env=staging says so, which the rule “Staging by its env” gives.',
      {
        exact: false,
      },
    )
    .waitFor()
})
