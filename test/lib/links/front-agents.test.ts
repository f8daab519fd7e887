import { describe, expect, it } from 'vitest'
import { BatchWriter } from '../../../lib/links/batch-writer.ts'
import {
  type FrontEntry,
  type OwnerEntry,
  readFrontBatch,
  readOwnerBatch,
  xorOf,
} from '../../../lib/links/frames.ts'
import { FrontAgents, UNCONFIRMED_MAX } from '../../../lib/links/front-agents.ts'
import { decodeFrame, messageOf } from '../../../lib/opamp/codec.ts'
import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import type { ServerMessage } from '../../../lib/opamp/report.ts'
import { fakeClock } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { agentFrame, keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'

function openFront(
  texts: Record<string, string> = {},
  normalise: ConstructorParameters<typeof FrontAgents>[0]['normalise'] = async () => null,
) {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  const agents = new FrontAgents({
    clock,
    timers,
    texts: {
      at: (hash: string) => (hash in texts ? Buffer.from(texts[hash]!) : null),
      find: async (hash: string) => (hash in texts ? Buffer.from(texts[hash]!) : null),
    } as never,
    reported: { reportedConfig: () => true, hasRoomForConfigs: true } as never,
    normalise,
    pollsMax: 50,
  })
  const said: FrontEntry[] = []
  const link = { send: (entry: FrontEntry) => void said.push(entry) }
  const told: ServerMessage[] = []
  const connectionOf = (id: number): AgentConnection => ({
    id,
    transport: 'ws' as const,
    send: () => 'sent',
    tell: (_uid, message) => {
      told.push(message)
      return 'sent'
    },
    drop: () => undefined,
  })
  const connections = new Map<number, AgentConnection>()
  const say = (id: number, sequenceNum: number, more: PlainMessage = {}) => {
    const connection = connections.get(id) ?? connectionOf(id)
    connections.set(id, connection)
    const frame = agentFrame({ instanceUid: uidBytes(id), sequenceNum, capabilities: 0x1807, ...more })
    const intake = decodeFrame(frame)
    if (!intake.ok) throw new Error(intake.code)
    return agents.receive(connection, intake.report, { message: messageOf(frame) })
  }
  const poll = (n: number) => {
    const connection: AgentConnection = {
      id: -n,
      transport: 'http' as const,
      send: () => 'dropped' as const,
      drop: () => undefined,
    }
    const frame = agentFrame({ instanceUid: uidBytes(n), sequenceNum: 1, capabilities: 0x1807 })
    const intake = decodeFrame(frame)
    if (!intake.ok) throw new Error(intake.code)
    return agents.receive(connection, intake.report, {
      message: messageOf(frame),
      poll: { source: '10.0.0.1', digest: '' },
    }).pendingOffer
  }
  const take = (...entries: OwnerEntry[]) =>
    agents.take({ cell: 0, epoch: 1, atMs: clock.monotonicMs(), entries })
  return { agents, clock, timers, said, link, told, say, poll, take, connections }
}

const DESCRIBED = { agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'x' }) } }
const uidOf = (n: number) => Buffer.from(uidBytes(n)).toString('hex')
const reports = (said: readonly FrontEntry[]) =>
  said.filter((entry): entry is FrontEntry & { 0: 'report' } => entry[0] === 'report')

