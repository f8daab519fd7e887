import { afterEach, describe, expect, test } from 'vitest'
import { effectiveMatches } from '../../../lib/configs/effective/match.ts'
import { parseConfig } from '../../../lib/configs/yaml/parse.ts'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import { type AgentWire, openWire, postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { type FleetServer, sha256Hex, startFleetServer } from '../../support/fleet-server.ts'
import { type PlainMessage, readFixture, readRecording } from '../../support/opamp-messages.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

/** Recordings of a real collector and the real supervisor, sent again to the real listener, fleet and database. */

const GOOD = readFixture('good.yaml').toString('utf8')
const BAD = readFixture('bad.yaml').toString('utf8')
const SUPERVISOR = '01a1fb758b8570ec829be882ed1a2ed7'
const FULL_STATE = 1
const COMPONENTS = 2

let database: TestDatabase
let server: FleetServer
const wires: AgentWire[] = []

async function start(): Promise<void> {
  database = await createTestDatabase()
  server = await startFleetServer(database)
}
afterEach(async () => {
  for (const wire of wires.splice(0)) wire.cut()
  await server.stop()
  await database.drop()
})

async function connect(): Promise<AgentWire> {
  const wire = await openWire(server.url)
  wires.push(wire)
  return wire
}

const flagsOf = (answer: PlainMessage): number => (answer['flags'] as number | undefined) ?? 0
const hashOf = (answer: PlainMessage): string | undefined =>
  (answer['remoteConfig'] as { configHash: Buffer } | undefined)?.configHash.toString('hex')

/**
 * Send recorded frames one by one; returns the answers in order. Messages that the server sends unasked are not taken.
 */
async function replay(wire: AgentWire, frames: readonly Uint8Array[]): Promise<PlainMessage[]> {
  const answers: PlainMessage[] = []
  for (const frame of frames) {
    wire.sendBytes(frame)
    answers.push(await wire.next())
  }
  return answers
}

const framesOf = (name: string): Uint8Array[] => readRecording(name).map(({ bytes }) => bytes)
const live = () => server.live(SUPERVISOR)!

/** The text of the effective config that is stored under a hash. */
async function reportedText(hash: string): Promise<string> {
  await server.fleet.writer.flush()
  const rows = await database.pool.query<{ body: string }>(
    'select body from reported_configs where hash = $1',
    [hash],
  )
  return rows[0]!.body
}

/**
 * Replay the first run of the supervisor, with both pushes at the places where the server of the recording made them.
 */
async function replaySession(wire: AgentWire) {
  const frames = framesOf('supervisor-session')
  const started = await replay(wire, frames.slice(0, 6))
  const workload = live().workload!
  const good = await server.push(workload.id, GOOD)
  const offeredGood = await wire.next()
  await replay(wire, frames.slice(6, 13))
  const afterGood = { ...live() }
  const bad = await server.push(workload.id, BAD)
  const offeredBad = await wire.next()
  await replay(wire, frames.slice(13, 19))
  const rolledBack = await wire.next()
  await replay(wire, frames.slice(19))
  return { started, workload, good, offeredGood, afterGood, bad, offeredBad, rolledBack }
}

describe('the supervisor, first run', () => {
  test('is listed as a collector that takes configs, with name and host, though its version is empty', async () => {
    await start()
    await replay(await connect(), framesOf('supervisor-session').slice(0, 6))
    const { workload, attributes, type } = live()
    expect(workload).toMatchObject({ displayName: 'otelcol-mini', version: '', fingerprintSource: 'host' })
    expect(attributes!.get('host.name')).toBe('vm')
    expect(type).toBe('collector')
    server.fleet.writer.derive()
    expect(workload!.acceptsRemoteConfig).toBe(true)
  })

  test('sends the hash of its components first; the list is asked for once, and kept', async () => {
    await start()
    const answers = await replay(await connect(), framesOf('supervisor-session').slice(0, 6))
    expect(answers.map(flagsOf)).toEqual([COMPONENTS, 0, 0, 0, 0, 0])
    expect(Object.fromEntries(live().components!.components)).toEqual({
      connectors: [],
      exporters: ['debug'],
      extensions: ['opamp'],
      processors: ['batch', 'memory_limiter'],
      receivers: ['otlp'],
    })
  })

  test('health without status or error is a start: the workload is never degraded by it', async () => {
    await start()
    const wire = await connect()
    for (const frame of framesOf('supervisor-session').slice(0, 6)) {
      await replay(wire, [frame])
      server.fleet.writer.derive()
      expect(live().workload!.status).toBe('connected')
    }
  })

  test('the good config is applied, the bad one fails, and the good one is offered again at once', async () => {
    await start()
    const run = await replaySession(await connect())
    expect(hashOf(run.offeredGood)).toBe(sha256Hex(GOOD))
    expect(hashOf(run.offeredBad)).toBe(sha256Hex(BAD))
    expect(hashOf(run.rolledBack)).toBe(sha256Hex(GOOD))
    const { workload } = run
    expect(workload.newestPush).toMatchObject({
      kind: 'auto-rollback',
      pushedBy: 'auto-rollback',
      status: 'applied',
      hash: sha256Hex(GOOD),
      rollbackOfPushId: run.bad.pushId,
    })
    expect(workload.activeHash).toBe(sha256Hex(GOOD))
    expect(server.notices.rollbacks).toEqual([
      expect.objectContaining({ fromHash: sha256Hex(BAD), toHash: sha256Hex(GOOD), targetKind: 'previous' }),
    ])
  })

  test('the failure is told by cause and fixed words, with the exit code', async () => {
    await start()
    await replaySession(await connect())
    await server.fleet.writer.flush()
    const rows = await database.pool.query<{ cause: string; parameters: unknown; title: string }>(
      `select error_cause as cause, error_parameters as parameters, error_title as title
       from pushes where status = 'failed'`,
    )
    expect(rows).toEqual([
      {
        cause: 'agent_exited',
        parameters: { exit_code: '1' },
        title: expect.stringMatching(/collector stopped/),
      },
    ])
  })

  test('which config it runs is told by the hash it reports; the effective text is another and matches by meaning', async () => {
    await start()
    const { afterGood } = await replaySession(await connect())
    expect(afterGood.appliedHash).toBe(sha256Hex(GOOD))
    await eventually('the effective config is known', () => live().reportedConfigHash !== '')
    expect(live().reportedConfigHash).not.toBe(sha256Hex(GOOD))
    const reported = parseConfig(await reportedText(live().reportedConfigHash))
    const asked = parseConfig(GOOD)
    if (!reported.ok || !asked.ok) throw new Error('both are readable')
    expect(effectiveMatches(asked.document, reported.document)).toEqual({ verdict: true, paths: [] })
  })

  test('full state is never asked for, and nothing is offered twice', async () => {
    await start()
    const wire = await connect()
    const { started } = await replaySession(wire)
    expect(started.filter((answer) => (flagsOf(answer) & FULL_STATE) !== 0)).toEqual([])
    expect(wire.untaken()).toBe(0)
  })
})

describe('the supervisor, later', () => {
  test('restarted with its storage kept, it is offered nothing, and its config counts as the same', async () => {
    await start()
    const first = await connect()
    await replaySession(first)
    await eventually('the effective config is known', () => live().reportedConfigHash !== '')
    const before = live().reportedConfigHash
    first.cut()
    await eventually('it is away', () => server.live(SUPERVISOR) === undefined)
    const again = await connect()
    const answers = await replay(again, framesOf('supervisor-restart'))
    expect(answers.map(hashOf).filter((hash) => hash !== undefined)).toEqual([])
    expect(again.untaken()).toBe(0)
    // The uid, ppid and a random port in the effective config differ from run to run; that does not make it another
    // config.
    expect(live().reportedConfigHash).toBe(before)
    expect(live().appliedHash).toBe(sha256Hex(GOOD))
    expect(live().workload!.newestPush!.status).toBe('applied')
  })

  test('an empty effective config is no report: the former stays', async () => {
    await start()
    const first = await connect()
    await replaySession(first)
    await eventually('the effective config is known', () => live().reportedConfigHash !== '')
    const before = live().reportedConfigHash
    await replay(await connect(), framesOf('supervisor-restart').slice(0, 1))
    expect(live().reportedConfigHash).toBe(before)
  })

  test('after a broken socket its first message is bare: a server without memory asks once for the full state', async () => {
    await start()
    const answers = await replay(await connect(), framesOf('supervisor-reconnect'))
    expect(answers.map((answer) => flagsOf(answer) & FULL_STATE)).toEqual([FULL_STATE, 0])
    expect(live().workload!.displayName).toBe('otelcol-mini')
  })

  test('after a broken socket a server that still knows it asks nothing and announces nothing', async () => {
    await start()
    const first = await connect()
    await replay(first, framesOf('supervisor-session'))
    const [bare] = framesOf('supervisor-reconnect')
    const second = await connect()
    const [answer] = await replay(second, [bare!])
    // In the recording the sequence number has a gap here. The full state is asked for; no config is offered.
    expect(hashOf(answer!)).toBeUndefined()
    first.cut()
    await eventually('the old socket is gone', () => server.fleet.state.byConnection.size === 1)
    expect(live()).toBeDefined()
    expect((await server.events()).map(({ eventType }) => eventType)).toEqual(['connected'])
  })
})

describe('a collector with the extension alone', () => {
  test('over WebSocket: read only, known components, and gone at its goodbye with one event', async () => {
    await start()
    const wire = await connect()
    const frames = framesOf('extension-websocket')
    const [first] = await replay(wire, frames.slice(0, 1))
    expect(flagsOf(first!)).toBe(COMPONENTS)
    const [instance] = [...server.fleet.state.instances.values()]
    expect(instance!.capabilities & AGENT_CAPABILITIES.acceptsRemoteConfig).toBe(0)
    expect(instance!.type).toBe('collector')
    await expect(server.push(instance!.workload!.id, GOOD)).rejects.toThrow('workload-not-connected')
    await replay(wire, frames.slice(1))
    wire.close()
    await wire.ended
    expect((await server.events()).map(({ eventType }) => eventType)).toEqual(['connected', 'disconnected'])
    // Its last report, StatusStopping, does not make the workload degraded.
    expect(instance!.workload!.status).toBe('connected')
  })

  test('over HTTP: one instance, and the full state is not asked for at each poll', async () => {
    await start()
    const answers: PlainMessage[] = []
    for (const { bytes } of readRecording('extension-http')) {
      const reply = await postAgent(server.url, bytes)
      expect(reply.status).toBe(200)
      answers.push(reply.message())
    }
    expect(answers.length).toBeGreaterThan(5)
    expect(answers.filter((answer) => (flagsOf(answer) & FULL_STATE) !== 0)).toEqual([])
    expect(server.fleet.state.instances.size).toBe(1)
    const types = (await server.events()).map(({ eventType }) => eventType)
    expect(types.filter((type) => type === 'connected').length).toBe(1)
  })
})
