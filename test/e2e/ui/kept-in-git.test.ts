import { expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import { GATEWAY, GATEWAY_FASTER } from './support/scene.ts'
import { connectManaged, page, service, useStage } from './support/stage.ts'

let id = ''

useStage({
  pages: 'each',
  async prepare() {
    id = await connectManaged('kept', { behaviour: { kind: 'apply', delayMs: 50 } })
    const wish = { owner: 'platform', config: GATEWAY, commit_sha: 'c0ffee', commit_author: 'Ann' }
    await service.api.post(`/api/workloads/${id}/config/desired`, wish, 200)
  },
})

const button = (name: string) => page.getByRole('button', { name, exact: true })
const notice = () => page.getByRole('status').filter({ hasText: 'kept in Git by platform' })

test('a config that is kept in Git says so, and is changed here in an emergency only', async () => {
  await page.goto(`/workloads/${id}/change`)
  await notice().waitFor()
  expect(await notice().textContent()).toContain('c0ffee by Ann')
  expect(await notice().textContent()).not.toContain('is not what Git asks for')
  const ask = button('Request approval')
  await expect.poll(() => ask.getAttribute('title')).toBe('The config is kept in Git: change it there.')
  await page.getByLabel('This is an emergency: I will push it without approval').check()
  await expect.poll(() => ask.getAttribute('title')).toBe('The draft is what is active already.')
  expect(await findBarriers(page)).toEqual([])
})

test('a request from here is not approved, but may be pushed without', async () => {
  const draft = { draft_yaml: GATEWAY_FASTER, comment: 'by hand' }
  const request = await service.api.post(`/api/workloads/${id}/config/approvals`, draft, 201)
  await page.goto(`/workloads/${id}/changes/${request.id}`)
  const approve = button('Approve')
  await expect
    .poll(() => approve.getAttribute('title'))
    .toBe('The config is kept in Git: a request from here is not approved.')
  const broken = {
    comment: 'now',
    break_glass: true,
    break_glass_reason: 'an incident',
    prod_double_confirmed: true,
  }
  await service.api.post(`/api/workloads/${id}/config/approvals/${request.id}/push`, broken, 202)
  await page.goto(`/workloads/${id}/configuration`)
  await notice().waitFor()
  expect(await notice().textContent()).toContain('What is active is not what Git asks for.')
})

test('it is said in French', async () => {
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'fr' })
  await page.goto(`/workloads/${id}/change`)
  await page.getByText('La configuration est tenue dans Git par platform, commit c0ffee de Ann.').waitFor()
  await service.api.call('PUT', '/api/me/preferences', { theme: 'system', language: 'en' })
})
