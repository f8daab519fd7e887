import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { SimulatedAgentOptions } from '../../../runtime/quickstart/simulated-agent.ts'
import { findBarriers, SHOTS } from './support/browser.ts'
import {
  FAILING_EXPORTER,
  GATEWAY,
  GATEWAY_FASTER,
  GATEWAY_KAFKA,
  pushAndSettle,
  SECRETIVE,
  startRollout,
  workloadId,
} from './support/scene.ts'
import {
  agents,
  connectAgent,
  connectManaged,
  page,
  seen,
  service,
  stopAgents,
  useStage,
} from './support/stage.ts'

/** Seconds, longer than any test: no stage moves on while the test looks at it. */
const FOR_EVER = 3600
const POD_COUNT = 8
const UNKNOWN_EXPORTER = 'error decoding \'exporters\': unknown type: "kafka" for id: "kafka/eu"'

useStage({ pages: 'each' })
afterEach(stopAgents)

/** Connect eight pods of one deployment that run a good config; returns the workload's id. */
function connectPods(name: string, options: Partial<SimulatedAgentOptions> = {}): Promise<string> {
  return connectManaged(name, { pods: POD_COUNT, behaviour: { kind: 'apply', delayMs: 150 }, ...options })
}

/** Request and approve a config; returns the address of its review. */
async function approveRequest(id: string, yaml: string): Promise<string> {
  const approvals = `/api/workloads/${id}/config/approvals`
  const draft = { draft_yaml: yaml, comment: 'Faster batches' }
  const request = await service.api.post(approvals, draft, 201)
  await service.api.post(`${approvals}/${request.id}/approve`, { comment: 'in stages' }, 200)
  return `/workloads/${id}/changes/${request.id}`
}

/**
 * On the review, push in stages of these shares of the instances (in percent); the browser then shows the rollout's
 * page.
 */
