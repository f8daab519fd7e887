import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { GATEWAY, pushAndSettle, workloadId } from './support/scene.ts'
import { connectAgent, page, service, useStage } from './support/stage.ts'

// The pages offer operators what the API can do.
let id = ''

useStage({
  pages: 'each',
  async prepare() {
    connectAgent('gateway', 'gateway-1')
    id = await workloadId(service, 'gateway')
  },
})

test('pinning in place of another config says which one, also when somebody else was faster', async () => {
  const hashes: string[] = []
  for (const seconds of [5, 4, 3])
    hashes.push(await pushAndSettle(service, id, GATEWAY.replace('timeout: 5s', `timeout: ${seconds}s`)))
  const [first, second, third] = hashes as [string, string, string]
  const pinByApi = (hash: string, status: number) =>
    service.api.post(`/api/workloads/${id}/configs/${hash}/known-good`, { force: true }, status)
  await pinByApi(first, 201)
  await page.goto(`/workloads/${id}/history`)
  const row = page.getByRole('row', { name: new RegExp(third.slice(0, 7)) })
  await row.getByRole('button', { name: 'Pin as known good' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`Config ${first.slice(0, 7)} is pinned now`).waitFor()
  await pinByApi(second, 200)
  await dialog.getByLabel('Why (optional)').fill('it is faster')
  await dialog.getByRole('button', { name: 'Pin this instead' }).click()
  await dialog.getByText('Somebody else has pinned another config meanwhile.').waitFor()
  await dialog.getByText(`Config ${second.slice(0, 7)} is pinned now`).waitFor()
  await dialog.getByRole('button', { name: 'Pin this instead' }).click()
  await row.getByText('known good', { exact: true }).waitFor()
  expect(await service.api.get(`/api/workloads/${id}/known-good`)).toMatchObject({
    config_id: third,
    replaced_config_id: second,
    replace_reason: 'it is faster',
  })
})

test('a push group is chosen by types, versions and capabilities as well', async () => {
  await page.goto('/settings/groups')
  await page.getByRole('button', { name: 'New push group' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Collectors with batch')
  await dialog
    .getByLabel('Conditions on labels, one a line')
    .fill('muster/tier=edge\nidentity/host.name in (edge-*, rim-?)')
  await dialog.getByLabel('Types').fill('collector')
  await dialog.getByLabel('Capabilities').fill('remote_config, batch')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Collectors with batch' }).waitFor()
  await page.getByText('Capabilities: batch').waitFor()
  const groups = (await service.api.get('/api/push-groups')) as { name: string; selector: object }[]
  expect(groups.find(({ name }) => name === 'Collectors with batch')!.selector).toEqual({
    match_labels: { 'muster/tier': 'edge' },
    match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['edge-*', 'rim-?'] }],
    types: ['collector'],
    capabilities: ['remote_config', 'batch'],
  })
})

test('versions end with what to do about them', async () => {
  await page.goto('/versions?recommended=9.9.9')
  await page.getByRole('status').getByText('What follows is measured by 9.9.9.').waitFor()
  const todo = page.getByRole('row', { name: /Upgrade the collector to the recommended version/ })
  await todo.getByRole('link', { name: 'gateway' }).waitFor()
})

test('a workload that lives can be removed, and comes back as a new one', async () => {
  await page.goto(`/workloads/${id}`)
  await page.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('gateway').fill('gateway')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Deleted').waitFor()
  await eventually('it is there again, without its history', async () => {
    const list = (await service.api.get('/api/workloads')) as {
      display_name: string
      active_config_hash?: string
    }[]
    return (
      list.find(({ display_name: name }) => name === 'gateway')?.active_config_hash === undefined &&
      list.length > 0
    )
  })
})
