import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { proveOwner } from '../../../lib/cluster/proofs.ts'
import type { Config } from '../../../runtime/config.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { TEST_KEYS, writeMember } from '../../support/owners.ts'
import { createTestDatabase, openTestConnection, type TestDatabase } from '../../support/postgres.ts'

// Somebody on the same machine, or somebody who can write to the table of members, wants what callers and agents send to
// a front, or what a member proves itself with.

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

async function startOne(database: TestDatabase, config: Partial<Config> = {}): Promise<TestMember> {
  const member = await startTestMember(database, config)
  cleanups.push(() => member.stop())
  return member
}

async function startTwo() {
  const database = await freshDatabase()
  const owner = await startOne(database)
  await untilOwner(owner)
  const front = await startOne(database)
  return { database, owner, front, token: await owner.token() }
}

/** A stranger's listener that notes all bytes that it gets, and does with each connection what the test says. */
async function startStranger(meet: (socket: Socket) => void = () => undefined) {
  const heard: string[] = []
  const sockets = new Set<Socket>()
  let met = 0
  const server: Server = createServer((socket) => {
    met++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (data) => heard.push(data.toString('latin1')))
    meet(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { heard, port, address: `127.0.0.1:${port}`, met: () => met }
}

/** Give the lock up again. */
let letGo: () => Promise<unknown>

/** Hold the lock of the owner, who is said to be dead but for its row; the epoch that it owned. */
async function holdLock(database: TestDatabase): Promise<number> {
  const holder = await openTestConnection(database.dsn)
  cleanups.push(() => holder.close())
  letGo = () => holder.close()
  await holder.query(`select pg_advisory_lock(${0x6d757374}, 1)`)
  await holder.query(`create table if not exists process_epoch (
    id integer primary key, epoch bigint not null, raised_at timestamptz(3) not null)`)
  await holder.query(`insert into process_epoch values (1, 1, now()) on conflict (id) do nothing`)
  const [row] = await database.pool.query<{ epoch: number }>('select epoch from process_epoch')
  return row!.epoch
}

const TOKEN = 'mst_a-token-that-nobody-else-may-see'
const CHALLENGE =
  /^GET \/challenge HTTP\/1\.1\r\nHost: owner\r\nx-muster-nonce: [0-9a-f]{64}\r\nx-muster-asked: [0-9a-f]{64}\r\n\r\n$/

/** How a member asks who listens at an address, its own for one. */
const QUESTION =
  /^GET \/known-owner HTTP\/1\.1\r\nHost: member\r\nx-muster-nonce: [0-9a-f]{64}\r\nx-muster-asked: [0-9a-f]{64}\r\n\r\n$/

/** Ask a front for all that callers ask for, as somebody with credentials. */
async function askAll(front: TestMember) {
  const socket = new WebSocket(`${front.url.replace('http', 'ws')}/ws`, {
    headers: { cookie: `session=${TOKEN}` },
  })
  socket.on('error', () => undefined)
  const [read, change, dialled] = await Promise.all([
    front.call('GET', '/api/workloads', { as: TOKEN }),
    front.call('POST', '/api/auth/login', { body: { email: 'a@example.com', password: TOKEN } }),
    new Promise((resolve) => {
      socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode))
      socket.on('open', () => resolve('open'))
    }),
  ])
  socket.terminate()
  return { read: read.status, change: change.status, dialled }
}

/** What a stranger has heard is nothing but challenges and such questions, of which no two are the same. */
function expectNothingHeard(heard: readonly string[]): void {
  expect(heard.filter((said) => !CHALLENGE.test(said) && !QUESTION.test(said))).toEqual([])
  expect(new Set(heard).size).toBe(heard.length)
}

const errorsOf = ({ log }: TestMember) => log.lines.filter(({ level }) => level === 'error')

