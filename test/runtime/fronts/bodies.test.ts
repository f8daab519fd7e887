import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { createTestDatabase } from '../../support/postgres.ts'

// What callers send to a process that does not own, before anybody has looked who they are.

const cleanups: (() => unknown)[] = []
let front: TestMember
let owner: TestMember
let token: string
beforeEach(async () => {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  owner = await startTestMember(database)
  cleanups.push(() => owner.stop())
  await untilOwner(owner)
  front = await startTestMember(database)
  cleanups.push(() => front.stop())
  token = await owner.token()
  await eventually('the front is ready', async () => (await fetch(`${front.url}/readyz`)).status === 200)
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const SAID_BYTES = 4_194_294
const SENT = Buffer.alloc(4_190_000, 'x')

/** Somebody who begins a long body from this address and sends no more of it; what was answered, as it comes. */
async function beginBody(address: string, credential: string): Promise<{ heard: () => string }> {
  const { port } = new URL(front.url)
  const socket: Socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: address })
  cleanups.push(() => socket.destroy())
  let heard = ''
  socket
    .on('error', () => undefined)
    .on('data', (data) => {
      heard += data.toString('latin1')
    })
  await once(socket, 'connect')
  socket.write(
    `POST /api/label-rules HTTP/1.1\r\nHost: x\r\n${credential}Content-Type: application/json\r\nContent-Length: ${SAID_BYTES}\r\n\r\n`,
  )
  socket.write(SENT)
  return { heard: () => heard }
}

const EXPIRED =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1c2VyX2lkIjoiYSIsImp0aSI6ImIiLCJleHAiOjF9.c2lnbmVkIGJ5IHNvbWVib2R5IGVsc2U'
/** A long body that is read to its end, and refused for what it says. */
const ask = (as: string) =>
  front.call('POST', '/api/label-rules', { as, body: { nothing: 'a'.repeat(100_000) } })

describe('a front, to whoever sends a body', () => {
  it.each([
    ['nothing to be known by', () => ''],
    ['a session that nobody here signed', () => `Authorization: Bearer ${EXPIRED}\r\n`],
    ['a token that nobody made', () => `Authorization: Bearer mst_${'a'.repeat(43)}\r\n`],
  ])('refuses one with %s before the body is whole, and keeps its room for others', async (_, credential) => {
    const strangers = []
    for (let n = 0; n < 16; n++) strangers.push(await beginBody(`127.0.0.${2 + (n % 4)}`, credential()))
    for (const { heard } of strangers)
      await eventually('it is refused', () => /^HTTP\/1\.1 4(01|29) /.test(heard()))
    expect((await ask(token)).status).toBe(400)
  })

  it('lets nobody take more room than a quarter, whichever address he calls from', async () => {
    const mine = `Authorization: Bearer ${token}\r\n`
    const bodies: Awaited<ReturnType<typeof beginBody>>[] = []
    for (let n = 0; n < 6; n++) bodies.push(await beginBody(`127.0.0.${2 + n}`, mine))
    const refused = () => bodies.filter(({ heard }) => heard().startsWith('HTTP/1.1 503 ')).length
    await eventually('what is over the quarter is refused', () => refused() === 2)
    const other = await owner.token()
    expect((await ask(other)).status).toBe(400)
  })

  it('answers a wrong method or path as the owner does, whatever is sent with it', async () => {
    for (const [method, path] of [
      ['POST', '/api/me'],
      ['PUT', '/api/nothing-here'],
    ] as const) {
      const [here, there] = [
        await front.call(method, path, { as: token, body: { a: 1 } }),
        await owner.call(method, path, { as: token, body: { a: 1 } }),
      ]
      expect([here.status, here.headers.get('allow')]).toEqual([there.status, there.headers.get('allow')])
      expect(await here.json()).toEqual(await there.json())
    }
  })
})
