import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findBarriers, pasteInto, SHOTS } from './support/browser.ts'
import { FAILING_EXPORTER, GATEWAY, GATEWAY_FASTER } from './support/scene.ts'
import { agents, connectManaged, page, seen, service, useStage } from './support/stage.ts'

let id = ''

useStage({
  pages: 'each',
  async prepare() {
    id = await connectManaged('telling', { pods: 3, behaviour: { kind: 'apply', delayMs: 50 } })
  },
})

/** Take a picture of the page, wide and narrow. */
async function picture(name: string): Promise<void> {
  const size = page.viewportSize()!
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(SHOTS, `${name}-${width}.png`) })
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(size)
}

const REFUSED = 'failed to push: dial tcp 10.3.0.17:4318: connect: connection refused'

describe('the sentence about an unhealthy workload', () => {
  test('names the component, its error and since which push; the tree says the error once, where it belongs', async () => {
    agents[0]?.say({ health: FAILING_EXPORTER })
    await page.goto(`/workloads/${id}`)
    const sentence = page.locator('main .say')
    await sentence
      .getByText(
        /^1 of 3 instances is unhealthy since config [0-9a-f]{7} was pushed \(.+ by .+\): exporter otlphttp\/eu\.$/,
      )
      .waitFor()
    await sentence.getByText(`“${REFUSED}”. All were healthy before.`).waitFor()
    await sentence.getByRole('link', { name: 'Correct it' }).waitFor()
    await sentence.getByRole('link', { name: 'See its lines in the config' }).click()
    await page.waitForURL(/configuration\?at=exporters\.otlphttp%2Feu$/)
    const meant = page.locator('.cm-meant')
    await expect
      .poll(() => meant.allTextContents())
      .toEqual(['  otlphttp/eu:', '    endpoint: https://telemetry.example.com:4318'])
    await expect
      .poll(() => meant.first().evaluate((line) => line.getBoundingClientRect().y < innerHeight))
      .toBe(true)
    // In the colour of what fails, below its error.
    await page.locator('.code.fault .cm-meant').first().waitFor()
    await page.locator('.pane-said').getByText(REFUSED).waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
    await picture('fault-lines')
    // Nor does whoever corrects it have to find the place again.
    await page.goto(`/workloads/${id}/change`)
    await page.getByText(/^Line 15 fails in what runs: exporter otlphttp\/eu: /).waitFor()
    await page.locator('.cm-lintRange-warning').first().waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
    await picture('fault-editor')
    // However long the error is, all of it is there.
    const said = page.locator('.pane-said')
    for (const width of [1440, 1024]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await said.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0)
    }
    // It is said of what runs: a draft that mends it is not told that it fails.
    const draft = page.getByRole('textbox', { name: 'Draft' })
    await pasteInto(page, draft, GATEWAY.replace('telemetry.example.com', 'mended.example.com'))
    await page.getByText(/^Fails in what runs; this draft changes it: exporter otlphttp\/eu: /).waitFor()
    await expect.poll(() => page.locator('.cm-lintRange-warning').count()).toBe(0)
    await picture('fault-mended')
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.goto(`/workloads/${id}/instances`)
    const row = page.getByRole('row').filter({ hasText: 'telling-1' })
    await row.getByText('cannot reach 10.3.0.17:4318 · exporter otlphttp/eu').waitFor()
    await page.goto(`/workloads/${id}/health`)
    await page.locator('.tree').getByText('exporter:otlphttp/eu').waitFor()
    // Which one it is, and how it stands, is said above what it reports.
    const about = page.getByRole('region', { name: 'telling-1', exact: true })
    for (const fact of ['Health', 'Config', 'Runs what is asked', 'Connected', 'Last message', 'Uid'])
      await about.locator('dt').getByText(fact, { exact: true }).waitFor()
    await about.getByText('WebSocket').waitFor()
    await picture('instance-about')
    await expect.poll(() => page.locator('.tree').getByText(REFUSED).count()).toBe(1)
    const choices = page.getByLabel('Instance', { exact: true }).locator('option')
    await expect.poll(() => choices.count()).toBe(3)
    await page.getByRole('searchbox', { name: /^Find instances/ }).fill('telling-3')
    await expect.poll(() => choices.allTextContents()).toEqual(['▲ telling-1', 'telling-3'])
    // The page of that push says so as well.
    const { trouble } = await service.api.get(`/api/workloads/${id}`)
    await page.goto(`/workloads/${id}/pushes/${trouble.under_push.config_hash}`)
    await page.locator('main .say').getByText('1 of 3 instances is unhealthy since this push.').waitFor()
    await page.screenshot({ path: join(SHOTS, 'push-since-1440.png') })
    await page.getByRole('link', { name: 'What is wrong, and what to do' }).click()
    await sentence.getByText('All were healthy before.').waitFor()
    // A change that waits may be what puts it right: nobody has to propose it again.
    const request = { draft_yaml: GATEWAY_FASTER, comment: 'The right host' }
    const { id: asked } = await service.api.post(`/api/workloads/${id}/config/approvals`, request, 201)
    await page.goto(`/workloads/${id}`)
    await sentence.getByText('1 of 3 instances is unhealthy').waitFor()
    await sentence.getByText('1 change waits for approval.').waitFor()
    await sentence.getByRole('link', { name: 'Review' }).waitFor()
    await service.api.post(`/api/workloads/${id}/config/approvals/${asked}/withdraw`, {}, 200)
    agents[0]?.say({ health: { healthy: true, status: 'StatusOK' } })
    expect(seen.complaints).toEqual([])
  })
})

