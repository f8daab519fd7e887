import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Context } from '../../runtime/context.ts'
import { Descriptors } from '../../runtime/descriptor-room.ts'
import type { Listener } from '../../runtime/listener.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { createProxyPolicy } from '../../runtime/proxies.ts'
import { createApiHandlers, startApiListener } from '../../runtime/server.ts'
import { SocketRoom } from '../../runtime/socket-room.ts'
import { fakeClock, recordingLog } from '../support/fakes.ts'
import { startTestListener, type TestListener } from '../support/opamp-listener.ts'

let listener: TestListener | undefined
let api: Listener | undefined
const sockets: WebSocket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate()
  listener?.close()
  api?.destroy()
  listener = api = undefined
})

/** Open a WebSocket from a loopback address; returns 101, or the status of the refusal. */
const dial = (localAddress = '127.0.0.1') => shakeHands(`ws://${listener!.url}`, localAddress)

async function shakeHands(
  url: string,
  localAddress = '127.0.0.1',
): Promise<{ status: number; retryAfter?: string }> {
  const socket = new WebSocket(url, { localAddress })
  sockets.push(socket)
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve({ status: 101 }))
    socket.on('unexpected-response', (_request, response) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] ?? '' })
    })
    socket.on('error', reject)
  })
}

async function hangUp(index: number): Promise<void> {
  const socket = sockets[index]!
  socket.close()
  await once(socket, 'close')
}

describe('the WebSockets of a listener', () => {
  it('are so many from one address, and one that leaves makes room', async () => {
    listener = startTestListener({ socketLimits: { inAll: 10, perAddress: 2 } })
    expect([await dial(), await dial()]).toEqual([{ status: 101 }, { status: 101 }])
    expect(await dial()).toEqual({ status: 503, retryAfter: '30' })
    expect(await dial('127.0.0.2')).toEqual({ status: 101 })
    await hangUp(0)
    expect(await dial()).toEqual({ status: 101 })
    expect(await dial()).toMatchObject({ status: 503 })
  })

  it('are so many in all, also when they shake hands at once', async () => {
    listener = startTestListener({ socketLimits: { inAll: 3, perAddress: 10 } })
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => (await dial(`127.0.0.${n + 1}`)).status),
    )
    expect(statuses.filter((status) => status === 101)).toHaveLength(3)
    expect(statuses.filter((status) => status === 503)).toHaveLength(5)
  })
})

describe('browsers whose handshakes wait for one answer about their session', () => {
  it('are so many all the same', async () => {
    let answer: (found: unknown) => void = () => undefined
    const found = new Promise((resolve) => {
      answer = resolve
    })
    let asked = 0
    const everyoneAsked = new Promise<void>((resolve) => {
      const ctx = {
        config: {
          listenAddress: '127.0.0.1:0',
          socketLimits: { inAll: 3, perAddress: 10 },
          cookieOrigins: [],
        },
        clock: fakeClock(),
        log: recordingLog(),
        hub: { add: () => undefined, remove: () => undefined },
        identity: {
          authenticate: () => {
            if (++asked === 8) resolve()
            return found
          },
        },
      } as unknown as Context
      const proxies = createProxyPolicy([])
      const handlers = createApiHandlers(
        loadFunctions(FUNCTIONS),
        () => null,
        ctx,
        proxies,
        async () => null,
      )
      api = startApiListener(new Descriptors(null), '127.0.0.1:0', handlers, proxies)
    })
    const statuses = Promise.all(
      Array.from({ length: 8 }, () => shakeHands(`ws://127.0.0.1:${api!.port}/ws?token=x`)),
    )
    await everyoneAsked
    answer({ ok: true, user: { sessionId: 's', expiresAt: new Date(0) } })
    expect((await statuses).map(({ status }) => status).sort()).toEqual([
      101, 101, 101, 503, 503, 503, 503, 503,
    ])
  })
})

describe('the count of sockets', () => {
  it('takes a /64 for one address, counts whom it turned away, and forgets who has left', () => {
    const room = new SocketRoom({ inAll: 3, perAddress: 1 })
    room.opened('2001:db8::1')
    expect(room.hasRoom('2001:db8::2')).toBe(false)
    expect(room.hasRoom('2001:db8:0:1::2')).toBe(true)
    room.opened('10.0.0.1')
    room.opened('10.0.0.2')
    expect(room.hasRoom('10.0.0.3')).toBe(false)
    expect(room).toMatchObject({ size: 3, networks: 3, turnedAway: 2 })
    for (const address of ['2001:db8::1', '10.0.0.1', '10.0.0.2']) room.closed(address)
    expect(room).toMatchObject({ size: 0, networks: 0 })
  })
})
