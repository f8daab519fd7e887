import { expect, test } from 'vitest'
import { findBarriers, pasteInto } from './support/browser.ts'
import { GATEWAY, GATEWAY_FASTER, pushAndSettle, SECRETIVE, workloadId } from './support/scene.ts'
import { agents, connectAgent, decide, page, service, useStage } from './support/stage.ts'

useStage({ pages: 'one' })

const says = (text: string | RegExp) => page.getByText(text).first().waitFor()

/** Write the next version on its page; the browser then shows the fleet config's page with it. */
async function writeVersion(number: number, yaml: string, comment: string): Promise<void> {
  await page.getByRole('link', { name: 'New version' }).click()
  await pasteInto(page, page.getByRole('textbox', { name: 'Config' }), yaml)
  if (number === 1) {
    await page.getByRole('button', { name: 'Add a variable' }).click()
    await page.getByLabel('Name of variable 1').fill('timeout')
    await page.getByLabel('Type of variable 1').selectOption('duration')
    await page.getByLabel('Default of variable 1').fill('3s')
  } else await expect.poll(() => page.getByLabel('Name of variable 1').inputValue()).toBe('timeout')
  await expect.poll(() => findBarriers(page)).toEqual([])
  await page.getByLabel('Comment').fill(comment)
  await page.getByRole('button', { name: 'Save version' }).click()
  await page.getByRole('heading', { name: `Version ${number}`, level: 2 }).waitFor()
}

test('a fleet config is created, gets versions, and one of them is carried to all under it', async () => {
  for (let at = 0; at < 3; at++)
    connectAgent(`rim-${at}`, `rim-${at}-pod`, {
      behaviour: { kind: 'apply', delayMs: 100 },
      capabilities: SECRETIVE,
    })
  for (let at = 0; at < 3; at++) await pushAndSettle(service, await workloadId(service, `rim-${at}`), GATEWAY)
  await page.goto('/fleet-configs')
  await page.getByRole('link', { name: 'New fleet config' }).click()
  await page.getByLabel('Name').fill('Rim')
  await page.getByLabel('Conditions on labels, one a line').fill('identity/name=rim-*')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'Rim', level: 1 }).waitFor()
  const placeholder = `timeout: \${muster:timeout}`
  await writeVersion(1, GATEWAY.replace('timeout: 5s', placeholder), 'the first')
  await writeVersion(2, GATEWAY_FASTER, 'a shorter wait')
  await page.getByLabel('Compare with').selectOption('1')
  await page.locator('pre.diff').getByText('+    timeout: 2s').waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
  // How many have it is said beside the name; each part has a heading, and the workloads come before the text.
  await page.locator('.head').getByText('0 of 3 run version 2', { exact: true }).waitFor()
  await expect
    .poll(() => page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts())
    .toEqual(['Carry a version', 'Workloads under it', 'Newcomers', 'Versions', 'Version 2'])
  await page.getByRole('heading', { name: 'Variables', level: 3 }).waitFor()
  const choice = await page.getByLabel('Compare with').boundingBox()
  expect(choice?.width).toBeLessThanOrEqual(320)
  await page.getByRole('button', { name: 'Carry version 2 to all of them' }).click()
  await page.getByRole('heading', { name: 'Rim: version 2', level: 1 }).waitFor()
  await says('Workloads that change')
  // The same campaign without the minute for which each wave is watched.
  const id = new URL(page.url()).pathname.split('/').at(-1)!
  const { name, description, change, scope } = (await service.api.get(`/api/campaigns/${id}`)) as Record<
    string,
    unknown
  >
  const edited = await service.api.call('PUT', `/api/campaigns/${id}`, {
    name,
    description,
    change,
    scope,
    waves: [{ percentage: 100 }],
  })
  expect(edited.status).toBe(200)
  await service.api.post(`/api/campaigns/${id}/plan`, {}, 202)
  await page.reload()
  await says('Workloads that change')
  await decide('Ask for approval')
  await decide('Approve', 'looked at all three')
  await decide('Start')
  await says('Done: ')
  for (const { collector } of agents) expect(collector.storage.remoteConfig).toBe(GATEWAY_FASTER)
  await page.goto('/fleet-configs')
  await page.getByRole('link', { name: 'Rim', exact: true }).click()
  await page.locator('.head').getByText('3 of 3 run version 2', { exact: true }).waitFor()
})

