import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { deriveFleetKeys } from '../../../lib/cluster/proofs.ts'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { Descriptors } from '../../../runtime/descriptor-room.ts'
import { STRANGERS_MAX, startInternalListener } from '../../../runtime/fronts/internal-listener.ts'
import { createLinkRoute } from '../../../runtime/fronts/link-route.ts'
import { linkHeaders } from '../../../runtime/fronts/member-headers.ts'
import type { Listener } from '../../../runtime/listener.ts'
import { loadFunctions } from '../../../runtime/loader.ts'
import { FUNCTIONS } from '../../../runtime/manifest.generated.ts'
import { eventually } from '../../support/eventually.ts'

const OWNER = { id: 'ab'.repeat(8), address: '127.0.0.1:1', epoch: 1 }
const SELF = {
  memberId: OWNER.id,
  keys: deriveFleetKeys('a secret of the fleet'),
  isOverTls: false,
  owned: () => OWNER,
  now: () => new Date(),
}
const proves = () => linkHeaders(SELF, OWNER, LINK_VERSIONS.newest)
/** Where strangers connect from, and where members do. */
const ELSEWHERE = '127.0.0.2'
const HERE = '127.0.0.1'

/** The route of links, on which nothing is heard or said. */
const LINKS = createLinkRoute(SELF, () => ({ open: () => ({ take() {}, closed() {} }) }) as never)

let listener: Listener
let sockets: Socket[]
/** The addresses of members that are known though they have no link. */
let knownMembers: string[]
beforeEach(() => {
  sockets = []
  knownMembers = []
  listener = startInternalListener({
    cluster: { internalAddress: '127.0.0.1:0', advertiseAddress: '127.0.0.1:0', tls: null },
    functions: loadFunctions(FUNCTIONS),
    descriptors: new Descriptors(null),
    self: SELF,
    owned: () => null,
    linkedEpoch: () => 0,
    links: LINKS,
    isOfMember: (address) => knownMembers.includes(address),
  })
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  listener.destroy()
})

/** A connection that stays open for as long as the listener lets it. */
async function dial(localAddress: string): Promise<Socket> {
  const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress })
  sockets.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const ask = (
  socket: Socket,
  headers: Record<string, string>,
  method = 'GET',
  path = '/api/workloads',
): void => {
  const lines = Object.entries({ host: 'a', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

it('has room for a newcomer, however many sockets of members have come and gone', {
  timeout: 60_000,
}, async () => {
  for (let at = 0; at < STRANGERS_MAX + 10; at += 101)
    await Promise.all(
      Array.from({ length: 101 }, async () => {
        const link = new WebSocket(`ws://127.0.0.1:${listener.port}/link`, { headers: proves() })
        await once(link, 'open')
        link.terminate()
      }),
    )
  await eventually('they are gone', () => listener.socketCounts().open === 0)
  const member = await dial(ELSEWHERE)
  ask(member, proves())
  expect(await text(member)).toMatch(/^HTTP\/1.1 421 /)
  expect(listener.connectionsTurnedAway()).toBe(0)
})

describe('whoever has not proved to be a member', () => {
  it('holds so many connections and no more, and keeps no member out that is linked', {
    timeout: 60_000,
  }, async () => {
    const link = new WebSocket(`ws://127.0.0.1:${listener.port}/link`, { headers: proves() })
    await once(link, 'open')
    const strangers = await Promise.all(Array.from({ length: STRANGERS_MAX + 10 }, () => dial(ELSEWHERE)))
    for (const stranger of strangers) stranger.resume()
    // One connection is the listener's own.
    await eventually('those beyond are cut', async () => strangers.filter((one) => one.closed).length === 11)
    expect(listener.connectionsTurnedAway()).toBe(11)
    const member = await dial(HERE)
    ask(member, proves())
    const [answer] = await once(member, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 421 /)
    for (const stranger of strangers) stranger.destroy()
    await eventually('there is room again', async () => {
      const next = await dial(ELSEWHERE)
      ask(next, proves())
      return (await text(next.once('data', () => next.end()))).startsWith('HTTP/1.1 421 ')
    })
    link.terminate()
  })

  it('keeps no member out that has no link yet, where its address is known', {
    timeout: 60_000,
  }, async () => {
    knownMembers = [HERE]
    const strangers = await Promise.all(Array.from({ length: STRANGERS_MAX + 10 }, () => dial(ELSEWHERE)))
    for (const stranger of strangers) stranger.resume()
    await eventually('those beyond are cut', () => strangers.filter((one) => one.closed).length >= 10)
    const link = new WebSocket(`ws://127.0.0.1:${listener.port}/link`, { headers: proves() })
    await once(link, 'open')
    link.terminate()
  })

  it('is let go with its refusal, whatever it goes on to say', async () => {
    for (const [method, path] of [
      ['GET', '/api/workloads'],
      ['HEAD', '/api/workloads'],
      ['POST', '/api/workloads'],
      ['GET', '/challenge'],
    ] as const) {
      const stranger = await dial(ELSEWHERE)
      ask(stranger, {}, method, path)
      const answer = await text(stranger)
      expect(answer).toMatch(/^HTTP\/1.1 401 /)
      expect(answer.toLowerCase()).toContain('connection: close')
    }
    const shaking = await dial(ELSEWHERE)
    const handshake = { upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-key': 'x'.repeat(24) }
    shaking.write(
      `GET /link HTTP/1.1\r\nhost: a\r\nsec-websocket-version: 13\r\nx-muster-link-version: ${LINK_VERSIONS.newest}\r\n${Object.entries(
        handshake,
      )
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    )
    expect(await text(shaking)).toMatch(/^HTTP\/1.1 401 /)
  })

  it('is let go after some seconds, though it says a little more all the time', {
    timeout: 60_000,
  }, async () => {
    const stranger = await dial(ELSEWHERE)
    stranger.write('GET / HTTP/1.1\r\nhost: a\r\nx-more: ')
    const saying = setInterval(() => stranger.write('x'), 250)
    stranger.resume()
    await once(stranger, 'close')
    clearInterval(saying)
  })
})
