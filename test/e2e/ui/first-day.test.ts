import { beforeAll, expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import { photograph } from './support/pictures.ts'
import { FAILING_EXPORTER, GATEWAY, GATEWAY_FASTER } from './support/scene.ts'
import { agents, connectManaged, page, seen, service, useStage } from './support/stage.ts'

// What somebody asks who changes a config for the first time is answered where the question comes up.

let id = ''

useStage({ pages: 'each' })

beforeAll(async () => {
  id = await connectManaged('first', { behaviour: { kind: 'apply', delayMs: 50 } })
})

const button = (name: string) => page.getByRole('button', { name, exact: true })

test('the first thing to press about what fails by its config is to correct it', async () => {
  agents[0]?.say({ health: FAILING_EXPORTER })
  await page.goto(`/workloads/${id}`)
  const said = page.locator('main .say').filter({ hasText: 'unhealthy' })
  const ways = said.getByRole('link')
  await expect.poll(() => ways.first().textContent()).toBe('Correct it')
  await expect.poll(() => ways.first().getAttribute('class')).toContain('primary')
  await photograph('first-day-sentence')
  agents[0]?.say({ health: { healthy: true, status: 'StatusOK' } })
})

test('the editor says why a check was not run, what a comment is for, and what a group is', async () => {
  await page.goto(`/workloads/${id}/change`)
  const checks = page.getByRole('region', { name: 'Checks' })
  await checks.getByText('Trial runs are switched off on this server.').waitFor()
  await page.getByText('Its first line is what the request is called everywhere.').waitFor()
  await page.getByText(/A new request takes the place of the one that waits for the same group/).waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
  await photograph('first-day-editor')
})

test('a push says that its comment may be left out, and its page has the ways back: to the workload, and to the config before', async () => {
  const path = `/api/workloads/${id}/config/approvals`
  const asked = await service.api.post(path, { draft_yaml: GATEWAY_FASTER, comment: 'Faster' }, 201)
  await service.api.post(`${path}/${asked.id}/approve`, { comment: 'fine' }, 200)
  await page.goto(`/workloads/${id}/changes/${asked.id}`)
  await button('Push').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Comment for the record (optional)').waitFor()
  await dialog.getByRole('button', { name: 'Push now' }).click()
  await page.getByText('1 applied · 0 failed').waitFor()
  const pushed = page.url()
  await expect.poll(() => findBarriers(page)).toEqual([])
  await photograph('first-day-pushed')
  await page.getByRole('link', { name: '← first' }).click()
  await page.waitForURL(new RegExp(`/workloads/${id}$`))
  await page.goto(pushed)
  await page.getByRole('link', { name: 'Roll back', exact: true }).click()
  await page.waitForURL(/history/)
  await button('Roll back to this').and(page.locator(':not([aria-disabled])')).first().click()
  await dialog.getByRole('button', { name: 'Roll back now' }).click()
  await page.waitForURL(/pushes/)
  await page.getByText('1 applied · 0 failed').waitFor()
  const { content } = await service.api.get(
    `/api/workloads/${id}/configs/${/pushes\/([^?]+)/.exec(page.url())?.[1]}`,
  )
  expect(content).toBe(GATEWAY)
  // What is not active any more is not gone back from.
  await page.goto(pushed)
  await page.getByRole('link', { name: '← first' }).waitFor()
  expect(await page.getByRole('link', { name: 'Roll back', exact: true }).count()).toBe(0)
  expect(seen.complaints).toEqual([])
})