test('a version is asked for and approved for newcomers, and the page says who got it by itself', async () => {
  await page.goto('/fleet-configs')
  await page.getByRole('link', { name: 'Rim', exact: true }).click()
  const newcomers = page.getByRole('region', { name: 'Newcomers' })
  await newcomers.getByText('Off: nothing is pushed by itself.').waitFor()
  await newcomers.getByRole('button', { name: 'See whom version 2 would reach' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('3 workloads run it already').waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Ask for it' }).click()
  await dialog.waitFor({ state: 'detached' })
  await newcomers.getByText('Version 2 for newcomers waits for approval').waitFor()
  await decide('Approve', 'they are like the others')
  await newcomers.getByText('Version 2 applies by itself').waitFor()
  await newcomers.getByText('(they are like the others)').waitFor()
  const late = connectAgent('rim-3', 'rim-3-pod', {
    behaviour: { kind: 'apply', delayMs: 100 },
    capabilities: SECRETIVE,
  })
  await newcomers.getByRole('region', { name: 'Pushed by itself' }).getByText('rim-3').waitFor()
  await expect.poll(() => late.collector.storage.remoteConfig).toBe(GATEWAY_FASTER)
  await newcomers.getByRole('region', { name: 'Pushed by itself' }).getByText('applied').waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
  await decide('Turn off')
  await newcomers.getByText('Off: nothing is pushed by itself.').waitFor()
  // Among the changes it is one entry, which opens to its pushes.
  await page.goto('/changes')
  const entry = page.getByRole('listitem').filter({ hasText: 'version 2 applies by itself' })
  await entry.getByRole('link', { name: 'Rim', exact: true }).waitFor()
  await entry.getByText('1 push by itself').click()
  await entry.getByRole('listitem').filter({ hasText: 'rim-3' }).waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
})

test('what fails three newcomers stops, says so, and is an alert that leads there', async () => {
  await page.goto('/fleet-configs')
  await page.getByRole('link', { name: 'Rim', exact: true }).click()
  const newcomers = page.getByRole('region', { name: 'Newcomers' })
  await newcomers.getByRole('button', { name: 'See whom version 2 would reach' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Ask for it' }).click()
  await decide('Approve', 'once more')
  await newcomers.getByText('Version 2 applies by itself').waitFor()
  for (let at = 4; at < 7; at++)
    connectAgent(`rim-${at}`, `rim-${at}-pod`, {
      behaviour: { kind: 'fail', delayMs: 100, errorMessage: 'unknown processor' },
      capabilities: SECRETIVE,
    })
  await newcomers.getByRole('alert').getByText('It stopped: 3 pushes failed one after the other.').waitFor()
  await page.goto('/alerts')
  const row = page.getByRole('row').filter({ hasText: 'Stopped applying by itself' })
  await row.getByText('3 pushes failed').waitFor({ timeout: 60_000 })
  await expect.poll(() => findBarriers(page)).toEqual([])
  await row.getByRole('link', { name: 'Rim', exact: true }).click()
  await page.getByRole('heading', { name: 'Rim', level: 1 }).waitFor()
  await decide('Continue', 'they were broken')
  await newcomers.getByText('on', { exact: true }).waitFor()
})

test('a version that is taken back names whom it came to by itself and who has nothing to go back to', async () => {
  await page.goto('/campaigns')
  await page.getByRole('link', { name: 'Rim: version 2', exact: true }).click()
  await page.getByRole('button', { name: 'Roll back', exact: true }).click()
  await page
    .getByRole('dialog')
    .getByText('4 workloads got its version by itself as the first config, and keep it.')
    .waitFor()
  await page.keyboard.press('Escape')
  await decide('Roll back')
  const region = page.getByRole('region', { name: 'Got this version by itself' })
  await region.getByText('nothing to go back to: 4').waitFor()
  await region.getByRole('link', { name: 'rim-3' }).waitFor()
  await says(/^Rolled back by /)
  for (const at of [0, 1, 2])
    await expect.poll(() => agents[at]!.collector.storage.remoteConfig).toBe(GATEWAY)
  await expect.poll(() => findBarriers(page)).toEqual([])
})

// Last: workloads that have been under another fleet config are to be taken in by a campaign.
test('a fleet config whose workloads another one keeps says whose they are, and gets them by a higher priority', async () => {
  const selector = { match_labels: { 'identity/name': 'rim-*' } }
  const body = { name: 'Rim hosts', selector, priority: 0 }
  const { id } = (await service.api.post('/api/fleet-configs', body, 201)) as { id: string }
  await service.api.post(`/api/fleet-configs/${id}/versions`, { content: GATEWAY }, 201)
  await page.goto('/fleet-configs')
  await page
    .getByRole('row')
    .filter({ hasText: 'Rim hosts' })
    .getByText(/^Rim keeps \d+ that it selects too/)
    .waitFor()
  await page.getByRole('link', { name: 'Rim hosts', exact: true }).click()
  const kept = page.getByText(/keeps \d+ workloads that are selected here too: both have the priority 0/)
  await kept.waitFor()
  const made = { name: 'Hosts', change: { kind: 'version', fleet_config_id: id, number: 1 }, scope: {} }
  const campaign = (await service.api.post('/api/campaigns', made, 201)) as { id: string }
  await page.goto(`/campaigns/${campaign.id}`)
  await kept.waitFor()
  await kept.getByRole('link', { name: 'Rim', exact: true }).click()
  await page.getByRole('heading', { name: 'Rim', level: 1 }).waitFor()
  await page.goto(`/fleet-configs/${id}`)
  const change = async (priority: string) => {
    await page.getByRole('button', { name: 'Change the priority' }).click()
    await page.getByRole('spinbutton', { name: 'Priority' }).fill(priority)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await change('1')
  await says(/\d+ workloads under it/)
  await change('-1')
  await says(/has \d+ workloads that are selected here too: its priority is higher, 0\./)
  await expect.poll(() => findBarriers(page)).toEqual([])
  await service.api.call('DELETE', `/api/fleet-configs/${id}`)
})
