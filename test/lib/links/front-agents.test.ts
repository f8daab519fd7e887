import { describe, expect, it, vi } from 'vitest'
import { AGENT_LIMITS } from '../../../lib/fleet/state/agent-limits.ts'
import { BatchWriter } from '../../../lib/links/batch-writer.ts'
import {
  type FrontEntry,
  type OwnerEntry,
  readFrontBatch,
  readOwnerBatch,
  xorOf,
} from '../../../lib/links/frames.ts'
import { FrontAgents, UNCONFIRMED_BYTES_MAX, UNCONFIRMED_MAX } from '../../../lib/links/front-agents.ts'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { decodeFrame, messageOf } from '../../../lib/opamp/codec.ts'
import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import type { ServerMessage } from '../../../lib/opamp/report.ts'
import { fakeClock } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { agentFrame, keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'

/** Texts of configs that are in memory, or the function that reads them. */
type Texts = Record<string, string> | ((hash: string) => Promise<Uint8Array | null>)

function openFront(
  texts: Texts = {},
  normalise: ConstructorParameters<typeof FrontAgents>[0]['normalise'] = async () => null,
  keptBytesMax?: number,
) {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  const room = { reportedConfig: () => true, hasRoomForConfigs: true }
  const agents = new FrontAgents({
    clock,
    timers,
    texts: {
      at: (hash: string) => (typeof texts === 'object' && hash in texts ? Buffer.from(texts[hash]!) : null),
      find: async (hash: string) =>
        typeof texts === 'function' ? texts(hash) : hash in texts ? Buffer.from(texts[hash]!) : null,
    } as never,
    reported: room as never,
    normalise,
    pollsMax: 50,
    ...(keptBytesMax === undefined ? {} : { keptBytesMax }),
  })
  const said: FrontEntry[] = []
  const link = { version: LINK_VERSIONS.newest, epoch: 1, send: (entry: FrontEntry) => void said.push(entry) }
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
  const say = (id: number, sequenceNum: number, more: PlainMessage = {}, n = id) => {
    const connection = connections.get(id) ?? connectionOf(id)
    connections.set(id, connection)
    const frame = agentFrame({ instanceUid: uidBytes(n), sequenceNum, capabilities: 0x1807, ...more })
    const intake = decodeFrame(frame)
    if (!intake.ok) throw new Error(intake.code)
    return agents.receive(connection, intake.report, { message: messageOf(frame) })
  }
  const poll = (n: number, more: PlainMessage = {}) => {
    const connection: AgentConnection = {
      id: -n,
      transport: 'http' as const,
      send: () => 'dropped' as const,
      drop: () => undefined,
    }
    const frame = agentFrame({ instanceUid: uidBytes(n), sequenceNum: 1, capabilities: 0x1807, ...more })
    const intake = decodeFrame(frame)
    if (!intake.ok) throw new Error(intake.code)
    return agents.receive(connection, intake.report, {
      message: messageOf(frame),
      poll: { source: '10.0.0.1', digest: '' },
    }).pendingOffer
  }
  const take = (...entries: OwnerEntry[]) =>
    agents.take({ cell: 0, epoch: 1, atMs: clock.monotonicMs(), entries })
  return { agents, clock, timers, said, link, told, say, poll, take, connections, room }
}

const CONNECTION: AgentConnection = {
  id: 0,
  transport: 'ws',
  send: () => 'sent',
  tell: () => 'sent',
  drop: () => undefined,
}
const DESCRIBED = { agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'x' }) } }
const uidOf = (n: number) => Buffer.from(uidBytes(n)).toString('hex')
const offerOf = (hash: string, generation = 1, workloadId = 'w1') => ({
  offer: { hash, workloadId, generation },
})
const reports = (said: readonly FrontEntry[]) =>
  said.filter(
    (entry): entry is FrontEntry & { 0: 'report' | 'replay' } =>
      entry[0] === 'report' || entry[0] === 'replay',
  )

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

  it('keeps of goodbyes that the owner does not answer no reports beyond those 500, and says each at once', () => {
    const { agents, said, link, say, take } = openFront()
    agents.linked(link)
    const many = UNCONFIRMED_MAX + 200
    for (let id = 1; id <= many; id++) {
      say(id, 1, DESCRIBED)
      say(id, 2, { agentDisconnect: {} })
    }
    expect(agents.counts).toMatchObject({ agents: 0, unconfirmed: UNCONFIRMED_MAX })
    const goodbyes = said.filter(([kind]) => kind === 'goodbye')
    expect(goodbyes).toHaveLength(many - UNCONFIRMED_MAX / 2)
    // What is stored is not said again on the next link.
    take(...goodbyes.map(([, n]): OwnerEntry => ['stored', n as number]))
    agents.unlinked(link)
    said.length = 0
    agents.linked(link)
    expect(said.filter(([kind]) => kind === 'goodbye')).toHaveLength(UNCONFIRMED_MAX / 2)
  })

  it('says of a goodbye no more than counts of it, as many as there are, on sockets and in polls', () => {
    const { agents, said, link, say, poll } = openFront()
    agents.linked(link)
    const long = { agentDescription: { identifyingAttributes: keyValues({ a: 'z'.repeat(200_000) }) } }
    const failed = { lastRemoteConfigHash: Buffer.alloc(32, 1), status: 3, errorMessage: 'why' }
    const goodbye = {
      ...long,
      health: { healthy: false, lastError: 'e'.repeat(100_000) },
      agentDisconnect: {},
    }
    for (let id = 1; id <= 40; id++) {
      say(id, 1, { ...goodbye, remoteConfigStatus: failed })
      poll(100 + id, { ...goodbye, remoteConfigStatus: failed })
    }
    const texts = said.flatMap((entry) =>
      entry[0] === 'report' || entry[0] === 'poll' ? [Buffer.from(entry[4], 'base64')] : [],
    )
    expect(texts).toHaveLength(80)
    expect(texts.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(80 * 200)
    for (const text of texts)
      expect(decodeFrame(Buffer.concat([Buffer.from([0]), text]))).toMatchObject({
        report: { isDisconnect: true, remoteConfigStatus: { status: 'failed', errorMessage: 'why' } },
      })
  })

  it('keeps so many bytes of what all agents have said, and has those asked again that share the connection with most', () => {
    const { agents, said, link, say } = openFront({}, undefined, 1_000_000)
    say(1, 1, DESCRIBED)
    const all = 60
    const long = { agentDescription: { identifyingAttributes: keyValues({ a: 'z'.repeat(30_000) }) } }
    for (let n = 1; n <= all; n++) say(2, 1, long, 100 + n)
    expect(agents.counts.keptBytes).toBeLessThan(1_000_000)
    expect(agents.counts.keptBytes).toBeGreaterThan(500_000)
    agents.linked(link)
    const replayed = new Map(
      reports(said).map(([, , , , text]) => {
        const intake = decodeFrame(Buffer.concat([Buffer.from([0]), Buffer.from(text, 'base64')]))
        if (!intake.ok) throw new Error(intake.code)
        return [intake.report.uid, intake.report] as const
      }),
    )
    const isKnown = (n: number) => replayed.get(uidOf(n))!.attributes !== null
    expect([replayed.size, isKnown(1), isKnown(101), isKnown(100 + all)]).toEqual([
      all + 1,
      true,
      false,
      true,
    ])
    // Without its attributes nothing can be made of its config: it comes with the rest.
    const config = { effectiveConfig: { configMap: { configMap: { '': { body: Buffer.from('a: 1') } } } } }
    expect(say(2, 2, config, 101).message).toMatchObject({ reportFullState: true })
    say(2, 3, long, 101)
    expect(say(2, 4, config, 101).message).not.toMatchObject({ reportFullState: true })
    agents.connectionClosed({ ...CONNECTION, id: 2 })
    expect(agents.counts.keptBytes).toBeLessThan(1_000)
  })

  it('counts whom it has no room for', () => {
    const { agents, say } = openFront()
    const most = AGENT_LIMITS.perConnection
    for (let n = 1; n <= most; n++) say(1, 1, DESCRIBED, n)
    expect(say(1, 1, DESCRIBED, most + 1).message).toMatchObject({ errorResponse: { type: 'unavailable' } })
    expect(agents.counts).toMatchObject({ agents: most, refused: 1 })
  })

  it('waits for the owner beyond so many bytes as well, and then says the rest', () => {
    const { agents, said, link, say, take } = openFront()
    const long = { agentDescription: { identifyingAttributes: keyValues({ a: 'z'.repeat(30_000) }) } }
    const all = 400
    for (let id = 1; id <= all; id++) say(id, 1, long)
    agents.linked(link)
    const bytesOf = (some: ReturnType<typeof reports>) =>
      some.reduce((sum, [, , , , text]) => sum + Buffer.byteLength(text, 'base64'), 0)
    const first = reports(said)
    expect(bytesOf(first)).toBeLessThan(UNCONFIRMED_BYTES_MAX + 40_000)
    expect(first.length).toBeLessThan(all)
    take(...first.map(([, n]): OwnerEntry => ['answer', n, null]))
    take(...reports(said).map(([, n]): OwnerEntry => ['answer', n, null]))
    expect(reports(said).length).toBe(all)
    expect(agents.hasToldAll).toBe(true)
  })

  it('answers polls without the owner beyond so many bytes that wait for it', async () => {
    const { agents, said, link, poll } = openFront()
    agents.linked(link)
    const long = { agentDescription: { identifyingAttributes: keyValues({ a: 'z'.repeat(500_000) }) } }
    const answers = Array.from({ length: 40 }, (_, at) => poll(at + 1, long))
    const passedOn = said.filter(([kind]) => kind === 'poll')
    expect(passedOn.length).toBeGreaterThan(30)
    await expect(answers.at(-1)).resolves.toBeNull()
  })

  it('tells a new owner of everybody, as one that has missed nothing', () => {
    const { agents, said, link, say, take } = openFront()
    agents.linked(link)
    say(1, 7, DESCRIBED)
    say(1, 8)
    take(...reports(said).map(([, n]): OwnerEntry => ['answer', n, null]))
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

  it('says again of an agent that it has missed something, until an owner has answered that', () => {
    const { agents, said, link, say, take } = openFront()
    agents.linked(link)
    say(1, 7, DESCRIBED)
    take(['answer', reports(said).at(-1)![1], null])
    say(1, 9)
    expect(reports(said).at(-1)![3]).toBe(false)
    agents.unlinked(link)
    agents.linked(link)
    expect(reports(said).at(-1)![3]).toBe(false)
    take(['answer', reports(said).at(-1)![1], null])
    agents.unlinked(link)
    agents.linked(link)
    expect(reports(said).at(-1)![3]).toBe(true)
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

  it('asks an agent with its next answer for what it could not be asked for, also where that is a beat of its own', () => {
    const { agents, link, say, take, connections } = openFront()
    agents.linked(link)
    say(1, 1, DESCRIBED)
    const send = vi.spyOn(connections.get(1)!, 'tell').mockReturnValue('dropped')
    take(['answer', 1, { reportFullState: true, reportAvailableComponents: true }], ['grant', 1, uidOf(1)])
    send.mockRestore()
    expect(say(1, 2).message).toEqual({ reportFullState: true, reportAvailableComponents: true })
    expect(say(1, 3).message).toEqual({})
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

  it('says how many agents it has told of and which of them beat, also while some answer is under way', () => {
    const { agents, said, link, say, take, timers } = openFront()
    agents.linked(link)
    for (let id = 1; id <= UNCONFIRMED_MAX + 1; id++) say(id, 1, DESCRIBED)
    const told = Array.from({ length: UNCONFIRMED_MAX }, (_, at) => uidOf(at + 1))
    take(['grant', 2, uidOf(2)])
    say(2, 2)
    timers.advance(5_000)
    expect(said.at(-1)).toEqual(['seen', UNCONFIRMED_MAX, xorOf(told), uidOf(2)])
    take(...reports(said).map(([, n]): OwnerEntry => ['answer', n, null]))
    timers.advance(5_000)
    expect(said.at(-1)).toEqual([
      'seen',
      UNCONFIRMED_MAX + 1,
      xorOf([...told, uidOf(UNCONFIRMED_MAX + 1)]),
      '',
    ])
  })

  it('says what it has counted and how much waits, also while something does', () => {
    const { agents, said, link, say, take, timers } = openFront()
    agents.linked(link)
    say(1, 1, DESCRIBED)
    timers.advance(5_000)
    expect(said.filter(([kind]) => kind === 'counts').at(-1)).toEqual(['counts', 1, 0, 1, 0])
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
    expect(said.at(-1)).toEqual(['ended', expect.any(Number), 2, uidOf(2)])
  })

  it('counts no agent as lost whose socket ended while the process stood still', () => {
    const { agents, said, link, say, timers, connections } = openFront()
    agents.linked(link)
    for (const id of [1, 2, 3]) say(id, 1, DESCRIBED)
    timers.advance(7_400)
    // As long as the balancer of `npm start` waits, and a little more.
    timers.standStill(4_500)
    said.length = 0
    // One is heard before the timers, one after them, and one once all that had come is heard.
    agents.connectionClosed(connections.get(1)!)
    timers.advance(0)
    agents.connectionClosed(connections.get(3)!)
    timers.advance(0)
    expect(said.filter(([kind]) => kind === 'bound' || kind === 'ended')).toEqual([
      ['bound', `2:${uidOf(2)},3:${uidOf(3)}`],
      ['bound', `2:${uidOf(2)}`],
    ])
    timers.advance(5_000)
    agents.connectionClosed(connections.get(2)!)
    expect(said.at(-1)).toEqual(['ended', expect.any(Number), 2, uidOf(2)])
  })

  it('sends no offer that was under way for over two seconds, also where the link is always that slow', () => {
    const { agents, clock, said, link, say, told } = openFront({ aa: 'one' })
    agents.linked(link)
    say(1, 1, DESCRIBED)
    const slowly = (ms: number, ...entries: OwnerEntry[]) =>
      agents.take({ cell: 0, epoch: 1, atMs: clock.monotonicMs() - ms, quickestMs: 10, entries })
    for (let n = 0; n < 3; n++) slowly(2_500)
    slowly(2_500, ['tell', 1, uidOf(1), offerOf('aa'), 1])
    expect(told).toEqual([])
    expect(said.at(-1)).toEqual(['not-sent', 1, uidOf(1), 'aa', 1])
    slowly(1_900, ['tell', 1, uidOf(1), offerOf('aa'), 2])
    expect(told).toHaveLength(1)
    expect(said.at(-1)).toEqual(['sent', 1, uidOf(1), 2])
  })

  it('sends an offer with its text, and says of one that is late, overtaken or unknown that it was not sent', async () => {
    const { agents, clock, said, link, say, take, told } = openFront({ aa: 'one', bb: 'two' })
    agents.linked(link)
    say(1, 1, DESCRIBED)
    take(['tell', 1, uidOf(1), offerOf('aa'), 1])
    expect(Buffer.from(told.at(-1)!.remoteConfig!.body).toString()).toBe('one')
    take(['tell', 1, uidOf(1), offerOf('cc'), 2])
    await new Promise((resolve) => setImmediate(resolve))
    expect(said.at(-1)).toEqual(['not-sent', 1, uidOf(1), 'cc', 2])
    take(['tell', 9, uidOf(9), offerOf('aa'), 3])
    expect(said.at(-1)).toEqual(['not-sent', 9, uidOf(9), 'aa', 3])
    const count = told.length
    // The message was sent over two seconds before it arrived, measured by the fastest message of this link.
    const atMs = clock.monotonicMs()
    clock.advance(2_001)
    agents.take({ cell: 0, epoch: 1, atMs, entries: [['tell', 1, uidOf(1), offerOf('bb'), 4]] })
    expect(said.at(-1)).toEqual(['not-sent', 1, uidOf(1), 'bb', 4])
    expect(told.length).toBe(count)
  })
})

/** Texts that are read when the test says so. */
function lateTexts() {
  const reading = new Map<string, (body: Uint8Array) => void>()
  return {
    texts: (hash: string) => new Promise<Uint8Array | null>((resolve) => reading.set(hash, resolve)),
    async arrive(hash: string) {
      reading.get(hash)!(Buffer.from(hash))
      await turns()
    },
  }
}
const turns = () => new Promise((resolve) => setImmediate(resolve))
const bodies = (told: readonly ServerMessage[]) =>
  told.map(({ remoteConfig }) => Buffer.from(remoteConfig!.body).toString())

describe('an offer whose text comes late', () => {
  it('is not sent once the owner has offered another generation in that workload, to whomever', async () => {
    const { texts, arrive } = lateTexts()
    const { agents, said, link, say, take, told } = openFront(texts)
    agents.linked(link)
    for (const id of [1, 2, 3]) say(id, 1, DESCRIBED)
    take(
      ['tell', 1, uidOf(1), offerOf('old', 4), 1],
      ['tell', 2, uidOf(2), offerOf('new', 5), 2],
      ['tell', 3, uidOf(3), offerOf('other', 1, 'w2'), 3],
    )
    await arrive('old')
    expect(told).toEqual([])
    expect(said.at(-1)).toEqual(['not-sent', 1, uidOf(1), 'old', 1])
    await arrive('new')
    await arrive('other')
    expect(bodies(told)).toEqual(['new', 'other'])
  })

  it('is sent where its generation is the lower one, but was said last: the workload was deleted and is there again', async () => {
    const { texts, arrive } = lateTexts()
    const { agents, link, say, take, told } = openFront(texts)
    agents.linked(link)
    for (const id of [1, 2]) say(id, 1, DESCRIBED)
    take(['tell', 1, uidOf(1), offerOf('old', 4), 1], ['tell', 2, uidOf(2), offerOf('new', 1), 2])
    await arrive('old')
    await arrive('new')
    expect(bodies(told)).toEqual(['new'])
  })

  it('is sent where so many other workloads were offered something since that the newer one is forgotten', async () => {
    const { texts, arrive } = lateTexts()
    const { agents, link, say, take, told } = openFront(texts)
    agents.linked(link)
    for (const id of [1, 2]) say(id, 1, DESCRIBED)
    take(['tell', 1, uidOf(1), offerOf('old', 4), 1])
    take(['tell', 2, uidOf(2), offerOf('new', 5), 2])
    for (let n = 0; n < 20_000; n++) take(['tell', 2, uidOf(2), offerOf('new', 1, `other ${n}`), 3 + n])
    await arrive('old')
    expect(bodies(told)).toEqual(['old'])
  })

  it('is not sent once there is another link, whose owner may count generations anew', async () => {
    const { texts, arrive } = lateTexts()
    const { agents, said, link, say, take, told } = openFront(texts)
    agents.linked(link)
    say(1, 1, DESCRIBED)
    take(['tell', 1, uidOf(1), offerOf('old', 4), 1])
    agents.unlinked(link)
    agents.linked({ ...link })
    await arrive('old')
    expect(told).toEqual([])
    expect(said.some(([kind]) => kind === 'not-sent')).toBe(false)
    take(['tell', 1, uidOf(1), offerOf('new', 3), 1])
    await arrive('new')
    expect(bodies(told)).toEqual(['new'])
  })

  it('is not the answer to a poll once there is another link, whose owner hears nothing of it', async () => {
    const { texts, arrive } = lateTexts()
    const { agents, said, link, poll, take } = openFront(texts)
    agents.linked(link)
    const answer = poll(1)
    take(['answer', said.findLast((entry) => entry[0] === 'poll')![1] as number, offerOf('old', 4)])
    agents.unlinked(link)
    agents.linked({ ...link })
    await arrive('old')
    expect((await answer)?.remoteConfig).toBeUndefined()
    expect(said.some(([kind]) => kind === 'not-sent')).toBe(false)
  })
})

describe('the effective config of an agent on a socket', () => {
  const RUNNING: PlainMessage = {
    ...DESCRIBED,
    effectiveConfig: { configMap: { configMap: { '': { body: Buffer.from('a: 1') } } } },
  }
  const TICK_MS = 5_000

  it('is asked for again once there is room for it', () => {
    const { agents, timers, say, told, room } = openFront()
    room.hasRoomForConfigs = false
    say(1, 1, RUNNING)
    timers.advance(TICK_MS)
    expect(told).toEqual([])
    room.hasRoomForConfigs = true
    timers.advance(TICK_MS)
    timers.advance(TICK_MS)
    expect(told).toEqual([{ reportFullState: true }])
    agents.stop()
  })

  it.each([
    ['whose socket has ended', true],
    ['that has said goodbye on a socket that stays open', false],
  ])('is asked for no more of one %s', (_who, isClosed) => {
    const { agents, timers, say, told, connections, room } = openFront()
    room.hasRoomForConfigs = false
    say(1, 1, RUNNING)
    if (isClosed) agents.connectionClosed(connections.get(1)!)
    else say(1, 2, { agentDisconnect: {} })
    room.hasRoomForConfigs = true
    for (let n = 0; n < 3; n++) timers.advance(TICK_MS)
    expect(told).toEqual([])
    agents.stop()
  })

  it('is asked for no more of one that left as it was read, and finds no room then', async () => {
    let read = () => {}
    const { agents, timers, say, told, connections, room } = openFront(
      {},
      (text) =>
        new Promise((resolve) => {
          read = () => resolve({ hash: 'aa', text, runsPipelines: true, runsProfiles: false })
        }),
    )
    room.reportedConfig = () => false
    say(1, 1, RUNNING)
    agents.connectionClosed(connections.get(1)!)
    read()
    await turns()
    for (let n = 0; n < 3; n++) timers.advance(TICK_MS)
    expect(told).toEqual([])
    agents.stop()
  })
})

describe('the effective config of a poll', () => {
  const running = (text: string): PlainMessage => ({
    effectiveConfig: { configMap: { configMap: { '': { body: Buffer.from(text) } } } },
  })

  it('is not told to the owner once a later poll has brought another one', async () => {
    const reads = new Map<string, (hash: string) => void>()
    const { agents, said, link, poll } = openFront(
      {},
      (text) =>
        new Promise((resolve) =>
          reads.set(text, (hash) => resolve({ hash, text, runsPipelines: true, runsProfiles: false })),
        ),
    )
    agents.linked(link)
    void poll(1, running('first'))
    void poll(1, running('second'))
    reads.get('second')!('2222')
    await turns()
    reads.get('first')!('1111')
    await turns()
    const forms = said.flatMap((entry) => (entry[0] === 'form' ? [entry[3].hash] : []))
    expect(forms).toEqual(['2222'])
    agents.stop()
  })

  it('is asked for again by no more than twice as many agents as polls may wait, of those that came last', async () => {
    const { agents, said, link, poll, take, room } = openFront()
    agents.linked(link)
    const answered = async (n: number, more: PlainMessage = {}) => {
      const answer = poll(n, more)
      take(['answer', said.findLast((entry) => entry[0] === 'poll')![1] as number, null])
      return answer
    }
    room.hasRoomForConfigs = false
    for (let n = 1; n <= 101; n++) await answered(n, running(`config ${n}`))
    room.hasRoomForConfigs = true
    expect(await answered(1)).toEqual({})
    expect(await answered(2)).toEqual({ reportFullState: true })
    expect(await answered(101)).toEqual({ reportFullState: true })
    agents.stop()
  })

  it('is asked for again with a later poll, once, where there was no room to read it', async () => {
    const { agents, said, link, poll, take, room } = openFront()
    agents.linked(link)
    const answered = async (more: PlainMessage = {}) => {
      const answer = poll(1, more)
      take(['answer', said.findLast((entry) => entry[0] === 'poll')![1] as number, null])
      return answer
    }
    room.hasRoomForConfigs = false
    expect(await answered(running('first'))).toEqual({})
    expect(await answered()).toEqual({})
    room.hasRoomForConfigs = true
    expect(await answered()).toEqual({ reportFullState: true })
    expect(await answered()).toEqual({})
    agents.stop()
  })
})

describe('a poll', () => {
  it('is asked with its next poll for what the owner asked too late for the last one, as far as so many are remembered', async () => {
    const { agents, timers, said, link, poll, take } = openFront()
    agents.linked(link)
    const lastN = () => said.findLast((entry) => entry[0] === 'poll')![1] as number
    for (let n = 1; n <= 51; n++) {
      const late = poll(n)
      timers.advance(1_000)
      await late
      take(['answer', lastN(), { reportAvailableComponents: true }])
    }
    const inTime = (n: number) => {
      const answer = poll(n)
      take(['answer', lastN(), null])
      return answer
    }
    expect(await inTime(1)).toEqual({})
    expect(await inTime(2)).toEqual({ reportAvailableComponents: true })
    expect(await inTime(2)).toEqual({})
    agents.stop()
  })

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
      maySay: () => true,
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
      JSON.stringify({ cell: 0, epoch: 1, atMs: 1, entries: [], since: 1 }),
    ]
    for (const text of wrong) expect(() => readFrontBatch(String(text)), String(text)).toThrow()
    const wrongOfOwner = [
      batch([['closed', 1]]),
      batch([['tell', 1, 'x', {}]]),
      batch([['tell', 1, 'x', { offer: { hash: 7, workloadId: 'w', generation: 1 } }, 1]]),
      batch([['tell', 1, 'x', { offer: { hash: 'aa' } }, 1]]),
      batch([['tell', 1, 'x', { errorResponse: { type: 'whatever', message: '' } }, 1]]),
      batch([['answer', 1, { reportFullState: 'yes' }]]),
      batch([['answer', 1, { reportHeartbeat: true }]]),
    ]
    for (const text of wrongOfOwner) expect(() => readOwnerBatch(text), text).toThrow()
    expect(readOwnerBatch(batch([['answer', 1, null]])).entries).toEqual([['answer', 1, null]])
  })
})
