import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { DescriptorRoom, Descriptors, fewConnections } from '../../runtime/descriptor-room.ts'
import { openWire } from '../support/agent-wire.ts'
import { eventually } from '../support/eventually.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'

const database = await useTestDatabase()
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Of a limit of 264 files, 64 are for connections: at a listener 20 for strangers and four more where one has sockets. */
const LIMIT = 264

/** How many of so many that come from this address one after the other are let in. */
function letIn(room: DescriptorRoom, address: string, count = 50): number {
  const isLetIn = Array.from({ length: count }, () => room.opened(address))
  for (const isIn of isLetIn) if (!isIn) room.closed()
  return isLetIn.filter(Boolean).length
}

const comeAs = (room: DescriptorRoom, count: number, name: string): number =>
  Array.from({ length: count }, (_, i) => letIn(room, `${name}${i}`, 1)).reduce((sum, one) => sum + one, 0)

describe('the room for connections', () => {
  it('leaves a part of the limit to the rest of the process, and half of the room to WebSockets', () => {
    const room = new DescriptorRoom({ all: new Descriptors(LIMIT), each: 1 })
    expect(comeAs(room, 50, 'stranger')).toBe(20)
    for (let i = 0; i < 20; i++) room.closed()
    for (let i = 0; i < 64; i++) {
      expect(room.opened(`agent${i}`)).toBe(true)
      room.socketOpened(`agent${i}`)
    }
    expect(letIn(room, 'agent0', 1)).toBe(0)
    room.socketClosed('agent1')
    expect(letIn(room, 'another', 1)).toBe(1)
  })

  it('leaves as much to others as it gives to one network', () => {
    const room = new DescriptorRoom({ all: new Descriptors(LIMIT), each: 1 })
    expect(letIn(room, '192.0.2.1')).toBe(10)
    expect(letIn(room, '2001:db8::1') + letIn(room, '2001:db8::ffff')).toBe(5)
    expect(letIn(room, '192.0.2.3')).toBe(3)
    expect(letIn(room, '192.0.2.4')).toBe(1)
    expect(letIn(room, '192.0.2.5')).toBe(1)
  })

  it('counts a connection for its network until its answer, and as long after it as the library keeps it', () => {
    let nowMs = 0
    const room = new DescriptorRoom({ all: new Descriptors(LIMIT), each: 1, nowMs: () => nowMs })
    expect(letIn(room, 'a')).toBe(10)
    for (let i = 0; i < 10; i++) room.asked('a')
    nowMs += 60_000
    expect(letIn(room, 'a', 1)).toBe(0)
    for (let i = 0; i < 9; i++) room.answered('a', true)
    nowMs += 11_000
    expect(letIn(room, 'a', 1)).toBe(0)
    // The library has closed nine of them, and one has left before its answer.
    room.answered('a', false)
    nowMs += 6_000
    for (let i = 0; i < 10; i++) room.closed()
    expect(letIn(room, 'a')).toBe(10)
  })

  it('does not count for a network what became a WebSocket', () => {
    const room = new DescriptorRoom({ all: new Descriptors(LIMIT), each: 1 })
    for (let i = 0; i < 40; i++) {
      expect(room.opened('nat')).toBe(true)
      room.asked('nat')
      room.socketOpened('nat')
      room.answered('nat', false)
    }
    expect(letIn(room, 'nat')).toBe(24)
  })

  it('lets a proxy have all that strangers may have, for it opens connections for others', () => {
    const room = new DescriptorRoom({
      all: new Descriptors(LIMIT),
      each: 1,
      isProxy: (from) => from === 'proxy',
    })
    expect(letIn(room, 'proxy')).toBe(20)
  })

  it('keeps a part for addresses with WebSockets, for each so many connections as a page opens', () => {
    const room = new DescriptorRoom({ all: new Descriptors(LIMIT), each: 1 })
    room.opened('page')
    room.socketOpened('page')
    room.opened('other page')
    room.socketOpened('other page')
    expect(comeAs(room, 50, 'stranger')).toBe(20)
    expect(letIn(room, 'page', 3)).toBe(3)
    expect(letIn(room, 'other page')).toBe(1)
    expect(letIn(room, 'page', 1)).toBe(0)
  })

  it('counts the WebSockets of a network as it counts its connections: a page opens both, and each with an address of its own', () => {
    const room = new DescriptorRoom({ all: new Descriptors(LIMIT), each: 1 })
    room.opened('2001:db8::a')
    room.socketOpened('2001:db8::a')
    expect(comeAs(room, 50, 'stranger')).toBe(20)
    expect(letIn(room, '2001:db8::b', 3)).toBe(3)
  })

  it('leaves at a listener of few room for others beside one network, whatever addresses that has', () => {
    const room = fewConnections()
    expect(comeAs(room, 100, '2001:db8::')).toBe(20)
    expect(letIn(room, '192.0.2.1', 1)).toBe(1)
  })

  it('counts two where each connection may take another one', () => {
    const pages = new DescriptorRoom({ all: new Descriptors(LIMIT), each: 2 })
    expect(comeAs(pages, 50, 'stranger')).toBe(10)
  })

  it('keeps nobody from one listener who is few there, however many strangers are at the other', () => {
    const all = new Descriptors(LIMIT)
    const agents = new DescriptorRoom({ all, each: 1, most: all.mostOfAgents })
    const pages = new DescriptorRoom({ all, each: 1 })
    expect(comeAs(agents, 50, 'stranger')).toBe(20)
    expect(comeAs(pages, 50, 'a')).toBe(8)
  })

  it('leaves to pages what agents may not take', () => {
    const all = new Descriptors(LIMIT)
    const agents = new DescriptorRoom({ all, each: 1, most: all.mostOfAgents })
    const pages = new DescriptorRoom({ all, each: 1 })
    for (let i = 0; i < 56; i++) {
      expect(agents.opened(`agent${i}`)).toBe(true)
      agents.socketOpened(`agent${i}`)
    }
    expect(letIn(agents, 'another', 1)).toBe(0)
    expect(letIn(pages, 'page', 1)).toBe(1)
  })

  it('uses no more than there is memory for where the limit is as good as none', () => {
    expect(new Descriptors(1_073_741_816).most).toBe(400_000)
  })

  it('has no end where the limit is not known', () => {
    const room = new DescriptorRoom({ all: new Descriptors(null), each: 1 })
    expect(letIn(room, 'a', 1_000)).toBe(1_000)
  })
})

