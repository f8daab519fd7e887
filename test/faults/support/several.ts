import pg from 'pg'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { type Running, startProgram } from '../../e2e/support/processes.ts'
import { Api, BUNDLE, createDatabase, TEST_JWT_SECRET } from '../../e2e/support/service.ts'
import { eventually } from '../../support/eventually.ts'

const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' }

/** One of several processes that serve a fleet together. */
export interface OneOfSeveral {
  url: string
  api: Api
  opampPort: number
  running(): Running
  /** The id under which its present start is a member. */
  memberId(): string
  /** The status of a GET; 0 while nothing listens. */
  statusOf(path: string): Promise<number>
  untilReady(): Promise<void>
  /** Start it again on the same ports, after it has ended. */
  start(): void
}

/** Several processes of one fleet, of which the first was started first and owns. */
export interface Several {
  all: readonly OneOfSeveral[]
  rows<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** The process that owns, by the epoch in the database; null while none is known to. */
  owner(): Promise<OneOfSeveral | null>
  end(): Promise<void>
}

/** What may differ from a fleet on a database of the run, each process reached directly. */
export interface SeveralOptions {
  /** The database as each process reaches it, the first being 0, and as the test does. */
  dsn?: { ofProcess(index: number): string; ofTest(): string }
  /** Where other processes reach this one, whose internal listener has this port; itself by default. */
  advertise?: (index: number, internalPort: number) => Promise<number>
  /** How long an agent may be away before it counts as lost; 20 s by default. */
  graceSeconds?: number
}

/** Start so many processes one after the other, each ready before the next. */
export async function startSeveral(count: number, options: SeveralOptions = {}): Promise<Several> {
  const own = options.dsn === undefined ? await createDatabase() : ''
  const dsn = options.dsn ?? { ofProcess: () => own, ofTest: () => own }
  const all: OneOfSeveral[] = []
  for (let index = 0; index < count; index++) {
    const internalPort = await findFreePort('127.0.0.1')
    const advertised = (await options.advertise?.(index, internalPort)) ?? internalPort
    const one = await makeOne(dsn.ofProcess(index), {
      MUSTER_INTERNAL_ADDR: `127.0.0.1:${internalPort}`,
      MUSTER_ADVERTISE_ADDR: `127.0.0.1:${advertised}`,
      WORKLOAD_DISCONNECT_GRACE_SECONDS: String(options.graceSeconds ?? 20),
    })
    all.push(one)
    one.start()
    try {
      await one.untilReady()
      await one.api.login(ADMIN)
    } catch (error) {
      // Whoever has not got them cannot end them.
      await Promise.all(all.map((started) => started.running().stop('SIGKILL')))
      throw error
    }
  }
  let opened: { dsn: string; pool: pg.Pool } | null = null
  const rows = async <Row extends object>(text: string, values: unknown[] = []) => {
    // After a fail-over the test reads from the new primary.
    if (opened?.dsn !== dsn.ofTest()) {
      await opened?.pool.end()
      opened = { dsn: dsn.ofTest(), pool: new pg.Pool({ connectionString: dsn.ofTest(), max: 2 }) }
      opened.pool.on('error', () => undefined)
    }
    return (await opened.pool.query<Row>(text, values)).rows
  }
  return {
    all,
    rows,
    async owner() {
      const [found] = await rows<{ id: string }>(
        'select m.id from members m join process_epoch e on e.epoch = m.owned_epoch',
      )
      return all.find((one) => !one.running().hasEnded() && one.memberId() === found?.id) ?? null
    },
    async end() {
      await Promise.all(all.map((one) => one.running().stop()))
      await opened?.pool.end()
    },
  }
}

async function makeOne(dsn: string, settings: Readonly<Record<string, string>>): Promise<OneOfSeveral> {
  const apiPort = await findFreePort('127.0.0.1')
  const opampPort = await findFreePort('127.0.0.1')
  const url = `http://127.0.0.1:${apiPort}`
  const env = {
    JWT_SECRET: TEST_JWT_SECRET,
    DB_DSN: dsn,
    LISTEN_ADDR: `127.0.0.1:${apiPort}`,
    OPAMP_ADDR: `127.0.0.1:${opampPort}`,
    SEED_ADMIN_EMAIL: ADMIN.email,
    SEED_ADMIN_PASSWORD: ADMIN.password,
    ...settings,
  }
  let running: Running | null = null
  const statusOf = (path: string) =>
    fetch(url + path).then(
      ({ status }) => status,
      () => 0,
    )
  return {
    url,
    opampPort,
    statusOf,
    api: new Api(url),
    running: () => running!,
    memberId: () => /"member":"([\w-]+)","msg":"muster is one of several"/.exec(running!.output())?.[1] ?? '',
    async untilReady() {
      await eventually('the process is ready', async () => (await statusOf('/readyz')) === 200, {
        everyMs: 20,
        explain: () => running!.output().slice(-2_000),
      })
    },
    start() {
      const args = [BUNDLE, '--edition', 'complete']
      running = startProgram(process.execPath, args, { cwd: process.cwd(), env })
    },
  }
}
