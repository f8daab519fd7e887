import { afterAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { Anchor } from '../../runtime/uws-anchor.ts'
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
