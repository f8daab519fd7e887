import { afterEach, describe, expect, test } from 'vitest'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, pasteInto } from './support/browser.ts'
import {
  GATEWAY,
  GATEWAY_FASTER,
  GATEWAY_KAFKA,
  pushAndSettle,
  SECRETIVE,
  workloadId,
} from './support/scene.ts'
import { agents, connectAgent, decide, page, service, stopAgents, useStage } from './support/stage.ts'

useStage({ pages: 'each' })
afterEach(stopAgents)

/** Workloads of one instance each, all of which run the same good config. */
async function connectHosts(team: string, count: number): Promise<void> {
  for (let at = 0; at < count; at++)
    connectAgent(`${team}-${at}`, `${team}-${at}-pod`, {
      behaviour: { kind: 'apply', delayMs: 100 },
      capabilities: SECRETIVE,
    })
  for (let at = 0; at < count; at++)
    await pushAndSettle(service, await workloadId(service, `${team}-${at}`), GATEWAY)
}

const says = (text: string | RegExp) => page.getByText(text).first().waitFor()
const countRunning = (yaml: string) =>
  agents.filter(({ collector }) => collector.storage.remoteConfig === yaml).length

/** Write a campaign on its page, and wait until it is planned. */
async function writeDown(name: string, team: string, yaml: string, dwellSeconds = 0): Promise<void> {
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('For whom').fill(`identity/name=${team}-*`)
  const dwell = page.getByLabel('Watch for (seconds)')
  for (let wave = 0; wave < 3; wave++) await dwell.nth(wave).fill(String(dwellSeconds))
  await pasteInto(page, page.getByRole('textbox', { name: 'Config' }), yaml)
  await page.getByRole('button', { name: 'Save and plan' }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  await says('Workloads that change')
}

describe('a campaign', () => {
  test('is planned, approved as planned, carried out in waves, and taken back', async () => {
    await connectHosts('batch', 5)
    await writeDown('Faster batches', 'batch', GATEWAY_FASTER)
    await says('Nothing changes before this plan is approved and started.')
    // What is said beside a name has room: it once had that of one letter.
    const numbers = page.locator('.pane', { hasText: 'Workloads that change' }).locator('dd')
    const widths = await numbers.evaluateAll((all) => all.map(({ clientWidth }) => clientWidth))
    expect(Math.min(...widths)).toBeGreaterThan(90)
    await page.getByText('+    timeout: 2s').waitFor()
    // Whoever approves sees how risky it is, as for a single request.
    await page
      .getByRole('region', { name: 'What changes' })
      .getByText(/ risk$|^no risk seen$/)
      .first()
      .waitFor()
    await expect.poll(() => page.getByRole('list', { name: 'Waves' }).getByRole('listitem').count()).toBe(3)
    await expect.poll(() => findBarriers(page)).toEqual([])
    await decide('Ask for approval')
    await page.locator('main .say').getByText('Approvals: 0 of 1.').waitFor()
    // The approver finds it on the page of everything that waits for approval.
    const approvals = page.getByRole('link', { name: /^Approvals/ })
    await expect.poll(() => approvals.textContent()).toMatch(/1 for you$/)
    await approvals.click()
    await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor()
    await expect.poll(() => page.getByText('Nothing waits for anybody.').count()).toBe(0)
    await page.getByRole('link', { name: 'Faster batches' }).click()
    await says('The plan waits for somebody to approve it.')
    await decide('Approve', 'looked at all five')
    await expect.poll(() => approvals.textContent()).not.toMatch(/1 for you$/)
    await says('The plan is approved. Nothing has been started yet.')
    expect(countRunning(GATEWAY_FASTER)).toBe(0)
    // What is said now stands where whoever starts it sees it, and stays with the campaign.
    await decide('Comment', 'mind the sale')
    await page
      .getByRole('note')
      .filter({ hasText: 'After it was approved, admin@example.com said: mind the sale' })
      .waitFor()
    await decide('Start')
    await says('Done: ')
    expect(countRunning(GATEWAY_FASTER)).toBe(5)
    const went = page.getByRole('region', { name: 'How it went' })
    await went
      .getByText(/^after [\d.]+ s$/)
      .nth(2)
      .waitFor()
    await decide('Roll back')
    await says(/^Rolled back by admin@example\.com \(.*\)\.$/)
    await says('5 of 5 workloads have their former config again.')
    await went.waitFor({ state: 'detached' })
    expect(countRunning(GATEWAY)).toBe(5)
    // Nobody runs the change any more, so no wave is drawn as if somebody did.
    const waves = page.getByRole('list', { name: 'Waves' })
    const widthOf = (tone: string) =>
      waves.locator(`.f-${tone}`).evaluateAll((bars) => bars.map((bar) => (bar as HTMLElement).style.width))
    await expect.poll(() => widthOf('warn')).toEqual(['100%', '100%', '100%'])
    await expect.poll(() => widthOf('ok')).toEqual([])
    for (const address of ['/campaigns', '/changes']) {
      await page.goto(address)
      await page.getByRole('link', { name: 'Faster batches' }).waitFor()
      await says(/5 of 5 rolled back/)
      expect(await page.getByText(/0 of 5 applied/).count()).toBe(0)
    }
    await page.goto('/campaigns')
    await page.getByRole('link', { name: 'Faster batches' }).waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
  })

  test('names hosts of one service by their hosts, is one entry of the changes that opens, and shows since when', async () => {
    const hosts = ['vm-1', 'vm-2', 'vm-3']
    for (const host of hosts)
      connectAgent('twin', `${host}-agent`, {
        nonIdentifying: { 'host.name': host },
        behaviour: { kind: 'apply', delayMs: 100 },
        capabilities: SECRETIVE,
      })
    const ids: string[] = await eventually('all are there', async () => {
      const all = (await service.api.get('/api/workloads')) as WorkloadRecord[]
      const found = all.filter(({ display_name }) => display_name === 'twin')
      return found.length === hosts.length && found.map(({ id }) => id)
    })
    for (const id of ids) await pushAndSettle(service, id, GATEWAY)
    const draft = {
      name: 'Twins',
      change: { kind: 'text', yaml: GATEWAY_FASTER },
      scope: { workload_ids: ids },
    }
    const { id } = await service.api.post('/api/campaigns', { ...draft, waves: [{}] }, 201)
    await service.api.post(`/api/campaigns/${id}/plan`, {}, 202)
    const { plan_hash } = await eventually('it is planned', async () => {
      const of = await service.api.get(`/api/campaigns/${id}`)
      return of.status === 'planned' && of
    })
    for (const step of ['request', 'approve', 'start'])
      await service.api.post(`/api/campaigns/${id}/${step}`, { comment: 'yes', plan_hash }, 200)
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(`/campaigns/${id}`)
    await says('Done: ')
    const table = page.getByRole('region', { name: 'Workloads' })
    for (const host of hosts) await table.getByText(host, { exact: true }).waitFor()
    const since = table.getByRole('columnheader', { name: 'Since' })
    const isInSight = () =>
      since.evaluate((cell) => {
        const sheet = cell.closest('.sheet')!.getBoundingClientRect()
        return cell.getBoundingClientRect().right <= sheet.right + 1
      })
    await expect.poll(isInSight).toBe(true)
    await page.goto('/changes')
    const entry = page.locator('.changes > li').filter({ hasText: 'Twins' })
    await entry.getByText('3 pushes of this campaign').click()
    const pushes = entry.locator('.changes > li')
    await expect.poll(() => pushes.count()).toBe(3)
    for (const host of hosts) await pushes.filter({ hasText: host }).first().waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
  })

  test('that fails at the first says so in one sentence, with the cause, and leaves the others alone', async () => {
    await connectHosts('kafka', 4)
    for (const { collector } of agents)
      collector.behaviour = {
        kind: 'fail',
        delayMs: 50,
        errorMessage: 'unknown type: "kafka" for id: "kafka/eu"',
      }
    await writeDown('To Kafka', 'kafka', GATEWAY_KAFKA)
    await decide('Ask for approval')
    // Whether one's own approval would count is said before the click.
    await says('Approvals: 0 of 1. You can approve it.')
    await decide('Approve', 'try')
    await says('The plan is approved. Nothing has been started yet.')
    await decide('Start')
    // Who works by keyboard goes on from the sentence that says what came of it.
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toMatch(/^say /)
    await page.getByRole('alert').getByText('Halted in wave 1: 1 workload failed, at most 0 may.').waitFor()
    expect(countRunning(GATEWAY)).toBeGreaterThanOrEqual(3)
    const went = page.getByRole('region', { name: 'How it went' })
    await went.getByText('1 failed').waitFor()
    await went.getByText(/not part of this collector/).waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
    // The palette finds it by how it stands and by what can be done about it.
    for (const typed of ['halted', 'take back']) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill(typed)
      await page.getByRole('option', { name: /^To Kafka\s*campaign · halted · / }).waitFor()
      await page.keyboard.press('Escape')
      // Its key opens it again only once it has closed.
      await page.getByRole('combobox').waitFor({ state: 'detached' })
    }
    // Those that need somebody come first.
    const rows = page.getByRole('region', { name: 'Workloads' }).locator('tbody tr')
    await expect.poll(() => rows.first().textContent()).toMatch(/failed.*not part of this collector/)
    await page.getByRole('link', { name: /^failed 1/ }).click()
    await expect.poll(() => rows.count()).toBe(1)
    const address = new URL(page.url()).pathname
    // What failed is one click away: the push from the row, and the row from the list of campaigns.
    const push = rows.first().getByRole('link', { name: 'See its push', exact: true })
    await expect
      .poll(() => push.getAttribute('href'))
      .toMatch(/^\/workloads\/.+\/pushes\/[0-9a-f]{64}\?push=/)
    await page.goto('/campaigns')
    const listed = page.getByRole('row', { name: /To Kafka/ })
    await listed.getByRole('link', { name: 'See what failed', exact: true }).click()
    await expect.poll(() => rows.count()).toBe(1)
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(`${address}?state=failed`)
    // The list is narrowed to those that are open, over, or went wrong somewhere.
    await page.goto('/campaigns')
    await listed.waitFor()
    await page.getByRole('link', { name: /^with failures \d+$/ }).click()
    await listed.waitFor()
    await expect.poll(() => page.getByRole('row', { name: /Faster batches/ }).count()).toBe(0)
    await page.getByRole('link', { name: /^over \d+$/ }).click()
    await expect.poll(() => listed.count()).toBe(0)
    await expect.poll(() => findBarriers(page)).toEqual([])
    await page.goto(`${address}?state=failed`)
    await expect.poll(() => rows.count()).toBe(1)
    // The workload says why and sends back here: there is no draft of its own to be corrected.
    await rows.first().getByRole('link').first().click()
    const banner = page.getByRole('status').filter({ hasText: 'A campaign brought it' })
    await banner.filter({ hasText: /Cause: kafka is not part of this collector/ }).waitFor()
    expect(await page.getByText('Correct the draft', { exact: false }).count()).toBe(0)
    expect(await banner.getByRole('link', { name: 'See the campaign' }).getAttribute('href')).toBe(address)
    // No alert of its own tells of it: the tab of alerts names the campaign's.
    await page.getByRole('link', { name: 'Alerts', exact: true }).last().click()
    const told = page.getByText('What a campaign brought failed here', { exact: false })
    expect(await told.getByRole('link', { name: 'See the campaign' }).getAttribute('href')).toBe(address)
  })
})

