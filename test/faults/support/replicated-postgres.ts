import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { startPostgres } from '../../../runtime/quickstart/postgres.ts'
import { eventually } from '../../support/eventually.ts'

const run = promisify(execFile)

/** A PostgreSQL and a physical standby of it, to which every commit is replicated before it is answered. */
export interface ReplicatedPostgres {
  /** The connection string of a database with both servers, of which one that takes writes is wanted. */
  dsn: string
  /** The connection string of the present primary alone. */
  primaryDsn(): string
  /** Let the standby receive nothing more from the primary, once it has all that was committed so far. */
  stopReplication(): Promise<void>
  /** End the primary without a word. */
  killPrimary(): Promise<void>
  /** Promote the standby; resolves once it takes writes. */
  promote(): Promise<void>
  stop(): Promise<void>
}

const PASSWORD = 'test'

/** A way to a server, which can be cut for good. */
async function startWay(to: number): Promise<{ port: number; cut(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((from) => {
    const onward = connect(to, '127.0.0.1')
    for (const socket of [from, onward]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        from.destroy()
        onward.destroy()
      })
    }
    from.pipe(onward).pipe(from)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * Start both servers with an empty database. `waits`: what commits wait for in the sessions of that database, where it is
 * another thing than in all others.
 */
export async function startReplicatedPostgres({
  isSynchronous = true,
  waits = null,
}: {
  isSynchronous?: boolean
  waits?: string | null
} = {}): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-replicated-'))
  const at = async (name: string) => ({
    directory: join(folder, name),
    port: await findFreePort('127.0.0.1'),
    password: PASSWORD,
  })
  const one = await at('one')
  // The standby begins as a copy of a server that was stopped in order.
  await (await startPostgres({ ...one, settings: ['fsync=off'] })).stop()
  const two = await at('two')
  await run('cp', ['-a', one.directory, two.directory])
  await writeFile(join(two.directory, 'standby.signal'), '')
  const primary = await startPostgres({
    ...one,
    settings: ['fsync=off', ...(isSynchronous ? ['synchronous_standby_names=*'] : [])],
  })
  const way = await startWay(one.port)
  const from = `host=127.0.0.1 port=${way.port} user=postgres password=${PASSWORD}`
  const standby = await startPostgres({ ...two, settings: ['fsync=off', `primary_conninfo=${from}`] })
  const ask = async (dsn: string, text: string) => {
    const client = new pg.Client(dsn)
    await client.connect()
    const { rows } = await client.query(text).finally(() => client.end())
    return rows
  }
  await eventually('the standby follows', async () => {
    const [found] = await ask(primary.dsn('postgres'), 'select sync_state as state from pg_stat_replication')
    return found?.state === (isSynchronous ? 'sync' : 'async')
  })
  await ask(primary.dsn('postgres'), 'create database fleet')
  if (waits !== null)
    await ask(primary.dsn('postgres'), `alter database fleet set synchronous_commit = '${waits}'`)
  let isPromoted = false
  return {
    dsn: `postgres://postgres:${PASSWORD}@127.0.0.1:${one.port},127.0.0.1:${two.port}/fleet?target_session_attrs=read-write`,
    primaryDsn: () => (isPromoted ? standby : primary).dsn('fleet'),
    async stopReplication() {
      const [at] = await ask(primary.dsn('postgres'), 'select pg_current_wal_lsn()::text as lsn')
      await eventually('the standby has all', async () => {
        const [found] = await ask(
          standby.dsn('postgres'),
          `select pg_last_wal_replay_lsn() >= '${at.lsn}' as has`,
        )
        return found.has
      })
      way.cut()
    },
    async killPrimary() {
      const [pid] = (await readFile(join(one.directory, 'postmaster.pid'), 'utf8')).split('\n')
      // Every session is ended at once, and nothing is written any more.
      process.kill(Number(pid), 'SIGQUIT')
      await primary.ended
    },
    async promote() {
      await ask(standby.dsn('fleet'), 'select pg_promote()')
      isPromoted = true
    },
    async stop() {
      await Promise.all([primary.stop(), standby.stop()])
      way.cut()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
