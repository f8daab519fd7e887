import type { Page } from 'playwright-core'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'
import {
  READ_ONLY,
  type SimulatedAgent,
  type SimulatedAgentOptions,
  SUPERVISED,
} from '../../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../../support/eventually.ts'
import { Api, type Service } from '../../support/service.ts'
import { connect } from './fleet.ts'

/** A config that every collector of the tests can run. */
export const GATEWAY = `receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 0.0.0.0:4317
      http:
        endpoint: 0.0.0.0:4318
processors:
  memory_limiter:
    check_interval: 1s
    limit_mib: 400
  batch:
    timeout: 5s
exporters:
  otlphttp/eu:
    endpoint: https://telemetry.example.com:4318
  debug: {}
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, batch]
      exporters: [otlphttp/eu]
    metrics:
      receivers: [otlp]
      processors: [memory_limiter, batch]
      exporters: [otlphttp/eu, debug]
`
/** The same config with a shorter timeout. */
export const GATEWAY_FASTER = GATEWAY.replace('timeout: 5s', 'timeout: 2s')
/** The same config with an exporter that no collector of the tests has. */
export const GATEWAY_KAFKA = GATEWAY.replace('  debug: {}', '  kafka/eu:\n    brokers: [kafka:9092]').replace(
  'otlphttp/eu, debug',
  'otlphttp/eu, kafka/eu',
)

const DATADOG = `api_key: 0123456789abcdef0123456789abcdef
site: datadoghq.eu
logs_enabled: true
apm_config:
  enabled: true
process_config:
  process_collection:
    enabled: true
`

const QUICK = { behaviour: { kind: 'apply', delayMs: 150 } } as const
/**
 * The capabilities of an agent that does not report which components it has, so that no check can foresee what it
 * rejects.
 */
export const SECRETIVE = SUPERVISED & ~AGENT_CAPABILITIES.reportsAvailableComponents

/** Wait until a workload is listed with so many instances; returns its id. */
export function workloadId(service: Service, name: string, instances = 1): Promise<string> {
  return eventually(`${name} is listed`, async () => {
    const list = (await service.api.get('/api/workloads')) as {
      id: string
      display_name: string
      connected_instance_count: number
    }[]
    return list.find((one) => one.display_name === name && one.connected_instance_count === instances)?.id
  })
}

/** Push a config through request and approval and wait until it is settled. Returns its hash. */
export async function pushAndSettle(service: Service, id: string, yaml: string): Promise<string> {
  const hash = await eventually('it takes a config', () => service.api.pushConfig(id, yaml))
  await eventually('it is settled', async () => {
    const rows = (await service.api.get(`/api/workloads/${id}/configs`)) as { status: string }[]
    return rows[0]?.status !== 'pending'
  })
  return hash
}

/** Push a config to a workload in production, with the confirmations that this needs. */
async function pushToProduction(service: Service, id: string, yaml: string): Promise<void> {
  const approvals = `/api/workloads/${id}/config/approvals`
  const draft = { draft_yaml: yaml, comment: 'Under management', prod_confirmation: true }
  const request = await service.api.post(approvals, draft, 201)
  await service.api.post(`${approvals}/${request.id}/approve`, { comment: 'as it runs today' }, 200)
  const push = { comment: 'agreed', prod_double_confirmed: true }
  await service.api.post(`${approvals}/${request.id}/push`, push, 202)
}

/** Request and approve a config and push it in stages. Returns the rollout's id. */
export async function startRollout(
  service: Service,
  id: string,
  yaml: string,
  stages: readonly object[],
): Promise<string> {
  const { api } = service
  const approvals = `/api/workloads/${id}/config/approvals`
  const request = await api.post(approvals, { draft_yaml: yaml, comment: 'Faster batches, in stages' }, 201)
  await api.post(`${approvals}/${request.id}/approve`, { comment: 'in stages, please' }, 200)
  await api.post(`${approvals}/${request.id}/push`, { stages }, 202)
  const [rollout] = (await api.get(`/api/workloads/${id}/config/canary`)) as { id: string }[]
  if (rollout === undefined) throw new Error('no rollout was started')
  return rollout.id
}