describe('a stranger at the address in an edited row', () => {
  it('hears nothing of any caller, and the row does not stay edited', async () => {
    const { database, owner, front, token } = await startTwo()
    const { heard, address, met } = await startStranger()
    await eventually('the front has seen the edited row', async () => {
      await database.pool.execute('update members set address = $1 where address = $2', [
        address,
        owner.internalAddress,
      ])
      expect((await front.call('GET', '/api/workloads', { as: token })).status).toBe(200)
      return front.log.lines.some(({ message }) => /do not prove/.test(message))
    })
    await eventually('it says again where it is', async () => {
      const rows = await database.pool.query<{ address: string }>('select address from members')
      return rows.every((row) => row.address !== address)
    })
    expect(met()).toBe(0)
    expect(heard).toEqual([])
  })

  it('is not called either where the proof was taken from another row, or there is none', async () => {
    const database = await freshDatabase()
    const epoch = await holdLock(database)
    const { address, met } = await startStranger()
    await writeMember(database.pool, { id: 'once', address: '127.0.0.1:1' })
    const [once] = await database.pool.query<{ proof: string }>('select proof from members')
    const owns = { address, ownedEpoch: epoch, ownedSince: new Date() }
    await writeMember(database.pool, { id: 'copied', ...owns, proof: once!.proof }, '1 hour')
    await writeMember(database.pool, { id: 'none', ...owns, proof: null }, '1 hour')
    const front = await startOne(database)
    expect(await askAll(front)).toEqual({ read: 503, change: 503, dialled: 503 })
    expect(met()).toBe(0)
    const said = front.log.lines.filter(({ message }) => /do not prove/.test(message))
    expect(said.map(({ fields }) => fields)).toEqual([expect.objectContaining({ count: 2 })])
  })
})

