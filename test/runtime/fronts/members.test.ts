import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Config } from '../../../runtime/config.ts'
import { STRANGERS_MAX } from '../../../runtime/fronts/internal-listener.ts'
import { selfSignedCertificate } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { provingAs, writeMember } from '../../support/owners.ts'
import { createTestDatabase, openTestConnection, type TestDatabase } from '../../support/postgres.ts'

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

/** Start an owner and a front. */
async function startTwo(): Promise<{ owner: TestMember; front: TestMember; token: string }> {
  const database = await freshDatabase()
  const owner = await startOne(database)
  await untilOwner(owner)
  const front = await startOne(database)
  return { owner, front, token: await owner.token() }
}

async function openBrowser({ url }: TestMember, token: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const frames: { type: string }[] = []
  let closed: number | null = null
  socket.on('message', (data) => frames.push(JSON.parse(String(data))))
  socket.on('close', (code) => {
    closed = code
  })
  cleanups.push(() => socket.terminate())
  await new Promise((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  return { socket, frames, closed: () => closed }
}

describe('strangers at the internal port of a process that has no link of a member', () => {
  it('keep no member out', { timeout: 60_000 }, async () => {
    const { owner, front } = await startTwo()
    const [, port] = front.internalAddress.split(':')
    const dial = async (localAddress: string) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress })
      cleanups.push(() => socket.destroy())
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      return socket
    }
    const strangers = await Promise.all(Array.from({ length: STRANGERS_MAX + 10 }, () => dial('127.0.0.2')))
    for (const stranger of strangers) stranger.resume()
    await eventually('those beyond are cut', () => strangers.filter((one) => one.closed).length >= 10)
    const member = await dial('127.0.0.1')
    member.write('GET /api/workloads HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(await text(member)).toMatch(/^HTTP\/1.1 421 /)
    await owner.stop()
    await untilOwner(front)
    await eventually(
      'it has a link to itself',
      async () => (await front.call('GET', '/readyz')).status === 200,
    )
  })
})

