import { once } from 'node:events'
import { connect, type Socket as TcpSocket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Socket } from '../../runtime/define.ts'
import type { Listener, SocketRoute } from '../../runtime/listener.ts'
import { type Ear, SocketTurns, WAITING_BYTES_MAX } from '../../runtime/socket-turns.ts'
import { listen } from '../../runtime/uws.ts'
import { eventually } from '../support/eventually.ts'

let listener: Listener
const clients: WebSocket[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate()
  listener.destroy()
})

type Hears = Pick<SocketRoute, 'message'> & Partial<Pick<SocketRoute, 'close'>>

/** Longer than what sockets say is heard at once. */
const LONG_MS = 20

/**
 * A listener whose one route does this with what its sockets say; each socket is known by a number of its own. The
 * first message takes so long that what comes with it has to wait.
 */
function serve({ message, close = () => undefined }: Hears): void {
  let opened = 0
  let heard = 0
  listener = listen('127.0.0.1:0', {
    sockets: [
      {
        path: '/ws',
        messageBytesMax: 1_024,
        backpressureBytesMax: 65_536,
        idleSeconds: 60,
        closeOnBackpressure: true,
        admit: () => ({ accept: true, state: ++opened }),
        refuseForRoom: () => null,
        open: () => undefined,
        drain: () => undefined,
        message(...what) {
          message(...what)
          if (++heard === 1) work(LONG_MS)
        },
        close,
      },
    ],
    bodyBudget: null,
    room: null,
    bodyBytesMax: () => 0,
    handle: async () => ({ status: 404, headers: {}, body: null }),
  })
}

