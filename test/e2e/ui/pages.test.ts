import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../support/eventually.ts'
import type { Service } from '../support/service.ts'
import { findBarriers, launchBrowser, SHOTS, signIn, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { startComplete } from './support/service.ts'

const CONFIG = `receivers:
  otlp:
    protocols:
      grpc: {}
exporters:
  debug: {}
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [debug]
`

let service: Service
let browser: Browser
let agents: SimulatedAgent[] = []
const pages: { name: string; path: string }[] = []

/** A fleet with something of everything: a push, a request that waits, an alert. */
beforeAll(async () => {
  service = await startComplete({ MIN_AGENT_VERSION: '0.150.0' })
  browser = await launchBrowser()
  agents = ['a', 'b'].map((pod) =>
    connect(service, 'pictured', `pictured-${pod}`, { behaviour: { kind: 'apply', delayMs: 50 } }),
  )
  const { api } = service
  const id = await eventually('both are live', async () => {
    const [one] = (await api.get('/api/workloads')) as { id: string; connected_instance_count: number }[]
    return one?.connected_instance_count === 2 && one.id
  })
  const hash = await eventually('it takes a config', () => api.pushConfig(id, CONFIG))
  await eventually('it is applied', async () => {
    const [row] = (await api.get(`/api/workloads/${id}/configs`)) as { status: string }[]
    return row?.status === 'applied'
  })
  const draft = { draft_yaml: `${CONFIG}# later\n`, target_group: 'g', comment: 'Waits for a reviewer' }
  const waiting = (await api.post(`/api/workloads/${id}/config/approvals`, draft, 201)) as { id: string }
  const workload = `/workloads/${id}`
  for (const tab of ['instances', 'configuration', 'health', 'history', 'activity', 'alerts'])
    pages.push({ name: `workload-${tab}`, path: `${workload}/${tab}` })
  pages.push(
    { name: 'fleet', path: '/' },
    { name: 'workload', path: workload },
    { name: 'change', path: `${workload}/change` },
    { name: 'review', path: `${workload}/changes/${waiting.id}` },
    { name: 'push', path: `${workload}/pushes/${hash}` },
    { name: 'approvals', path: '/approvals' },
    { name: 'alerts', path: '/alerts?resolved=true' },
    { name: 'versions', path: '/versions?recommended=0.150.0' },
    { name: 'drift', path: '/drift?all=true' },
    { name: 'templates', path: '/templates' },
    { name: 'template', path: '/templates/tpl-traces-tempo' },
    { name: 'template-new', path: '/templates/new' },
    { name: 'migrate', path: '/templates/migrate' },
    { name: 'reports', path: `/reports?ids=${id}` },
    { name: 'audit', path: '/audit' },
    { name: 'profile', path: '/settings/profile' },
    { name: 'users', path: '/settings/users' },
    { name: 'groups', path: '/settings/groups' },
    { name: 'labels', path: '/settings/labels' },
    { name: 'system', path: '/settings/system' },
    { name: 'nothing', path: '/nothing/here' },
  )
})

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()))
  await browser?.close()
  await service?.stop()
})

describe.each([
  { theme: 'light', width: 1440, language: 'en' },
  { theme: 'dark', width: 1440, language: 'fr' },
  { theme: 'light', width: 320, language: 'fr' },
  { theme: 'dark', width: 320, language: 'en' },
] as const)('every page, $theme, $width wide, in $language', ({ theme, width, language }) => {
  test('has no barrier, a quiet console, and fits its width', { timeout: 240_000 }, async () => {
    const looks = { theme, width, height: width === 320 ? 800 : 900 }
    const { page, context, complaints } = await visit(browser, service.url, looks)
    const found: string[] = []
    await page.goto('/login')
    await page.locator('input[type=email]').waitFor()
    found.push(...(await findBarriers(page)).map((line) => `login ${line}`))
    await service.api.call('PUT', '/api/me/preferences', { theme, language })
    await signIn(page)
    for (const { name, path } of pages) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.waitForLoadState('networkidle')
      await page.screenshot({
        path: join(SHOTS, `${name}-${width}-${theme}-${language}.png`),
        fullPage: true,
      })
      found.push(...(await findBarriers(page)).map((line) => `${name} ${line}`))
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      if (overflow > 0) found.push(`${name} is ${overflow} px too wide`)
      found.push(...complaints.splice(0).map((line) => `${name} console: ${line}`))
    }
    await context.close()
    expect(found).toEqual([])
  })
})
