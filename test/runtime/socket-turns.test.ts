import { once } from 'node:events'
import { connect, type Socket as TcpSocket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { NO_BODY } from '../../runtime/body-room.ts'
import type { Socket } from '../../runtime/define.ts'
import type { Listener, SocketRoute } from '../../runtime/listener.ts'
import {
  CALM_BYTES_MAX,
  type Ear,
  LITTLE_BYTES_MAX,
  RESERVED_BYTES,
  SHARE_BYTES_MAX,
  SocketTurns,
  WAITING_BYTES_MAX,
} from '../../runtime/socket-turns.ts'
import { listen } from '../../runtime/uws.ts'
import { eventually } from '../support/eventually.ts'

let listener: Listener
const clients: WebSocket[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate()
  listener.destroy()
})

type Hears = Pick<SocketRoute, 'message'> &
  Partial<Pick<SocketRoute, 'close' | 'flooded' | 'waitingBytesMax'>>

/** Longer than what sockets say is heard at once. */
const LONG_MS = 20

/**
 * A listener whose one route does this with what its sockets say; each socket is known by a number of its own. The
 * first message takes so long that what comes with it has to wait.
 */
function serve({
  message,
  close = () => undefined,
  flooded = () => undefined,
  waitingBytesMax = CALM_BYTES_MAX,
}: Hears): void {
  let opened = 0
  let heard = 0
  listener = listen('127.0.0.1:0', {
    sockets: [
      {
        path: '/ws',
        messageBytesMax: 1_024,
        waitingBytesMax,
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
        flooded,
      },
    ],
    bodyRoom: null,
    room: null,
    bodyLimit: () => NO_BODY,
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

  it('is cut where one socket has too much waiting; others go on', async () => {
    const heard = new Map<unknown, number>()
    const ends: unknown[] = []
    serve({
      waitingBytesMax: 65_536,
      message: (_socket, state) => void heard.set(state, (heard.get(state) ?? 0) + 1),
      close: (_socket, state) => void ends.push(`${state} closed`),
      flooded: (state) => void ends.push(`${state} flooded`),
    })
    const loud = await openClient()
    const other = await openClient()
    const cut = once(loud, 'close')
    sendTogether(loud, numbers(5_000))
    // Without a Close frame, for which the peer would be waited for.
    expect((await cut)[0]).toBe(1006)
    await eventually('the end is heard', () => ends.includes('1 closed'))
    expect(ends).toEqual(['1 flooded', '1 closed'])
    expect(heard.get(1)).toBeLessThan(5_000)
    expect(listener.socketCounts()).toMatchObject({ open: 1, flooded: 1 })
    sendTogether(other, numbers(100))
    await eventually('the other is heard', () => heard.get(2) === 100)
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

describe('the bound of what waits', () => {
  const NOW_MS = performance.now()
  /** When nothing is heard at once any more. */
  const LATER_MS = NOW_MS + 60_000
  const megabyte = new Uint8Array(1_048_576)

  /** Turns that are over for now, and sockets that count what is heard. */
  function turnsThatAreOver() {
    const turns = new SocketTurns()
    const heard: number[] = []
    const ear = (waitingBytesMax: number | null, message: Ear['message'] = () => {}): Ear => ({
      waitingBytesMax,
      waitingBytes: 0,
      message(data, isBinary) {
        heard.push(data.length)
        message(data, isBinary)
      },
      tooLarge: () => {},
      closed: () => {},
    })
    /** How many of these messages were taken. */
    const take = (to: Ear, message: Uint8Array, count: number): number => {
      let taken = 0
      for (let i = 0; i < count; i++) if (turns.takeMessage(to, 'binary', message, LATER_MS)) taken++
      return taken
    }
    turns.takeMessage(ear(1_024), 'binary', Uint8Array.of(1), NOW_MS)
    take(ear(1_024), Uint8Array.of(1), 1)
    heard.length = 0
    return { turns, heard, ear, take }
  }

  it('is one of its own for each socket, and nothing is heard while it is being reached', () => {
    const { turns, heard, ear, take } = turnsThatAreOver()
    expect(take(ear(10_000), new Uint8Array(744), 100)).toBe(10)
    expect(take(ear(10_000), new Uint8Array(744), 100)).toBe(10)
    expect(heard).toEqual([])
    turns.finish()
    expect(heard.length).toBe(21)
  })

  it('lets one message wait that is larger than all that a socket may have waiting', () => {
    const { turns, ear, take } = turnsThatAreOver()
    const own = ear(10_000)
    expect(take(own, megabyte, 3)).toBe(1)
    turns.finish()
    expect(own.waitingBytes).toBe(0)
    expect(take(own, megabyte, 3)).toBe(1)
  })

  it('is a share for each where much waits of all, and less where nothing more may wait', () => {
    const { turns, heard, ear, take } = turnsThatAreOver()
    const large = ear(2 * CALM_BYTES_MAX)
    const calm = take(large, megabyte, 32)
    expect(calm).toBe(CALM_BYTES_MAX / megabyte.length - 1)
    expect(take(ear(2 * CALM_BYTES_MAX), megabyte, 32)).toBe(SHARE_BYTES_MAX / megabyte.length - 1)
    for (let i = 0; i < 100; i++) take(ear(2 * CALM_BYTES_MAX), megabyte, 32)
    expect(turns.waitingBytes).toBeGreaterThan(WAITING_BYTES_MAX - RESERVED_BYTES - 2 * megabyte.length)
    expect(turns.waitingBytes).toBeLessThanOrEqual(WAITING_BYTES_MAX - RESERVED_BYTES)
    expect(take(ear(CALM_BYTES_MAX), megabyte, 1)).toBe(0)
    expect(heard).toEqual([])
    turns.finish()
    expect(turns.waitingBytes).toBe(0)
    expect(take(large, megabyte, 32)).toBe(calm)
  })

  it('leaves an eighth to sockets of which little waits, however many others say more than can be heard', () => {
    const { turns, heard, ear, take } = turnsThatAreOver()
    const report = new Uint8Array(700)
    const loud = Array.from({ length: 100 }, () => ear(CALM_BYTES_MAX))
    for (const one of loud) take(one, megabyte, 32)
    // What is short does not get round it, where much of the same socket waits.
    for (const one of loud)
      if (one.waitingBytes > LITTLE_BYTES_MAX) expect(take(one, report, 10_000)).toBeLessThan(1_400)
    const full = turns.waitingBytes
    expect(full).toBeGreaterThan(WAITING_BYTES_MAX - RESERVED_BYTES - 2 * megabyte.length)
    const quiet = Array.from({ length: 1_000 }, () => ear(CALM_BYTES_MAX))
    expect(quiet.map((one) => take(one, report, 3))).toEqual(quiet.map(() => 3))
    // One of them cannot take what is left for the others, and all together no more than there is.
    expect(take(quiet[0]!, report, 100)).toBeLessThan(LITTLE_BYTES_MAX / report.length)
    for (let i = 0; i < 3_000; i++) take(ear(CALM_BYTES_MAX), report, 30)
    expect(turns.waitingBytes).toBeLessThanOrEqual(WAITING_BYTES_MAX)
    expect(heard).toEqual([])
    turns.finish()
    expect(turns.waitingBytes).toBe(0)
  })

  it('is none for what comes from this cluster: there the oldest is heard before more is read', () => {
    const { turns, heard, ear, take } = turnsThatAreOver()
    expect(take(ear(null), megabyte, 100)).toBe(100)
    expect(turns.waitingBytes).toBeLessThanOrEqual(CALM_BYTES_MAX)
    expect(heard.length).toBeGreaterThan(80)
    turns.finish()
    expect(heard.length).toBe(101)
  })

  it('keeps a message as it came, although what is heard to make room drops its socket and so frees its bytes', () => {
    const { turns, ear, take } = turnsThatAreOver()
    const large = new Uint8Array(CALM_BYTES_MAX / 2).fill(7)
    let last: Uint8Array | null = null
    take(
      ear(null, () => void large.fill(0)),
      new Uint8Array(CALM_BYTES_MAX / 2),
      1,
    )
    take(
      ear(null, (data) => {
        last = data
      }),
      large,
      1,
    )
    turns.finish()
    expect(large[0]).toBe(0)
    expect(new Set(last)).toEqual(new Set([7]))
  })
})
