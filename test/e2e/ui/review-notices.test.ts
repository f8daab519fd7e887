import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { pasteInto } from './support/browser.ts'
import {
  FAILING_EXPORTER,
  GATEWAY,
  GATEWAY_FASTER,
  GATEWAY_KAFKA,
  pushAndSettle,
  SECRETIVE,
  workloadId,
} from './support/scene.ts'
import { connectAgent, page, seen, service, useStage } from './support/stage.ts'

// What a reviewer has to know before anything else stands first: that nothing can be pushed now, and that this config
// failed here before.
const NO_KAFKA = 'unknown type: "kafka" for id: "kafka" (valid values: [debug otlphttp])'

let frozen = ''
let failing = ''

useStage({
  pages: 'each',
  async prepare() {
    connectAgent('gateway', 'gateway-1')
    frozen = await workloadId(service, 'gateway')
    for (const pod of ['ledger-1', 'ledger-2'])
      connectAgent('ledger', pod, { behaviour: { kind: 'fail', delayMs: 50, errorMessage: NO_KAFKA } })
    failing = await workloadId(service, 'ledger', 2)
    await pushAndSettle(service, failing, GATEWAY)
    const mender = connectAgent('mender', 'mender-1', {
      behaviour: { kind: 'apply', delayMs: 50 },
      capabilities: SECRETIVE,
    })
    const mended = await workloadId(service, 'mender')
    await pushAndSettle(service, mended, GATEWAY)
    mender.collector.behaviour = { kind: 'fail', delayMs: 50, errorMessage: NO_KAFKA }
    await service.api.pushConfig(mended, GATEWAY_KAFKA)
    await eventually('its change has failed', async () => {
      const rows = (await service.api.get(`/api/workloads/${mended}/configs`)) as { status: string }[]
      return rows.some(({ status }) => status === 'failed')
    })
    mender.collector.behaviour = { kind: 'apply', delayMs: 50 }
  },
})

const requestOf = (id: string, draft: string) =>
  service.api.post(
    `/api/workloads/${id}/config/approvals`,
    { draft_yaml: draft, comment: 'Take it', retry_quarantined: true },
    201,
  )

test('a review tells of a freeze before and after the approval, and frees the push once the freeze is over', async () => {
  const { id } = await requestOf(frozen, GATEWAY)
  const path = `/api/workloads/${frozen}/config/approvals/${id}`
  const until = new Date(Date.now() + 7_200_000).toISOString()
  await service.api.call('PUT', '/api/freeze', { reason: 'Black Friday', until })
  await page.clock.install()
  await page.goto(`/workloads/${frozen}/changes/${id}`)
  await page.getByText(/^Frozen until .* \(Black Friday\)\. It can be approved now/).waitFor()
  await service.api.post(`${path}/approve`, { comment: 'fine' }, 200)
  await page.getByText(/^Frozen until .* \(Black Friday\)\. It is approved/).waitFor()
  await page.getByText('Approved by admin@example.com.').waitFor()
  // Another request of the workload says that this one is approved and would be replaced.
  const body = { draft_yaml: GATEWAY_FASTER, comment: 'Faster', target_group: 'edge' }
  const other = await service.api.post(`/api/workloads/${frozen}/config/approvals`, body, 201)
  await page.goto(`/workloads/${frozen}/changes/${other.id}`)
  await page
    .getByText(
      /^“Take it” by admin@example\.com is approved here as well .* The older of the two ends once the newer is pushed/,
    )
    .waitFor()
  await service.api.post(`/api/workloads/${frozen}/config/approvals/${other.id}/withdraw`, {}, 200)
  await page.goto(`/workloads/${frozen}/changes/${id}`)
  await page.getByText('Approved by admin@example.com.').waitFor()
  // Whose approval would count is nobody's question any more; why it is not pushed is.
  expect(await page.getByText(/You cannot approve it|You have approved it/).count()).toBe(0)
  await page.getByText(/^Frozen until .*: a push needs the glass broken\.$/).waitFor()
  const push = page.getByRole('button', { name: 'Push', exact: true })
  expect(await push.getAttribute('aria-disabled')).toBe('true')
  await page.goto(`/workloads/${frozen}/change`)
  await page.getByText(/^Frozen until .* \(Black Friday\)\. A change can be requested/).waitFor()
  await page.goto(`/workloads/${frozen}/changes/${id}`)
  await push.waitFor()
  await page.clock.fastForward(7_300_000)
  await expect.poll(() => push.getAttribute('aria-disabled')).toBe(null)
  expect(await page.getByText(/Frozen until/).count()).toBe(0)
  await push.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Push now' }).waitFor()
  expect(
    await page
      .getByRole('dialog')
      .getByText(/Frozen until/)
      .count(),
  ).toBe(0)
  await service.api.call('DELETE', '/api/freeze')
})

