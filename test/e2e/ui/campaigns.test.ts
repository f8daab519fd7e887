import { afterEach, describe, expect, test } from 'vitest'
import { findBarriers, pasteInto } from './support/browser.ts'
import {
  GATEWAY,
  GATEWAY_FASTER,
  GATEWAY_KAFKA,
  pushAndSettle,
  SECRETIVE,
  workloadId,
} from './support/scene.ts'
import { agents, connectAgent, page, service, stopAgents, useStage } from './support/stage.ts'

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

const decide = async (name: string, comment = '') => {
  await page.getByRole('button', { name, exact: true }).click()
  const dialog = page.getByRole('dialog')
  if (comment !== '') await dialog.getByLabel('Comment').fill(comment)
  await dialog.getByRole('button', { name, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

const says = (text: string | RegExp) => page.getByText(text).first().waitFor()
const countRunning = (yaml: string) =>
  agents.filter(({ collector }) => collector.storage.remoteConfig === yaml).length

/** Write a campaign on its page, and wait until it is planned. */
async function writeDown(name: string, team: string, yaml: string): Promise<void> {
  await page.goto('/campaigns/new')
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('For whom').fill(`identity/name=${team}-*`)
  await page.getByLabel('Watch each wave for (seconds)').fill('0')
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
    await page.getByText('+    timeout: 2s').waitFor()
    await expect.poll(() => page.getByRole('list', { name: 'Waves' }).getByRole('listitem').count()).toBe(3)
    await expect.poll(() => findBarriers(page)).toEqual([])
    await decide('Ask for approval')
    // The approver finds it on the page of everything that waits for approval.
    const approvals = page.getByRole('link', { name: /^Approvals/ })
    await expect.poll(() => approvals.textContent()).toMatch(/1$/)
    await approvals.click()
    await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor()
    await expect.poll(() => page.getByText('Nothing waits for anybody.').count()).toBe(0)
    await page.getByRole('link', { name: 'Faster batches' }).click()
    await says('The plan waits for somebody to approve it.')
    await decide('Approve', 'looked at all five')
    await expect.poll(() => approvals.textContent()).not.toMatch(/1$/)
    await says('The plan is approved. Nothing has been started yet.')
    expect(countRunning(GATEWAY_FASTER)).toBe(0)
    await decide('Start')
    await says('Done.')
    expect(countRunning(GATEWAY_FASTER)).toBe(5)
    await decide('Take it back')
    await says('Taken back wherever it still ran.')
    expect(countRunning(GATEWAY)).toBe(5)
    await page.goto('/campaigns')
    await page.getByRole('link', { name: 'Faster batches' }).waitFor()
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
    await decide('Approve', 'try')
    await decide('Start')
    await page.getByRole('alert').getByText('Halted in wave 1: 1 workload failed, at most 0 may.').waitFor()
    expect(countRunning(GATEWAY)).toBeGreaterThanOrEqual(3)
    await page.getByRole('link', { name: /^failed 1/ }).click()
    await expect
      .poll(() => page.getByRole('region', { name: 'Workloads' }).locator('tbody tr').count())
      .toBe(1)
  })
})