describe('the sentence about a workload', () => {
  test('is said once all that it is made of is there, and not in two wordings', async () => {
    agents[1]?.say({ health: FAILING_EXPORTER })
    await expect
      .poll(async () => (await service.api.get(`/api/workloads/${id}`)).trouble)
      .toMatchObject({ count: 1, under_push: { instance_count: 1 } })
    await page.addInitScript(() => {
      const said = new Set<string>()
      Object.assign(window, { said })
      const look = () => {
        const text = document.querySelector('main .say b')?.textContent
        if (text) said.add(text.replace(/\(.+ by/, '(by'))
        requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    })
    for (const [at, part] of ['topology', 'instances/*', 'configs?*'].entries())
      await page.route(`**/api/workloads/${id}/${part}`, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 400 * (at + 1)))
        await route.continue()
      })
    await page.goto(`/workloads/${id}`)
    await page.locator('main .say').getByText('All were healthy before.').waitFor()
    const said = await page.evaluate(() => [...(window as unknown as { said: Set<string> }).said])
    expect(said).toEqual([expect.stringMatching(/^1 of 3 .*pushed \(by .+\): exporter otlphttp\/eu\.$/)])
    agents[1]?.say({ health: { healthy: true, status: 'StatusOK' } })
    expect(seen.complaints).toEqual([])
  })
})

describe('a workload of which one instance was changed on its host', () => {
  test('is not called well, on any of its pages, and the way leads to what differs', async () => {
    const body = Buffer.from(GATEWAY_FASTER)
    agents[2]?.say({ effectiveConfig: { configMap: { configMap: { '': { body } } } } })
    const sentence = page.locator('main .say')
    await page.goto(`/workloads/${id}`)
    await sentence.getByText('1 of 3 instances reports to run something else than the assigned').waitFor()
    await sentence.getByText('what differs: processors.batch.timeout').waitFor()
    await page.getByRole('link', { name: /^Instances/ }).click()
    await page.getByText('1 reports to run something else than what is assigned.').waitFor()
    await expect.poll(() => page.getByText('The instances are alike.').count()).toBe(0)
    // Since when is told, and its row does not say that it applied what it does not run.
    await sentence.getByText(/than the assigned config, first seen (now|\d+ sec ago)\./).waitFor()
    const changed = page.locator('main tbody tr', { hasText: 'changed there' })
    await changed.waitFor()
    expect(await changed.getByText('applied', { exact: true }).count()).toBe(0)
    await page.getByRole('link', { name: 'Activity' }).click()
    await page.getByText(/was changed on its host: it runs another config than it applied/).waitFor()
    await picture('altered-activity')
    await page.getByRole('link', { name: /^Instances/ }).click()
    await changed.waitFor()
    await picture('altered-instances')
    await sentence.getByRole('link', { name: 'See what it runs' }).click()
    await page.waitForURL(/configuration$/)
    // The sentence above the tabs has said it.
    await expect.poll(() => page.getByText('1 instance does not run what is assigned.').count()).toBe(0)
    const differs = page.getByRole('region', { name: 'Where it differs' }).getByRole('row').last()
    await expect.poll(() => differs.textContent()).toBe('processors.batch.timeout5s2s')
    // It is what one came to see: above the text of what should run, without a scroll.
    expect((await differs.boundingBox())!.y).toBeLessThan(700)
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.locator('.cm-deletedChunk, .cm-changedLine').first().waitFor()
    await expect.poll(() => findBarriers(page)).toEqual([])
    await picture('differs')
    // Whoever looks at the fleet learns it as well, and comes from there to the instances.
    await page.goto('/')
    const row = page.getByRole('row', { name: /another config than asked/ })
    await row.getByText('1 of 3 runs another config than asked').waitFor()
    await row.getByText('1 changed').waitFor()
    await page.getByRole('link', { name: '1 drifted' }).click()
    await row.waitFor()
    await picture('altered-fleet')
    await page.goto('/drift')
    await page.getByText('changed there', { exact: true }).waitFor()
    await picture('altered-drift')
    await page.goto('/overview')
    const worst = page.getByRole('list', { name: 'The worst' })
    await picture('altered-overview')
    await worst.getByRole('link', { name: '1 of 3 runs another config than asked' }).click()
    await page.waitForURL(/instances$/)
    agents[2]?.say({ effectiveConfig: { configMap: { configMap: { '': { body: Buffer.from(GATEWAY) } } } } })
    expect(seen.complaints).toEqual([])
  })
})

