import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { ROOT } from '../../runtime/build/bundle.mjs'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import { type EmbeddedPostgres, startPostgres } from '../../runtime/quickstart/postgres.ts'
import { pause } from './machine.ts'

const EMAIL = 'bench@example.com'
const PASSWORD = 'a password of the bench'
/** The database role of the service, by which its statements are told from the bench's. */
const ROLE = 'muster_bench'

/** The database server of a run. */
export interface BenchDatabase {
  server: EmbeddedPostgres
  port: number
  end(): Promise<void>
}

/** Start a PostgreSQL that counts statements (pg_stat_statements). */
export async function startDatabase(): Promise<BenchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-bench-'))
  const port = await findFreePort('127.0.0.1')
  const server = await startPostgres({
    directory: join(folder, 'data'),
    port,
    password: 'bench',
    settings: ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.max=5000'],
  })
  const admin = new pg.Client(server.dsn('postgres'))
  await admin.connect()
  await admin.query(`create role ${ROLE} login password 'bench'`)
  await admin.query(`grant pg_read_all_stats, pg_signal_backend to ${ROLE}`)
  await admin.end()
  return {
    server,
    port,
    async end() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What was held, and for how long. */
export interface Held {
  loopMs: number
  count: number
  totalMs: number
  longestMs: number
}

/** The service as a process of its own on a database of its own. */
export interface BenchService {
  pid(): number
  opampPort: number
  url: string
  /** The bench's own connection to the service's database, as the superuser. */
  db: pg.Client
  /** Statements of the service since the last call, without BEGIN and COMMIT. */
  takeStatements(): Promise<number>
  /** Call the API as the administrator. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string }>
  /**
   * Read an answer to its end without decoding it, so that the reader costs little beside the service. With a body it
   * is a POST.
   */
  download(path: string, body?: unknown): Promise<{ status: number; bytes: number }>
  /** All of the service's metrics, in Prometheus' text format. */
  scrape(): Promise<string>
  /** One of the service's metrics, as a number. */
  metric(name: string): Promise<number>
  /**
   * The longest that the service's event loop was held since the last call, in ms, as the service measures it by a
   * timer of 10 ms.
   */
  takeHeldMs(): Promise<number>
  /**
   * The same, and how long the service's transactions of this name held the lock of the audit trail, in ms: all since
   * its start, and the longest since the last call.
   */
  takeHeld(transaction: string): Promise<Held>
  /** A session token of the administrator. */
  token(): string
  /** Kill the service and start it again on the same ports; resolves with the ms from its start until it is ready. */
  killAndRestart(): Promise<{ readyMs: number }>
  /** Kill the service for good. */
  kill(): Promise<void>
  end(): Promise<void>
}

/** The service's bundle. */
export const BUNDLE = join(ROOT, 'dist', 'muster.mjs')
/** The same service as a single executable. */
export const EXECUTABLE = join(ROOT, 'dist', 'muster')

/** How the service is started. */
export interface ServiceOptions {
  database: BenchDatabase
  name: string
  /** Arguments for Node, such as `--cpu-prof`. */
  nodeArguments: readonly string[]
  env?: Readonly<Record<string, string>>
  /** The single executable in the place of the bundle. */
  asExecutable?: boolean
  /** It joins the processes that run on the database of this name already. */
  joins?: boolean
}

async function createDatabase({ server }: BenchDatabase, name: string): Promise<void> {
  const ask = async (dsn: string, ...statements: string[]) => {
    const client = new pg.Client(dsn)
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  const anew = [`drop database if exists ${name} with (force)`, `create database ${name} owner ${ROLE}`]
  await ask(server.dsn('postgres'), ...anew)
  await ask(server.dsn(name), 'create extension pg_stat_statements')
}

/** Start the service with an administrator, and wait until it is ready. */
export async function startBenchService(options: ServiceOptions): Promise<BenchService> {
  const program = options.asExecutable === true ? EXECUTABLE : BUNDLE
  if (!existsSync(program)) throw new Error(`${program} is missing: run npm run build`)
  const { database, name } = options
  if (options.joins !== true) await createDatabase(database, name)
  const db = new pg.Client(database.server.dsn(name))
  await db.connect()
  db.on('error', () => undefined)
  const apiPort = await findFreePort('127.0.0.1')
  const opampPort = await findFreePort('127.0.0.1')
  const metricsPort = await findFreePort('127.0.0.1')
  const url = `http://127.0.0.1:${apiPort}`
  const env = {
    PATH: process.env['PATH'] ?? '',
    JWT_SECRET: 'a secret of the bench that is long enough',
    DB_DSN: `postgres://${ROLE}:bench@127.0.0.1:${database.port}/${name}`,
    LISTEN_ADDR: `127.0.0.1:${apiPort}`,
    OPAMP_ADDR: `127.0.0.1:${opampPort}`,
    SEED_ADMIN_EMAIL: EMAIL,
    SEED_ADMIN_PASSWORD: PASSWORD,
    MUSTER_METRICS_ADDR: `127.0.0.1:${metricsPort}`,
    ...options.env,
  }
  let said = ''
  const start = async (): Promise<ChildProcess> => {
    const edition = ['--edition', 'complete']
    const child =
      program === EXECUTABLE
        ? spawn(EXECUTABLE, edition, { env })
        : spawn(process.execPath, [...options.nodeArguments, BUNDLE, ...edition], { env })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString('utf8')).slice(-20_000)
      })
    await untilReady(url, child, () => said)
    return child
  }
  let child = await start()
  let token = ''
  const call: BenchService['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      // A string is sent as it is, anything else as JSON.
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  const scrape = async () => await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const metric = async (name: string) => {
    const text = await scrape()
    return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
  }
  // Longest times begin anew with each scrape, so that all of them are read from one.
  const takeHeld: BenchService['takeHeld'] = async (transaction) => {
    const text = await scrape()
    const read = (name: string) =>
      Number(new RegExp(`^${name}(?:\\{transaction="${transaction}"\\})? (\\S+)`, 'm').exec(text)?.[1])
    return {
      loopMs: read('muster_event_loop_held_seconds') * 1_000,
      count: read('muster_audit_lock_holds_total'),
      totalMs: read('muster_audit_lock_held_seconds_total') * 1_000,
      longestMs: read('muster_audit_lock_held_longest_seconds') * 1_000,
    }
  }
  const login = await call('POST', '/api/auth/login', { email: EMAIL, password: PASSWORD })
  token = JSON.parse(login.text).token
  return {
    pid: () => child.pid!,
    opampPort,
    url,
    db,
    async takeStatements() {
      const { rows } = await db.query(
        `select coalesce(sum(s.calls), 0)::int as calls from pg_stat_statements s join pg_roles r on r.oid = s.userid
         where r.rolname = $1 and s.query !~* '^(begin|commit)'`,
        [ROLE],
      )
      await db.query('select pg_stat_statements_reset()')
      return rows[0].calls
    },
    call,
    download: (path, body) => readToEnd(url + path, token, body),
    scrape,
    metric,
    takeHeld,
    takeHeldMs: async () => (await metric('muster_event_loop_held_seconds')) * 1_000,
    token: () => token,
    async killAndRestart() {
      await endChild(child, 'SIGKILL')
      const startedAt = performance.now()
      child = await start()
      return { readyMs: performance.now() - startedAt }
    },
    kill: () => endChild(child, 'SIGKILL'),
    async end() {
      await endChild(child, 'SIGTERM')
      await db.end()
    },
  }
}

function readToEnd(url: string, token: string, body: unknown): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const outgoing = body === undefined ? null : Buffer.from(JSON.stringify(body))
    const headers = {
      authorization: `Bearer ${token}`,
      'accept-encoding': 'identity',
      ...(outgoing === null ? {} : { 'content-type': 'application/json', 'content-length': outgoing.length }),
    }
    const method = outgoing === null ? 'GET' : 'POST'
    const request = httpRequest(url, { method, headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(outgoing)
  })
}

async function untilReady(url: string, child: ChildProcess, said: () => string): Promise<void> {
  for (const until = performance.now() + 30_000; performance.now() < until; ) {
    if (child.exitCode !== null) break
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    await pause(5)
  }
  child.kill('SIGKILL')
  throw new Error(`The service did not become ready:\n${said()}`)
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(signal)
  await ended
}
