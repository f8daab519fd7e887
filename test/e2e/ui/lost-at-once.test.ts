import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { findBarriers } from './support/browser.ts'
import { photograph } from './support/pictures.ts'
import { FAILING_EXPORTER, GATEWAY_KAFKA, SECRETIVE, workloadId } from './support/scene.ts'
import { agents, connectAgent, openPage, page, seen, service, useStage } from './support/stage.ts'

const LOST = 30

useStage({
  pages: 'none',
  withinMs: 120_000,
  async prepare() {
    for (let at = 0; at < LOST; at++)
      connectAgent(`shop-${at}`, `shop-${at}-a`, {}, at % 3 === 0 ? 'prod' : 'dev')
    await workloadId(service, `shop-${LOST - 1}`)
    const edge = connectAgent('edge', 'edge-1', { capabilities: SECRETIVE })
    await service.api.pushConfig(await workloadId(service, 'edge'), GATEWAY_KAFKA)
    edge.say({ health: FAILING_EXPORTER })
    await eventually('its config has failed', async () =>
      ((await service.api.get('/api/workloads')) as { trouble?: { kind: string } }[]).some(
        ({ trouble }) => trouble?.kind === 'push_failed' || trouble?.kind === 'rolled_back',
      ),
    )
    await openPage()
    await Promise.all(agents.slice(0, LOST).map((agent) => agent.stop()))
  },
})

test('many that go at once are one thing on the overview at once, before any alert', async () => {
  await page.goto('/overview')
  const worst = page.getByRole('list', { name: 'The worst' })
  const first = worst.getByRole('listitem').first()
  await first.getByText(/^The last instances of 30 workloads left at \d\d:\d\d · dev 20, prod 10/).waitFor()
  await worst.getByRole('link', { name: 'edge' }).first().waitFor()
  await expect.poll(() => worst.getByText(/shop-/).count()).toBe(0)
  await photograph('lost-at-once-overview')
  expect(await findBarriers(page)).toEqual([])
})

test('in the fleet they are one line, that opens, and what else is wrong is next', async () => {
  await page.goto('/')
  const fold = page.getByRole('button', {
    name: /30 workloads (left|went down) at \d\d:\d\d · dev 20/,
    expanded: false,
  })
  await fold.waitFor()
  const rows = page.locator('.big-table tbody tr:not(.spacer)')
  await expect.poll(() => rows.count()).toBe(2)
  await rows.nth(1).getByRole('link', { name: 'edge' }).waitFor()
  const kinds = page.getByRole('navigation', { name: 'Kinds of trouble' })
  await kinds.getByRole('link', { name: 'leaving 30' }).waitFor()
  await photograph('lost-at-once-fleet')
  expect(await findBarriers(page)).toEqual([])
  // On a phone what is wrong begins in the upper half; where it was has no room there.
  await page.setViewportSize({ width: 390, height: 900 })
  const short = page.getByRole('button', {
    name: /30 workloads (left|went down) at \d\d:\d\d$/,
    expanded: false,
  })
  await short.waitFor()
  expect((await short.boundingBox())!.y).toBeLessThan(450)
  await page.setViewportSize({ width: 1440, height: 900 })
  await fold.click()
  await page.getByRole('link', { name: 'shop-0', exact: true }).waitFor()
  // Where nothing else is among them they are shown, as somebody asked for these.
  await page.goto('/?q=shop-')
  await page.getByRole('link', { name: 'shop-0', exact: true }).waitFor()
  await page.getByRole('button', { name: /30 workloads/, expanded: true }).waitFor()
  expect(seen.complaints).toEqual([])
})