async function openClient(): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${listener.port}/ws`)
  clients.push(client)
  await once(client, 'open')
  return client
}

/** Send many messages, masked with zeros, in one write, so that they are read together. */
function sendTogether(client: WebSocket, messages: readonly string[]): void {
  const { _socket: socket } = client as unknown as { _socket: TcpSocket }
  const frames = messages.map((message) => {
    const head =
      message.length < 126 ? [0x80 | message.length] : [0x80 | 126, message.length >> 8, message.length & 255]
    return Buffer.concat([Buffer.from([0x81, ...head, 0, 0, 0, 0]), Buffer.from(message)])
  })
  socket.write(Buffer.concat(frames))
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n))
const textOf = (data: Uint8Array) => Buffer.from(data).toString()

/** Keep the event loop for this long, as a handler does that has much to do. */
function work(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs; );
}

describe('what sockets say', () => {
  it('is heard in the order in which it was said, and the end of the socket last', async () => {
    const heard: string[] = []
    serve({
      message: (_socket, _state, data) => void heard.push(textOf(data)),
      close: () => void heard.push('closed'),
    })
    const client = await openClient()
    sendTogether(client, numbers(5_000))
    client.close()
    await eventually('the end is heard', () => heard.at(-1) === 'closed')
    expect(heard).toEqual([...numbers(5_000), 'closed'])
  })

  it('stays as it was for whoever keeps it, whether it was heard at once or waited', async () => {
    const kept: Uint8Array[] = []
    serve({ message: (_socket, _state, data) => void kept.push(data) })
    // Short ones, which are copied side by side, and among them long ones.
    const said = numbers(3_000).map((number) => number.padEnd(Number(number) % 7 === 0 ? 1_000 : 20, '.'))
    const client = await openClient()
    // The first is heard at once; what comes with it waits.
    for (const some of [said.slice(0, 1_500), said.slice(1_500)]) {
      sendTogether(client, some)
      await eventually('all is heard', () => kept.length === said.indexOf(some.at(-1)!) + 1)
    }
    expect(kept.map(textOf)).toEqual(said)
  })

  it('lets timers and other connections have their turn when it takes long', async () => {
    const heard: string[] = []
    serve({
      message(_socket, _state, data) {
        if (heard.length === 0) {
          setTimeout(() => heard.push('timer'), 1)
          // Somebody else: the answer comes over a connection that is read in the same event loop.
          const other = connect(listener.port, '127.0.0.1', () =>
            other.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n'),
          )
          other.once('data', () => {
            heard.push('somebody else')
            other.destroy()
          })
        }
        heard.push(textOf(data))
        work(1)
      },
    })
    sendTogether(await openClient(), numbers(200))
    await eventually('all is heard', () => heard.includes('199') && heard.includes('somebody else'))
    expect(heard.filter((word) => word !== 'timer' && word !== 'somebody else')).toEqual(numbers(200))
    expect(heard.indexOf('timer')).toBeLessThan(heard.indexOf('199'))
    expect(heard.indexOf('somebody else')).toBeLessThan(heard.indexOf('199'))
  })

  it('waits within a bound: beyond it the oldest is heard before more is read', async () => {
    let waitedMost = 0
    let heard = 0
    const next = new Map<unknown, number>()
    serve({
      message(_socket, state, data) {
        waitedMost = Math.max(waitedMost, listener.waitingBytes())
        // In order also where it is heard at once.
        if (Number(textOf(data)) === (next.get(state) ?? 0)) heard++
        next.set(state, (next.get(state) ?? 0) + 1)
      },
    })
    const many = await Promise.all(Array.from({ length: 16 }, openClient))
    for (const client of many) sendTogether(client, numbers(6_000))
    await eventually('all is heard', () => heard === 16 * 6_000)
    expect(waitedMost).toBeGreaterThan(WAITING_BYTES_MAX * 0.9)
    expect(waitedMost).toBeLessThanOrEqual(WAITING_BYTES_MAX)
    expect(listener.waitingBytes()).toBe(0)
  })

  it.each([
    ['dropped', (socket: Socket) => socket.drop()],
    ['closed', (socket: Socket) => socket.close(1008, 'enough')],
  ])('is heard no more once this side has %s the socket', async (_, end) => {
    const heard: string[] = []
    serve({
      message(socket, _state, data) {
        heard.push(textOf(data))
        if (heard.length === 3) end(socket)
      },
      close: () => void heard.push('closed'),
    })
    const client = await openClient()
    const closed = once(client, 'close')
    sendTogether(client, numbers(10))
    await closed
    await eventually('the end is heard', () => heard.at(-1) === 'closed')
    expect(heard).toEqual(['0', '1', '2', 'closed'])
  })

  it('is answered up to a message that is too large, which ends the socket', async () => {
    serve({ message: (socket, _state, data) => void socket.send(`heard ${textOf(data)}`) })
    const client = await openClient()
    const answers: string[] = []
    client.on('message', (data: Buffer) => answers.push(data.toString()))
    const closed = once(client, 'close')
    sendTogether(client, ['0', '1', 'x'.repeat(1_025), '2'])
    expect((await closed)[0]).toBe(1009)
    expect(answers).toEqual(['heard 0', 'heard 1'])
  })

  it('is heard to its end when the listener is destroyed, before that returns', async () => {
    const heard: string[] = []
    serve({
      message(_socket, _state, data) {
        heard.push(textOf(data))
        if (heard.length > 1) work(1)
        if (heard.length === 1)
          setTimeout(() => {
            listener.destroy()
            heard.push('destroyed')
          }, 1)
      },
      close: () => void heard.push('closed'),
    })
    sendTogether(await openClient(), numbers(50))
    await eventually('the listener is destroyed', () => heard.includes('destroyed'))
    expect(heard).toEqual([...numbers(50), 'closed', 'destroyed'])
  })
})

describe('a message for which there is no room', () => {
  it('is kept as it came, although what is heard to make room drops its socket and so frees its bytes', () => {
    const turns = new SocketTurns()
    const large = new Uint8Array(WAITING_BYTES_MAX / 2).fill(7)
    let last: Uint8Array | null = null
    const ear = (message: Ear['message']): Ear => ({ message, tooLarge: () => {}, closed: () => {} })
    const nowMs = performance.now()
    const later = nowMs + 60_000
    turns.takeMessage(
      ear(() => {}),
      'binary',
      Uint8Array.of(1),
      nowMs,
    )
    turns.takeMessage(
      ear(() => void large.fill(0)),
      'binary',
      new Uint8Array(WAITING_BYTES_MAX / 2),
      later,
    )
    turns.takeMessage(
      ear((data) => {
        last = data
      }),
      'binary',
      large,
      later,
    )
    turns.finish()
    expect(large[0]).toBe(0)
    expect(new Set(last)).toEqual(new Set([7]))
  })
})