it('strangers who open connections and say nothing do not get more of them than the process can spare', {
  timeout: 60_000,
}, async () => {
  const { service, stop, opampUrl, call, token } = await startTestService(
    database,
    { metricsAddress: '127.0.0.1:0' },
    undefined,
    { descriptorLimit: 240 },
  )
  cleanups.push(stop)
  const agent = await openWire(opampUrl)
  cleanups.push(() => agent.close())
  const as = await token()
  const turnedAway = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text()
    return Number(/^muster_connections_turned_away_total\{listener="api"\} (\d+)$/m.exec(metrics)?.[1])
  }
  expect(await turnedAway()).toBe(0)
  const strangers = await Promise.all(Array.from({ length: 100 }, () => openStranger(service.apiPort)))
  await eventually('most of them are cut as they come', async () => (await turnedAway()) >= 75)
  // Who is there stays.
  expect(agent.socket.readyState).toBe(agent.socket.OPEN)
  for (const stranger of strangers) stranger.destroy()
  await eventually('there is room again', async () => {
    const answer = await call('GET', '/api/me', { as }).catch(() => null)
    return answer?.status === 200
  })
})

/** A connection that says nothing. */
async function openStranger(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  cleanups.push(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** The status of a GET whose connection comes from this address of loopback; null where it is cut. */
function askFrom(
  localAddress: string,
  port: number,
  path: string,
  agent: Agent | false = false,
): Promise<number | null> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path, localAddress, agent }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode!))
    })
    request.on('error', () => resolve(null))
  })
}

it('one stranger keeps neither probes nor agents away, however many connections he holds with a request on each', {
  timeout: 60_000,
}, async () => {
  const { service, stop } = await startTestService(database, {}, undefined, { descriptorLimit: 400 })
  cleanups.push(stop)
  const { apiPort, opampPort } = service
  for (const port of [apiPort, opampPort]) {
    const agent = new Agent({ keepAlive: true })
    cleanups.push(() => agent.destroy())
    const statuses = await Promise.all(
      Array.from({ length: 120 }, () => askFrom('127.0.0.9', port, '/healthz', agent)),
    )
    expect(statuses.filter((status) => status === null).length).toBeGreaterThan(40)
  }
  expect(await askFrom('127.0.0.10', apiPort, '/healthz')).toBe(200)
  expect(await askFrom('127.0.0.10', apiPort, '/readyz')).toBe(200)
  // Whoever polls gets so far as to be told what is wrong with this request.
  expect(await askFrom('127.0.0.10', opampPort, '/v1/opamp')).toBe(400)
})

it('who asks with a connection for each request and closes it is answered as often as they like', {
  timeout: 60_000,
}, async () => {
  const { service, stop } = await startTestService(database, {}, undefined, { descriptorLimit: 264 })
  cleanups.push(stop)
  const statuses = []
  for (let count = 0; count < 60; count++)
    statuses.push(await askFrom('127.0.0.11', service.apiPort, '/healthz'))
  expect(statuses).toEqual(Array(60).fill(200))
})

/** The status with which a WebSocket is answered, 101 for one that opens; null where its connection is cut. */
function openSocketAt(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/opamp`)
    cleanups.push(() => socket.terminate())
    socket.on('open', () => resolve(101))
    socket.on('unexpected-response', (_, response) => {
      response.resume()
      resolve(response.statusCode!)
      socket.terminate()
    })
    socket.on('error', () => resolve(null))
  })
}

it('agents for which there are too few files are told to come back later, and the start says how many may be here', {
  timeout: 60_000,
}, async () => {
  const { service, log, stop } = await startTestService(database, {}, undefined, { descriptorLimit: 520 })
  cleanups.push(stop)
  const statuses: (number | null)[] = []
  for (let count = 0; count < 277; count++) statuses.push(await openSocketAt(service.opampPort))
  expect(statuses).toEqual([...Array(271).fill(101), ...Array(6).fill(503)])
  expect(log.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ most: 271 }) }),
  )
})
