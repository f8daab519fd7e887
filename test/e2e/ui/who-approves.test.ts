import { expect, test } from 'vitest'
import { Api } from '../support/service.ts'
import { findBarriers, pasteInto, signIn, visit } from './support/browser.ts'
import { GATEWAY, GATEWAY_FASTER, workloadId } from './support/scene.ts'
import { browser, connectAgent, service, useStage } from './support/stage.ts'

const PASSWORD = 'long enough to pass'
const NADIA = { email: 'nadia@example.com', password: PASSWORD }
const OMAR = { email: 'omar@example.com', password: PASSWORD }
const ids: string[] = []

useStage({
  pages: 'none',
  async prepare() {
    for (const name of ['here', 'there']) {
      connectAgent(name, `${name}-1`, {}, 'production')
      ids.push(await workloadId(service, name))
    }
    for (const who of [NADIA, OMAR]) await service.api.post('/api/users', { ...who, groups: ['editor'] }, 201)
  },
})

const ask = async (api: Api, id: string): Promise<string> => {
  const draft = { draft_yaml: GATEWAY_FASTER, comment: 'Faster batches', prod_confirmation: true }
  return (await api.post(`/api/workloads/${id}/config/approvals`, draft, 201)).id
}

test('whoever made all accounts reads before asking that nobody could approve, and who could ask instead', async () => {
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page)
  await page.goto(`/workloads/${ids[0]}/change`)
  await pasteInto(page, page.getByRole('textbox', { name: 'Draft' }), GATEWAY)
  await page.getByText('Rule: one approval, not by an author of it.', { exact: true }).waitFor()
  await page.getByText('Nobody could approve it if you ask for it.', { exact: true }).waitFor()
  await page
    .getByText('nadia@example.com and omar@example.com: made, reset, linked or regrouped by you', {
      exact: true,
    })
    .waitFor()
  const instead = page.getByRole('list', { name: 'These could ask for it instead:' })
  await expect
    .poll(() => instead.getByRole('listitem').allTextContents())
    .toEqual([
      'nadia@example.com; then omar@example.com could approve it',
      'omar@example.com; then nadia@example.com could approve it',
    ])
  expect(await findBarriers(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
  const other = await visit(browser, service.url)
  await signIn(other.page, NADIA)
  await other.page.goto(`/workloads/${ids[0]}/change`)
  await pasteInto(other.page, other.page.getByRole('textbox', { name: 'Draft' }), GATEWAY)
  await other.page.getByText('If you ask for it, these could approve it: omar@example.com').waitFor()
  await other.context.close()
})

test('whoever may not approve reads who is in the way, and where, and is not told to act', async () => {
  const nadia = new Api(service.url)
  await nadia.login(NADIA)
  const request = await ask(nadia, ids[0]!)
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page, OMAR)
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Approvals/ })
  await expect.poll(() => link.textContent()).toBe('Approvals1 for you')
  // The page says what the badge counts.
  await page.goto('/approvals')
  await page.getByText('It waits for you.', { exact: true }).waitFor()
  await page.getByText('For you: 1 change.').waitFor()
  // The administrator, who made Omar's account, asks for the same text elsewhere.
  await ask(service.api, ids[1]!)
  await page.goto(`/workloads/${ids[0]}/changes/${request}`)
  // One sentence: that nobody can, and because of whom; then each way out, with what leads there.
  const way = page.getByText('Nobody can approve it: ', { exact: false })
  await expect
    .poll(() => way.textContent())
    .toMatch(
      /^Nobody can approve it: admin@example\.com asked for the same text elsewhere, or earlier \(.*\), and made or changed your account \(.*\)\. See that request\.$/,
    )
  // By name, with why.
  await page.getByText('nadia@example.com: asked for it, or wrote it').waitFor()
  await page.getByText(/^admin@example\.com: asked for the same text before \(.*\)$/).waitFor()
  const ways = page.getByRole('list', { name: 'What ends it' })
  await ways.getByText(/makes an account that may approve; then it is asked for again/).waitFor()
  await expect
    .poll(() => ways.getByRole('button').allTextContents())
    .toEqual(['Edit as a new draft', 'Users', 'Approval policy'])
  await expect
    .poll(() => way.getByRole('link', { name: 'See that request.', exact: true }).getAttribute('href'))
    .toContain(`/workloads/${ids[1]}/changes/`)
  expect(await page.getByText(/would not count|You cannot approve it:/).count()).toBe(0)
  await expect.poll(() => link.textContent()).toBe('Approvals')
  await page.goto('/approvals')
  await page
    .getByRole('row', { name: /here/ })
    .getByText('Nobody can approve it as things stand.', { exact: true })
    .first()
    .waitFor()
  await page.getByText(/Nobody can approve \d of them as things stand\./).waitFor()
  await page.goto(`/workloads/${ids[0]}/changes/${request}`)
  await ways.waitFor()
  // The same text keeps the administrator as its author: the page says who could go on in other words. Not so that Nadia,
  // who asked for it too, approved what Omar only wrote a comment into.
  await page.goto(`/workloads/${ids[0]}/change`)
  await pasteInto(page, page.getByRole('textbox', { name: 'Draft' }), GATEWAY_FASTER)
  const reworded = page.getByRole('list', { name: /These could ask for it in other words/ })
  await expect
    .poll(() => reworded.getByRole('listitem').allTextContents())
    .toEqual(['nadia@example.com; then omar@example.com could approve it'])
  expect(await findBarriers(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})

test('where nobody can approve, what the page says to do leads to an approval', async () => {
  const draft = { draft_yaml: GATEWAY, comment: 'As it was', prod_confirmation: true }
  const path = `/api/workloads/${ids[1]}/config/approvals`
  const first = await service.api.post(path, draft, 201)
  const { page, context } = await visit(browser, service.url)
  await signIn(page)
  await page.goto(`/workloads/${ids[1]}/changes/${first.id}`)
  await page.getByText(/^Nobody can approve it: /).waitFor()
  await page.getByText(/makes an account that may approve; then it is asked for again/).waitFor()
  await page.getByRole('link', { name: 'Users', exact: true }).waitFor()
  await context.close()
  const rita = { email: 'rita@example.com', password: PASSWORD }
  await service.api.post('/api/users', { ...rita, groups: ['administrator'] }, 201)
  const other = new Api(service.url)
  await other.login(rita)
  const sam = { email: 'sam@example.com', password: PASSWORD }
  await other.post('/api/users', { ...sam, groups: ['editor'] }, 201)
  const approver = new Api(service.url)
  await approver.login(sam)
  const approve = { comment: 'Compared with what ran' }
  await approver.post(`${path}/${first.id}/approve`, approve, 409)
  const again = await service.api.post(path, draft, 201)
  await approver.post(`${path}/${again.id}/approve`, approve, 200)
})