test('a freeze that somebody lifts while the review is open frees the push as well', async () => {
  const { id } = await requestOf(frozen, GATEWAY_FASTER)
  await service.api.post(`/api/workloads/${frozen}/config/approvals/${id}/approve`, { comment: 'fine' }, 200)
  const until = new Date(Date.now() + 7_200_000).toISOString()
  await service.api.call('PUT', '/api/freeze', { reason: 'Black Friday', until })
  await page.clock.install()
  await page.goto(`/workloads/${frozen}/changes/${id}`)
  const push = page.getByRole('button', { name: 'Push', exact: true })
  await page
    .getByText(/^Frozen until/)
    .first()
    .waitFor()
  await service.api.call('DELETE', '/api/freeze')
  await page.clock.fastForward(30_000)
  await expect.poll(() => push.getAttribute('aria-disabled')).toBe(null)
  expect(seen.complaints).toEqual([])
})

test('editor, review and push dialog say that this very config failed here, on how many and why', async () => {
  const told = /^This exact config failed here on 2 of 2 instances \(.*\)\.$/
  const { id } = await requestOf(failing, GATEWAY)
  await page.goto(`/workloads/${failing}/changes/${id}`)
  const main = page.getByRole('main')
  await main.getByText(told).waitFor()
  await main.getByText('kafka is not part of this collector', { exact: false }).first().waitFor()
  // It stands first at every width, and whom a push reaches before what decides it.
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    const topOf = async (of: Locator) => (await of.boundingBox())?.y ?? Number.NaN
    const reach = await topOf(main.getByRole('region', { name: 'It will reach' }))
    expect(await topOf(main.getByText(told))).toBeLessThan(reach)
    expect(await topOf(main.getByText(told))).toBeLessThan(
      await topOf(main.getByRole('region', { name: 'Policy' })),
    )
    expect(reach).toBeLessThan(await topOf(main.getByRole('button', { name: 'Approve', exact: true })))
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: /Break glass/ }).click()
  await page.getByRole('dialog').getByText(told).waitFor()
  await page.getByRole('dialog').getByText('kafka is not part of this collector', { exact: false }).waitFor()
  await page.keyboard.press('Escape')
  await main.getByRole('link', { name: 'See that push' }).click()
  await page.waitForURL(/\/pushes\//)
  // Its page says the error once, and beside each instance the cause.
  const rows = page.getByRole('table').getByText('kafka is not part of this collector')
  await expect.poll(() => rows.count()).toBe(2)
  expect(await page.getByText(NO_KAFKA, { exact: false }).count()).toBe(1)
  // The draft starts from what failed: the form says so beside its button.
  await page.goto(`/workloads/${failing}/change`)
  const form = page.locator('form')
  await form.getByText(told).waitFor()
  // It is asked for again as it is only by whoever says to know that.
  const ask = form.getByRole('button', { name: 'Request approval' })
  await form.getByText('It failed here: correct it, or tick that you know.').waitFor()
  expect(await ask.getAttribute('aria-disabled')).toBe('true')
  await form.getByLabel('I know that it failed here, and ask for it again as it is.').check()
  await expect.poll(() => ask.getAttribute('aria-disabled')).toBe(null)
  await ask.click()
  await page.waitForURL(/\/changes\/car_/)
  await main.getByText(told).waitFor()
  // From where it is said that it failed, one click leads to its text.
  await page.goto(`/workloads/${failing}`)
  await page.getByRole('link', { name: 'Correct it' }).click()
  await page.waitForURL(/\/change\?hash=/)
  await main.getByText(told).first().waitFor()
  await page.getByRole('textbox', { name: 'Draft' }).getByText('otlphttp').first().waitFor()
  const other = await requestOf(failing, GATEWAY_FASTER)
  await page.goto(`/workloads/${failing}/changes/${other.id}`)
  await page.getByRole('region', { name: 'What it does' }).waitFor()
  await eventually('its risk is known', async () => (await page.getByText('What happened').count()) > 0)
  expect(await page.getByText(/This exact config failed/).count()).toBe(0)
  expect(seen.complaints).toEqual([])
})