async function pushInStages(shares: string, seconds: string): Promise<void> {
  await page.getByRole('button', { name: 'Push', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Roll out in stages').check()
  await dialog.getByLabel('Shares of the instances, in percent').fill(shares)
  await dialog.getByLabel('Wait after each stage, in seconds').fill(seconds)
  await dialog.getByRole('button', { name: 'Push now' }).click()
  await page.getByRole('heading', { name: 'Staged rollout · Faster batches', level: 1 }).waitFor()
}

const stages = () => page.getByRole('list', { name: 'Stages' }).getByRole('listitem')
const stageSays = (at: number, text: string) => stages().nth(at).filter({ hasText: text }).waitFor()
const steer = (name: string) => page.getByRole('button', { name, exact: true })

/** Press a button that steers the rollout (continue, abort or roll back), and confirm. */
async function decide(name: string): Promise<void> {
  await steer(name).click()
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
}

const countRunning = (yaml: string) =>
  agents.filter(({ collector }) => collector.storage.remoteConfig === yaml).length

/**
 * Start a rollout whose first stage halts because one of its two members becomes unhealthy; returns that member's pod.
 */
async function haltFirstStage(id: string): Promise<{ pod: string; rollout: string }> {
  const rollout = await startRollout(service, id, GATEWAY_FASTER, [
    { percentage: 25, dwell_seconds: FOR_EVER },
    { percentage: 100, dwell_seconds: 0 },
  ])
  await page.goto(`/workloads/${id}/rollouts/${rollout}`)
  await page.getByText(/Stage 1 of 2 has it and is being watched/).waitFor()
  const record = await service.api.get(`/api/workloads/${id}/config/canary/${rollout}`)
  const { instance_uid: uid, pod_name: pod } = record.targets[0]
  agents.find((agent) => agent.uidHex() === uid.replaceAll('-', ''))?.say({ health: FAILING_EXPORTER })
  return { pod, rollout }
}

describe('a staged rollout', () => {
  // First of all: the overview names the three worst, and what fails below is worse.
  test('a gate halts it with one sentence: gate, value, instance; and it can be continued', async () => {
    const id = await connectPods('watched')
    const { pod, rollout } = await haltFirstStage(id)
    await page
      .getByText(`Halted in stage 1: 1 of 2 instances became unhealthy (${pod}); none is allowed.`)
      .waitFor({ timeout: 30_000 })
    await stageSays(0, 'halted')
    await page.getByText('unhealthy instances: 1, at most 0').waitFor()
    // The page's sentence ends with the error that the instance reported.
    const complaint =
      'exporter otlphttp/eu: “failed to push: dial tcp 10.3.0.17:4318: connect: connection refused”.'
    await page.getByRole('status').getByText(complaint).waitFor()
    // A member that is ill is not shown as plainly well; and what each step does is told before one asks.
    await page
      .getByRole('row', { name: /unhealthy.*applied/ })
      .first()
      .waitFor()
    const told = page.locator('.steps-told')
    await told.getByText(/^Abort: It ends here\. 2 instances keep/).waitFor()
    await told.getByText(/^Roll back: Of .+, 2 instances go back from/).waitFor()
    for (const width of [1440, 390])
      for (const theme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme: theme })
        await page.screenshot({ path: join(SHOTS, `halted-${width}-${theme}.png`) })
      }
    await page.setViewportSize({ width: 1440, height: 900 })
    // The fleet's list shows it; the workload's page shows it first and links to the rollout.
    await page.goto('/?q=watched')
    await page.getByText(`halted: 2 of ${POD_COUNT}`).waitFor()
    await page.goto(`/workloads/${id}`)
    await page
      .getByText('The staged rollout halted in stage 1: 1 of 2 instances became unhealthy; none is allowed.')
      .waitFor()
    // A part runs what the others are not to run: its configuration does not say that all run the same.
    await page.goto(`/workloads/${id}/configuration`)
    await page
      .getByText('They are meant to: a rollout in stages has come to them, and not yet to the others.')
      .waitFor()
    await page.getByRole('link', { name: 'See the rollout' }).waitFor()
    await expect.poll(() => page.getByText('All instances run what is assigned.').count()).toBe(0)
    await page.goto(`/workloads/${id}`)
    // It is rolled back where its stages are: its members only have to go back.
    await expect
      .poll(() => page.getByRole('link', { name: 'Roll back', exact: true }).getAttribute('href'))
      .toBe(`/workloads/${id}/rollouts/${rollout}?rollback=1`)
    // One press of it asks, as a roll-back does everywhere; who goes there again is not asked again.
    await page.getByRole('link', { name: 'Roll back', exact: true }).click()
    await page.getByRole('dialog', { name: 'Roll back' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.url()).toMatch(/\/rollouts\/[^?]+$/)
    await page.goto(`/workloads/${id}`)
    // The last push is shown as halted and not as going on.
    await page.locator('.pane', { hasText: 'Last push' }).getByText('halted', { exact: true }).waitFor()
    await page.getByRole('status').getByText(complaint).waitFor()
    // Why is told wherever it is told that it halted: in the fleet's list, on the overview and in the alert.
    await page.goto('/?q=watched')
    await page
      .getByText(/^rollout halted/)
      .first()
      .waitFor()
    const why = /cannot reach 10\.3\.0\.17:4318/
    await page.getByText(why).first().waitFor()
    await page.goto('/overview')
    const worst = page
      .getByRole('list', { name: 'The worst' })
      .getByRole('listitem')
      .filter({ hasText: 'watched' })
    await worst.filter({ hasText: 'rollout halted' }).filter({ hasText: why }).waitFor()
    await page.goto('/changes?workload=watched')
    const entry = page.getByRole('listitem').filter({ hasText: 'in stages' })
    await entry.getByText(`2 of ${POD_COUNT} applied`, { exact: false }).waitFor()
    await page.goto('/alerts')
    const alert = page.getByRole('row').filter({ hasText: 'watched' })
    await alert
      .filter({ hasText: /It stopped by itself in stage 1.*Cannot reach 10\.3\.0\.17:4318/ })
      .waitFor({ timeout: 40_000 })
    await page.goto(`/workloads/${id}`)
    // No page says that it is applying while nothing goes on.
    await page.getByText(`2 applied · 0 failed · ${POD_COUNT - 2} waiting`).waitFor()
    for (const tab of ['', '/history', '/activity']) {
      await page.goto(`/workloads/${id}${tab}`)
      await page.getByText('halted', { exact: true }).first().waitFor()
      await expect.poll(() => page.getByText('applying', { exact: true }).count()).toBe(0)
    }
    await page.goto(`/workloads/${id}/history`)
    await page.locator('main a.mono').first().click()
    await page.getByText(`It is halted: 2 of ${POD_COUNT} have it`).waitFor()
    await page.getByRole('link', { name: 'See the stages' }).click()
    await decide('Continue')
    await page.getByText(/Stage 1 of 2 has it and is being watched/).waitFor()
    await expect.poll(() => steer('Continue').getAttribute('aria-disabled')).toBe('true')
  })

  test('starts from the review, says beforehand whom each stage reaches, and goes on by itself to the end', async () => {
    const id = await connectPods('stepwise')
    await page.goto(await approveRequest(id, GATEWAY_FASTER))
    await page.getByRole('button', { name: 'Push', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Roll out in stages').check()
    const shares = dialog.getByLabel('Shares of the instances, in percent')
    await shares.fill('ten')
    await dialog.locator('.error', { hasText: 'Write shares between 0 and 100' }).waitFor()
    await expect
      .poll(() => dialog.getByRole('button', { name: 'Push now' }).getAttribute('aria-disabled'))
      .toBe('true')
    await shares.fill('25, 50')
    await dialog.getByText('2, then 4, then 8 of 8 instances.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await pushInStages('25, 50', '2')
    // Frozen, it waits and says so; a person may break the glass for it. Afterwards it goes on by itself.
    const until = new Date(Date.now() + 600_000).toISOString()
    await service.api.call('PUT', '/api/freeze', { reason: 'Black Friday', until })
    await page
      .getByText(/It waits before stage [23] of 3: the workload is frozen \(Black Friday\)\./)
      .waitFor()
    await steer('Continue').click()
    await dialog.getByText('With a reason you break the glass for it').waitFor()
    await dialog.getByRole('textbox').waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await service.api.call('DELETE', '/api/freeze')
    await expect.poll(() => stages().count()).toBe(3)
    await stageSays(0, '2 of 8 instances')
    await stageSays(2, 'all 8 instances')
    await page.getByText(/Stage 2 of 3/).waitFor()
    await stageSays(0, 'done')
    // Nothing is wrong while it runs, and no column says why.
    expect(await page.getByRole('columnheader', { name: 'What is wrong' }).count()).toBe(0)
    await page.getByText(/Stage 3 of 3/).waitFor()
    await page.getByText(/Every stage is done: 8 instances run it/).waitFor()
    expect(countRunning(GATEWAY_FASTER)).toBe(POD_COUNT)
    await expect.poll(() => steer('Abort').getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('link', { name: 'See the push' }).click()
    await page.getByRole('heading', { name: 'Faster batches', level: 1 }).waitFor()
    await expect.poll(() => stages().count()).toBe(3)
    await page.goto(`/workloads/${id}`)
    await page.getByText('All is well: 8 instances run the assigned config.').waitFor()
    expect(seen.complaints).toEqual([])
  })

  test('a FAILED in a stage ends it, and only the members go back', async () => {
    const id = await connectPods('brittle', { capabilities: SECRETIVE })
    await page.goto(await approveRequest(id, GATEWAY_KAFKA))
    await pushInStages('25', String(FOR_EVER))
    await page
      .getByText(/could not apply it, so it is over\. The automatic rollback (went|is going) back to/)
      .waitFor()
    await page.getByText('Instances outside the started stages were never offered it.').waitFor()
    await page.getByRole('link', { name: 'See the push' }).click()
    await page.getByText(/The automatic rollback (went|is going) back to/).waitFor()
    await page.getByText('kafka is not part of this collector').first().waitFor()
    await expect.poll(() => countRunning(GATEWAY)).toBe(POD_COUNT)
    // Six of the eight pods were never offered the other config.
    const offers = agents.map(({ collector }) => new Set(collector.offeredHashes).size)
    expect(offers.filter((count) => count === 1)).toHaveLength(6)
    await page.goto(`/workloads/${id}`)
    await page.getByText(/The automatic rollback went back to/).waitFor()
  })

  test('a rollback that one of two members cannot apply is nowhere said to have restored anything', async () => {
    const id = await connectPods('halved', { capabilities: SECRETIVE })
    const port = 'listen tcp 0.0.0.0:4317: bind: address already in use'
    // The first two pods are the members.
    agents[0]!.collector.behaviour = { kind: 'fail', delayMs: 150, errorMessage: port }
    await page.goto(await approveRequest(id, GATEWAY_KAFKA))
    await pushInStages('25', String(FOR_EVER))
    const inPart =
      /The automatic rollback to \w{7} was applied on 1 of 2 instances only\. It failed on 1: A port is already in use/
    await page.getByText(inPart).waitFor()
    await page.getByRole('link', { name: 'See the push' }).click()
    await page.getByText(inPart).waitFor()
    await page.getByRole('link', { name: 'See the rollback' }).click()
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Back to' }).waitFor()
    await page.getByText('applied in part', { exact: true }).first().waitFor()
    await page.goto(`/workloads/${id}`)
    // Where the config failed for the same cause, that stands once.
    const once = /The automatic rollback to \w{7} was applied on 1 of 2 instances only\. It failed on 1/
    await page.getByRole('status').getByText(once).waitFor()
    // What it is to run, and what it runs, are told apart.
    await page.getByText('Wanted config').waitFor()
    await page.getByText(/7 of 8 run it; of 1 it is not known what it runs/).waitFor()
    await page.goto('/?q=halved')
    await page.getByText('config failed, back on 1 of 2').first().waitFor()
    // What became of it stands beside the request as well.
    await page.goto(`/approvals?status=pushed&workload=${id}`)
    await page.getByRole('row').filter({ hasText: 'Faster batches' }).getByText(inPart).waitFor()
    await page.goto('/changes?workload=halved')
    const entry = page.getByRole('listitem').filter({ hasText: 'Automatic rollback from' })
    await entry.getByText('applied in part', { exact: true }).waitFor()
    await page.goto('/alerts')
    const alert = page.getByRole('row').filter({ hasText: 'halved' })
    await alert.getByText(once).waitFor({ timeout: 40_000 })
    expect(seen.complaints).toEqual([])
  })

  test('one that halted can be aborted: the members keep the config, nobody else gets it', async () => {
    const id = await connectPods('aborted')
    await haltFirstStage(id)
    await page.getByText(/Halted in stage 1/).waitFor({ timeout: 30_000 })
    await decide('Abort')
    await page.getByText('It was aborted.').waitFor()
    expect(countRunning(GATEWAY_FASTER)).toBe(2)
    // Nothing is left to steer: what its members run is corrected by a push to all.
    await page.getByRole('link', { name: 'Correct it' }).waitFor()
    await expect.poll(() => steer('Roll back').count()).toBe(0)
  })

  test('one that halted can be rolled back: the members return to the active config', async () => {
    const id = await connectPods('undone')
    await haltFirstStage(id)
    await page.getByText(/Halted in stage 1/).waitFor({ timeout: 30_000 })
    await decide('Roll back')
    await page.getByText(/It (was|is being) rolled back\. A rollback (went|is going) back to/).waitFor()
    await expect.poll(() => countRunning(GATEWAY)).toBe(POD_COUNT)
  })
})

describe('a staged rollout of a first config that fails', () => {
  test('says the same everywhere: nothing to go back to, who runs it still, why, and what to do', async () => {
    // Pod 2 lacks the exporter and fails; all other pods can run the config.
    for (let pod = 1; pod <= POD_COUNT; pod++)
      connectAgent('first-ever', `first-ever-${pod}`, {
        capabilities: SECRETIVE,
        behaviour:
          pod === 2
            ? { kind: 'fail', delayMs: 200, errorMessage: UNKNOWN_EXPORTER }
            : { kind: 'apply', delayMs: 0 },
      })
    const id = await workloadId(service, 'first-ever', POD_COUNT)
    const rollout = await startRollout(service, id, GATEWAY, [
      { percentage: 25, dwell_seconds: FOR_EVER },
      { percentage: 100, dwell_seconds: 0 },
    ])
    const nowhere =
      /There was no earlier config to go back to\. 1 instance runs it still\. Push a config that works\./
    await page.goto(`/workloads/${id}/rollouts/${rollout}`)
    await page.getByText('1 instance could not apply it, so it is over.').waitFor()
    await page.getByText(nowhere).waitFor()
    await page.getByText('kafka is not part of this collector').first().waitFor()
    await page.getByRole('columnheader', { name: 'What is wrong' }).waitFor()
    const failed = page.getByRole('row').filter({ hasText: 'first-ever-2' })
    await failed.getByText('kafka is not part of this collector').waitFor()
    await page.locator('.st.bad', { hasText: 'failed instances: 1, at most 0' }).waitFor()
    await page.getByRole('link', { name: 'See the push' }).click()
    await page.getByText(nowhere).waitFor()
    // Times that were not reached have no box.
    await expect.poll(() => page.getByText(/^to (99|100) %$/).count()).toBe(0)
    await page.goto(`/workloads/${id}`)
    await page.getByText(nowhere).waitFor()
    await expect
      .poll(() => page.getByRole('button', { name: 'Roll back' }).getAttribute('aria-disabled'))
      .toBe('true')
    await page.getByText('No other config was ever applied here').waitFor({ state: 'attached' })
    await page.goto('/drift')
    const drift = page.getByRole('row').filter({ hasText: 'first-ever' })
    await drift.getByText('runs a config that failed').waitFor()
    await drift.getByText(nowhere).waitFor()
    // Within half a minute it is an alert, in the same words, and leads to the push.
    await page.goto('/alerts')
    const alert = page.getByRole('row').filter({ hasText: 'first-ever' })
    await alert.getByText(nowhere).waitFor({ timeout: 40_000 })
    await alert.getByRole('link', { name: 'Push failed' }).click()
    await page.getByText(nowhere).waitFor()
    expect(seen.complaints).toEqual([])
  })

  test('offers no rollback while it is halted, and says why', async () => {
    for (let pod = 1; pod <= POD_COUNT; pod++)
      connectAgent('first-held', `first-held-${pod}`, { behaviour: { kind: 'apply', delayMs: 0 } })
    const id = await workloadId(service, 'first-held', POD_COUNT)
    await haltFirstStage(id)
    await page.getByText(/Halted in stage 1/).waitFor({ timeout: 30_000 })
    await expect
      .poll(() => steer('Roll back').getAttribute('title'))
      .toMatch(/no earlier config to go back to/)
    await expect.poll(() => steer('Abort').getAttribute('aria-disabled')).toBe(null)
    // Within half a minute it is an alert that leads back here.
    await page.goto('/alerts')
    const alert = page.getByRole('row').filter({ hasText: 'first-held' })
    await alert.getByText(/It stopped by itself in stage 1 and waits/).waitFor({ timeout: 40_000 })
    await alert.getByRole('link', { name: 'Rollout halted' }).click()
    await page.getByText(/Halted in stage 1/).waitFor()
  })
})

describe('a staged rollout of a first config that is aborted', () => {
  test('leaves a workload of which every page tells one story, and the way out', async () => {
    for (let pod = 1; pod <= POD_COUNT; pod++)
      connectAgent('left-split', `left-split-${pod}`, { behaviour: { kind: 'apply', delayMs: 0 } })
    const id = await workloadId(service, 'left-split', POD_COUNT)
    const { rollout } = await haltFirstStage(id)
    const base = `/workloads/${id}`
    // While it is halted, no page says that one may roll back to nothing.
    await page.goto(base)
    await page.getByText(/Look at the stage, then continue or abort\./).waitFor({ timeout: 30_000 })
    await page.goto(`${base}/rollouts/${rollout}`)
    await decide('Abort')
    const hash = (await service.api.get(`/api${base}/config/canary/${rollout}`)).config_hash as string
    const split = `2 run ${hash.slice(0, 7)} of an aborted rollout, 6 what they had`
    const correct = `${base}/change?hash=${hash}`
    const correctsIt = () => page.getByRole('link', { name: 'Correct it' }).first().getAttribute('href')
    await page.locator('.say.t-warn').getByText(split).waitFor()
    await expect.poll(correctsIt).toBe(correct)
    await page.getByRole('link', { name: 'See the push' }).click()
    await page.locator('.say.t-warn').getByText(split).waitFor()
    // The one that fails under it stands first, and says so.
    const first = page.getByRole('region', { name: 'Instances' }).getByRole('row').nth(1)
    await first.getByText('unhealthy').waitFor()
    await first.getByText(/10\.3\.0\.17/).waitFor()
    await page.goto(base)
    await page.getByText(split).first().waitFor()
    await expect.poll(correctsIt).toBe(correct)
    await page.getByText('2 applied · 0 failed · 0 waiting of 8 instances').waitFor()
    for (const [width, theme] of [
      [1440, 'light'],
      [1024, 'dark'],
      [390, 'light'],
    ] as const)
      for (const [at, path] of [
        '',
        '/configuration',
        '/instances',
        `/rollouts/${rollout}`,
        `/pushes/${hash}`,
      ].entries()) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme: theme })
        await page.goto(`${base}${path}`)
        await page.getByText(split).first().waitFor()
        await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
        await page.screenshot({ path: join(SHOTS, `split-${at}-${width}-${theme}.png`) })
      }
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`${base}/configuration`)
    await page.locator('main .st.warn', { hasText: split }).first().waitFor()
    await expect.poll(() => page.getByText('All instances run what is assigned.').count()).toBe(0)
    await expect.poll(() => page.getByText('No config is assigned.').count()).toBe(0)
    await page.goto(`${base}/instances`)
    await page.getByText(`${split}.`).waitFor()
    await page.goto('/?q=left-split')
    await page.getByRole('row').filter({ hasText: 'left-split' }).getByText('aborted: 2 of 8').waitFor()
    await page.goto('/drift')
    const drift = page.getByRole('row').filter({ hasText: 'left-split' })
    await drift.getByText('a rollout was aborted').waitFor()
    await page.goto(`/changes?workload=${id}`)
    await page.getByText('2 of 8 applied').waitFor()
    expect(seen.complaints).toEqual([])
  })
})

describe('instances that answer after the stages of a first config have failed', () => {
  test('count in the push as what they said, late, and nobody waits in a push that is over', async () => {
    // Pod 1 fails at once; the others of its stage answer when that has ended the push.
    for (let pod = 1; pod <= POD_COUNT; pod++)
      connectAgent('late-ones', `late-ones-${pod}`, {
        capabilities: SECRETIVE,
        behaviour:
          pod === 1
            ? { kind: 'fail', delayMs: 0, errorMessage: UNKNOWN_EXPORTER }
            : { kind: 'apply', delayMs: 1_500 },
      })
    const id = await workloadId(service, 'late-ones', POD_COUNT)
    await startRollout(service, id, GATEWAY, [
      { percentage: 50, dwell_seconds: FOR_EVER },
      { percentage: 100, dwell_seconds: 0 },
    ])
    const members = Math.ceil(POD_COUNT / 2)
    await page.goto(`/workloads/${id}`)
    await page
      .getByText(`There was no earlier config to go back to. ${members - 1} instances run it still.`)
      .waitFor()
    await page.getByText(`${members - 1} applied · 1 failed · 0 waiting`).waitFor()
    await page.getByRole('link', { name: 'See the push' }).click()
    await page.getByText(`${members - 1} applied · 1 failed · 0 applying · 0 waiting of ${members}`).waitFor()
    await expect.poll(() => page.getByText('after the push had ended').count()).toBe(members - 1)
    expect(seen.complaints).toEqual([])
  })
})

describe('the history of a workload', () => {
  test('compares any two, pins one as known good, and rolls back to it with the difference before one’s eyes', async () => {
    const id = await connectPods('storied')
    const faster = await pushAndSettle(service, id, GATEWAY_FASTER)
    const more = GATEWAY_FASTER.replace('400', '512')
    await pushAndSettle(service, id, more)
    await page.goto(`/workloads/${id}/history`)
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(3)

    // The first and the last revision can be compared, not only neighbours.
    await rows.nth(2).getByRole('checkbox').check()
    await rows.nth(0).getByRole('checkbox').check()
    await page.getByRole('link', { name: 'Compare' }).click()
    await page.getByText(/changes processors\.batch\.timeout/).waitFor()
    await page.getByText(/processors\.memory_limiter\.limit_mib/).waitFor()
    await page.locator('.cm-merge-b').waitFor()
    const sides = () => page.locator('.cm-changedLine').allTextContents()
    const inOrder = await sides()
    expect(inOrder.slice(0, 2)).toEqual(['    limit_mib: 400', '    timeout: 5s'])
    await page.goBack()
    // When they are ticked in the other order, the older one is still on the left.
    await rows.nth(2).getByRole('checkbox').uncheck()
    await rows.nth(0).getByRole('checkbox').uncheck()
    await rows.nth(0).getByRole('checkbox').check()
    await rows.nth(2).getByRole('checkbox').check()
    await page.getByRole('link', { name: 'Compare' }).click()
    await page.locator('.cm-merge-b').waitFor()
    await expect.poll(sides).toEqual(inOrder)
    await page.goBack()

    const row = page.getByRole('row').filter({ hasText: faster.slice(0, 7) })
    await row.getByRole('button', { name: 'Pin as known good' }).click()
    await row.getByText('known good', { exact: true }).waitFor()

    await row.getByRole('button', { name: 'Roll back to this' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('.cm-merge-b').waitFor()
    await expect
      .poll(() => dialog.locator('.cm-changedLine').allTextContents())
      .toEqual(['    limit_mib: 512', '    limit_mib: 400'])
    await dialog.getByRole('button', { name: 'Roll back now' }).click()
    await page
      .getByRole('heading', { name: new RegExp(`^storied · Back to ${faster.slice(0, 7)}`) })
      .waitFor()
    await page.getByText(/8 applied · 0 failed/).waitFor()
    expect(countRunning(GATEWAY_FASTER)).toBe(POD_COUNT)
    await page.goto(`/workloads/${id}/history`)
    await expect.poll(() => rows.count()).toBe(4)
    expect(seen.complaints).toEqual([])
  })
})
