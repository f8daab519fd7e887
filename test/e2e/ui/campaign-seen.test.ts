import { expect, test } from 'vitest'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { eventually } from '../../support/eventually.ts'
import { findBarriers } from './support/browser.ts'
import { carryOut } from './support/carry-out.ts'
import { GATEWAY, SECRETIVE } from './support/scene.ts'
import { connectAgent, page, service, stopAgents, useStage } from './support/stage.ts'

// Whoever approves a campaign can see all of it: what is not shown at once is counted, and one button away.

useStage({ pages: 'one' })

/** Hosts that get a value of their own by their name, and those of which each is a group of its own. */
const [MANY, APART] = [53, 22]

test('the plan of a campaign says how many groups, values and lines are not shown, and shows them', async () => {
  for (let at = 0; at < MANY + APART; at++)
    connectAgent('seen', `seen-${at}-agent`, {
      nonIdentifying: { 'host.name': `seen-${String(at).padStart(2, '0')}` },
      capabilities: SECRETIVE,
    })
  const all = await eventually('all are there', async () => {
    const found = (await service.api.get('/api/workloads')) as WorkloadRecord[]
    // Those whose report is not there yet would be groups of their own.
    return found.filter((one) => one.reported_config_hash).length === MANY + APART && found
  })
  const why = 'x'.repeat(150)
  const exporters = Array.from({ length: 250 }, (_, n) => `  debug/${n}: {} # ${why}\n`)
  const content = GATEWAY.replace('  debug: {}\n', `  debug: {}\n${exporters.join('')}`)
    .replace('telemetry.example.com', `\${muster:site}.example.com`)
    .concat('# the last line\n')
  const selector = { match_labels: { 'identity/service.name': 'seen' } }
  const { id: configId } = await service.api.post('/api/fleet-configs', { name: 'Seen', selector }, 201)
  const variables = [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }]
  await service.api.post(
    `/api/fleet-configs/${configId}/versions`,
    { content, variables, comment: 'one' },
    201,
  )
  // A value of one letter is not told from the text around it: such a host is a group of its own.
  for (const [at, { id }] of all.slice(0, APART).entries())
    await service.api.call('PUT', `/api/workloads/${id}/variables`, {
      values: { site: String.fromCharCode(97 + at) },
    })
  const change = { kind: 'version', fleet_config_id: configId, number: 1, takeover: true }
  const { id } = await service.api.post('/api/campaigns', { name: 'All seen', change, scope: {} }, 201)
  await service.api.post(`/api/campaigns/${id}/plan`, {}, 202)
  await eventually(
    'it is planned',
    async () => (await service.api.get(`/api/campaigns/${id}`)).status === 'planned',
  )
  await page.goto(`/campaigns/${id}`)
  const groups = page.getByRole('region', { name: 'What changes' })
  await groups
    .getByText(`1 workload of ${MANY + APART}, such as`)
    .first()
    .waitFor()
  // The rarest first, 20 of them, and it is said how many are not there yet.
  await expect.poll(() => groups.locator('.pane').count()).toBe(20)
  await groups.getByText(`Groups with ${MANY + 2} workloads are not shown yet.`).waitFor()
  await groups.getByRole('button', { name: 'Show more: What changes' }).click()
  await expect.poll(() => groups.locator('.pane').count()).toBe(APART + 1)
  await expect.poll(() => groups.getByText('are not shown yet').count()).toBe(0)
  const large = groups.locator('.pane').last()
  await large.getByText(`${MANY} workloads of ${MANY + APART}, such as`).waitFor()
  // What changes is said in words, before the lines of the diff.
  await large.locator('.does').getByText('adds exporter debug/0', { exact: true }).waitFor()
  // Fifty values, and the others when they are asked for.
  const values = async () =>
    /^(.+) \(1 each, by identity\/host\.name\)/
      .exec((await large.locator('dd').textContent()) ?? '')?.[1]
      ?.match(/seen-\d\d/g)?.length
  expect(await values()).toBe(50)
  await large.getByText('3 more values not shown.').waitFor()
  await large.getByRole('button', { name: 'Show more: site' }).click()
  await expect.poll(values).toBe(MANY)
  await expect.poll(() => large.getByText('not shown').count()).toBe(1)
  // The diff goes on until its end.
  await large.getByText(/^The diff goes on: [\d,]+ more lines not shown\.$/).waitFor()
  expect(await large.getByText('# the last line').count()).toBe(0)
  await expect.poll(() => findBarriers(page)).toEqual([])
  const more = large.getByRole('button', { name: /^Show more: diff of / })
  for (let clicks = 0; clicks < 5 && (await more.count()) > 0; clicks++) {
    const before = await large.locator('pre').textContent()
    await more.click()
    await expect.poll(() => large.locator('pre').textContent()).not.toBe(before)
  }
  await large.getByText('+# the last line').waitFor()
  expect(await more.count()).toBe(0)
})

test('a request that a version applies by itself shows its approver the values, and what chose them', async () => {
  await stopAgents()
  for (const at of [1, 2])
    connectAgent('auto', `auto-${at}-agent`, {
      nonIdentifying: { 'host.name': `auto-${at}` },
      behaviour: { kind: 'apply', delayMs: 100 },
      capabilities: SECRETIVE,
    })
  await eventually(
    'both are there',
    async () =>
      ((await service.api.get('/api/workloads')) as WorkloadRecord[]).filter(
        ({ display_name, status }) => display_name === 'auto' && status === 'connected',
      ).length === 2,
  )
  const selector = { match_labels: { 'identity/service.name': 'auto' } }
  const { id: configId } = await service.api.post('/api/fleet-configs', { name: 'Auto', selector }, 201)
  const content = GATEWAY.replace('telemetry.example.com', `\${muster:site}.example.com`)
  const variables = [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }]
  const at = `/api/fleet-configs/${configId}`
  await service.api.post(`${at}/versions`, { content, variables, comment: 'one' }, 201)
  const change = { kind: 'version', fleet_config_id: configId, number: 1, takeover: true }
  const { id } = await service.api.post(
    '/api/campaigns',
    { name: 'Auto', change, scope: {}, waves: [{}] },
    201,
  )
  await carryOut(id)
  const planned = await service.api.post(`${at}/auto-apply/plan`, { number: 1 }, 200)
  await service.api.post(
    `${at}/auto-apply`,
    { number: 1, plan_hash: planned.plan_hash, comment: 'for newcomers' },
    201,
  )
  await page.goto(`/fleet-configs/${configId}`)
  const groups = page.getByRole('region', { name: 'What changes' })
  await groups.getByText('2 workloads of 2, such as').waitFor()
  await groups.getByText('They run this text already.').waitFor()
  await groups.getByText('auto-1, auto-2 (1 each, by identity/host.name)').waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
})