test('the editor of a config that is active offers the text that failed last, and keeps what was being written', async () => {
  const id = await workloadId(service, 'mender')
  await page.goto(`/workloads/${id}/change`)
  await page.getByText(/^The last change \([0-9a-f]{7}\) failed on 1 of 1 instance \(.*\)\.$/).waitFor()
  const draft = page.getByRole('textbox', { name: 'Draft' })
  await draft.getByText('otlphttp').first().waitFor()
  expect(await draft.getByText('kafka', { exact: false }).count()).toBe(0)
  await pasteInto(page, draft, GATEWAY_FASTER)
  await page.getByRole('link', { name: 'Start from its text' }).click()
  await draft.getByText('kafka', { exact: false }).first().waitFor()
  expect(await page.getByText(/^The last change/).count()).toBe(0)
  // The line that it failed of is marked, and the page names it, as long as the draft has that.
  const marked = page.getByText(/^Line \d+ still has what it failed of: kafka is not part/)
  await marked.waitFor()
  await page.locator('.cm-lintRange-warning', { hasText: 'kafka' }).first().waitFor()
  await page.getByRole('button', { name: 'Bring back my draft' }).click()
  await draft.getByText('timeout: 2s', { exact: false }).first().waitFor()
  await expect.poll(() => marked.count()).toBe(0)
  expect(seen.complaints).toEqual([])
})

const NO_HOST =
  'Post "https://telemetry.example.com:4318": dial tcp: lookup telemetry.example.com: no such host'
const CUT_OFF = {
  ...FAILING_EXPORTER,
  lastError: NO_HOST,
  componentHealthMap: {
    'pipeline:traces': {
      healthy: false,
      status: 'StatusRecoverableError',
      componentHealthMap: { 'exporter:otlphttp/eu': { healthy: false, lastError: NO_HOST } },
    },
  },
}

test('a review says what is broken now and whether it changes that, and calls the mend of it no high risk', async () => {
  const mail = connectAgent('mail', 'mail-1', { behaviour: { kind: 'apply', delayMs: 50 } })
  const id = await workloadId(service, 'mail')
  await pushAndSettle(service, id, GATEWAY)
  mail.say({ health: CUT_OFF })
  await eventually('it is unhealthy', async () => {
    const { trouble } = await service.api.get(`/api/workloads/${id}`)
    return trouble?.kind === 'unhealthy'
  })
  const mend = await requestOf(id, GATEWAY.replace('//telemetry.example.com', '//otel.example.com'))
  await page.goto(`/workloads/${id}/changes/${mend.id}`)
  const notices = page.getByRole('main').locator('.notices')
  await notices
    .getByText(
      /^1 of 1 instance unhealthy now: no such host telemetry\.example\.com · exporter otlphttp\/eu\.$/,
    )
    .waitFor()
  await notices.getByText('This changes exporters.otlphttp/eu.', { exact: false }).waitFor()
  const does = page.getByRole('region', { name: 'What it does' })
  await does.getByText('medium risk').waitFor()
  await does.getByText('No instance can reach the destination that it replaces.').waitFor()
  await page.goto('/approvals')
  const row = page.getByRole('row', { name: /mail/ })
  await row
    .getByText(/^No instance can reach the destination that it replaces · OTLP endpoint changed$/)
    .waitFor()
  // What leaves the broken part alone says so, and another destination of one that works stays a high risk.
  const other = await requestOf(id, GATEWAY_FASTER)
  await page.goto(`/workloads/${id}/changes/${other.id}`)
  await notices.getByText('This leaves exporters.otlphttp/eu as it is.', { exact: false }).waitFor()
  expect(seen.complaints).toEqual([])
})

test('a retry says why the push before it failed, and whether it has still what that failed of', async () => {
  const id = await workloadId(service, 'mender')
  const last =
    /^The last change \([0-9a-f]{7}\) failed on 1 of 1 instance \(.*\)\. kafka is not part of this collector\.$/
  for (const [draft, told] of [
    [GATEWAY_KAFKA.replace('timeout: 5s', 'timeout: 3s'), 'This config has that too: component kafka.'],
    [GATEWAY_FASTER, 'This config does not have it: component kafka.'],
  ] as const) {
    const { id: request } = await requestOf(id, draft)
    await page.goto(`/workloads/${id}/changes/${request}`)
    await page.getByText(last).waitFor()
    await page.getByText(told, { exact: false }).waitFor()
  }
  expect(seen.complaints).toEqual([])
})

test('the editor says whose request that waits this one takes the place of, before the button', async () => {
  const { id: waiting } = await requestOf(frozen, GATEWAY.replace('timeout: 5s', 'timeout: 7s'))
  await page.goto(`/workloads/${frozen}/change`)
  const form = page.locator('form')
  const told = form.getByText(
    /^This takes the place of your own “Take it” \(.*\), which waits for approval\./,
  )
  await told.waitFor()
  const above = (await told.boundingBox())?.y ?? Number.NaN
  const button = await form.getByRole('button', { name: 'Request approval' }).boundingBox()
  expect(above).toBeLessThan(button?.y ?? 0)
  // A request for another group takes nobody's place.
  await form.getByLabel('Target group').fill('edge')
  await expect.poll(() => told.count()).toBe(0)
  await form.getByLabel('Target group').fill('')
  await form.getByRole('link', { name: 'See that request' }).click()
  await page.waitForURL(`**/changes/${waiting}`)
  expect(seen.complaints).toEqual([])
})
