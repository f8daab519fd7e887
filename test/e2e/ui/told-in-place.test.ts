import { expect, test } from 'vitest'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RolloutRecord } from '../../../lib/wire/rollouts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, signIn, visit } from './support/browser.ts'
import { carryOut } from './support/carry-out.ts'
import { photograph } from './support/pictures.ts'
import {
  FAILING_EXPORTER,
  GATEWAY,
  GATEWAY_FASTER,
  GATEWAY_KAFKA,
  pushAndSettle,
  SECRETIVE,
  startRollout,
} from './support/scene.ts'
import {
  agents,
  browser,
  connectAgent,
  connectManaged,
  page,
  seen,
  service,
  useStage,
} from './support/stage.ts'

// What decides something is told where one looks at it, before a button refuses, and where it stands it stays.

let sick = ''
const READER = { email: 'reader@example.com', password: 'correct horse battery' }

useStage({
  pages: 'one',
  async prepare() {
    sick = await connectManaged('sick', { behaviour: { kind: 'apply', delayMs: 50 } })
    await pushAndSettle(service, sick, GATEWAY_FASTER)
    agents[0]?.say({ health: FAILING_EXPORTER })
    await service.api.post('/api/users', { ...READER, groups: ['viewer'] }, 201)
  },
})

test('whoever may not roll back what fails reads so, and who can, before there is a button to try', async () => {
  const theirs = await visit(browser, service.url)
  await signIn(theirs.page, READER)
  await theirs.page.goto(`/workloads/${sick}`)
  const said = theirs.page.locator('main .say')
  await said
    .getByText(
      'You cannot roll it back. Your role does not allow this (workload:push_config). Who can: editors and administrators whose scope reaches it, such as admin@example.com, who pushed it.',
    )
    .waitFor()
  expect(await findBarriers(theirs.page)).toEqual([])
  await theirs.page.screenshot({ path: 'test/e2e/shots/way-out-reader.png' })
  await theirs.context.close()
})

test('a freeze is told beside what fails: what it holds up, and that going back is not held up', async () => {
  const until = new Date(Date.now() + 7_200_000).toISOString()
  await service.api.call('PUT', '/api/freeze', { reason: 'Black Friday', until })
  await page.goto(`/workloads/${sick}`)
  const said = page.locator('main .say')
  await said
    .getByText(
      /^Frozen until .+ \(Black Friday\): a corrected config is pushed after that, or by breaking the glass; going back to an earlier one is not held up\.$/,
    )
    .waitFor()
  await expect.poll(() => page.getByText(/cannot roll it back/).count()).toBe(0)
  // Said once.
  expect(await page.getByText(/Frozen until/).count()).toBe(1)
  await photograph('way-out-frozen')
  await said.getByRole('link', { name: 'Roll back' }).click()
  await page
    .getByRole('row')
    .filter({ has: page.getByText('applied', { exact: true }) })
    .last()
    .getByRole('button', { name: 'Roll back to this' })
    .click()
  await page
    .getByRole('dialog')
    .getByText(/Frozen until .+: going back is not held up by that\./)
    .waitFor()
  await service.api.call('DELETE', '/api/freeze')
})

const FREEZE = () => ({ reason: 'Audit', until: new Date(Date.now() + 7_200_000).toISOString() })
const BACK =
  /^You cannot roll it back\. Your role does not allow this \(workload:push_config\)\. Who can: editors and administrators whose scope reaches it, such as admin@example\.com, who pushed it\.$/
// What was taken back is not to be rolled back any more.
const CORRECT =
  /^You cannot correct it\. Your role does not allow this \(config:request\)\. Who can: editors and/
const HELD_UP =
  /^Frozen until .+ \(Audit\): a corrected config is pushed after that, or by breaking the glass/

/** What a reader is told of the way out on a page, and what an administrator is while a freeze lasts. */
async function expectWaysOut(path: string, name: string, told: RegExp): Promise<void> {
  const theirs = await visit(browser, service.url)
  await signIn(theirs.page, READER)
  await theirs.page.goto(path)
  await theirs.page.locator('main .say').getByText(told).waitFor()
  expect(await findBarriers(theirs.page)).toEqual([])
  // No pane of which the reader may see nothing, and no quotes around words that nobody said.
  await expect.poll(() => theirs.page.locator('main .pane').filter({ hasText: /^\s*$/ }).count()).toBe(0)
  expect(await theirs.page.getByText(/“A backend/).count()).toBe(0)
  await theirs.page.screenshot({ path: `test/e2e/shots/${name}-reader.png` })
  await theirs.context.close()
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await service.api.call('PUT', '/api/freeze', FREEZE())
  await page.reload()
  await page.locator('main .say').getByText(HELD_UP).waitFor()
  expect(await page.getByText(/Frozen until/).count()).toBe(1)
  expect(await page.getByText(/cannot roll it back/).count()).toBe(0)
  await photograph(name)
  await service.api.call('DELETE', '/api/freeze')
}

test('the page of a push that failed says who can go back, and what a freeze holds up', async () => {
  const torn = await connectManaged('torn', {
    capabilities: SECRETIVE,
    behaviour: { kind: 'apply', delayMs: 50 },
  })
  await pushAndSettle(service, torn, GATEWAY_FASTER)
  const hash = await pushAndSettle(service, torn, GATEWAY_KAFKA)
  const rows = (await service.api.get(`/api/workloads/${torn}/configs`)) as RevisionRecord[]
  const failed = rows.find((row) => row.config_hash === hash && row.status === 'failed')
  await expectWaysOut(`/workloads/${torn}/pushes/${hash}?push=${failed?.push_id}`, 'push-way-out', CORRECT)
})

