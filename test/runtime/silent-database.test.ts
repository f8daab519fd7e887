import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DatabaseUnavailable } from '../../lib/store/db.ts'
import { startTestMember } from '../support/members.ts'
import { startTestService } from '../support/service.ts'

// A database whose address takes connections and never says a word: a start ends, and says why.

const sockets = new Set<Socket>()
const server = createServer((socket) => {
  sockets.add(socket)
  socket.on('error', () => undefined)
})
let database: { dsn: string }

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  database = { dsn: `postgres://muster@127.0.0.1:${(server.address() as AddressInfo).port}/muster` }
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

it('neither a process that is alone nor one of several starts', async () => {
  const starts = [startTestService(database as never), startTestMember(database as never)]
  for (const { reason } of (await Promise.allSettled<unknown>(starts)) as PromiseRejectedResult[]) {
    expect(reason).toBeInstanceOf(DatabaseUnavailable)
    expect(reason.message).toBe(
      'database unavailable during connect: the server did not answer within 5000 ms',
    )
  }
})
