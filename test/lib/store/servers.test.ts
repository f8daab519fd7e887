import { createServer } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { openConnection } from '../../../lib/store/connection.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { findFreePort } from '../../support/service.ts'

const database = await useTestDatabase()
const own = new URL(database.dsn)
const limits = {
  applicationName: 'servers',
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 5_000,
  clock: systemClock,
}
/** A server that accepts connections and never sends anything. */
const deaf = createServer()
const deafPort = await new Promise<number>((resolve) => {
  deaf.listen(0, '127.0.0.1', () => resolve((deaf.address() as { port: number }).port))
})
afterAll(() => void deaf.close())

const dsnOf = (hosts: readonly string[], query = '') =>
  `postgres://${own.username}:${own.password}@${hosts.join(',')}${own.pathname}${query}`

async function nameOf(dsn: string): Promise<string> {
  const connection = await openConnection({ ...limits, dsn })
  const rows = await connection.query<{ name: string }>('select current_database() as name')
  await connection.close()
  return rows[0]!.name
}

describe('of several servers', () => {
  it('one that refuses and one that never answers are passed over', async () => {
    const closed = `127.0.0.1:${await findFreePort()}`
    expect(await nameOf(dsnOf([closed, `127.0.0.1:${deafPort}`, own.host]))).toBe(own.pathname.slice(1))
  })

  it('one that takes no writes will not do where writes are asked for, and does where they are not', async () => {
    const name = own.pathname.slice(1)
    await database.pool.execute(`alter database ${name} set default_transaction_read_only = on`)
    try {
      expect(await nameOf(dsnOf([own.host]))).toBe(name)
      const asked = nameOf(dsnOf([own.host, own.host], '?target_session_attrs=read-write'))
      await expect(asked).rejects.toThrow('this server takes no writes')
    } finally {
      await database.pool.transaction('test', async (tx) => {
        await tx.execute('set transaction read write')
        await tx.execute(`alter database ${name} reset default_transaction_read_only`)
      })
    }
    expect(await nameOf(dsnOf([own.host], '?target_session_attrs=read-write'))).toBe(name)
  })
})