describe('a front', () => {
  it('waits for the owner beyond 500 reports, and then says all of it at once', () => {
    const { agents, said, link, say, take } = openFront()
    agents.linked(link)
    for (let id = 1; id <= UNCONFIRMED_MAX + 20; id++) say(id, 1, DESCRIBED)
    say(UNCONFIRMED_MAX + 20, 2, { health: { healthy: true } })
    expect(reports(said).length).toBe(UNCONFIRMED_MAX)
    expect(agents.counts).toMatchObject({ waiting: 20, unconfirmed: UNCONFIRMED_MAX })
    take(...reports(said).map(([, n]): OwnerEntry => ['answer', n, null]))
    expect(reports(said).length).toBe(UNCONFIRMED_MAX + 20)
    const last = Buffer.from(reports(said).at(-1)![4], 'base64')
    const intake = decodeFrame(Buffer.concat([Buffer.from([0]), last]))
    expect(intake).toMatchObject({ ok: true, report: { sequenceNum: 2, health: { healthy: true } } })
  })

  it('tells a new owner of everybody, as one that has missed nothing', () => {
    const { agents, said, link, say } = openFront()
    agents.linked(link)
    say(1, 7, DESCRIBED)
    say(1, 8)
    agents.unlinked(link)
    say(1, 9, { health: { healthy: false } })
    said.length = 0
    agents.linked(link)
    expect(reports(said).map(([, , conn, isCaughtUp]) => [conn, isCaughtUp])).toEqual([[1, true]])
    said.length = 0
    // A sequence number is missing: the report is passed on for the owner to judge.
    say(1, 12)
    expect(reports(said)[0]![3]).toBe(false)
  })

  it("reads an agent's config by what the agent said of itself, also in an earlier message", () => {
    const read: object[] = []
    const { agents, link, say } = openFront({}, async (_text, own) => {
      read.push(own)
      return null
    })
    agents.linked(link)
    const nonIdentifyingAttributes = keyValues({ rack: 'a-17', team: 'unnamed', 'host.name': 'h' })
    say(1, 1, { agentDescription: { nonIdentifyingAttributes } })
    const body = Buffer.from('service: {telemetry: {resource: {host.name: h, rack: a-17}}}')
    say(1, 2, { effectiveConfig: { configMap: { configMap: { '': { body } } } } })
    expect(read).toEqual([{ rack: 'a-17' }])
  })

  it('says of an agent that describes itself again under its first number that its process may be another', () => {
    const { agents, said, link, say, take } = openFront()
    agents.linked(link)
    say(1, 1, DESCRIBED)
    take(['answer', reports(said).at(-1)![1], {}])
    say(1, 1, {})
    expect(reports(said).at(-1)).toMatchObject({ 2: 1, 3: true })
    take(['answer', reports(said).at(-1)![1], {}])
    say(1, 1, DESCRIBED)
    expect(reports(said).at(-1)).toMatchObject({ 2: 1, 3: false })
  })

  it('answers granted beats in sequence itself, and passes on everything else', () => {
    const { agents, said, link, say, take } = openFront()
    agents.linked(link)
    say(1, 1, DESCRIBED)
    take(['grant', 1, uidOf(1)])
    said.length = 0
    say(1, 2)
    say(1, 3)
    expect(said).toEqual([])
    expect(agents.counts.absorbed).toBe(2)
    say(1, 5)
    say(1, 6, { health: { healthy: true } })
    expect(reports(said).length).toBe(2)
    take(['withdraw', 1, uidOf(1)])
    say(1, 7)
    expect(reports(said).length).toBe(3)
    // Without an owner, agents that were granted stay granted.
    take(['grant', 1, uidOf(1)])
    agents.unlinked(link)
    say(1, 8)
    expect(agents.counts.absorbed).toBe(3)
  })

  it('forgets an agent that speaks elsewhere by now, though the socket stays open, and tells no new owner of it', () => {
    const { agents, said, link, say, take } = openFront()
    agents.linked(link)
    say(1, 1, DESCRIBED)
    take(['answer', reports(said).at(-1)![1], {}], ['withdraw', 1, uidOf(1)])
    expect(agents.counts.agents).toBe(0)
    agents.unlinked(link)
    said.length = 0
    agents.linked(link)
    expect(reports(said)).toEqual([])
    // It is back, and may have missed something: the owner is to judge.
    say(1, 2)
    expect(reports(said)[0]).toMatchObject({ 2: 1, 3: false })
  })

  it('says how many agents there are and which of them beat, once nothing waits', () => {
    const { agents, said, link, say, take, timers } = openFront()
    agents.linked(link)
    say(1, 1, DESCRIBED)
    say(2, 1, DESCRIBED)
    timers.advance(5_000)
    expect(said.some(([kind]) => kind === 'seen')).toBe(false)
    take(...reports(said).map(([, n]): OwnerEntry => ['answer', n, null]), ['grant', 2, uidOf(2)])
    say(2, 2)
    timers.advance(5_000)
    expect(said.at(-1)).toEqual(['seen', 2, xorOf([uidOf(1), uidOf(2)]), uidOf(2)])
  })

  it('says what it has counted and how much waits, also while something does', () => {
    const { agents, said, link, say, take, timers } = openFront()
    agents.linked(link)
    say(1, 1, DESCRIBED)
    timers.advance(5_000)
    expect(said.at(-1)).toEqual(['counts', 1, 0, 1, 0])
    take(...reports(said).map(([, n]): OwnerEntry => ['answer', n, null]), ['grant', 1, uidOf(1)])
    say(1, 2)
    timers.advance(5_000)
    expect(said.filter(([kind]) => kind === 'counts').at(-1)).toEqual(['counts', 0, 1, 1, 0])
  })

  it('tells of connections that it has cut by the list of those that are left: their agents are not lost', () => {
    const { agents, said, link, say, timers, connections } = openFront()
    agents.linked(link)
    for (const id of [1, 2, 3]) say(id, 1, DESCRIBED)
    said.length = 0
    for (const id of [1, 3]) agents.connectionClosed(connections.get(id)!, { isOurDoing: true })
    timers.advance(0)
    expect(said).toEqual([['bound', `2:${uidOf(2)}`]])
    agents.connectionClosed(connections.get(2)!)
    expect(said.at(-1)).toEqual(['closed', 2])
  })

  it('sends an offer with its text, and says of one that is late, overtaken or unknown that it was not sent', async () => {
    const { agents, clock, said, link, say, take, told } = openFront({ aa: 'one', bb: 'two' })
    agents.linked(link)
    say(1, 1, DESCRIBED)
    take(['tell', 1, uidOf(1), { configHash: 'aa' }])
    expect(Buffer.from(told.at(-1)!.remoteConfig!.body).toString()).toBe('one')
    take(['tell', 1, uidOf(1), { configHash: 'cc' }])
    await new Promise((resolve) => setImmediate(resolve))
    expect(said.at(-1)).toEqual(['not-sent', 1, uidOf(1), 'cc'])
    take(['tell', 9, uidOf(9), { configHash: 'aa' }])
    expect(said.at(-1)).toEqual(['not-sent', 9, uidOf(9), 'aa'])
    const count = told.length
    // The message was sent over two seconds before it arrived, measured by the fastest message of this link.
    const atMs = clock.monotonicMs()
    clock.advance(2_001)
    agents.take({ cell: 0, epoch: 1, atMs, entries: [['tell', 1, uidOf(1), { configHash: 'bb' }]] })
    expect(said.at(-1)).toEqual(['not-sent', 1, uidOf(1), 'bb'])
    expect(told.length).toBe(count)
  })
})

