import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type AgentWire, openWire } from '../support/agent-wire.ts'
import { eventually } from '../support/eventually.ts'
import { keyValues, uidBytes } from '../support/opamp-messages.ts'
import { type FaultFleet, startFaultFleet } from './support/fleet.ts'
import { chooseMetrics, type MetricsReader } from './support/metrics.ts'

const AGENTS = 20
/** How many workloads have labels as long as they may be: a frame about one of them is 120 KB long. */
const WORDY = 60
const READERS = 5
const MIB = 1_048_576
const IN_FLIGHT = 'muster_http_requests_in_flight{listener="api"}'
let fleet: FaultFleet
let metrics: MetricsReader
let wordy: AgentWire[]
let token: string

beforeAll(async () => {
  metrics = await chooseMetrics()
  fleet = await startFaultFleet({ agents: AGENTS, env: metrics.env })
  const { service } = fleet
  fleet.load.beats({ intervalMs: 200 })
  const { body } = await service.api.call('POST', '/api/auth/login', {
    email: 'admin@example.com',
    password: 'correct horse battery',
  })
  token = body.token
  const url = service.opampHttpUrl.replace('http://', '')
  wordy = await Promise.all(Array.from({ length: WORDY }, () => openWire(url)))
  await talk(0)
  // The frames about all of them at once are more than a browser is sent; a browser that was connected now would be
  // told to fetch the list again.
  await eventually('they are stored and told', async () => {
    const [found] = await fleet.rows<{ n: number }>(
      `select count(*)::int as n from workloads where display_name like 'wordy-%' and labels ? 'label.0'`,
    )
    return found!.n === WORDY
  })
})
afterAll(async () => {
  for (const wire of wordy ?? []) wire.cut()
  await fleet?.end()
})

/** Let wordy agents (all of them by default) send a full description with new labels. */
async function talk(round: number, who: readonly AgentWire[] = wordy): Promise<void> {
  const labels = Object.fromEntries(
    Array.from({ length: 120 }, (_, n) => [`label.${n}`, `${round} ${'x'.repeat(1_000)}`]),
  )
  await Promise.all(
    who.map((wire) => {
      const n = wordy.indexOf(wire)
      return wire.exchange({
        instanceUid: uidBytes(10_000 + n),
        sequenceNum: round,
        capabilities: 0x1,
        agentDescription: {
          identifyingAttributes: keyValues({ 'service.name': `wordy-${n}` }),
          nonIdentifyingAttributes: keyValues({ 'host.name': `wordy-${n}`, ...labels }),
        },
      })
    }),
  )
}

function residentBytes(): number {
  const text = readFileSync(`/proc/${fleet.service.process().pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(text)![1]) * 1_024
}

async function openBrowser(): Promise<{ socket: WebSocket; frames(): number }> {
  const { host } = new URL(fleet.service.url)
  const socket = new WebSocket(`ws://${host}/ws?token=${token}`)
  socket.on('error', () => undefined)
  let frames = 0
  socket.on('message', () => void frames++)
  await once(socket, 'open')
  return { socket, frames: () => frames }
}

test('a browser that never reads is cut and counted; the others are told everything', async () => {
  const good = await openBrowser()
  const deaf = await openBrowser()
  deaf.socket.pause()
  await eventually('both listen', async () => (await metrics.read('muster_hub_clients')) === 2)
  fleet.load.resetStats()
  const before = residentBytes()

  let round = 1
  await eventually(
    'the deaf one is cut',
    async () => {
      // A few at a time, and no more before the browser that reads has got them: it must not count as slow.
      const some = wordy.slice((round * 5) % WORDY, ((round * 5) % WORDY) + 5)
      const before = good.frames()
      await talk(round++, some)
      await eventually('the good one is told', async () => good.frames() >= before + some.length, {
        everyMs: 10,
      })
      return (await metrics.read('muster_hub_clients')) === 1
    },
    { everyMs: 20 },
  )

  expect(await metrics.read('muster_hub_slow_clients_total')).toBe(1)
  expect(residentBytes() - before).toBeLessThan(150 * MIB)
  expect(good.socket.readyState).toBe(WebSocket.OPEN)
  const told = good.frames()
  await talk(round++, wordy.slice(0, 5))
  await eventually('the good one is told more', async () => good.frames() > told)
  expect(fleet.load.stats()).toMatchObject({ open: AGENTS, errors: 0 })
  good.socket.terminate()
  deaf.socket.terminate()
})

test('readers that ask for the whole list and never read cost little, and are forgotten when they leave', async () => {
  const { hostname, port } = new URL(fleet.service.url)
  const before = residentBytes()
  const readers: Socket[] = []
  for (let n = 0; n < READERS; n++) {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => undefined)
    socket.pause()
    await once(socket, 'connect')
    socket.write(`GET /api/workloads HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    readers.push(socket)
  }
  await eventually('all wait', async () => (await metrics.read(IN_FLIGHT)) === READERS)
  expect(residentBytes() - before).toBeLessThan(150 * MIB)
  for (const socket of readers) socket.destroy()
  await eventually('none waits', async () => (await metrics.read(IN_FLIGHT)) === 0)
})