const SINCE = { startTimeUnixNano: 1_782_892_800_000_000_000, statusTimeUnixNano: 1_782_892_860_000_000_000 }

/** The health that a collector reports whose exporter cannot reach its destination. */
export const FAILING_EXPORTER = {
  ...SINCE,
  healthy: false,
  status: 'StatusRecoverableError',
  lastError: 'failed to push: dial tcp 10.3.0.17:4318: connect: connection refused',
  componentHealthMap: {
    'pipeline:traces': {
      healthy: false,
      status: 'StatusRecoverableError',
      componentHealthMap: {
        'receiver:otlp': { healthy: true, status: 'StatusOK' },
        'processor:batch': { healthy: true, status: 'StatusOK' },
        'exporter:otlphttp/eu': {
          ...SINCE,
          healthy: false,
          status: 'StatusRecoverableError',
          lastError: 'failed to push: dial tcp 10.3.0.17:4318: connect: connection refused',
        },
      },
    },
    'pipeline:metrics': {
      healthy: true,
      status: 'StatusOK',
      componentHealthMap: {
        'receiver:otlp': { healthy: true, status: 'StatusOK' },
        'exporter:debug': { healthy: true, status: 'StatusOK' },
      },
    },
  },
}

/** A fleet with an example of everything, and the pages that show it. */
export interface Scene {
  pages: { name: string; path: string; act?: (page: Page) => Promise<void> }[]
  close(): Promise<void>
}

/** Have one administrator set labels that change the rule for approvals, and another one accept them. */
async function labelTogether(
  service: Service,
  workload: string,
  labels: Record<string, string>,
): Promise<void> {
  const password = 'long enough to pass'
  const people: Api[] = []
  for (const email of ['olga@example.com', 'pavel@example.com']) {
    await service.api.post('/api/users', { email, password, groups: ['administrator'] }, 201)
    const api = new Api(service.url)
    await api.login({ email, password })
    people.push(api)
  }
  const [first, second] = people
  await first!.call('PUT', `/api/workloads/${workload}/trusted-labels`, { labels })
  const open = (await second!.get('/api/reviews')) as { id: string; kind: string; workload_id: string }[]
  const set = open.find((review) => review.kind === 'labels' && review.workload_id === workload)
  await second!.post(`/api/reviews/${set?.id}`, { comment: 'These are the nodes', accepted: true }, 200)
}

