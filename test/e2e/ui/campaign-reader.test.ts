import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, signIn, visit } from './support/browser.ts'
import { GATEWAY, GATEWAY_FASTER, pushAndSettle, SECRETIVE, workloadId } from './support/scene.ts'
import { browser, connectAgent, page, service, useStage } from './support/stage.ts'

// What a reader of campaigns and requests missed on their pages.

useStage({ pages: 'one', withinMs: 120_000 })

async function connectTwo(): Promise<string[]> {
  for (const name of ['one', 'two'])
    connectAgent(`read-${name}`, `read-${name}-pod`, {
      behaviour: { kind: 'apply', delayMs: 100 },
      capabilities: SECRETIVE,
    })
  const ids = [await workloadId(service, 'read-one'), await workloadId(service, 'read-two')]
  for (const id of ids) await pushAndSettle(service, id, GATEWAY)
  return ids
}

test('a campaign says who holds a workload and why, counts in the log, and leaves out for a viewer what he may not read', async () => {
  const ids = await connectTwo()
  await service.api.post(`/api/workloads/${ids[1]}/hold`, { reason: 'a disk is being changed' }, 200)
  const change = { kind: 'text', yaml: GATEWAY_FASTER }
  const draft = { name: 'Read me', change, scope: { workload_ids: ids }, waves: [{}] }
  const { id } = await service.api.post('/api/campaigns', draft, 201)
  await service.api.post(`/api/campaigns/${id}/plan`, {}, 202)
  const { plan_hash } = await eventually('it is planned', async () => {
    const of = await service.api.get(`/api/campaigns/${id}`)
    return of.status === 'planned' && of
  })
  await page.goto(`/campaigns/${id}`)
  const row = page.getByRole('region', { name: 'Workloads' }).getByRole('row', { name: /read-two/ })
  await row.getByText(/admin@example\.com: a disk is being changed/).waitFor()
  for (const step of ['request', 'approve', 'start'])
    await service.api.post(`/api/campaigns/${id}/${step}`, { plan_hash, comment: 'go' }, 200)
  await eventually(
    'it is done',
    async () => (await service.api.get(`/api/campaigns/${id}`)).status === 'done',
  )
  await page.goto('/audit')
  const started = page.getByRole('row', { name: /Campaign started/ })
  await started.getByText('workloads', { exact: true }).waitFor()
  await expect.poll(() => started.textContent()).toMatch(/workloads\s*1/)
  // What was said with it stands there, and nothing of which there is none.
  await started.getByText('“go”').waitFor()
  expect(await started.textContent()).not.toMatch(/failed|count/)

  const who = { email: 'vic@example.com', password: 'long enough to pass', groups: ['viewer'] }
  await service.api.post('/api/users', who, 201)
  const { page: other, context, complaints } = await visit(browser, service.url)
  await signIn(other, who)
  for (const address of ['/campaigns', `/campaigns/${id}`]) {
    await other.goto(address)
    await other
      .getByText(/for those who hold the right “Ask for changes.*Whoever manages the users/)
      .waitFor()
    expect(await other.getByRole('alert').count()).toBe(0)
    await expect.poll(() => findBarriers(other)).toEqual([])
  }
  expect(complaints.filter((text) => text.includes('403'))).toEqual([])
  await context.close()
})

test('a request without a comment is not called by a hash', async () => {
  const id = await workloadId(service, 'read-one')
  const approvals = `/api/workloads/${id}/config/approvals`
  await service.api.post(approvals, { draft_yaml: GATEWAY.replace('5s', '9s') }, 201)
  await page.goto('/approvals')
  await page.getByRole('link', { name: 'Change without a comment' }).click()
  // Its own page calls it the same.
  await page.getByRole('heading', { name: 'Change without a comment', level: 1 }).waitFor()
})
