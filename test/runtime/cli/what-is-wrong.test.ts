import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'

// What the pages say of something that is wrong, the command line says as well.

const WORKLOAD = {
  id: 'w1',
  display_name: 'otel-collector',
  connected_instance_count: 4,
  labels: {},
  fingerprint_keys: { 'host.name': 'vm-1' },
  status: 'connected',
  open_alert_count: 1,
  waiting_approval_count: 0,
  active_config_hash: 'h',
  current_config_push: {
    status: 'pending',
    rollout_status: 'halted',
    applied_count: 1,
    target_count: 4,
    failed_count: 1,
    outcome: 'open',
  },
  trouble: {
    kind: 'rollout_halted',
    error_cause: 'port_in_use',
    error_title: 'A port is in use',
    error_parameters: { port: '4317', unknown_host: 'tempo.example.com' },
  },
}
const ALERT = {
  severity: 'critical',
  workload_id: 'w1',
  rule: 'rollout_halted',
  fired_at: '2026-01-01T00:00:00Z',
  message: 'halted',
  details: { cause: 'port_in_use', instances: 'edge-1, edge-2' },
}
/** Listed before it by name, and in no trouble. */
const WELL = { id: 'w0', display_name: 'gateway', labels: {}, status: 'connected', version: '0.149.0' }
const REQUEST = {
  id: 'car_1',
  status: 'pending',
  workload_id: 'w1',
  draft_hash: 'd'.repeat(64),
  requester: 'eve@example.com',
  created_at: '2026-01-01T00:00:00Z',
}
/** Of the same workload, and about something else than its trouble; and one that is about no workload. */
const OTHERS = [
  {
    ...ALERT,
    workload_id: 'w1',
    rule: 'push_failed',
    message: 'failed',
    details: { cause: 'port_in_use', push_id: 'p0' },
  },
  {
    ...ALERT,
    workload_id: '',
    rule: 'campaign_failures',
    message: 'some',
    details: { name: 'memory of the stores' },
  },
]
const MILD = { ...ALERT, severity: 'warning', rule: 'config_drift', message: 'drifts' }
let service: Server

beforeAll(async () => {
  service = createServer((request, response) => {
    const path = request.url ?? ''
    if (path.endsWith('/rollback'))
      response.writeHead(409).end(JSON.stringify({ error: 'no rollback target', code: 'no_rollback_target' }))
    else if (path.startsWith('/api/alerts')) response.end(JSON.stringify([MILD, ALERT, ...OTHERS]))
    else if (path.startsWith('/api/approvals')) response.end(JSON.stringify([REQUEST]))
    else response.end(JSON.stringify([WELL, WORKLOAD]))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
})
afterAll(() => service.close())

async function run(...args: string[]) {
  let said = ''
  const say = (text: string) => {
    said += text
  }
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const env = { MUSTER_URL: url, MUSTER_TOKEN: 'mst_x' }
  const code = await runClient(args, {
    env,
    out: say,
    error: say,
    readInput: async () => Buffer.from(''),
    isTerminal: false,
  })
  return { code, said }
}

it('a name that no workload has is answered with near ones and with how to list them', async () => {
  for (const named of ['collector', 'otel-colector', 'OTEL-collector'])
    expect((await run('status', named)).said).toContain('near to it: otel-collector')
  const { said } = await run('status', 'something else')
  expect(said).toContain('muster get workloads')
  expect(said).not.toContain('near to it')
})

it('a rollback without a target says what there would have to be', async () => {
  const { code, said } = await run('rollback', 'w1')
  expect(code).toBe(3)
  expect(said).toContain('no earlier config was approved and applied')
})

it('a halted rollout is called halted, with its cause and what that is about', async () => {
  const { said } = await run('status', 'w1')
  const row = (name: string) => said.split('\n').find((line) => line.startsWith(name)) ?? ''
  const about = 'A port is in use, port 4317, no such host tempo.example.com'
  expect(row('newest push')).toMatch(/ halted, applied on 1 of 4 instances/)
  expect(row('newest push')).toContain(about)
  expect(row('trouble')).toContain(about)
  expect(row('about')).toContain('port 4317')
})

it('an alert is listed with what it is about, where, and on whom, and another one without that', async () => {
  const { said } = await run('get', 'alerts')
  const row = (rule: string) => said.split('\n').find((line) => line.includes(` ${rule} `)) ?? ''
  expect(row('rollout_halted')).toContain(
    'halted; port 4317, no such host tempo.example.com; on edge-1, edge-2',
  )
  expect(row('rollout_halted')).toMatch(/ otel-collector +vm-1 /)
  expect(row('push_failed')).toMatch(/failed$/)
  expect(row('campaign_failures')).toContain('memory of the stores')
})

it('waiting for a push ends where its rollout halted, since only a person lets that go on', async () => {
  const { code } = await run('status', 'w1', '--wait')
  expect(code).toBe(4)
})

it('lists the worst workload first, with what is wrong in words, as the pages do', async () => {
  const rows = (await run('get', 'workloads')).said.trim().split('\n')
  expect(rows[1]).toMatch(/^otel-collector +vm-1 .* rollout halted +w1$/)
  expect(rows[2]).toMatch(/^gateway /)
  const json = JSON.parse((await run('get', 'workloads', '-o', 'json')).said) as { id: string }[]
  expect(json.map(({ id }) => id)).toEqual(['w0', 'w1'])
  expect((await run('status', 'w1')).said).toMatch(/^trouble +rollout halted/m)
})

it('lists critical alerts first, and requests with the place that tells namesakes apart', async () => {
  const alerts = (await run('get', 'alerts')).said.trim().split('\n')
  expect(alerts.at(-1)).toMatch(/^warning +config_drift /)
  expect(alerts[1]).toMatch(/^critical /)
  expect((await run('get', 'requests')).said).toMatch(/car_1 +pending +otel-collector +vm-1 /)
})
