import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'

// What the client prints ends up in the logs of pipelines, which many may read. A service may send a credential in any
// text: an agent wrote it into an error, a person into a comment.
const FORMS = [
  'failed with password=hunter2',
  'Authorization: Bearer hunter2hunter2',
  'cannot reach https://ann:hunter2@db.example/x?a=b',
  'GET https://db.example/x?token=hunter2',
  'ran with --api-key hunter2',
  '{"client_secret":"hunter2"}',
  `sent mst_${'hunter2'.padEnd(43, 'x')} along`,
]
let form = FORMS[0]!
let status = 200

/** A record with every field that a command reads, whatever it asks for. */
const record = () => ({
  id: 'w1',
  workload_id: 'w1',
  display_name: form,
  name: form,
  status: form,
  version: form,
  kind: form,
  labels: { note: form, 'api.token': 'hunter2' },
  headers: { 'x-scope': ['hunter2'] },
  active_config_hash: 'a'.repeat(64),
  connected_instance_count: 1,
  drifted_instance_count: 0,
  open_alert_count: 1,
  waiting_approval_count: 0,
  applying_instance_count: 0,
  trouble: { kind: form },
  rule: form,
  severity: form,
  message: form,
  fired_at: form,
  next: form,
  details: { instances: form },
  instance_uid: form,
  pod_name: form,
  requester: form,
  submitted_at: form,
  pushed_by: form,
  label: form,
  created_at: form,
  created_by: form,
  counts: {},
  approvals: [{ by: form, comment: form }],
  closed_by: form,
  close_comment: form,
  plan_hash: form,
  wave: 0,
  owner: form,
  action: 'held',
  reason: form,
  config_hash: form,
  push_id: form,
  content: 'a: 1',
  approval_id: form,
  summary: { headline: form },
  human_summary: [{ kind: form, risk: form, text: form, before: form }],
})
const groups = () => [
  {
    count: 1,
    sample_workload_name: form,
    diff: `+ ${form}\n- ${form}`,
    risk: form,
    variables: { site: [{ value: form, count: 1 }], password: [{ value: 'hunter2', count: 1 }] },
    other_matches: [form],
  },
]
const plan = () => ({
  ...record(),
  id: 'c1',
  status: 'planned',
  planning: undefined,
  plan: { target_count: 1, verdicts: {}, refused: {}, waves: [] },
})

const LISTS =
  /^\/api\/(workloads|alerts|approvals|campaigns|managed-configs|fleet-configs|workloads\/w1\/(instances|configs))$/
const server = createServer((incoming, outgoing) => {
  const { pathname } = new URL(incoming.url ?? '/', 'http://x')
  const isCampaign = pathname.startsWith('/api/campaigns')
  const one = pathname.endsWith('/groups') ? groups() : isCampaign ? plan() : record()
  const body = LISTS.test(pathname) ? [one] : one
  const isRefused = status !== 200 && incoming.method === 'POST'
  outgoing.writeHead(isRefused ? status : 200)
  outgoing.end(JSON.stringify(isRefused ? { error: form, code: 'managed_elsewhere' } : body))
})
let folder: string
let config: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  folder = await mkdtemp(join(tmpdir(), 'muster-'))
  config = join(folder, 'one.yaml')
  const lines = ['apiVersion: muster/v1', 'kind: WorkloadConfig', 'workload: { id: w1 }', 'config: "a: 1"']
  await writeFile(config, `${lines.join('\n')}\n`)
})
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

async function run(args: readonly string[]): Promise<string> {
  let said = ''
  const say = (text: string) => {
    said += text
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { MUSTER_URL: url, MUSTER_TOKEN: `mst_${'hunter2'.padEnd(43, 'y')}` }
  const io = {
    env,
    out: say,
    error: say,
    readInput: async () => Buffer.from(`a: [${form}`),
    isTerminal: true,
  }
  await runClient([...args], io)
  return said
}

const COMMANDS = [
  ...['workloads', 'requests', 'alerts'].map((kind) => ['get', kind]),
  ...['instances', 'components', 'revisions'].map((kind) => ['get', kind, 'w1']),
  ['status', 'w1'],
  ['diff', 'w1', '-'],
  ['rollback', 'w1'],
  ['campaign', 'list'],
  ...['get', 'plan', 'start'].map((action) => ['campaign', action, 'c1']),
  ['validate', '-'],
]
const FORMATS = [[], ['-o', 'json']]

it.each(COMMANDS.flatMap((command) => FORMATS.map((format) => [...command, ...format])))(
  'lets no credential out: %s %s %s %s %s',
  async (...args) => {
    for (status of [200, 409])
      for (form of FORMS) {
        const said = await run(args.filter((word) => word !== undefined))
        expect(said).not.toBe('')
        expect([form, said]).toEqual([form, expect.not.stringContaining('hunter2')])
      }
  },
)

it.each(['plan', 'apply'].flatMap((command) => FORMATS.map((format) => [command, ...format])))(
  'lets no credential out of a folder’s %s %s %s',
  async (command, ...format) => {
    for (status of [200, 409])
      for (form of FORMS) {
        const said = await run([command!, folder, '--owner', 'platform', ...format])
        expect(said).not.toBe('')
        expect([form, said]).toEqual([form, expect.not.stringContaining('hunter2')])
      }
  },
)

it.each(['text', 'json', 'sarif', 'github'])(
  'lets none out of the findings in a file, as %s',
  async (format) => {
    for (form of FORMS) expect(await run(['validate', '-', '-o', format])).not.toContain('hunter2')
  },
)

it('lets none out that stands in the address of the service', async () => {
  const addressed = ['--url', 'https://ann:hunter2@127.0.0.1:1']
  for (const command of [['get', 'alerts'], ['logout'], ['logout', '--revoke']])
    expect(await run([...command, ...addressed])).not.toContain('hunter2')
})