describe('a stranger at the address of an owner that has died', () => {
  /** A fleet whose dead owner's address a stranger has taken. */
  async function startOrphan(meet?: (socket: Socket) => void) {
    const database = await freshDatabase()
    const epoch = await holdLock(database)
    const stranger = await startStranger(meet)
    const dead = { id: 'dead', address: stranger.address, epoch }
    await writeMember(database.pool, { ...dead, ownedEpoch: epoch, ownedSince: new Date() }, '1 hour')
    return { ...stranger, dead, front: await startOne(database) }
  }
  const answer = (proof: string, more = '') =>
    `HTTP/1.1 200 OK\r\nx-muster-proof: ${proof}\r\ncontent-length: 0\r\n${more}\r\n`

  it.each([
    ['as a server that accepts everything', () => 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
    ['with a proof that is made up', () => answer('0'.repeat(64))],
    ['as one that upgrades at once', () => 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n'],
    ['with more than anybody reads', () => `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`],
    ['as one that refuses', () => 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n'],
  ])('hears nothing of any caller where it answers %s', async (_, answerTo) => {
    const { front, heard, met } = await startOrphan((socket) =>
      socket.on('data', () => void socket.write(answerTo())),
    )
    expect(await askAll(front)).toEqual({ read: 503, change: 503, dialled: 503 })
    expect(met()).toBeGreaterThan(0)
    expectNothingHeard(heard)
    expect(errorsOf(front).map(({ message }) => message)).toEqual([expect.stringMatching(/did not prove/)])
  })

  it('hears nothing of any caller where it repeats an answer that the owner has once given', async () => {
    let repeated = ''
    const { front, heard, dead } = await startOrphan((socket) =>
      socket.on('data', () => void socket.write(answer(repeated))),
    )
    repeated = proveOwner(TEST_KEYS, dead, { nonce: '1'.repeat(64), from: '127.0.0.1' })
    expect(await askAll(front)).toEqual({ read: 503, change: 503, dialled: 503 })
    expectNothingHeard(heard)
  })

  it('hears nothing of any caller where it has another owner answer', async () => {
    const other = await startOne(await freshDatabase())
    await untilOwner(other)
    const { front, heard } = await startOrphan((socket) => {
      const onward = connect(Number(other.internalAddress.split(':')[1]), '127.0.0.1')
      onward.on('error', () => undefined)
      socket.pipe(onward).pipe(socket)
    })
    expect(await askAll(front)).toEqual({ read: 503, change: 503, dialled: 503 })
    expectNothingHeard(heard)
  })

  it('hears nothing of any caller, and is given up, where it says nothing', async () => {
    const { front, heard } = await startOrphan()
    expect((await front.call('GET', '/api/workloads', { as: TOKEN })).status).toBe(503)
    expectNothingHeard(heard)
  })
})

describe('a stranger between a front and the owner without TLS', () => {
  it('hears nothing of any caller, as the owner sees that another one calls', async () => {
    const database = await freshDatabase()
    let port = 0
    const { heard, address } = await startStranger((socket) => {
      const onward = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.9' })
      onward.on('error', () => socket.destroy())
      socket.pipe(onward).pipe(socket)
    })
    const owner = await startOne(database, { cluster: { advertiseAddress: address } as never })
    port = Number(owner.internalAddress.split(':')[1])
    await untilOwner(owner)
    const front = await startOne(database)
    expect(await askAll(front)).toEqual({ read: 503, change: 503, dialled: 503 })
    expectNothingHeard(heard)
  })
})

describe('what a front proves to one owner', () => {
  it('is worth nothing to another one, nor to one at another address', async () => {
    const database = await freshDatabase()
    const epoch = await holdLock(database)
    const proofs: string[] = []
    const { address } = await startStranger((socket) =>
      socket.on('data', (data) => {
        const said = data.toString('latin1')
        const nonce = /x-muster-nonce: (\S+)/.exec(said)?.[1]
        const proof = /x-muster-member: (\S+)/i.exec(said)?.[1]
        if (proof !== undefined) proofs.push(proof)
        if (nonce === undefined) return void socket.destroy()
        const challenge = { nonce, from: '127.0.0.1' }
        socket.write(
          `HTTP/1.1 200 OK\r\nx-muster-proof: ${proveOwner(TEST_KEYS, owner, challenge)}\r\ncontent-length: 0\r\n\r\n`,
        )
      }),
    )
    const owner = { id: 'traitor', address, epoch }
    await writeMember(database.pool, { ...owner, ownedEpoch: epoch, ownedSince: new Date() }, '1 hour')
    const front = await startOne(database)
    await front.call('GET', '/api/workloads', { as: TOKEN })
    await eventually('the front has proved itself', () => proofs.length > 0)

    const other = await startOne(await freshDatabase())
    await untilOwner(other)
    const headers = { 'x-muster-member': proofs[0]!, 'x-muster-link-version': '4' }
    expect((await fetch(`http://${other.internalAddress}/api/openapi.json`, { headers })).status).toBe(401)
    for (const path of ['/link', '/ws']) {
      const socket = new WebSocket(`ws://${other.internalAddress}${path}`, { headers })
      socket.on('error', () => undefined)
      const [, { statusCode }] = await once(socket, 'unexpected-response')
      socket.terminate()
      expect([path, statusCode]).toEqual([path, 401])
    }
  })
})

describe('an owner of a build that proves nothing', () => {
  it('is told nothing by a front, which is ready all the same, says so, and follows it', async () => {
    const database = await freshDatabase()
    const epoch = await holdLock(database)
    const { heard, address } = await startStranger((socket) =>
      socket.on('data', () => void socket.write('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n')),
    )
    const old = { id: 'old', address, linkVersion: 3, ownedEpoch: epoch, ownedSince: new Date() }
    await writeMember(database.pool, old, '1 hour')
    await database.pool.execute('alter table members drop column proof')
    await database.pool.execute(`delete from schema_migrations where name = 'proofs-of-members'`)
    const front = await startOne(database)
    await eventually('it is ready', async () => (await front.call('GET', '/readyz')).status === 200)
    expect(await askAll(front)).toEqual({ read: 503, change: 503, dialled: 503 })
    expectNothingHeard(heard)
    // The link and the requests each look at the owner in their own time: either may be the first to say it.
    const said = errorsOf(front).map(({ message }) => message)
    expect(said.sort()).toEqual([
      expect.stringMatching(/did not prove/),
      expect.stringMatching(/speaks no link version of this build/),
    ])

    await letGo()
    await untilOwner(front)
    const rows = await eventually('it has proved its row', async () => {
      const found = await database.pool.query<{ id: string; proof: string | null }>(
        'select id, proof from members',
      )
      return found.some(({ proof }) => proof !== null) && found
    })
    expect(rows.filter(({ proof }) => proof === null).map(({ id }) => id)).toEqual(['old'])
    expect((await front.call('GET', '/api/workloads', { as: await front.token() })).status).toBe(200)
  })
})
