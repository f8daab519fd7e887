import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AgentWire, openWire } from '../support/agent-wire.ts'
import { eventually } from '../support/eventually.ts'
import { uidBytes } from '../support/opamp-messages.ts'
import { type FaultFleet, startFaultFleet } from './support/fleet.ts'
import { chooseMetrics, type MetricsReader } from './support/metrics.ts'

// The socket library collects the pieces of a message that is not whole yet where nobody can count them.

const AGENTS = 20
const HOSTILE = 100
const MIB = 1_048_576
/** What the process takes for the memory of its container. */
const LIMIT_MIB = 1_280
/** Thirty-two of these are the largest message that is taken. */
const PIECE = Buffer.alloc(MIB / 2)
const PIECES = 31

let fleet: FaultFleet
let metrics: MetricsReader
const hostile: AgentWire[] = []

beforeAll(async () => {
  metrics = await chooseMetrics()
  const container = `data:text/javascript,process.constrainedMemory=()=>${LIMIT_MIB * MIB}`
  fleet = await startFaultFleet({
    agents: AGENTS,
    env: { ...metrics.env, NODE_OPTIONS: `--import=${container}` },
  })
  fleet.load.beats({ intervalMs: 200 })
})
afterAll(async () => {
  for (const wire of hostile) wire.cut()
  await fleet.end()
})

function residentMib(): number {
  const text = readFileSync(`/proc/${fleet.service.process().pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(text)![1]) / 1024
}

/** Send a piece of a message over a socket; resolves once it has left, or the socket is closed. */
const sendPiece = ({ socket, ended }: AgentWire): Promise<unknown> =>
  Promise.race([ended, new Promise((resolve) => socket.send(PIECE, { binary: true, fin: false }, resolve))])

test('a hundred sockets that each send nearly all of the largest message, and never its end, leave room for everybody else', async () => {
  const url = fleet.service.opampHttpUrl.replace('http://', '')
  for (let n = 0; n < HOSTILE; n++) {
    const wire = await openWire(url)
    hostile.push(wire)
    await wire.exchange({ instanceUid: uidBytes(500 + n), sequenceNum: 0, capabilities: 1 })
  }
  fleet.load.resetStats()
  let most = residentMib()
  for (let piece = 0; piece < PIECES; piece++) {
    for (const wire of hostile) {
      await sendPiece(wire)
      most = Math.max(most, residentMib())
    }
    // Each agent is answered before the next pieces go out.
    const before = fleet.load.stats().replies.count
    await eventually(
      'the others are served',
      async () => fleet.load.stats().replies.count >= before + 4 * AGENTS,
    )
    most = Math.max(most, residentMib())
  }
  // All of it would have been 1,550 MiB.
  expect(most).toBeLessThan(LIMIT_MIB)
  expect(await metrics.read('muster_sockets_cut_total{listener="opamp"}')).toBeGreaterThanOrEqual(HOSTILE)
  await Promise.all(hostile.map(({ ended }) => ended))
  const stats = fleet.load.stats()
  expect({ open: stats.open, errors: stats.errors }).toEqual({ open: AGENTS, errors: 0 })
  expect(fleet.service.process().hasEnded()).toBe(false)
})
