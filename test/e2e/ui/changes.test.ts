import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findBarriers, SHOTS, signIn, visit } from './support/browser.ts'
import { GATEWAY, GATEWAY_KAFKA, pushAndSettle, SECRETIVE, workloadId } from './support/scene.ts'
import { browser, connectManaged, service, useStage } from './support/stage.ts'

let gateway: string

useStage({
  pages: 'none',
  withinMs: 120_000,
  async prepare() {
    gateway = await connectManaged('otel-gateway', { capabilities: SECRETIVE })
    await pushAndSettle(service, gateway, GATEWAY_KAFKA)
    await connectManaged('mailer')
    const mailer = await workloadId(service, 'mailer')
    const draft = { draft_yaml: GATEWAY.replace('5s', '7s'), comment: 'Mind the incident of May' }
    await service.api.post(`/api/workloads/${mailer}/config/approvals`, draft, 201)
    const who = { email: 'vera@example.com', password: 'long enough to pass', groups: ['viewer'] }
    await service.api.post('/api/users', who, 201)
  },
})

test('one feed tells what was done to the configs, and is narrowed by address', async () => {
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page)
  await page.getByRole('link', { name: 'Changes' }).click()
  await page.getByRole('heading', { name: 'Changes', level: 1 }).waitFor()
  const rows = page.locator('.changes li')
  await expect.poll(() => rows.count()).toBe(5)
  const texts = () => rows.allTextContents()
  await expect.poll(async () => (await texts())[0]).toMatch(/waiting for approval.*mailer.*asked for/s)
  await expect.poll(async () => (await texts()).join()).toContain('Mind the incident of May')
  await expect
    .poll(
      async () =>
        (await texts()).filter((text) => /Automatic rollback from \w{7} to \w{7}/.test(text)).length,
    )
    .toBe(1)
  for (const width of [1440, 1024, 390])
    for (const theme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: theme })
      await page.screenshot({ path: join(SHOTS, `changes-${width}-${theme}-en.png`), fullPage: true })
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
        .toBeLessThanOrEqual(0)
    }
  await page.setViewportSize({ width: 1440, height: 900 })

  await page.getByLabel('Outcome').selectOption('failed')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByLabel('Workload').fill('mail')
  await page.getByText('No change fits.').waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('?outcome=failed&workload=mail')
  await page.getByRole('link', { name: 'Show all changes' }).click()
  await expect.poll(() => rows.count()).toBe(5)
  // A push that comes meanwhile appears by itself, and leads to its page.
  await pushAndSettle(service, gateway, GATEWAY_KAFKA.replace('5s', '3s'))
  await expect.poll(() => rows.count()).toBe(7)
  await rows
    .filter({ hasText: 'failed' })
    .first()
    .getByRole('link', { name: /pushed/ })
    .click()
  await expect.poll(() => new URL(page.url()).pathname).toContain(`/workloads/${gateway}/pushes/`)
  expect(complaints).toEqual([])
  await context.close()
})

test('a viewer reads what was done, and no comment', async () => {
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page, { email: 'vera@example.com', password: 'long enough to pass' })
  await page.goto('/changes')
  await page
    .getByText(/Automatic rollback from/)
    .first()
    .waitFor()
  await expect.poll(() => page.getByText('Mind the incident of May').count()).toBe(0)
  // Sentences wrap where the page is narrow, and bring their links together.
  await page.setViewportSize({ width: 320, height: 800 })
  expect(await findBarriers(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})

test('a stretch of the activity, chosen by keys or by dragging, leads to what was changed then', async () => {
  const { page, context, complaints } = await visit(browser, service.url)
  await signIn(page)
  await page.goto(`/workloads/${gateway}/activity?window=1h`)
  const chart = page.getByRole('region', { name: /Connects and disconnects over time/ })
  await chart.locator('canvas').waitFor()
  await chart.focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Shift+ArrowLeft')
  const link = page.getByRole('link', { name: 'What was changed then' })
  await link.waitFor()
  expect(await findBarriers(page)).toEqual([])
  await page.screenshot({ path: join(SHOTS, 'activity-stretch-1440-light-en.png') })
  await link.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Changes', level: 1 }).waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get('workload')).toBe(gateway)
  await page
    .getByText(/Automatic rollback from/)
    .first()
    .waitFor()
  await expect.poll(() => page.locator('.changes li', { hasText: 'mailer' }).count()).toBe(0)

  await page.goBack()
  await chart.locator('canvas').waitFor()
  const area = chart.locator('.u-over')
  await expect.poll(async () => (await area.boundingBox())?.width ?? 0).toBeGreaterThan(300)
  const box = (await area.boundingBox())!
  await page.mouse.move(box.x + 20, box.y + 40)
  await page.mouse.down()
  await page.mouse.move(box.x + 120, box.y + 40, { steps: 4 })
  await page.mouse.up()
  await link.click()
  // Nothing was changed in the first minutes of the hour.
  await page.getByText('No change fits.').waitFor()
  expect(complaints).toEqual([])
  await context.close()
})