describe('the picture of the pipelines', () => {
  test('shows a component’s lines and state when it is chosen, also by keyboard', async () => {
    await page.goto(`/workloads/${id}`)
    const exporter = page.getByRole('button', { name: 'traces: exporter otlphttp/eu' })
    await exporter.click()
    const lines = page.locator('main pre.snippet')
    await page.getByText('lines 15 to 16').waitFor()
    await expect
      .poll(() => lines.textContent())
      .toBe('otlphttp/eu:\n  endpoint: https://telemetry.example.com:4318')
    await page.getByRole('button', { name: 'metrics: exporter debug' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => lines.textContent()).toBe('debug: {}')
    await page.keyboard.press('Enter')
    await expect.poll(() => lines.count()).toBe(0)
    await expect.poll(() => findBarriers(page)).toEqual([])
  })

  test('counts as at least so many what fails where more are unhealthy than are asked why', async () => {
    const others = agents.length
    const many = await connectManaged('sickly', { pods: 8, behaviour: { kind: 'apply', delayMs: 50 } })
    const rest = agents.slice(others + 1)
    for (const agent of rest) agent.say({ health: FAILING_EXPORTER })
    await page.goto(`/workloads/${many}`)
    await page.getByText('7 of 8 instances are unhealthy', { exact: false }).first().waitFor()
    const drawn = (text: string) => page.getByRole('group', { name: `exporter:otlphttp/eu is ${text}` })
    await drawn('unhealthy on at least 6 instances.').waitFor()
    const exporter = page.getByRole('button', { name: 'traces: exporter otlphttp/eu ▲ 6+' })
    await exporter.click()
    await page.locator('main').getByText('traces exporter:otlphttp/eu is unhealthy on at least 6').waitFor()
    await page.goto(`/workloads/${many}/configuration`)
    await drawn('unhealthy on at least 6 instances.').waitFor()
    rest[0]?.say({ health: { healthy: true, status: 'StatusOK' } })
    await drawn('unhealthy on 6 instances.').waitFor()
    expect(seen.complaints).toEqual([])
  })
})

describe('the editor', () => {
  test('is left with Tab, which changes nothing; Ctrl-] indents, and it says so', async () => {
    await page.goto(`/workloads/${id}/change`)
    const editor = page.getByRole('textbox', { name: 'Draft' })
    await editor.click()
    await page.keyboard.press('Control+Home')
    const before = await editor.textContent()
    const says = await editor.evaluate(
      (one) => document.getElementById(one.getAttribute('aria-describedby') ?? '')?.textContent,
    )
    expect(says).toBe('Tab leaves the editor; Ctrl ] and Ctrl [ indent.')
    await page.keyboard.press('Tab')
    await expect.poll(() => editor.evaluate((one) => one === document.activeElement)).toBe(false)
    await expect.poll(() => editor.textContent()).toBe(before)
    await editor.focus()
    await page.keyboard.press('Control+]')
    await expect.poll(() => editor.textContent()).toBe(`  ${before}`)
    await page.keyboard.press('Control+[')
    await expect.poll(() => editor.textContent()).toBe(before)
  })
})

describe('a push', () => {
  test('is announced with its reach, and its page has the request, the words and the difference', async () => {
    const approvals = `/api/workloads/${id}/config/approvals`
    const draft = { draft_yaml: GATEWAY_FASTER, comment: 'Shorter batches' }
    const request = await service.api.post(approvals, draft, 201)
    await service.api.post(`${approvals}/${request.id}/approve`, { comment: 'fine' }, 200)
    await page.goto(`/workloads/${id}/changes/${request.id}`)
    await page.getByRole('button', { name: 'Push', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('To telling, staging: 3 instances, all at once.').waitFor()
    await dialog.getByLabel('Roll out in stages').check()
    await dialog.getByText('To telling, staging: 3 instances in 3 stages (1, 2, 3).').waitFor()
    await dialog.getByLabel('Roll out in stages').uncheck()
    await dialog.getByLabel('Comment for the record').fill('after the freeze')
    for (const agent of agents) agent.collector.behaviour = { kind: 'silent' }
    await dialog.getByRole('button', { name: 'Push now' }).click()
    await page.getByText('after the freeze').waitFor()
    await page.getByRole('link', { name: 'Shorter batches' }).waitFor()
    await page.getByRole('heading', { name: 'Shorter batches', level: 1 }).waitFor()
    await page.getByText('requested by admin@example.com, approved by admin@example.com').waitFor()
    await page.getByText('0 applied · 0 failed').waitFor()
    await page.getByRole('link', { name: 'See the difference' }).click()
    await page.getByText(/changes processors\.batch\.timeout/).waitFor()
    expect(seen.complaints).toEqual([])
  })

  test('leaves no failure of one page on the next', async () => {
    await page.goto(`/workloads/${id}/history`)
    const back = page.getByRole('button', { name: 'Roll back to this' }).first()
    await back.click({ force: true })
    const refused = page
      .getByRole('status')
      .filter({ hasText: /This is what it should run already|Only a config/ })
    await refused.waitFor()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Alerts' }).click()
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
    await expect.poll(() => refused.count()).toBe(0)
  })
})
