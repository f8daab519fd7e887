import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestMember, untilOwner } from '../support/members.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { findFreePort, startTestService } from '../support/service.ts'

// Listeners that only few have to reach, and strangers who hold connections.

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

/** The status of a GET that comes from this address of loopback; null where its connection is cut. */
function askFrom(
  localAddress: string,
  port: number,
  path: string,
  agent: Agent | false = false,
): Promise<number | null> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path, localAddress, agent }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode!))
    })
    request.on('error', () => resolve(null))
  })
}

/** Hold connections from so many addresses, as many from each as are let in of so many, and say how many are not. */
async function holdFrom(addresses: number, each: number, port: number): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  cleanups.push(() => agent.destroy())
  let cut = 0
  for (let i = 0; i < addresses; i++) {
    const asked = Array.from({ length: each }, () => askFrom(`127.0.9.${i + 1}`, port, '/healthz', agent))
    cut += (await Promise.all(asked)).filter((status) => status === null).length
  }
  return cut
}

describe('the health address', () => {
  it('answers whoever watches, though strangers from many addresses keep all newcomers from the others', {
    timeout: 60_000,
  }, async () => {
    const port = await findFreePort()
    const { service, stop } = await startTestService(
      await freshDatabase(),
      { healthAddress: `127.0.0.1:${port}` },
      undefined,
      { descriptorLimit: 264 },
    )
    cleanups.push(stop)
    await holdFrom(40, 1, service.apiPort)
    expect(await askFrom('127.0.0.10', service.apiPort, '/healthz')).toBeNull()
    expect(await askFrom('127.0.0.10', port, '/healthz')).toBe(200)
    expect(await askFrom('127.0.0.10', port, '/readyz')).toBe(200)
    expect(await askFrom('127.0.0.10', port, '/api/auth/methods')).toBe(404)
    expect(await holdFrom(1, 60, port)).toBeGreaterThan(35)
    expect(await askFrom('127.0.0.10', port, '/readyz')).toBe(200)
  })

  it('says of a standby that it lives and is not ready, and of what became active that it is', async () => {
    const database = await freshDatabase()
    const active = await startTestService(database)
    const port = await findFreePort()
    const ended = new AbortController()
    const starting = startTestService(database, { healthAddress: `127.0.0.1:${port}` }, ended.signal)
    await eventually('it lives', async () => (await askFrom('127.0.0.10', port, '/healthz')) === 200)
    expect(await askFrom('127.0.0.10', port, '/readyz')).toBe(503)
    await active.stop()
    const standby = await starting
    cleanups.push(() => standby.stop())
    expect(await askFrom('127.0.0.10', port, '/readyz')).toBe(200)
    await standby.stop()
    expect(await askFrom('127.0.0.10', port, '/healthz')).toBeNull()
  })

  it('is that of each of several processes', async () => {
    const port = await findFreePort()
    const member = await startTestMember(await freshDatabase(), { healthAddress: `127.0.0.1:${port}` })
    cleanups.push(() => member.stop())
    await untilOwner(member)
    await eventually('it is ready', async () => (await askFrom('127.0.0.10', port, '/readyz')) === 200)
    expect(await askFrom('127.0.0.10', port, '/ws')).toBe(404)
  })
})

it('strangers at the metrics do not take what the process needs for itself, nor keep others from them', async () => {
  const { service, stop } = await startTestService(await freshDatabase(), { metricsAddress: '127.0.0.1:0' })
  cleanups.push(stop)
  expect(await holdFrom(2, 60, service.metricsPort!)).toBeGreaterThan(80)
  expect(await askFrom('127.0.0.10', service.metricsPort!, '/metrics')).toBe(200)
})

it('strangers at a standby leave it the files with which it becomes active', {
  timeout: 60_000,
}, async () => {
  const database = await freshDatabase()
  const active = await startTestService(database)
  const port = await findFreePort()
  const starting = startTestService(database, { listenAddress: `127.0.0.1:${port}` })
  await eventually('it stands by', async () => (await askFrom('127.0.0.10', port, '/healthz')) === 200)
  expect(await holdFrom(2, 60, port)).toBeGreaterThan(80)
  expect(await askFrom('127.0.0.10', port, '/readyz')).toBe(503)
  await active.stop()
  const standby = await starting
  cleanups.push(() => standby.stop())
  expect(await askFrom('127.0.0.10', port, '/readyz')).toBe(200)
})

describe('a connection that was answered', () => {
  /** Ask, and say how the answer begins once the other end has closed the connection. */
  const untilClosed = (port: number, ...texts: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      cleanups.push(() => socket.destroy())
      let said = ''
      socket.on('data', (bytes) => {
        said += bytes.toString('latin1')
        const next = texts.shift()
        if (next !== undefined) socket.write(next)
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(said.split('\r\n')[0]!))
      socket.write(texts.shift()!)
    })

  it('ends by itself where nothing more is asked on it, whether or not its request had come whole', {
    timeout: 40_000,
  }, async () => {
    const { service, stop } = await startTestService(await freshDatabase(), {})
    cleanups.push(stop)
    const ask = (text: string, ...more: string[]) =>
      untilClosed(service.apiPort, `${text.replace('\n', ' HTTP/1.1\r\nHost: x\r\n')}\r\n`, ...more)
    const answers = await Promise.all([
      ask('GET /healthz\n'),
      ask('GET /api/me\n'),
      ask('GET /api/nothing\n'),
      ask('POST /api/auth/logout\nContent-Length: 2\r\n', '{', '}'),
      ask('POST /api/nothing\nContent-Length: 2\r\n', '{'),
    ])
    const statuses = answers.map((line) => line.split(' ')[1])
    expect(statuses).toEqual(['200', '401', '404', '204', '404'])
  })
})