/** Connect the fleet for the screenshots, and make its history. */
export async function openScene(service: Service): Promise<Scene> {
  const agents: SimulatedAgent[] = []
  const add = (
    name: string,
    pods: readonly string[],
    environment: string,
    options: (at: number) => Partial<SimulatedAgentOptions> = () => QUICK,
  ) => {
    const added = pods.map((pod, at) => connect(service, name, `${name}-${pod}`, options(at), environment))
    agents.push(...added)
    return added
  }
  const pods = (count: number) =>
    Array.from({ length: count }, (_, at) => `7c9f5-${(at * 7919 + 46_656).toString(36)}`)
  add('checkout-collector', pods(2), 'production')
  const gateways = add('otel-gateway', pods(8), 'staging')
  add('otel-node', pods(12), 'staging', (at) => ({
    ...QUICK,
    identifying: { 'service.name': 'otel-node', 'service.version': at === 3 ? '0.131.0' : '0.149.0' },
  }))
  add('billing-collector', pods(4), 'staging', () => ({ ...QUICK, capabilities: SECRETIVE }))
  const payments = add('payments-gateway', pods(3), 'production')
  const slow = add('inventory-collector', pods(6), 'development')
  add('edge-collector', ['branch-7'], 'production', () => ({ capabilities: READ_ONLY }))
  const leaving = add('legacy-mailer', pods(1), 'production')
  agents.push(
    connect(service, 'storefront', 'storefront-1', {
      capabilities: READ_ONLY,
      components: null,
      identifying: {
        'service.name': 'storefront',
        'service.version': '2.4.1',
        'telemetry.sdk.language': 'nodejs',
      },
    }),
  )
  const { api } = service
  const billing = await workloadId(service, 'billing-collector', 4)
  await pushAndSettle(service, billing, GATEWAY)
  await pushAndSettle(service, billing, GATEWAY_KAFKA)
  const node = await workloadId(service, 'otel-node', 12)
  await pushAndSettle(service, node, GATEWAY)
  const gateway = await workloadId(service, 'otel-gateway', 8)
  const first = await pushAndSettle(service, gateway, GATEWAY)
  await api.post(`/api/workloads/${gateway}/configs/${first}/label`, { label: 'v1 of the gateway' }, 200)
  await pushAndSettle(service, gateway, GATEWAY.replace('400', '512'))
  const rollout = await startRollout(service, gateway, GATEWAY_FASTER, [
    { percentage: 25, dwell_seconds: 3600 },
    { percentage: 50, dwell_seconds: 3600 },
    { percentage: 100, dwell_seconds: 0 },
  ])
  const canaries = `/api/workloads/${gateway}/config/canary/${rollout}`
  const watched = await eventually('its first stage is watched', async () => {
    const record = await api.get(canaries)
    return record.stages[0].status === 'dwelling' ? record : null
  })
  const member = gateways.find((agent) => watched.targets[0].instance_uid.includes(agent.uidHex()))
  member?.say({ health: FAILING_EXPORTER })
  await eventually('it halts', async () => (await api.get(canaries)).status === 'halted')
  payments[1]?.say({ health: FAILING_EXPORTER })
  const paymentsId = await workloadId(service, 'payments-gateway', 3)
  const inventory = await workloadId(service, 'inventory-collector', 6)
  await pushAndSettle(service, inventory, GATEWAY)
  for (const agent of slow.slice(4)) agent.collector.behaviour = { kind: 'silent' }
  const underWay = await api.pushConfig(inventory, GATEWAY_FASTER)
  const checkout = await workloadId(service, 'checkout-collector', 2)
  await pushToProduction(service, checkout, GATEWAY)
  const draft = GATEWAY_FASTER.replace(', debug]', ']').replace('  debug: {}\n', '')
  const waiting = await api.post(
    `/api/workloads/${checkout}/config/approvals`,
    {
      draft_yaml: draft,
      target_env: 'production',
      prod_confirmation: true,
      comment: 'Shorter batches, and no debug output',
    },
    201,
  )
  // Without a trusted label an approval by somebody else than the author would be needed.
  await labelTogether(service, node, { env: 'staging' })
  const nodes = `/api/workloads/${node}/config/approvals`
  const approved = await api.post(
    nodes,
    { draft_yaml: GATEWAY_FASTER, comment: 'Faster batches on the nodes' },
    201,
  )
  await api.post(`${nodes}/${approved.id}/approve`, { comment: 'Checked against the load of Monday' }, 200)
  // Nothing but an approval keeps it from being pushed, so the glass can be broken for it.
  const urgent = await api.post(
    nodes,
    {
      draft_yaml: GATEWAY.replace('timeout: 5s', 'timeout: 1s'),
      comment: 'Faster still at the edge',
      target_group: 'edge',
    },
    201,
  )
  const failed = (await api.get(`/api/workloads/${billing}/configs`)) as {
    config_hash: string
    push_id: string
    status: string
  }[]
  const failure = failed.find(({ status }) => status === 'failed')
  await api.post(
    '/api/users',
    { email: 'nadia@example.com', password: 'long enough to pass', groups: ['editor'] },
    201,
  )
  await api.call('PUT', `/api/workloads/${gateway}/trusted-labels`, {
    labels: { env: 'staging', team: 'platform' },
  })
  await api.post(
    '/api/push-groups',
    {
      name: 'Platform',
      description: 'What the platform team runs',
      selector: { match_labels: { 'muster/team': 'platform' } },
    },
    201,
  )
  const { id: fleetConfig } = await api.post(
    '/api/fleet-configs',
    {
      name: 'Nodes of the shop',
      description: 'What every node runs',
      selector: { match_labels: { 'identity/name': 'otel-node' } },
    },
    201,
  )
  await api.post(
    `/api/fleet-configs/${fleetConfig}/versions`,
    { content: GATEWAY_FASTER, comment: 'Faster batches' },
    201,
  )
  const { id: campaign } = await api.post(
    '/api/campaigns',
    {
      name: 'Faster batches in the shop',
      change: { kind: 'text', yaml: GATEWAY_FASTER },
      scope: { workload_ids: [billing, inventory, gateway] },
    },
    201,
  )
  await api.post(`/api/campaigns/${campaign}/plan`, {}, 202)
  await eventually('the campaign is planned', async () => {
    const { status } = await api.get(`/api/campaigns/${campaign}`)
    return status === 'planned'
  })
  await Promise.all(leaving.map((agent) => agent.stop()))
  await eventually('somebody is missed', async () => {
    const alerts = (await api.get('/api/alerts')) as { rule: string }[]
    return alerts.some(({ rule }) => rule === 'workload_down')
  })
  const on = (id: string, name: string, ...tabs: string[]) =>
    tabs.map((tab) => ({
      name: tab === '' ? name : `${name}-${tab}`,
      path: tab === '' ? `/workloads/${id}` : `/workloads/${id}/${tab}`,
    }))
  const pages: Scene['pages'] = [
    { name: 'fleet', path: '/' },
    {
      name: 'fleet-grouped',
      path: '/?group=environment&cols=status,name,type,cluster,instances,config,version,labels,seen',
    },
    { name: 'fleet-nothing', path: '/?q=nowhere' },
    ...on(gateway, 'gateway', '', 'instances', 'configuration', 'health', 'history', 'activity', 'alerts'),
    ...on(payments.length > 0 ? paymentsId : '', 'payments', '', 'instances', 'health', 'history', 'alerts'),
    ...on(billing, 'billing', '', 'history'),
    ...on(node, 'node', '', 'instances'),
    { name: 'change', path: `/workloads/${gateway}/change` },
    { name: 'change-compare', path: `/workloads/${gateway}/change?hash=${first}&view=compare` },
    { name: 'review', path: `/workloads/${checkout}/changes/${waiting.id}` },
    { name: 'approvals-to-look-at', path: '/approvals?status=reviews' },
    {
      name: 'push-failed',
      path: `/workloads/${billing}/pushes/${failure?.config_hash}?push=${failure?.push_id}`,
    },
    { name: 'push-under-way', path: `/workloads/${inventory}/pushes/${underWay}` },
    {
      name: 'review-push',
      path: `/workloads/${node}/changes/${approved.id}`,
      act: async (page) => {
        await page.getByRole('button', { name: /^(Push|Pousser)$/ }).click()
        await page.getByLabel(/Roll out in stages|Déployer par étapes/).check()
      },
    },
    {
      name: 'review-glass',
      path: `/workloads/${node}/changes/${urgent.id}`,
      act: (page) => page.getByRole('button', { name: /Break glass|Bris de glace/ }).click(),
    },
    {
      name: 'rollback',
      path: `/workloads/${gateway}/history`,
      act: async (page) => {
        await page
          .getByRole('button', { name: /Roll back to this|Revenir à celle-ci/ })
          .and(page.locator(':not([aria-disabled])'))
          .first()
          .click()
        await page.locator('.cm-merge-b').waitFor()
      },
    },
    {
      name: 'palette',
      path: '/alerts',
      act: async (page) => {
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        await page.keyboard.press('Control+k')
        await page.keyboard.type('e')
      },
    },
    { name: 'overview', path: '/overview' },
    { name: 'changes', path: '/changes' },
    {
      name: 'connect',
      path: '/',
      act: async (page) => {
        await page.getByRole('button', { name: /Connect a collector|Connecter un collecteur/ }).click()
        await page.locator('dialog pre').waitFor()
      },
    },
    {
      name: 'columns',
      path: '/',
      act: async (page) => {
        const chooser = page.locator('main summary', { hasText: /Columns|Colonnes/ })
        if (await chooser.isVisible()) await chooser.click()
      },
    },
    {
      name: 'report-preview',
      path: `/reports?ids=${billing},${checkout}`,
      act: async (page) => {
        await page.getByRole('button', { name: /Preview|Aperçu/ }).click()
        await page.locator('.report').waitFor()
      },
    },
    {
      name: 'migrated',
      path: '/templates/migrate',
      act: async (page) => {
        await page.getByLabel(/Their config|Sa config/).fill(DATADOG)
        await page.getByRole('button', { name: /^Conver(t|tir)$/ }).click()
        await page.locator('.cm-content').waitFor()
      },
    },
    { name: 'rollout', path: `/workloads/${gateway}/rollouts/${rollout}` },
    {
      name: 'compare',
      path: `/workloads/${billing}/compare?from=${failed.at(-1)?.config_hash}&to=${failure?.config_hash}`,
    },
    { name: 'approvals', path: '/approvals' },
    { name: 'approvals-pushed', path: '/approvals?status=pushed' },
    { name: 'alerts', path: '/alerts?resolved=true' },
    { name: 'versions', path: '/versions?recommended=0.150.0' },
    { name: 'drift', path: '/drift?all=true' },
    { name: 'templates', path: '/templates' },
    { name: 'template', path: '/templates/tpl-traces-tempo' },
    { name: 'template-new', path: '/templates/new' },
    { name: 'migrate', path: '/templates/migrate' },
    { name: 'reports', path: `/reports?ids=${billing}` },
    { name: 'audit', path: '/audit' },
    { name: 'campaigns', path: '/campaigns' },
    { name: 'campaign', path: `/campaigns/${campaign}` },
    { name: 'campaign-new', path: '/campaigns/new' },
    { name: 'fleet-configs', path: '/fleet-configs' },
    { name: 'fleet-config', path: `/fleet-configs/${fleetConfig}` },
    { name: 'fleet-config-new', path: '/fleet-configs/new' },
    { name: 'adopt', path: '/adopt' },
    { name: 'profile', path: '/settings/profile' },
    { name: 'tokens', path: '/settings/tokens' },
    { name: 'machines', path: '/settings/machines' },
    { name: 'label-rules', path: '/settings/label-rules' },
    { name: 'approval-policy', path: '/settings/approvals' },
    { name: 'links', path: '/settings/links' },
    { name: 'freeze', path: '/settings/freeze' },
    { name: 'users', path: '/settings/users' },
    { name: 'groups', path: '/settings/groups' },
    {
      name: 'group-new',
      path: '/settings/groups',
      act: (page) => page.getByRole('button', { name: /New push group|Nouveau groupe/ }).click(),
    },
    {
      name: 'rights',
      path: '/settings/users',
      act: async (page) => {
        await page
          .getByRole('button', { name: /^(Rights|Droits)$/ })
          .first()
          .click()
        await page.locator('dialog tbody tr').first().waitFor()
      },
    },
    { name: 'labels', path: '/settings/labels' },
    { name: 'processes', path: '/settings/processes' },
    { name: 'system', path: '/settings/system' },
    { name: 'nothing', path: '/nothing/here' },
  ]
  return {
    pages,
    close: async () => {
      await Promise.all(agents.map((agent) => agent.stop()))
    },
  }
}
