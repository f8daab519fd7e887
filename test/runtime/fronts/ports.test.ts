import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { createTestDatabase } from '../../support/postgres.ts'

// Whoever closes a connection keeps its port for a minute (RFC 9293, 3.6.1). All connections of a front lead to one port of
// its owner, so that a front which closes has some 28,000 a minute, and then none.

const cleanups: (() => unknown)[] = []
let front: TestMember
let owner: TestMember
beforeEach(async () => {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  owner = await startTestMember(database)
  cleanups.push(() => owner.stop())
  await untilOwner(owner)
  front = await startTestMember(database)
  cleanups.push(() => front.stop())
  await eventually('the front is ready', async () => (await fetch(`${front.url}/readyz`)).status === 200)
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const TIME_WAIT = '06'

/** How many ports of fronts to the owner are kept because the front closed, as the kernel lists them. */
function countKept(): number {
  const port = Number(owner.internalAddress.split(':')[1]).toString(16).toUpperCase().padStart(4, '0')
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote = '', state]) => remote.endsWith(`:${port}`) && state === TIME_WAIT).length
}

const MANY = 120
const FEW = MANY / 10

describe.runIf(process.platform === 'linux')('the ports of a front to its owner', () => {
  it('are not used up by handshakes that are refused', async () => {
    const statuses = await Promise.all(
      Array.from(
        { length: MANY },
        () =>
          new Promise<number>((resolve, reject) => {
            const socket = new WebSocket(`${front.url.replace('http', 'ws')}/ws?token=x`)
            socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
            socket.on('error', reject)
          }),
      ),
    )
    expect(new Set(statuses)).toEqual(new Set([401]))
    expect(countKept()).toBeLessThan(FEW)
  })

  it('are not used up by browsers that come and go', async () => {
    const token = await owner.token()
    const sockets = await Promise.all(
      Array.from({ length: MANY }, async () => {
        const socket = new WebSocket(`${front.url.replace('http', 'ws')}/ws?token=${token}`)
        await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
        return socket
      }),
    )
    const closed = sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve)))
    for (const socket of sockets) socket.close()
    await Promise.all(closed)
    const hub = () => owner.member.owner()!.ctx.hub
    await eventually('the owner knows that they left', () => hub().stats.clients === 0)
    expect(countKept()).toBeLessThan(FEW)
  })

  it('are not used up by many who ask at one time', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: MANY })
    cleanups.push(() => agent.destroy())
    const ask = () =>
      new Promise((resolve, reject) => {
        get(`${front.url}/api/me`, { agent }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode))
        }).on('error', reject)
      })
    for (let round = 0; round < 3; round++) {
      const statuses = await Promise.all(Array.from({ length: MANY }, ask))
      expect(new Set(statuses)).toEqual(new Set([401]))
    }
    expect(countKept()).toBeLessThan(FEW)
  })
})
