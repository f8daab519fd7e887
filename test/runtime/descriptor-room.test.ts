import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { DescriptorRoom, Descriptors } from '../../runtime/descriptor-room.ts'
import { openWire } from '../support/agent-wire.ts'
import { eventually } from '../support/eventually.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'

const database = await useTestDatabase()
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('the room for connections', () => {
  it('leaves a part of the limit to the rest of the process, and most of the room to WebSockets', () => {
    const room = new DescriptorRoom(new Descriptors(208), 1)
    expect(['a', 'b', 'c', 'd'].map((address) => room.opened(address))).toEqual([true, true, true, false])
    for (const _ of 'abcd') room.closed()
    for (const address of 'abcdefgh') {
      expect(room.opened(address)).toBe(true)
      room.socketOpened(address)
    }
    expect(['a', 'i'].map((address) => room.opened(address))).toEqual([false, false])
    room.closed()
    room.closed()
    room.socketClosed('d')
    expect(room.opened('i')).toBe(true)
    expect(room.turnedAway).toBe(3)
  })

  it('lets an address with a WebSocket have the part that is for WebSockets', () => {
    const room = new DescriptorRoom(new Descriptors(208), 1)
    room.opened('a')
    room.socketOpened('a')
    expect([...'bbbb'].map((address) => room.opened(address))).toEqual([true, true, true, false])
    room.closed()
    expect(room.opened('a')).toBe(true)
  })

  it('counts two where each connection may take another one', () => {
    const pages = new DescriptorRoom(new Descriptors(208), 2)
    expect([...'ab'].map((address) => pages.opened(address))).toEqual([true, false])
  })

  it('keeps nobody from one listener who is few there, however many strangers are at the other', () => {
    const all = new Descriptors(208)
    const [agents, pages] = [new DescriptorRoom(all, 1, all.mostOfAgents), new DescriptorRoom(all, 1)]
    expect([...'ssss'].map((address) => agents.opened(address))).toEqual([true, true, true, false])
    agents.closed()
    expect(pages.opened('a')).toBe(true)
  })

  it('leaves to pages what agents may not take', () => {
    const all = new Descriptors(208)
    const [agents, pages] = [new DescriptorRoom(all, 1, all.mostOfAgents), new DescriptorRoom(all, 1)]
    for (const address of 'abcdefg') {
      expect(agents.opened(address)).toBe(true)
      agents.socketOpened(address)
    }
    expect(agents.opened('h')).toBe(false)
    agents.closed()
    expect(pages.opened('x')).toBe(true)
  })

  it('uses no more than there is memory for where the limit is as good as none', () => {
    expect(new Descriptors(1_073_741_816).most).toBe(400_000)
  })

  it('has no end where the limit is not known', () => {
    const room = new DescriptorRoom(new Descriptors(null), 1)
    expect(Array.from({ length: 1_000 }, () => room.opened('a')).every(Boolean)).toBe(true)
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
