import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, untilOwner } from '../../support/members.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { findFreePort } from '../../support/service.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A way to a port of this machine that may take no new connections while those that there are go on. */
async function startWay(toPort: number) {
  const sockets = new Set<Socket>()
  const open = (port: number) => {
    const server: Server = createServer((socket) => {
      const beyond = connect(toPort, '127.0.0.1')
      socket.pipe(beyond).pipe(socket)
      for (const [end, other] of [
        [socket, beyond],
        [beyond, socket],
      ] as const) {
        sockets.add(end)
        end.on('error', () => undefined)
        end.on('close', () => {
          sockets.delete(end)
          other.destroy()
        })
      }
    })
    server.listen(port, '127.0.0.1')
    return server
  }
  let server = open(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  cleanups.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    address: `127.0.0.1:${port}`,
    takeNoMore: () => void server.close(),
    async takeAgain() {
      server = open(port)
      await once(server, 'listening')
    },
  }
}

it('a front whose link stands, but from which nothing new gets to the owner, is not ready until something does', {
  timeout: 90_000,
}, async () => {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  const internalPort = await findFreePort()
  const way = await startWay(internalPort)
  const internalAddress = `127.0.0.1:${internalPort}`
  const cluster = { internalAddress, advertiseAddress: way.address, tls: null }
  const owner = await startTestMember(database, { cluster })
  cleanups.push(() => owner.stop())
  await untilOwner(owner)
  const front = await startTestMember(database)
  cleanups.push(() => front.stop())
  const readiness = async () => {
    const answer = await front.call('GET', '/readyz')
    return `${answer.status} ${(await answer.text()).trim()}`
  }
  await eventually('it is ready', async () => (await readiness()) === '200 ready')
  const links = () => owner.member.owner()!.ctx.cluster!().members.filter(({ link }) => link !== null).length
  await eventually('both have a link', () => links() === 2)

  way.takeNoMore()
  // Nobody asks anything of it meanwhile but that.
  await eventually(
    'it says that it cannot ask the owner',
    async () => (await readiness()).startsWith('503'),
    {
      withinMs: 30_000,
    },
  )
  expect(await readiness()).toBe('503 not ready; cannot ask the process that decides')
  expect(links()).toBe(2)
  expect((await owner.call('GET', '/readyz')).status).toBe(200)

  await way.takeAgain()
  await eventually('it is ready again', async () => (await readiness()) === '200 ready')
  const as = await owner.token()
  const body = { theme: 'dark', language: 'fr' }
  expect((await front.call('PUT', '/api/me/preferences', { as, body })).status).toBe(200)
})
