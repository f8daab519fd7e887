import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { systemTimers } from '../../../lib/fleet/state/timers.ts'
import { createFrontApiHandlers } from '../../../runtime/fronts/front-api.ts'
import { OwnerDoor } from '../../../runtime/fronts/owner-door.ts'
import { loadFunctions } from '../../../runtime/loader.ts'
import { FUNCTIONS } from '../../../runtime/manifest.generated.ts'
import { recordingLog } from '../../support/fakes.ts'
import { provingAs, TEST_KEYS } from '../../support/owners.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A front of an owner that takes requests and is gone before it answers them. */
async function startFront() {
  const heard: string[] = []
  let address = ''
  const server = createServer(
    provingAs(
      () => ({ id: 'm', address, epoch: 1 }),
      (request) => {
        heard.push(String(request.url))
        request.socket.destroy()
      },
    ),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => server.close())
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const door = new OwnerDoor({
    owner: () => ({ id: 'm', address, linkVersion: 4, epoch: 1, since: null }),
    lookAgain() {},
    trust: null,
    clock: systemClock,
    timers: systemTimers,
    log: recordingLog(),
    linkDownMs: () => 0,
    self: { memberId: 'self', keys: TEST_KEYS, isOverTls: false, owned: () => null, now: () => new Date() },
  })
  cleanups.push(() => door.close())
  const client = { remoteAddress: '127.0.0.1', isSecure: false }
  const parts = {
    functions: loadFunctions(FUNCTIONS),
    proxies: { clientOf: () => client, isTrusted: () => false },
    descriptors: { forConnections: 1_000 },
    browsers: { path: '/ws' },
    door,
    owned: () => null,
  }
  const handlers = createFrontApiHandlers(parts as never)
  const get = (path: string, query = '') =>
    handlers.handle({
      method: 'GET',
      path,
      query,
      peerAddress: '127.0.0.1',
      headers: () => [],
      header: () => '',
      discardBody() {},
      holdBodyFor: () => true,
      body: async () => new Uint8Array(),
      isOverBudget: () => false,
      isAborted: () => false,
      onAborted() {},
    } as never)
  return { get, heard }
}

it('a callback of the identity provider is sent once, since its code is used up, and the person is asked to sign in again', async () => {
  const { get, heard } = await startFront()
  const reply = await get('/api/auth/oidc/callback', 'code=a&state=b')
  expect(heard).toEqual(['/api/auth/oidc/callback?code=a&state=b'])
  expect([reply.status, reply.headers['Location']]).toEqual([302, '/login?sso=unanswered'])
})

it('what changes nothing is sent again while there is time', async () => {
  const { get, heard } = await startFront()
  expect((await get('/api/me')).status).toBe(503)
  expect(heard.length).toBeGreaterThan(1)
})