describe('a process that does not own', () => {
  it('answers as the owner does, whatever it is asked', async () => {
    const { owner, front, token } = await startTwo()
    expect(front.member.owner()).toBeNull()
    for (const [method, path, options] of [
      ['GET', '/api/workloads', { as: token }],
      ['GET', '/api/workloads', {}],
      ['HEAD', '/api/openapi.json', {}],
      ['GET', '/api/openapi.json', {}],
      ['GET', '/api/nothing-there', { as: token }],
      ['POST', '/api/push-groups', { as: token, body: { nonsense: true } }],
      ['DELETE', '/api/workloads', { as: token }],
      ['GET', '/api/workloads/%E4%F6/../x', { as: token }],
      ['GET', '/ws', {}],
    ] as const) {
      const [said, expected] = await Promise.all([
        front.call(method, path, options),
        owner.call(method, path, options),
      ])
      expect([path, said.status, await said.text()]).toEqual([path, expected.status, await expected.text()])
      for (const name of ['content-type', 'vary', 'allow'])
        expect([name, said.headers.get(name)]).toEqual([name, expected.headers.get(name)])
      // It names the address that the caller used.
      const policyOf = ({ url }: TestMember, { headers }: Response) =>
        headers.get('content-security-policy')?.replaceAll(new URL(url).host, 'HOST')
      expect(policyOf(front, said)).toEqual(policyOf(owner, expected))
    }
  })

  it('answers what Node could not pass on as the owner does, too', async () => {
    const { owner, front, token } = await startTwo()
    const status = ({ url }: TestMember, method: string, path: string, headers: string[]): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...headers]
        socket.on('error', reject)
        socket.once('data', (data) => {
          socket.destroy()
          resolve(String(data).split('\r\n')[0]!)
        })
        socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      })
    const upgrade = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13']
    const handshake = [...upgrade, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    for (const [method, path, headers, expected] of [
      ['CONNECT', '/api/workloads', [], '405'],
      ['GET', '/ws?a#b', handshake, '101'],
      ['GET', '/ws?a=%zz&b="<>', handshake, '101'],
    ] as const)
      for (const member of [owner, front])
        expect([method, path, await status(member, method, path, [...headers])]).toEqual([
          method,
          path,
          expect.stringContaining(expected),
        ])
  })

  it('takes changes, with the address of whoever asked for them', async () => {
    const { owner, front } = await startTwo()
    const login = { email: 'nobody@example.com', password: 'not the right one' }
    expect((await front.call('POST', '/api/auth/login', { body: login })).status).toBe(401)
    const line = owner.log.lines.find(({ fields }) => 'path' in fields && fields.path === '/api/auth/login')
    expect(line?.fields).toMatchObject({ remote_address: '127.0.0.1', status: 401 })
  })

  it('says itself that it is healthy and ready, and gives out the pages', async () => {
    const { front } = await startTwo()
    expect(await (await front.call('GET', '/healthz')).text()).toBe('ok')
    await eventually('it is ready', async () => (await front.call('GET', '/readyz')).status === 200)
  })

  it('is one of several, whose owner knows of as many agents as the README gives sizes for', async () => {
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8')
    const sizes = [...readme.matchAll(/GB for\s+([\d,]+)/g)].map(([, size]) =>
      Number(size!.replaceAll(',', '')),
    )
    expect(sizes.length).toBeGreaterThan(2)
    const { owner } = await startTwo()
    const { inAll, workloads } = owner.member.owner()!.ctx.fleet.limits
    expect(Math.min(inAll, workloads)).toBeGreaterThanOrEqual(Math.max(...sizes))
  })

  it('keeps nothing of a request on the connection that carried it', async () => {
    const { front, token } = await startTwo()
    const warnings: string[] = []
    const note = ({ name }: Error) => void warnings.push(name)
    process.on('warning', note)
    cleanups.push(() => process.off('warning', note))
    for (let n = 0; n < 30; n++)
      expect((await front.call('GET', '/api/workloads', { as: token })).status).toBe(200)
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })

  it('has no other member believed: one with another secret, or none, is sent away', async () => {
    const { owner } = await startTwo()
    const asked = await fetch(`http://${owner.internalAddress}/api/openapi.json`)
    expect(asked.status).toBe(401)
    const forged = { 'x-muster-member': `m.${Date.now()}.${'0'.repeat(64)}`, 'x-muster-client': '10.0.0.1' }
    const forgedAnswer = await fetch(`http://${owner.internalAddress}/api/openapi.json`, { headers: forged })
    expect(forgedAnswer.status).toBe(401)
  })

  it('with another secret reaches no owner, and takes nobody for signed out', async () => {
    const database = await freshDatabase()
    const owner = await startOne(database)
    await untilOwner(owner)
    const stranger = await startOne(database, {
      jwtSecret: 'another secret, which is as long as it has to be',
    })
    const answer = await stranger.call('GET', '/api/workloads', { as: await owner.token() })
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'no_owner' })
  })
})

describe('a browser', () => {
  it('that goes away before it is let in leaves nothing open behind it', async () => {
    const { owner, front, token } = await startTwo()
    const { port } = new URL(front.url)
    const lines = ['GET /ws HTTP/1.1', 'Host: a', 'Upgrade: websocket', 'Connection: Upgrade']
    const key = ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13']
    const handshake = [...lines, ...key, `Authorization: Bearer ${token}`, '', ''].join('\r\n')
    const { hub } = owner.member.owner()!.ctx
    let joined = 0
    const add = hub.add.bind(hub)
    hub.add = (...parts) => {
      joined++
      add(...parts)
    }
    for (let n = 0; n < 20; n++) connect(Number(port), '127.0.0.1').end(handshake)
    await eventually('all have joined', () => joined === 20)
    await eventually('all have left', () => hub.stats.clients === 0)
  })

  it('keeps its socket when the owner changes, is told to fetch again, and hears the new one', async () => {
    const { owner, front, token } = await startTwo()
    const { socket, frames, closed } = await openBrowser(front, token)
    await owner.stop()
    await untilOwner(front)
    await eventually('it is told to fetch', () => frames.some(({ type }) => type === 'resync'))
    expect(closed()).toBeNull()
    socket.send(JSON.stringify({ type: 'ping', seen: [] }))
    await eventually('it is answered', () => frames.some(({ type }) => type === 'pong'))
  })

  it('is turned away where its session is none, and its socket ends with its session', async () => {
    const { front, token } = await startTwo()
    await expect(openBrowser(front, 'no token')).rejects.toThrow('401')
    const { closed } = await openBrowser(front, token)
    expect((await front.call('POST', '/api/auth/logout', { as: token })).status).toBe(204)
    await eventually('it is closed', () => closed() === 1008)
  })
})

