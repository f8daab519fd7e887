import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'

/** How the service answers a look at the one that is waited for: a status, nothing at all, or an end of the connection. */
type Look = { status: number; body: object } | 'silent' | 'cut'

let service: Server
afterEach(() => {
  service.closeAllConnections()
  service.close()
})

const AWAY = { status: 503, body: { error: 'no owner', code: 'no_owner' } }
const CAMPAIGN = {
  id: 'cmp_1',
  name: 'x',
  created_by: 'a',
  counts: {},
  wave_counts: [],
  wave: 0,
  approvals: [],
  limits: {},
}
const campaign = (status: string) => ({ status: 200, body: { ...CAMPAIGN, status } })
const WORKLOAD = {
  id: 'w1',
  display_name: 'shop',
  status: 'connected',
  version: '',
  waiting_approval_count: 0,
  open_alert_count: 0,
  connected_instance_count: 1,
  drifted_instance_count: 0,
}
const workload = (applying: number) => ({
  status: 200,
  body: { ...WORKLOAD, applying_instance_count: applying },
})

/** Run the command against a service that lists what is asked for as it is at first, and answers the looks in turn. */
async function run(args: readonly string[], first: object, looks: readonly Look[]) {
  let looked = 0
  service = createServer((request, response) => {
    const isLook = request.url !== '/api/campaigns' && request.url !== '/api/workloads'
    const look: Look = isLook ? looks[Math.min(looked++, looks.length - 1)]! : { status: 200, body: [first] }
    if (look === 'silent') return
    if (look === 'cut') return void request.socket.destroy()
    response.writeHead(look.status, { 'content-type': 'application/json' }).end(JSON.stringify(look.body))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  let said = ''
  const add = (text: string) => {
    said += text
  }
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const env = { XDG_CONFIG_HOME: '/nonexistent', MUSTER_URL: url, MUSTER_TOKEN: 'mst_x' }
  const io = { env, out: add, error: add, readInput: async () => Buffer.from(''), isTerminal: false }
  const code = await runClient(args, io)
  return { code, said, looked }
}

it.each<[string, string[], object, Look[]]>([
  [
    'a campaign',
    ['campaign', 'get', 'cmp_1'],
    campaign('running').body,
    [campaign('running'), AWAY, 'cut', { status: 502, body: {} }, campaign('done')],
  ],
  ['a workload', ['status', 'shop'], workload(1).body, [workload(1), AWAY, 'cut', workload(0)]],
])('the wait for %s goes on while the service is away', async (_, args, first, looks) => {
  const { code, said, looked } = await run([...args, '--wait', '--timeout', '60'], first, looks)
  expect({ code, looked, said }).toMatchObject({ code: 0, looked: looks.length })
})

it('says that the service is away where it is when time is up', async () => {
  const { code, said } = await run(['status', 'shop', '--wait', '--timeout', '1'], workload(1).body, [AWAY])
  expect({ code, said }).toEqual({ code: 1, said: 'muster status: no owner (no_owner)\n' })
})

it('ends when time is up also where an answer is still waited for', async () => {
  const { code, looked } = await run(['status', 'shop', '--wait', '--timeout', '2'], workload(1).body, [
    workload(1),
    'silent',
  ])
  expect({ code, looked }).toEqual({ code: 4, looked: 2 })
})

it('ends at once where the service refuses', async () => {
  const gone = { status: 404, body: { error: 'not found', code: 'workload_not_found' } }
  const { code, looked } = await run(['status', 'shop', '--wait', '--timeout', '60'], workload(1).body, [
    gone,
  ])
  expect({ code, looked }).toEqual({ code: 1, looked: 1 })
})