describe('every decision about a campaign', () => {
  const failed = {
    kind: 'fail',
    delayMs: 50,
    errorMessage: 'unknown type: "kafka" for id: "kafka/eu"',
  } as const

  test('is spared by whoever removes the draft: it is gone from the list, and others stay', async () => {
    const scope = { selector: { match_labels: { 'identity/name': 'nobody-*' } } }
    const draft = { change: { kind: 'text', yaml: GATEWAY }, scope, waves: [{}] }
    await service.api.post('/api/campaigns', { ...draft, name: 'Kept' }, 201)
    const { id } = await service.api.post('/api/campaigns', { ...draft, name: 'Not meant so' }, 201)
    await page.goto(`/campaigns/${id}`)
    await page.getByRole('heading', { name: 'Not meant so', level: 1 }).waitFor()
    for (const said of ['identity/name=nobody-*', 'all that are left', 'Changed at one time'])
      await page.getByText(said, { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Config' }).getByText('memory_limiter').first().waitFor()
    await decide('Remove the draft')
    await page.getByText('Kept', { exact: true }).first().waitFor()
    await page.getByText('Not meant so', { exact: true }).waitFor({ state: 'detached' })
    await expect.poll(() => findBarriers(page)).toEqual([])
  })

  test('can be taken with its button: one that halted goes on with a raised limit', async () => {
    await connectHosts('steps', 4)
    for (const { collector } of agents) collector.behaviour = failed
    await writeDown('Stepwise', 'steps', GATEWAY_KAFKA, 600)
    await page.getByRole('button', { name: 'Plan again', exact: true }).click()
    await says('Workloads that change')
    await decide('Ask for approval')
    await decide('Approve', 'try')
    await decide('Start')
    await page.getByRole('alert').getByText('Halted in wave 1: 1 workload failed, at most 0 may.').waitFor()
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Empty: as it is, 0.').waitFor()
    await dialog.getByLabel('Failed, at most').fill('2')
    // A raised limit needs a comment.
    const send = dialog.getByRole('button', { name: 'Continue', exact: true })
    await expect.poll(() => send.getAttribute('aria-disabled')).toBe('true')
    await dialog.getByLabel('Comment').fill('that host is known')
    await send.click()
    await dialog.waitFor({ state: 'detached' })
    await says(/^Wave 1 is done and watched for/)
    const id = page.url().split('/').at(-1)
    expect(await service.api.get(`/api/campaigns/${id}`)).toMatchObject({ raised: { failed: 2 } })
    await decide('Pause')
    await says(/^Paused: \d of \d applied/)
    await decide('Continue')
    await says(/^Wave 1 is done and watched for/)
    await decide('Pause')
    // Somebody else aborts it while the dialog is open: Continue is refused, in words, and the page shows what holds.
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await service.api.post(`/api/campaigns/${id}/abort`, { comment: 'not today' }, 200)
    await dialog.getByRole('button', { name: 'Continue', exact: true }).click()
    await says('The campaign is in another state by now: look at it again, then decide.')
    await page.keyboard.press('Escape')
    await says(/^Aborted by admin@example\.com \(.*\): “not today”\.$/)
    await decide('Roll back', 'not any more')
    await says(/^Rolled back by admin@example\.com \(.*\): “not any more”\.$/)
  })

  test('before its start ends it: withdrawn by whoever asked, rejected by whoever was asked', async () => {
    await connectHosts('ends', 1)
    for (const [name, step, told] of [
      ['Mistaken', 'Withdraw', 'Withdrawn.'],
      ['Unwanted', 'Reject', 'Rejected.'],
    ] as const) {
      await writeDown(name, 'ends', GATEWAY_FASTER)
      await decide('Ask for approval')
      await decide(step, 'no')
      await says(told)
    }
    // It is no dead end: what was asked for is asked for anew.
    await page.getByRole('link', { name: 'Copy as a new one' }).click()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Unwanted')
    await page.getByLabel('Name', { exact: true }).fill('Wanted')
    await page.getByRole('button', { name: 'Save and plan' }).click()
    await page.getByRole('heading', { name: 'Wanted', level: 1 }).waitFor()
    await says('Nothing changes before this plan is approved and started.')
  })
})

describe('the form of a campaign', () => {
  const error = (text: string) => page.locator('.field .error', { hasText: text })

  test('counts whom it means while that is typed, and who is left out by name', async () => {
    await connectHosts('form', 4)
    await page.goto('/campaigns/new')
    await page.getByLabel('For whom').fill('identity/name=form-*')
    await says('Means 4 workloads.')
    await says('Empty: none in the first wave, then 3 or 1 %, whichever is more: 3 here.')
    await page.getByLabel('Leave out, by name or id').fill('form-1, form-9')
    await says('Means 3 workloads.')
    await says('1 workload left out.')
    await says('Nobody here is called form-9.')
    await page.getByLabel('For whom').fill('identity/name=form-*\nmuster/team=nobodys')
    await says('Means no workload.')
    await says('No workload meets muster/team in (nobodys).')
    await page.getByLabel('For whom').fill('identity/colour=red')
    await error('identity/colour').waitFor()
  })

  test('shows what is wrong beside the field, and sends nothing', async () => {
    await page.goto('/campaigns/new')
    await page.getByLabel('Instances changed at one time').fill('0')
    await error('A number from 1 to 10,000.').waitFor()
    await page.getByRole('button', { name: 'Save and plan' }).click()
    await expect.poll(() => error('This has to be filled in.').count()).toBe(2)
    const name = page.getByLabel('Name', { exact: true })
    await expect.poll(() => name.evaluate((field) => field === document.activeElement)).toBe(true)
    // With a name, the config is the first that is wrong, and not the number further down.
    await name.fill('Nothing yet')
    await page.getByRole('button', { name: 'Save and plan' }).click()
    const config = page.getByRole('textbox', { name: 'Config' })
    await expect.poll(() => config.evaluate((field) => field === document.activeElement)).toBe(true)
    await expect.poll(() => config.getAttribute('aria-invalid')).toBe('true')
    expect(await service.api.get('/api/campaigns')).not.toContainEqual(expect.objectContaining({ name: '' }))
    expect(await findBarriers(page)).toEqual([])
  })

  test('takes all rules, which the campaign shows, and which can be changed until it is asked for', async () => {
    await connectHosts('rules', 3)
    await page.goto('/campaigns/new')
    await page.getByLabel('Name', { exact: true }).fill('By its own rules')
    await page.getByLabel('For whom').fill('identity/name=rules-*')
    await page.getByLabel('Leave out those that meet').fill('identity/name in (rules-2)')
    await pasteInto(page, page.getByRole('textbox', { name: 'Config' }), GATEWAY_FASTER)
    const first = page.getByRole('group', { name: 'Wave 1' })
    await first.getByLabel('How many').fill('2')
    await first.getByLabel('Only those that meet').fill('identity/name in (rules-0, rules-1)')
    await page.getByRole('button', { name: 'Remove wave 2' }).click()
    await page.getByLabel('Failed, at most').fill('1')
    await page.getByLabel('Skipped or without an answer, at most').fill('2')
    await page.getByLabel('Instances changed at one time').fill('5')
    await page.getByLabel('Wait for those that are away (days)').fill('2')
    await page.getByRole('button', { name: 'Add a window' }).click()
    const window = page.getByRole('group', { name: 'Window 1' })
    await window.getByLabel('Fri').uncheck()
    await window.getByLabel('To (UTC)').fill('17:30')
    await page.getByRole('button', { name: 'Save and plan' }).click()
    await page.getByRole('heading', { name: 'By its own rules', level: 1 }).waitFor()
    await says('Mon Tue Wed Thu 09:00–17:30')
    await says('Workloads that change')
    const id = page.url().split('/').at(-1)
    expect(await service.api.get(`/api/campaigns/${id}`)).toMatchObject({
      waves: [{ count: 2, dwell_seconds: 60, selector: {} }, { dwell_seconds: 60 }],
      limits: { failed: 1, silent: 2 },
      max_in_flight: 5,
      catch_up_seconds: 172_800,
      retry_quarantined: false,
      windows: [{ days: [1, 2, 3, 4], from: '09:00', to: '17:30' }],
      plan: { target_count: 2, verdicts: { changes: 2, excluded: 1 } },
    })
    await page.getByRole('link', { name: 'Change', exact: true }).click()
    await expect.poll(() => page.getByLabel('Failed, at most').inputValue()).toBe('1')
    await page.getByLabel('Failed, at most').fill('')
    await page.getByLabel('Leave out those that meet').fill('')
    await page.getByRole('button', { name: 'Save and plan' }).click()
    await page.getByRole('heading', { name: 'By its own rules', level: 1 }).waitFor()
    await expect
      .poll(async () => service.api.get(`/api/campaigns/${id}`))
      .toMatchObject({ limits: { silent: 2 }, plan: { target_count: 3 } })
  })
})

describe('the approval of a campaign', () => {
  test('can be given again where one counts no more', async () => {
    await connectHosts('lapse', 1)
    await writeDown('Lapsed', 'lapse', GATEWAY_FASTER)
    await decide('Ask for approval')
    await decide('Approve', 'yes')
    await says('The plan is approved. Nothing has been started yet.')
    // The last of this file: a policy that asks less again would need somebody else's confirmation.
    const two = { approvals: 2, author_counts: false }
    const policy = { production: two, other: two, unlabelled: two }
    expect(await service.api.call('PUT', '/api/approval-policy', policy)).toMatchObject({ status: 200 })
    await page.goto('/approvals')
    await page.getByRole('link', { name: 'Lapsed' }).click()
    await page.getByRole('heading', { name: 'Lapsed', level: 1 }).waitFor()
    await says('The plan was approved, and an approval counts no more: somebody has to approve it again.')
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Start', exact: true }).count()).toBe(0)
  })
})