describe('without an owner', () => {
  /** Hold the process lock on a connection of the test; with `listener`, also be the owner that answers so. */
  async function holdWith(database: TestDatabase, listener: RequestListener | null): Promise<void> {
    const holder = await openTestConnection(database.dsn)
    cleanups.push(() => holder.close())
    await holder.query(`select pg_advisory_lock(${0x6d757374}, 1)`)
    if (listener === null) return
    const owner = { id: 'other', address: '', epoch: 0 }
    const server = createServer(provingAs(() => owner, listener))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => server.close())
    await holder.query(`create table if not exists process_epoch (
      id integer primary key, epoch bigint not null, raised_at timestamptz(3) not null)`)
    await holder.query(`insert into process_epoch values (1, 1, now()) on conflict (id) do nothing`)
    owner.address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const [row] = await database.pool.query<{ epoch: number }>('select epoch from process_epoch')
    owner.epoch = row!.epoch
    const owns = { ownedEpoch: owner.epoch, ownedSince: new Date() }
    await writeMember(database.pool, { id: owner.id, address: owner.address, ...owns }, '1 hour')
  }

  it('a request is told so after three seconds, and when to come again', async () => {
    const database = await freshDatabase()
    await holdWith(database, null)
    const front = await startOne(database)
    const answer = await front.call('GET', '/api/workloads')
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('3')
    expect(await answer.json()).toMatchObject({ code: 'no_owner' })
    expect((await front.call('GET', '/readyz')).status).toBe(503)
    expect((await front.call('GET', '/healthz')).status).toBe(200)
  })

  it('a caller that goes away ends what the owner does for it, before and while that is answered', async () => {
    const database = await freshDatabase()
    const asked: string[] = []
    const ended: string[] = []
    await holdWith(database, (request, response) => {
      const { url = '' } = request
      asked.push(url)
      if (!url.startsWith('/api/')) return void request.socket.destroy()
      response.on('close', () => ended.push(url))
      if (url !== '/api/streamed') return
      response.writeHead(200, { 'content-type': 'text/plain' })
      // It goes on for as long as somebody takes it.
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', write)
      write()
    })
    const front = await startOne(database)

    const silent = new AbortController()
    const unanswered = fetch(`${front.url}/api/silent`, { signal: silent.signal }).catch(() => 'gone away')
    await eventually('the owner is asked', () => asked.includes('/api/silent'))
    silent.abort()
    expect(await unanswered).toBe('gone away')
    await eventually('the silent work ends', () => ended.includes('/api/silent'))

    const streamed = new AbortController()
    const answer = await fetch(`${front.url}/api/streamed`, { signal: streamed.signal })
    await answer.body!.getReader().read()
    expect(ended).not.toContain('/api/streamed')
    streamed.abort()
    await eventually('the streamed work ends', () => ended.includes('/api/streamed'))
  })

  it('a change that was delivered and not answered is said to be unknown and done once; a read is asked again', async () => {
    const database = await freshDatabase()
    const asked: string[] = []
    await holdWith(database, (request) => {
      // The front also opens its link here, which is no request of a client.
      if (request.url!.startsWith('/api/')) asked.push(request.method!)
      request.socket.destroy()
    })
    const front = await startOne(database)
    for (const [method, path] of [
      ['POST', '/api/push-groups'],
      ['PUT', '/api/freeze'],
      ['PATCH', '/api/workloads/labels'],
      ['DELETE', '/api/freeze'],
    ] as const) {
      const change = await front.call(method, path, method === 'DELETE' ? {} : { body: {} })
      expect(change.status, method).toBe(503)
      expect(await change.json(), method).toMatchObject({ code: 'outcome_unknown' })
      expect(asked.splice(0)).toEqual([method])
    }
    const read = await front.call('GET', '/api/workloads')
    expect(await read.json()).toMatchObject({ code: 'no_owner' })
    expect(asked.filter((method) => method === 'GET').length).toBeGreaterThan(1)
  })
})