test('the page of a rollout that halted says who can go back, and what a freeze holds up', async () => {
  const begun = agents.length
  const staged = await connectManaged('staged', { pods: 4, behaviour: { kind: 'apply', delayMs: 50 } })
  const stages = [{ percentage: 25, dwell_seconds: 3_600 }, { percentage: 100 }]
  const rollout = await startRollout(service, staged, GATEWAY_FASTER, stages)
  const path = `/api/workloads/${staged}/config/canary/${rollout}`
  const member = await eventually('its first stage is watched', async () => {
    const { stages: now, targets } = (await service.api.get(path)) as RolloutRecord
    return now[0]?.status === 'dwelling' && targets[0]?.instance_uid.replaceAll('-', '')
  })
  agents.slice(begun).forEach((agent) => {
    if (agent.uidHex() === member) agent.say({ health: FAILING_EXPORTER })
  })
  await eventually('it halts', async () => (await service.api.get(path)).status === 'halted')
  await expectWaysOut(`/workloads/${staged}/rollouts/${rollout}`, 'rollout-way-out', BACK)
})

test('an approval policy that asks less and waits is told where approvals and changes are seen', async () => {
  const { body } = await service.api.call('GET', '/api/approval-policy')
  const { production, other, unlabelled } = body as Record<string, object>
  const lower = { production: { ...production, author_counts: true }, other, unlabelled }
  expect(await service.api.call('PUT', '/api/approval-policy', lower)).toMatchObject({ status: 200 })
  for (const path of ['/approvals', '/changes', '/overview']) {
    await page.goto(path)
    await page.getByText('admin@example.com asked for a policy that asks less.').waitFor()
    await page.getByText(/^Production: one approval, .+ → one approval, .+, the author counts$/).waitFor()
    expect(await findBarriers(page)).toEqual([])
  }
  await photograph('policy-waits')
  await service.api.call('PUT', '/api/approval-policy', { production, other, unlabelled })
  await page.goto('/approvals')
  await page.getByText('Nothing', { exact: false }).first().waitFor()
  await expect.poll(() => page.getByText(/asked for a policy/).count()).toBe(0)
})

test('the page of a campaign that has begun comes in one go: nothing moves as its parts come', async () => {
  for (let at = 0; at < 12; at++)
    connectAgent(`many-${at}`, `many-${at}-1`, {
      initialConfig: GATEWAY,
      behaviour: { kind: 'apply', delayMs: 50 },
    })
  const many = await eventually('all are there', async () => {
    const all = (await service.api.get('/api/workloads')) as WorkloadRecord[]
    const found = all.filter((one) => one.display_name.startsWith('many-') && one.reported_config_hash)
    return found.length === 12 && found.map((one) => one.id)
  })
  const change = { kind: 'text', yaml: GATEWAY_FASTER, takeover: true }
  const asked = { name: 'To many', change, scope: { workload_ids: many }, waves: [{}] }
  const { id } = await service.api.post('/api/campaigns', asked, 201)
  await carryOut(id)

  // Its parts come one after the other, as on a slow line.
  const held: { part: string; go: () => void }[] = []
  await page.route(/\/api\/campaigns\/[^/]+\/(targets|groups|figures)/, async (route) => {
    const part = /(targets|groups|figures)/.exec(route.request().url())![1]!
    await new Promise<void>((go) => held.push({ part, go }))
    await route.continue()
  })
  await page.goto(`/campaigns/${id}`)
  await page.getByRole('heading', { name: 'To many', level: 1 }).waitFor()
  await eventually('all parts are asked for', async () => new Set(held.map(({ part }) => part)).size === 3)
  const placeOf = async (text: string) =>
    (await page.getByRole('heading', { name: text }).first().boundingBox())?.y
  const places: (number | undefined)[] = []
  for (const part of ['figures', 'groups', 'targets']) {
    const answered = page.waitForResponse((response) => response.url().includes(`/${part}`))
    for (const one of held.filter((waiting) => waiting.part === part)) one.go()
    await answered
    if (part !== 'targets') expect(await page.getByRole('heading', { name: 'What changes' }).count()).toBe(0)
  }
  await page
    .getByRole('link', { name: /^many-0/ })
    .first()
    .waitFor()
  places.push(await placeOf('What changes'))
  await page.unroute(/\/api\/campaigns\/[^/]+\/(targets|groups|figures)/)
  await page.waitForLoadState('networkidle')
  places.push(await placeOf('What changes'))
  expect(places[0]).toBeDefined()
  expect(places[1]).toBe(places[0])
  await photograph('campaign-in-one-go')
  expect(seen.complaints).toEqual([])
})

test('the audit log says in which time zone its times are, and shows the sign-ins alone', async () => {
  await page.goto('/audit')
  const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  await page.getByText(`Times are in your time zone, ${zone}; the exported file has them in UTC.`).waitFor()
  const rows = page.getByRole('table').locator('tbody tr')
  await expect.poll(() => rows.filter({ hasText: 'Change approved' }).count()).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Sign-ins only', pressed: false }).click()
  await expect.poll(() => rows.filter({ hasText: 'Change approved' }).count()).toBe(0)
  await rows.filter({ hasText: 'Signed in' }).first().waitFor()
  expect(await findBarriers(page)).toEqual([])
  await photograph('audit-sign-ins')
  await page.getByRole('button', { name: 'Sign-ins only', pressed: true }).click()
  await rows.filter({ hasText: 'Change approved' }).first().waitFor()
})
