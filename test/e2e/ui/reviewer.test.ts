import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { pasteInto, SHOTS } from './support/browser.ts'
import { FAILING_EXPORTER, pushAndSettle, workloadId } from './support/scene.ts'
import { connectAgent, page, seen, service, useStage } from './support/stage.ts'

// What a reviewer reads is what the change does: no more, no less, and nothing about others.
const RUNS = `receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 0.0.0.0:4317
processors:
  batch:
    timeout: 5s
exporters:
  debug: {}
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [batch]
      exporters: [debug]
`
const WITH_DESTINATION = RUNS.replace('5s', '2s')
  .replace('  debug: {}', '  debug: {}\n  otlphttp/eu:\n    endpoint: https://new.example.com:4318')
  .replace('[debug]', '[debug, otlphttp/eu]')

const OTTL = 'failed to build pipelines: unable to parse OTTL statement on host 40'

let id = ''
let broken = ''

useStage({
  pages: 'each',
  env: { WORKLOAD_DISCONNECT_GRACE_SECONDS: '2' },
  async prepare() {
    connectAgent('checkout', 'checkout-1', { initialConfig: RUNS })
    // In the same cluster and namespace: a push to the other does not reach it.
    connectAgent('stranger', 'stranger-1', { initialConfig: RUNS })
    id = await workloadId(service, 'checkout')
    await workloadId(service, 'stranger')
    connectAgent('broken', 'broken-1', {
      initialConfig: RUNS,
      behaviour: { kind: 'fail', delayMs: 50, errorMessage: OTTL },
    })
    broken = await workloadId(service, 'broken')
    await pushAndSettle(service, broken, WITH_DESTINATION)
  },
})

const what = () => page.getByRole('region', { name: 'What it does' })

test('a first takeover is compared with what runs, says so, and a new destination is a high risk', async () => {
  const request = { draft_yaml: WITH_DESTINATION, comment: 'Take it over, and send to the EU' }
  const approval = await service.api.post(`/api/workloads/${id}/config/approvals`, request, 201)
  await page.goto(`/workloads/${id}/changes/${approval.id}`)
  await what().getByText('Nothing was pushed here yet.', { exact: false }).waitFor()
  await what().getByText('It is compared with what the instances report to run.', { exact: false }).waitFor()
  await what().getByText('there is no earlier config to go back to', { exact: false }).first().waitFor()
  await what().getByText('high risk', { exact: true }).waitFor()
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await expect.poll(() => what().evaluate((pane) => pane.scrollWidth - pane.clientWidth)).toBe(0)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await what()
    .getByText(/exporters\.otlphttp\/eu|otlphttp\/eu/)
    .first()
    .waitFor()
  // The old value and the new one.
  await what()
    .getByText(/processors\.batch\.timeout: 5s → 2s/)
    .waitFor()
  await expect.poll(() => what().textContent()).not.toContain('stranger')
  // It is not compared with nothing: what runs stands on the left.
  await expect
    .poll(() => page.locator('.cm-merge-a .cm-changedLine').allTextContents())
    .toContain('    timeout: 5s')

  // Once it is over, what it would have replaced is not known here any more; nobody says that nothing ran.
  const path = `/api/workloads/${id}/config/approvals/${approval.id}/withdraw`
  await service.api.post(path, { comment: 'later' }, 200)
  await page.reload()
  await page.getByText('What it replaced was what the instances reported then', { exact: false }).waitFor()
  expect(seen.complaints).toEqual([])
})

test('what could not be compared is called that, in the list and on its page, and is no green tick', async () => {
  const agent = connectAgent('silent', 'silent-1', { initialConfig: RUNS })
  const silent = await workloadId(service, 'silent')
  const request = { draft_yaml: WITH_DESTINATION, comment: 'Nobody is there' }
  const path = `/api/workloads/${silent}/config/approvals`
  const asked = await service.api.post(path, request, 201)
  await agent.stop()
  await eventually('it is gone', async () => {
    const { status } = await service.api.get(`/api/workloads/${silent}`)
    return status === 'disconnected'
  })
  const away = 'not compared: nothing is connected'
  const picture = async (name: string) => {
    for (const width of [1440, 390])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        await page.screenshot({ path: join(SHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true })
      }
    await page.setViewportSize({ width: 1440, height: 900 })
  }
  await page.goto(`/workloads/${silent}/changes/${asked.id}`)
  await what().getByText(away).waitFor()
  const checks = page.getByRole('region', { name: 'Checks' })
  for (const name of ['Components', 'Version'])
    await checks
      .getByRole('listitem')
      .filter({ hasText: name })
      .getByText('not known: nothing is connected')
      .waitFor()
  await expect.poll(() => page.getByText('no risk seen').count()).toBe(0)
  await picture('not-compared')
  await page.goto('/approvals')
  const row = page.getByRole('row', { name: /Nobody is there/ })
  await row.getByText(away).waitFor()
  await picture('not-compared-list')
  expect(seen.complaints).toEqual([])
})