describe('when the owner stops', () => {
  it('the one that started last follows, and what is asked meanwhile waits and is answered', async () => {
    const { owner, front, token } = await startTwo()
    const stopping = owner.stop()
    const answers = await Promise.all(
      [0, 50, 100, 200, 400].map(async (delayMs) => {
        await new Promise((resolve) => setTimeout(resolve, delayMs))
        return (await front.call('GET', '/api/workloads', { as: token })).status
      }),
    )
    expect(answers).toEqual([200, 200, 200, 200, 200])
    await stopping
    await untilOwner(front)
    expect(front.fatal()).toBeNull()
  })
})

describe('over TLS', () => {
  it('members reach each other where their certificate is by the authority that they know, and only there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-members-'))
    cleanups.push(() => rm(folder, { recursive: true }))
    const write = async (name: string) => {
      const { key, cert } = selfSignedCertificate(['127.0.0.1'])
      await writeFile(join(folder, `${name}.key`), key)
      await writeFile(join(folder, `${name}.pem`), cert)
      return { certFile: join(folder, `${name}.pem`), keyFile: join(folder, `${name}.key`) }
    }
    const known = await write('known')
    const stranger = await write('stranger')
    const database = await freshDatabase()
    const tls = { ...known, caFile: known.certFile }
    const owner = await startOne(database, { cluster: { tls } as never })
    await untilOwner(owner)
    const front = await startOne(database, { cluster: { tls } as never })
    const lost = await startOne(database, {
      cluster: { tls: { ...stranger, caFile: stranger.certFile } } as never,
    })
    const token = await owner.token()
    expect((await front.call('GET', '/api/workloads', { as: token })).status).toBe(200)
    const { closed } = await openBrowser(front, token)
    expect(closed()).toBeNull()
    expect(await (await lost.call('GET', '/api/workloads', { as: token })).json()).toMatchObject({
      code: 'no_owner',
    })
  })

  it('members reach each other at addresses that no certificate names, by the name that all have', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-members-'))
    cleanups.push(() => rm(folder, { recursive: true }))
    const { key, cert } = selfSignedCertificate(['fleet-members.muster.test'])
    await writeFile(join(folder, 'tls.key'), key)
    await writeFile(join(folder, 'tls.crt'), cert)
    const files = {
      certFile: join(folder, 'tls.crt'),
      keyFile: join(folder, 'tls.key'),
      caFile: join(folder, 'tls.crt'),
    }
    const tls = { ...files, name: 'fleet-members.muster.test' }
    const database = await freshDatabase()
    const owner = await startOne(database, { cluster: { tls } as never })
    await untilOwner(owner)
    const front = await startOne(database, { cluster: { tls } as never })
    const lost = await startOne(database, { cluster: { tls: files } as never })
    const token = await owner.token()
    expect((await front.call('GET', '/api/workloads', { as: token })).status).toBe(200)
    const { closed } = await openBrowser(front, token)
    expect(closed()).toBeNull()
    expect(await (await lost.call('GET', '/api/workloads', { as: token })).json()).toMatchObject({
      code: 'no_owner',
    })
  })
})
