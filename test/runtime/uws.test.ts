import { afterAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { NO_BODY } from '../../runtime/body-room.ts'
import type { SocketRoute } from '../../runtime/listener.ts'
import { listen } from '../../runtime/uws.ts'

const memory: Buffer[] = []

/**
 * Allocate memory of every small size, filled with a bit that means "close" to the HTTP side of the socket library:
 * freed memory that the library still reads then closes the connection.
 */
function useMemory(): void {
  for (let round = 0; round < 4; round++)
    for (let size = 8; size <= 400; size += 8) memory.push(Buffer.allocUnsafeSlow(size).fill(0x10))
}

const route: SocketRoute = {
  path: '/ws',
  messageBytesMax: 1_024,
  waitingBytesMax: 65_536,
  backpressureBytesMax: 65_536,
  idleSeconds: 60,
  closeOnBackpressure: true,
  refuseForRoom: () => null,
  async admit() {
    // The upgrade is accepted in a later turn of the event loop than the handshake, as after a query to the database.
    await new Promise((resolve) => setImmediate(resolve))
    return { accept: true, state: null }
  },
  open(socket) {
    useMemory()
    socket.send('hello')
  },
  message: (socket) => void socket.send('answer'),
  drain() {},
  close() {},
  flooded() {},
}
const listener = listen('127.0.0.1:0', {
  sockets: [route],
  bodyRoom: null,
  room: null,
  bodyLimit: () => NO_BODY,
  handle: async () => ({ status: 404, headers: {}, body: null }),
})
afterAll(() => listener.destroy())

/** The next message of the server, or how it ended the connection. */
const nextWord = (client: WebSocket) =>
  new Promise<string>((resolve) => {
    client.once('message', (data: Buffer) => resolve(data.toString()))
    client.once('close', (code) => resolve(`closed with ${code}`))
  })

it('keeps every socket that was admitted late, whatever its opening does with memory', async () => {
  const words = new Map<string, number>()
  for (let i = 0; i < 200; i++) {
    const client = new WebSocket(`ws://127.0.0.1:${listener.port}/ws`)
    const hello = await nextWord(client)
    // One more round trip: a connection that is cut after the handshake is cut by now.
    const answer = nextWord(client)
    client.send('still there?')
    const told = `${hello}, ${await answer}`
    words.set(told, (words.get(told) ?? 0) + 1)
    client.terminate()
  }
  expect([...words]).toEqual([['hello, answer', 200]])
})
