import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startBalancer } from '../../../runtime/quickstart/balancer.ts'
import { watchHealth } from '../../../runtime/quickstart/health.ts'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { eventually } from '../../support/eventually.ts'

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A process that says its name; `state` says how it answers. */
async function startProcess(name: string) {
  const process = { state: 'ready' as 'ready' | 'unready' | 'silent', port: 0 }
  const server: Server = createServer((_, response) => {
    if (process.state === 'silent') return
    response.statusCode = process.state === 'ready' ? 200 : 503
    response.end(name)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.port = (server.address() as AddressInfo).port
  cleanups.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return process
}

async function start() {
  const [first, second] = [await startProcess('first'), await startProcess('second')]
  const ports = [first.port, second.port]
  const health = watchHealth(
    ports.map((port) => `http://127.0.0.1:${port}`),
    { everyMs: 20, answerMs: 200 },
  )
  cleanups.push(() => health.close())
  const port = await findFreePort('127.0.0.1')
  const balancer = await startBalancer({ host: '127.0.0.1', port }, ports, health)
  cleanups.push(() => balancer.close())
  const ask = () => fetch(`http://127.0.0.1:${port}/`).then((response) => response.text())
  return { first, second, health, port, ask }
}

const openSocket = (port: number) =>
  new Promise<Socket>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => undefined)
    cleanups.push(() => socket.destroy())
  })

test('connections to a process that stands still are ended, and new ones go elsewhere until it answers', async () => {
  const { first, health, port, ask } = await start()
  const bound = await openSocket(port)
  const ended = new Promise((resolve) => bound.on('close', resolve))
  // The first connection went to the first process.
  first.state = 'silent'
  await ended
  expect(health.of(0)).toBe('silent')
  for (let time = 0; time < 5; time++) expect(await ask()).toBe('second')
  first.state = 'ready'
  await eventually('it is taken for ready again', async () => health.of(0) === 'ready')
})

test('a process that is not ready gets no new connections and keeps those that it has', async () => {
  const { first, second, health, port, ask } = await start()
  const bound = await openSocket(port)
  first.state = 'unready'
  await eventually('it is seen', async () => health.of(0) === 'unready')
  for (let time = 0; time < 5; time++) expect(await ask()).toBe('second')
  expect(bound.destroyed).toBe(false)
  // Where none is ready, one that answers is better than none.
  second.state = 'unready'
  await eventually('it is seen', async () => health.of(1) === 'unready')
  expect(await ask()).toMatch(/first|second/)
})
