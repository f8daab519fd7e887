import { expect, test } from 'vitest'
import { GATEWAY, pushAndSettle, workloadId } from './support/scene.ts'
import { connectAgent, page, seen, service, useStage } from './support/stage.ts'

const onHost = (host: string) => ({
  nonIdentifying: { 'host.name': host, 'os.type': 'linux', env: 'staging' },
})

useStage({
  pages: 'each',
  async prepare() {
    connectAgent('store-collector', 'store-01', onHost('store-01'))
    connectAgent('store-collector', 'store-02', onHost('store-02'))
    connectAgent('till', 'till-01', onHost('till-01'))
    for (const name of ['store-collector', 'till']) await workloadId(service, name)
  },
})

test('workloads of one name are told apart by where they are, on every page in the same form', async () => {
  const host = (name: string) => page.getByRole('link', { name, exact: true })
  for (const address of ['/?q=store', '/drift?all=true']) {
    await page.goto(address)
    await host('store-01').waitFor()
    await host('store-02').waitFor()
    await expect.poll(() => page.locator('.sub', { hasText: 'store-collector' }).count()).toBe(2)
  }
  // One that shares its name with nobody keeps it.
  await host('till').waitFor()
  await page.goto('/versions')
  await page.getByLabel('Recommended version').fill('0.150.0')
  await page.getByRole('button', { name: 'Recommend', exact: true }).click()
  await host('store-01').first().waitFor()
  await host('store-02').first().waitFor()
  await page.goto('/?q=store')
  await host('store-01').click()
  await page.getByRole('heading', { level: 1, name: 'store-01' }).waitFor()
  await expect.poll(() => page.title()).toBe('store-01 · store-collector · muster')
  await page.getByRole('link', { name: /^History/ }).click()
  await expect.poll(() => page.title()).toBe('store-01 · store-collector · History · muster')
  await page.goto('/settings/users')
  await expect.poll(() => page.title()).toBe('Users · Settings · muster')
  // An instance without a pod is called by its host on the page of a push as well.
  const till = await workloadId(service, 'till')
  const hash = await pushAndSettle(service, till, GATEWAY)
  await page.goto(`/workloads/${till}/pushes/${hash}`)
  await page.getByRole('region', { name: 'Instances' }).getByRole('link', { name: 'till-01' }).waitFor()
  expect(seen.complaints).toEqual([])
})
