import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { systemTimers } from '../../../lib/fleet/state/timers.ts'
import { OwnerDoor } from '../../../runtime/fronts/owner-door.ts'
import { eventually } from '../../support/eventually.ts'
import { recordingLog } from '../../support/fakes.ts'
import { provingAs, TEST_KEYS } from '../../support/owners.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Start a server on this machine that is no member and notes the requests that it gets. */
async function startStranger() {
  const heard: string[] = []
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url}`)
    response.end('{}')
  })
  server.on('upgrade', (request, socket) => {
    heard.push(`upgrade ${request.url}`)
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => server.close())
  return { heard, port: (server.address() as AddressInfo).port }
}

function openDoor(address: string) {
  const owner = { id: 'm', address, linkVersion: 4, epoch: 1, since: null }
  const log = recordingLog()
  const door = new OwnerDoor({
    owner: () => owner,
    lookAgain() {},
    trust: null,
    clock: systemClock,
    timers: systemTimers,
    log,
    linkDownMs: () => 0,
    self: { memberId: 'self', keys: TEST_KEYS, isOverTls: false, owned: () => null, now: () => new Date() },
  })
  cleanups.push(() => door.close())
  return { owner, door, log }
}

// Addresses that lead to this machine without saying so plainly. A call that was made in spite of the check would be
// seen.
const ELSEWHERE = [
  ['another address', (port: number) => `0.0.0.0:${port}`],
  ['a number that stands for one', (port: number) => `2130706433:${port}`],
  ['somebody before the host', (port: number) => `127.0.0.1:1@127.0.0.1:${port}`],
  ['a path behind the host', (port: number) => `127.0.0.1:${port}/else?`],
  ['a host that ends early', (port: number) => `127.0.0.1:${port}#localhost:${port}`],
  ['nothing that is an address', () => 'no address'],
] as const

describe('an owner without TLS', () => {
  it.each(ELSEWHERE)('is not called where its row names %s', async (_, addressAt) => {
    const { heard, port } = await startStranger()
    const { door, owner, log } = openDoor(addressAt(port))
    expect(await door.open(owner, '/link', 4)).toBeNull()
    const request = {
      method: 'GET',
      path: '/api/me',
      query: '',
      peerAddress: '127.0.0.1',
      headers: () => [['cookie', 'session=secret']],
      header: () => '',
      discardBody() {},
      holdBodyFor: () => true,
      body: async () => new Uint8Array(),
      isOverBudget: () => false,
      isAborted: () => true,
      onAborted() {},
    }
    const reply = await door.forward(request as never, { remoteAddress: '127.0.0.1', isSecure: false })
    expect(reply.status).toBe(503)
    expect(heard).toEqual([])
    expect(log.lines.filter(({ message }) => message.includes('not called'))).toHaveLength(1)
  })

  it.each([
    ['127.0.0.1', (port: number) => `127.0.0.1:${port}`],
    ['localhost', (port: number) => `localhost:${port}`],
  ])('is called at %s', async (_, addressAt) => {
    const { heard, port } = await startStranger()
    const { door, owner } = openDoor(addressAt(port))
    expect(await door.open(owner, '/link', 4)).toBeNull()
    expect(heard).toEqual(['GET /challenge'])
  })
})

it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST'])(
  'passes the body of a %s on as its body, and as no request of its own',
  async (method) => {
    const heard: string[] = []
    let address = ''
    const answer: RequestListener = (request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        heard.push(`${request.method} ${request.url} ${body}`)
        response.end('{}')
      })
    }
    const server = createServer(provingAs(() => ({ id: 'm', address, epoch: 1 }), answer))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const { door } = openDoor(address)
    const body = 'GET /api/else HTTP/1.1\r\nHost: x\r\n\r\n'
    const request = {
      method,
      path: '/api/things',
      query: '',
      headers: () => [],
      body: async () => Buffer.from(body),
      isOverBudget: () => false,
      isAborted: () => false,
      onAborted() {},
    }
    const client = { remoteAddress: '127.0.0.1', isSecure: false }
    expect((await door.forward(request as never, client)).status).toBe(200)
    expect((await door.forward(request as never, client)).status).toBe(200)
    expect(heard).toEqual(Array(2).fill(`${method} /api/things ${body}`))
  },
)

const requestOf = (path: string) =>
  ({
    method: 'GET',
    path,
    query: '',
    headers: () => [],
    body: async () => new Uint8Array(),
    isOverBudget: () => false,
    isAborted: () => false,
    onAborted() {},
  }) as never

it.each([
  ['on its first connection', []],
  ['that has kept one', ['/api/former']],
])(
  'after a connection to the owner was lost, nobody waits for the answer to another request: an owner %s',
  async (_, former) => {
    const heard: string[] = []
    let answerSlow = () => {}
    let address = ''
    const server = createServer(
      provingAs(
        () => ({ id: 'm', address, epoch: 1 }),
        (request, response) => {
          heard.push(String(request.url))
          if (request.url === '/api/slow') answerSlow = () => void response.end('{}')
          else response.end('{}')
        },
      ),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const { door } = openDoor(address)
    const client = { remoteAddress: '127.0.0.1', isSecure: false }
    for (const path of former) await door.forward(requestOf(path), client)
    door.lost(1)
    const slow = door.forward(requestOf('/api/slow'), client)
    await eventually('the owner has it', () => heard.includes('/api/slow'))
    expect((await door.forward(requestOf('/api/fast'), client)).status).toBe(200)
    answerSlow()
    expect((await slow).status).toBe(200)
  },
)
