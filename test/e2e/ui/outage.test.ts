import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, SHOTS } from './support/browser.ts'
import { announceThousands } from './support/fleet.ts'
import { photograph } from './support/pictures.ts'
import { FAILING_EXPORTER, GATEWAY_KAFKA, SECRETIVE, workloadId } from './support/scene.ts'
import { connectAgent, openPage, page, seen, service, useStage } from './support/stage.ts'

const CROWD = 6_000
/** For how long the thousands are waited for at most until all are told to be down. */
const GONE_MS = 120_000

useStage({
  pages: 'none',
  env: { WORKLOAD_DISCONNECT_GRACE_SECONDS: '1' },
  withinMs: GONE_MS + 120_000,
  async prepare() {
    // One that is wrong otherwise: its first config failed.
    const edge = connectAgent('edge', 'edge-1', { capabilities: SECRETIVE })
    await service.api.pushConfig(await workloadId(service, 'edge'), GATEWAY_KAFKA)
    edge.say({ health: FAILING_EXPORTER })
    await announceThousands(service, CROWD, { leave: true })
    await eventually(
      'all are told to be down',
      async () => (await service.api.get('/api/alerts/count')).open_count > CROWD,
      { withinMs: GONE_MS, everyMs: 1_000 },
    )
    await eventually(
      'nothing that was pushed is healthy',
      async () => {
        const alerts = (await service.api.get('/api/alerts')) as AlertRecord[]
        return alerts.some(({ rule, severity }) => rule === 'push_failed' && severity === 'critical')
      },
      { withinMs: GONE_MS, everyMs: 1_000 },
    )
    await openPage()
  },
})

test('tells an outage of thousands as one, below what else is critical, and is filtered as one types', async () => {
  const names: string[] = []
  const encodings = new Map<string, string | undefined>()
  page.on('response', (answer) => {
    const { pathname, searchParams } = new URL(answer.url())
    encodings.set(pathname, answer.headers()['content-encoding'])
    if (pathname === '/api/fleet/names') names.push(...(searchParams.get('ids') ?? '').split(','))
  })
  await page.goto('/alerts')
  const outage = page.getByRole('region', { name: /^6,000 workloads went down at \d\d:\d\d$/ })
  await outage.getByRole('heading', { name: /dev 2,000, prod 2,000, staging 2,000/ }).waitFor()
  const top = async (text: string | RegExp) => (await page.getByText(text).first().boundingBox())!.y
  expect(await page.locator('main tbody tr').count()).toBeLessThan(10)
  expect(await top('Push failed')).toBeLessThan(await top(/6,000 workloads went down/))
  await page.getByRole('link', { name: 'edge' }).first().waitFor()
  // On a slow line: the alerts of thousands come compressed, and only what is shown is asked for by name, once.
  expect(encodings.get('/api/alerts')).toBe('gzip')
  const ids = names.filter((id) => id !== '')
  expect(ids.length).toBeLessThan(20)
  expect(new Set(ids).size).toBe(ids.length)
  await photograph('outage-alerts')
  expect(await findBarriers(page)).toEqual([])

  // The time from a key to what is shown for it, by the page's own clock.
  const filter = page.getByLabel('Filter by workload, rule or text')
  const took = (text: string, found: string) =>
    filter.evaluate(
      (input, [typed, wanted]) =>
        new Promise<number>((resolve) => {
          const startedMs = performance.now()
          const look = () => {
            if (document.querySelector('main')!.textContent!.includes(wanted!))
              requestAnimationFrame(() => resolve(performance.now() - startedMs))
            else requestAnimationFrame(look)
          }
          ;(input as HTMLInputElement).value = typed!
          input.dispatchEvent(new Event('input', { bubbles: true }))
          look()
        }),
      [text, found],
    )
  const figures = [
    await took('crowd-04', '1,000 of'),
    await took('crowd-04581', '1 of'),
    await took('', '6,001'),
  ]
  console.log('filter of 6,000 alerts, ms:', figures.map(Math.round).join(', '))
  for (const ms of figures) expect(ms).toBeLessThan(400)

  await outage.getByText('Show the 6,000 alerts').click()
  await outage
    .getByRole('row', { name: /crowd-0/ })
    .first()
    .waitFor()
  expect(await outage.locator('tbody tr').count()).toBeLessThan(300)
})

test('the overview tells it in one line, with when and where, and names what else is wrong', async () => {
  await page.goto('/overview')
  const worst = page.getByRole('list', { name: 'The worst' })
  const lines = worst.getByRole('listitem')
  await lines
    .first()
    .getByText(/^6,000 workloads went down at \d\d:\d\d · dev 2,000/)
    .waitFor()
  await worst.getByRole('link', { name: 'edge' }).first().waitFor()
  await expect.poll(() => worst.getByText(/crowd/).count()).toBe(0)
  const alerts = page.getByRole('region', { name: 'Open alerts' })
  await alerts.getByRole('link', { name: /^6,000 workloads went down/ }).waitFor()
  await alerts.getByText(/Push failed/).waitFor()
  await photograph('outage-overview')
  expect(await findBarriers(page)).toEqual([])
  await page.goto('/')
  await page.getByRole('button', { name: /^6,000 workloads went down at/, expanded: false }).waitFor()
  expect((await page.getByRole('link', { name: 'edge', exact: true }).boundingBox())!.y).toBeLessThan(700)
  await page.goto('/overview')
  await worst.getByRole('link', { name: /went down/ }).click()
  await expect.poll(() => new URL(page.url()).search).toBe('?show=disconnected')

  await service.api.call('PUT', '/api/me/preferences', { theme: 'light', language: 'fr' })
  await page.setViewportSize({ width: 1024, height: 900 })
  for (const path of ['alerts', 'overview']) {
    await page.goto(`/${path}`)
    await page
      .getByText(/6\s000 workloads ont disparu à/)
      .first()
      .waitFor()
    await page.screenshot({ path: join(SHOTS, `outage-${path}-1024-fr.png`) })
  }
  expect(seen.complaints).toEqual([])
})