describe('a poll', () => {
  it('is asked once for everything while nobody answers, and so many are remembered', async () => {
    const { poll, timers, agents } = openFront()
    const [first] = [poll(1)]
    timers.advance(1_000)
    expect(await first).toEqual({ reportFullState: true })
    const again = poll(1)
    timers.advance(1_000)
    expect(await again).toEqual({})
    const many = Array.from({ length: 50 }, (_, n) => poll(n + 10))
    expect(await poll(1)).toBeNull()
    timers.advance(1_000)
    expect(await Promise.all(many)).toHaveLength(50)
    const forgotten = poll(1)
    timers.advance(1_000)
    expect(await forgotten).toEqual({ reportFullState: true })
    agents.stop()
  })
})

describe('what is said on a link', () => {
  it('goes out in batches, and what one turn says goes out together', () => {
    const clock = fakeClock()
    const timers = manualTimers(clock)
    const sent: string[] = []
    const writer = new BatchWriter<FrontEntry>({
      clock,
      timers,
      epoch: 4,
      send: (text) => void sent.push(text),
    })
    expect(readFrontBatch(sent.shift()!)).toMatchObject({ cell: 0, epoch: 4, entries: [] })
    writer.push(['closed', 1])
    writer.push(['closed', 2])
    timers.advance(0)
    expect(sent.map((text) => readFrontBatch(text).entries)).toEqual([
      [
        ['closed', 1],
        ['closed', 2],
      ],
    ])
    sent.length = 0
    for (let n = 0; n < 3; n++) writer.push(['report', n, 1, true, 'x'.repeat(200_000), null])
    expect(sent.length).toBe(1)
    writer.close()
    timers.advance(5_000)
    expect(sent.length).toBe(1)
  })

  it('is refused where it is anything else', () => {
    const batch = (entries: unknown) => JSON.stringify({ cell: 0, epoch: 1, atMs: 1, entries })
    const wrong: unknown[] = [
      ...[
        '',
        'null',
        '1',
        '[]',
        '{}',
        '{"cell":0}',
        batch(1),
        batch([1]),
        batch([[]]),
        batch([['nonsense']]),
      ],
      ...[
        batch([['closed']]),
        batch([['closed', '1']]),
        batch([['closed', 1, 2]]),
        batch([['__proto__', 1]]),
      ],
      batch([['report', 1, 1, true, 'x', { rawHash: 1 }]]),
      batch([['report', 1, 1, true, 'x', { rawHash: '', hash: '', runsPipelines: 1, runsProfiles: true }]]),
      batch([['answer', 1, null]]),
    ]
    for (const text of wrong) expect(() => readFrontBatch(String(text)), String(text)).toThrow()
    const wrongOfOwner = [
      batch([['closed', 1]]),
      batch([['tell', 1, 'x', { configHash: 7 }]]),
      batch([['tell', 1, 'x', { errorResponse: { type: 'whatever', message: '' } }]]),
      batch([['answer', 1, { reportFullState: 'yes' }]]),
    ]
    for (const text of wrongOfOwner) expect(() => readOwnerBatch(text), text).toThrow()
    expect(readOwnerBatch(batch([['answer', 1, null]])).entries).toEqual([['answer', 1, null]])
  })
})
