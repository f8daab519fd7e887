import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { NO_BODY } from '../../runtime/body-room.ts'
import { Anchor } from '../../runtime/uws-anchor.ts'
import { serveRequests } from '../../runtime/uws-http.ts'
import { loadUwsLibrary } from '../../runtime/uws-library.ts'

const uws = loadUwsLibrary()
const app = uws.App()
const anchor = new Anchor()
const memory: Buffer[] = []

/**
 * Allocate memory of every small size, filled with a bit that means "close" to the HTTP side of the socket library:
 * freed memory that the library still reads then closes the connection.
 */
function useMemory(): void {
  for (let round = 0; round < 4; round++)
    for (let size = 8; size <= 400; size += 8) memory.push(Buffer.allocUnsafeSlow(size).fill(0x10))
}

const isKept = new Promise<void>((resolve) => {
  app.any('/*', (response, request) => {
    if (anchor.keep(request.getUrl(), response)) resolve()
    else response.end('an answer')
  })
})
app.ws('/ws', {
  upgrade(response, request, context) {
    let isAborted = false
    response.onAborted(() => {
      isAborted = true
    })
    const key = request.getHeader('sec-websocket-key')
    setImmediate(() => {
      if (!isAborted) anchor.accept(response, () => response.upgrade({}, key, '', '', context))
    })
  },
  // The earliest possible moment: the library is still busy with the handshake.
  open: useMemory,
  message: (ws, message) => void ws.send(message),
})
let port = 0
app.listen('127.0.0.1', 0, (socket) => {
  if (socket) port = uws.us_socket_local_port(socket)
})
anchor.connect('127.0.0.1', port, false)
afterAll(() => {
  anchor.close()
  app.close()
})

it('accepts handshakes late without a single one being cut, and leaves other requests alone', async () => {
  await isKept
  const ends = new Map<string, number>()
  for (let i = 0; i < 200; i++) {
    const client = new WebSocket(`ws://127.0.0.1:${port}/ws`)
    const end = await new Promise<string>((resolve) => {
      client.on('open', () => client.send('echo'))
      client.on('message', (data: Buffer) => resolve(data.toString()))
      client.on('close', (code) => resolve(`closed with ${code}`))
    })
    ends.set(end, (ends.get(end) ?? 0) + 1)
    client.terminate()
  }
  expect([...ends]).toEqual([['echo', 200]])
  expect(await (await fetch(`http://127.0.0.1:${port}/other`)).text()).toBe('an answer')
})

it('is kept where it says plainly where it ends, like any other request', async () => {
  // What its path is, nobody can know: here it is asked of a listener that is none of ours.
  const own = new Anchor()
  const asked = createServer().listen(0, '127.0.0.1')
  await once(asked, 'listening')
  const isAsked = once(asked, 'connection')
  own.connect('127.0.0.1', (asked.address() as AddressInfo).port, false)
  const [heard] = await isAsked
  const [head] = (await once(heard, 'data')) as [Buffer]
  const path = head.toString().split(' ')[1]!
  const other = uws.App()
  let otherPort = 0
  serveRequests(
    {
      sockets: [],
      room: null,
      bodyRoom: null,
      bodyLimit: () => NO_BODY,
      handle: async () => ({ status: 404, headers: {}, body: null }),
    },
    own,
  ).serve(other)
  other.listen('127.0.0.1', 0, (socket) => {
    if (socket) otherPort = uws.us_socket_local_port(socket)
  })
  const client = connect(otherPort, '127.0.0.1')
  client.write(`POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n`)
  const [answer] = (await once(client, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1.1 400/)
  client.destroy()
  own.close()
  heard.destroy()
  asked.close()
  other.close()
})