test('how risky it was is told of what was pushed as well', async () => {
  const agent = connectAgent('pushed', 'pushed-1', { initialConfig: RUNS })
  const pushed = await workloadId(service, 'pushed')
  const hash = await pushAndSettle(service, pushed, WITH_DESTINATION)
  await page.goto('/approvals?status=pushed')
  const row = page.getByRole('row', { name: /pushed/ }).first()
  await row.getByText('high risk').waitFor()
  await row.getByText('New destination').waitFor()
  // An alert takes a minute to come: this one was there when the config was pushed, and is over.
  const alert = {
    id: 'a'.repeat(32),
    workload_id: pushed,
    rule: 'workload_unhealthy',
    severity: 'critical',
    message: 'said',
    fired_at: new Date(Date.now() - 3_600_000).toISOString(),
    resolved_at: new Date(Date.now() + 1_000).toISOString(),
  }
  await page.route('**/api/alerts?include_resolved=true*', (route) => route.fulfill({ json: [alert] }))
  await page.goto(`/workloads/${pushed}/pushes/${hash}`)
  await page.getByText(/^Its instance is healthy again \(since \d\d:\d\d\)\.$/).waitFor()
  await page.screenshot({ path: join(SHOTS, 'push-helped-1440.png') })
  // The page that is open follows how they are.
  agent.say({ health: FAILING_EXPORTER })
  await page.getByText('1 of 1 instance is unhealthy still, as before the push.').waitFor()
  agent.say({ health: { healthy: true, status: 'StatusOK', lastError: '' } })
  await page.getByText(/^Its instance is healthy again/).waitFor()
  expect(seen.complaints).toEqual([])
})

test('of a text that cannot be read nobody says that it has no risk', async () => {
  await page.goto(`/workloads/${id}/change`)
  // Nothing is active: what a draft that changes nothing is the same as is what runs.
  await page
    .getByText('The draft is the same as what its instances report to run.', { exact: false })
    .waitFor()
  // It changes nothing that they do, and is not without any risk: from then on what muster sends is what they run.
  await what().getByText('medium risk', { exact: true }).waitFor()
  await what().getByText('there is no earlier config to go back to', { exact: false }).waitFor()
  await pasteInto(page, page.getByRole('textbox', { name: 'Draft' }), `${WITH_DESTINATION}  broken: [`)
  await what().getByText('risk not known', { exact: true }).waitFor()
  await expect
    .poll(() =>
      what()
        .getByText(/no risk seen|low risk/)
        .count(),
    )
    .toBe(0)
})

test('an address without a port that is a number, and a field that nobody filled in, do not pass', async () => {
  await page.goto(`/workloads/${id}/change`)
  const draft = page.getByRole('textbox', { name: 'Draft' })
  const checks = page.getByRole('region', { name: 'Checks' })
  await draft.waitFor()
  await pasteInto(
    page,
    draft,
    WITH_DESTINATION.replace('https://new.example.com:4318', 'https://host:example'),
  )
  await checks.getByText('the port of the address is not a number', { exact: false }).waitFor()
  await expect
    .poll(() => page.getByRole('button', { name: 'Request approval' }).getAttribute('aria-disabled'))
    .toBe('true')
  await pasteInto(page, draft, WITH_DESTINATION.replace('https://new.example.com:4318', '${TEMPO_ENDPOINT}'))
  await expect.poll(() => checks.getByText('the port of the address', { exact: false }).count()).toBe(0)
  await checks.getByText('exporters.otlphttp/eu.endpoint').waitFor()
  await page.getByLabel('TEMPO_ENDPOINT').waitFor()
})

test('a first config that failed is offered as what failed and why, and a repair is compared with what runs', async () => {
  await page.goto(`/workloads/${broken}/change`)
  const notice = page.getByText(/^The draft starts from \w{7}, which failed on 1 of 1 instance\./)
  await notice.waitFor()
  await page.getByText(OTTL, { exact: false }).first().waitFor()
  await what().getByText('It is compared with what the instances report to run.', { exact: false }).waitFor()
  // What is new is told against what runs, and not against what failed.
  await what()
    .getByText(/adds exporter otlphttp\/eu/)
    .waitFor()
  const request = { draft_yaml: WITH_DESTINATION.replace('2s', '3s'), comment: 'Repair it' }
  const approval = await service.api.post(`/api/workloads/${broken}/config/approvals`, request, 201)
  await page.goto(`/workloads/${broken}/changes/${approval.id}`)
  await what()
    .getByText(/processors\.batch\.timeout: 5s → 3s/)
    .waitFor()
  await what()
    .getByText(/^\w{7} was pushed and failed, with nothing to go back to\./)
    .waitFor()
  // Wherever the failure is told, the collector's own words are.
  await page.goto(`/workloads/${broken}`)
  await page.locator('.say').getByText(OTTL, { exact: false }).waitFor()
  await page.goto('/')
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'broken', exact: true }) })
  await row.getByTitle(new RegExp(OTTL)).waitFor()
})

test('what several instances failed for is told once above them, and not in each row', async () => {
  for (const pod of ['a', 'b', 'c', 'd'])
    connectAgent('alike', `alike-${pod}`, {
      initialConfig: RUNS,
      behaviour: { kind: 'fail', delayMs: 50, errorMessage: OTTL },
    })
  const alike = await workloadId(service, 'alike', 4)
  await pushAndSettle(service, alike, WITH_DESTINATION)
  await page.goto(`/workloads/${alike}/instances`)
  await page.getByText(/^4 instances failed the config for one reason: /).waitFor()
  const cells = page.getByRole('region', { name: 'Instances' }).getByRole('row')
  await expect.poll(() => cells.filter({ hasText: 'failed' }).count()).toBe(4)
  await expect.poll(() => cells.filter({ hasText: 'OTTL' }).count()).toBe(0)
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: join(SHOTS, `instances-alike-${width}.png`) })
  }
  expect(seen.complaints).toEqual([])
})
