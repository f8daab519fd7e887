import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { readFrame } from '../../support/frames.ts'
import { makeApiToken, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const database = await useTestDatabase()
let running: TestService
let token = ''
beforeAll(async () => {
  running = await startTestService(database, {
    corsOrigins: ['https://console.example', 'http://localhost:5173'],
    cookieOrigins: ['https://console.example'],
  })
  token = await running.token({ groups: [] })
})
afterAll(() => running.stop())

type Outcome =
  | { kind: 'refused'; status: number; body: string }
  | { kind: 'open'; socket: WebSocket; frames: HubFrame[]; ended: Promise<{ code: number; reason: string }> }

function open(headers: Record<string, string>, query = ''): Promise<Outcome> {
  const socket = new WebSocket(`${running.url.replace('http', 'ws')}/ws${query}`, { headers })
  const frames: HubFrame[] = []
  socket.on('message', (data: Buffer) => void frames.push(readFrame(data)))
  const ended = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve({ kind: 'open', socket, frames, ended }))
    socket.on('unexpected-response', (_, response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.on('end', () =>
        resolve({
          kind: 'refused',
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    socket.on('error', reject)
  })
}

async function openOrFail(headers: Record<string, string>, query = '') {
  const outcome = await open(headers, query)
  if (outcome.kind !== 'open') throw new Error(`refused with ${outcome.status}`)
  return outcome
}

const bearer = (value = token) => ({ authorization: `Bearer ${value}` })
const cookie = (value = token) => ({ cookie: `om_session=${value}` })

describe('the handshake', () => {
  it('lets in by header, by cookie, and by query where there is neither', async () => {
    for (const [headers, query] of [
      [bearer(), ''],
      [cookie(), ''],
      [{}, `?token=${token}`],
    ] as const) {
      const { socket } = await openOrFail(headers, query)
      socket.close()
    }
  })

  it('answers 401 in plain text without a good credential, whatever the origin', async () => {
    const refused = { kind: 'refused', status: 401, body: 'Unauthorized\n' }
    expect(await open({})).toEqual(refused)
    expect(await open({ origin: 'https://evil.example' })).toEqual(refused)
    expect(await open(cookie('bad'), `?token=${token}`)).toEqual(refused)
    expect(await open(bearer('bad'), `?token=${token}`)).toEqual(refused)
    expect(await open({}, '?token=bad')).toEqual(refused)
  })

  it('takes an API token in the header only, and closes its socket when it is revoked', async () => {
    const { ctx } = running.service
    const holder = await signIn(ctx, { email: 'holder@example.com', groups: ['viewer'] })
    const { token: secret, id } = await makeApiToken(ctx, holder)
    const refused = { kind: 'refused', status: 401, body: 'Unauthorized\n' }
    expect(await open({}, `?token=${secret}`)).toEqual(refused)
    expect(await open(cookie(secret))).toEqual(refused)
    const { ended } = await openOrFail(bearer(secret))
    await running.call('DELETE', `/api/tokens/${id}`, { as: holder.token })
    expect(await ended).toEqual({ code: 1008, reason: 'token expired' })
    expect(await open(bearer(secret))).toEqual(refused)
  })

  it('refuses a page of another origin, and takes those of this host and of CORS_ORIGINS', async () => {
    const refused = { kind: 'refused', status: 403, body: 'Forbidden\n' }
    for (const origin of ['https://evil.example', 'null', 'http://localhost:5173.evil.example'])
      for (const credential of [cookie(), bearer()])
        expect(await open({ ...credential, origin })).toEqual(refused)
    for (const origin of [running.url, 'https://console.example']) {
      const { socket } = await openOrFail({ ...cookie(), origin })
      socket.close()
    }
    // The default origin: anybody's page may be served there, so a cookie does not count.
    const byDefault = { origin: 'http://localhost:5173' }
    expect(await open({ ...cookie(), ...byDefault })).toEqual(refused)
    const { socket } = await openOrFail({ ...bearer(), ...byDefault })
    socket.close()
  })

  it('answers a plain GET with 400', async () => {
    const answer = await running.call('GET', '/ws', { as: token })
    expect(answer.status).toBe(400)
  })
})

describe('a socket that is open', () => {
  it('hears what happens, and what it says is ignored', async () => {
    const { socket, frames } = await openOrFail(bearer())
    socket.send('anything')
    const heard = new Promise<void>((resolve) => void socket.once('message', () => resolve()))
    running.service.ctx.hub.broadcast({ type: 'resync' })
    await heard
    expect(frames).toEqual([{ type: 'resync' }])
    socket.close()
  })

  it('is answered when it asks, with when its workloads were last heard of, and no more than once a second', async () => {
    const { socket, frames } = await openOrFail(bearer())
    const heard = new Promise<void>((resolve) => void socket.once('message', () => resolve()))
    socket.send(JSON.stringify({ type: 'ping', seen: ['nobody', '__proto__'] }))
    await heard
    socket.send(JSON.stringify({ type: 'ping' }))
    const next = new Promise<void>((resolve) => void socket.once('message', () => resolve()))
    running.service.ctx.hub.broadcast({ type: 'resync' })
    await next
    expect(frames).toEqual([{ type: 'pong', seen: {} }, { type: 'resync' }])
    socket.close()
  })

  it.each([
    ['no JSON', 'ping'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a ping about what is no id', '{"type":"ping","seen":["",1]}'],
    [
      'a ping about more workloads than fit on a screen',
      JSON.stringify({ type: 'ping', seen: Array(129).fill('') }),
    ],
    ['of another type', '{"type":"pong"}'],
  ])('has had its turn of that second with a message that is %s', async (_, text) => {
    const { socket, frames } = await openOrFail(bearer())
    const heard = new Promise<void>((resolve) => void socket.once('message', () => resolve()))
    socket.send(text)
    socket.send(JSON.stringify({ type: 'ping' }))
    // Answered only after both have been heard.
    const ponged = new Promise<void>((resolve) => void socket.once('pong', () => resolve()))
    socket.ping()
    await ponged
    running.service.ctx.hub.broadcast({ type: 'resync' })
    await heard
    expect(frames).toEqual([{ type: 'resync' }])
    socket.close()
  })

  it('is closed when it says too much', async () => {
    const { socket, ended } = await openOrFail(bearer())
    socket.send('x'.repeat(5_000))
    expect((await ended).code).toBe(1009)
  })

  it('is closed with 1008 when its session is ended', async () => {
    const own = await running.token()
    const { ended } = await openOrFail(bearer(own))
    expect(await running.call('POST', '/api/auth/logout', { as: own })).toMatchObject({ status: 204 })
    expect(await ended).toEqual({ code: 1008, reason: 'token expired' })
  })
})
