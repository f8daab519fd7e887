import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { inject } from 'vitest'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { eventually } from '../../support/eventually.ts'
import { type Running, startProgram } from './processes.ts'

/** The service's bundle. */
export const BUNDLE = fileURLToPath(new URL('../../../dist/muster.mjs', import.meta.url))

/** The secret with which the services of these tests sign session tokens. */
export const TEST_JWT_SECRET = 'a secret of the end-to-end tests, long enough'
const EMAIL = 'admin@example.com'
const PASSWORD = 'correct horse battery'

/** The shared secret that agents of these tests must know. */
export const SHARED_SECRET = 'a shared secret of the tests'

/** The service as its users have it: a process of its own, a database, two listeners. */
export interface Service {
  url: string
  opampUrl: string
  /** The address of the same listener for agents that poll over HTTP. */
  opampHttpUrl: string
  dsn: string
  api: Api
  process(): Running
  output(): string
  /** Stop it (or kill it) and start it again on the same ports and database. */
  restart(signal?: NodeJS.Signals): Promise<void>
  stop(): Promise<void>
}

/** What a REST call answered. */
export interface ApiAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into whatever JSON came
  body: any
}

/** Calls the REST API as the administrator. */
export class Api {
  readonly #url: string
  #token = ''

  constructor(url: string) {
    this.#url = url
  }

  async login(
    who: { email: string; password: string } = { email: EMAIL, password: PASSWORD },
  ): Promise<void> {
    const { email, password } = who
    const { status, body } = await this.call('POST', '/api/auth/login', { email, password })
    if (status !== 200) throw new Error(`login answered ${status}: ${JSON.stringify(body)}`)
    this.#token = body.token
  }

  async call(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        ...(this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async get(path: string): Promise<any> {
    const { status, body } = await this.call('GET', path)
    if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`)
    return body
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async post(path: string, body: unknown, expected: number): Promise<any> {
    const answer = await this.call('POST', path, body)
    if (answer.status !== expected)
      throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** Request, approve and push a config, as two people would. Returns its hash. */
  async pushConfig(workloadId: string, yaml: string): Promise<string> {
    const approvals = `/api/workloads/${workloadId}/config/approvals`
    const draft = {
      draft_yaml: yaml,
      target_group: 'single',
      target_env: 'test',
      comment: 'end to end',
      retry_quarantined: true,
    }
    const { id } = await this.post(approvals, draft, 201)
    await this.post(`${approvals}/${id}/approve`, { comment: 'looks right' }, 200)
    const pushed = await this.post(`${approvals}/${id}/push`, { comment: 'go' }, 202)
    return pushed.config_hash
  }
}

/** Make an empty database in the run's PostgreSQL; its connection string. */
export async function createDatabase(): Promise<string> {
  const base = new URL(inject('e2ePostgresUrl'))
  const name = `e2e_${randomBytes(5).toString('hex')}`
  base.pathname = '/postgres'
  const client = new pg.Client({ connectionString: base.toString() })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  base.pathname = `/${name}`
  return base.toString()
}

/** How the service is started: as the bundle under this Node, unless a test says otherwise. */
export interface Launch {
  command: string
  args: readonly string[]
  cwd: string
  /** Variables that override those of these tests; nothing of this process's environment is passed on. */
  env: Readonly<Record<string, string>>
  /** The port of the API, where something has to know it before the start; a free one otherwise. */
  apiPort?: number
}

const BUNDLE_LAUNCH: Launch = {
  command: process.execPath,
  args: [BUNDLE],
  cwd: dirname(BUNDLE),
  env: {},
}

/** Start the service with a database of its own, and sign in. */
export async function startService(launch: Partial<Launch> = {}): Promise<Service> {
  const { command, args, cwd, env, ...fixed } = { ...BUNDLE_LAUNCH, ...launch }
  const dsn = await createDatabase()
  const apiPort = fixed.apiPort ?? (await findFreePort('127.0.0.1'))
  const opampPort = await findFreePort('127.0.0.1')
  const url = `http://127.0.0.1:${apiPort}`
  const api = new Api(url)
  const variables = {
    JWT_SECRET: TEST_JWT_SECRET,
    DB_DSN: dsn,
    LISTEN_ADDR: `127.0.0.1:${apiPort}`,
    OPAMP_ADDR: `127.0.0.1:${opampPort}`,
    OPAMP_SHARED_SECRET: SHARED_SECRET,
    SEED_ADMIN_EMAIL: EMAIL,
    SEED_ADMIN_PASSWORD: PASSWORD,
    WORKLOAD_DISCONNECT_GRACE_SECONDS: '20',
    ...env,
  }
  const start = () => startProgram(command, args, { cwd, env: variables })
  const untilServing = async () => {
    await waitUntilReady(running, url)
    await api.login()
  }
  let running = start()
  await untilServing()
  return {
    url,
    opampUrl: `ws://127.0.0.1:${opampPort}/v1/opamp`,
    opampHttpUrl: `http://127.0.0.1:${opampPort}/v1/opamp`,
    dsn,
    api,
    process: () => running,
    output: () => running.output(),
    async restart(signal = 'SIGTERM') {
      await running.stop(signal)
      // Known before it is ready: a test may kill it until then.
      running = start()
      await untilServing()
    },
    stop: () => running.stop(),
  }
}

async function waitUntilReady(running: Running, url: string): Promise<void> {
  try {
    await eventually(
      'the service is ready',
      async () => running.hasEnded() || (await fetch(`${url}/readyz`)).status === 200,
      { withinMs: 30_000, everyMs: 20 },
    )
    if (running.hasEnded()) throw new Error('The service ended')
  } catch (error) {
    await running.stop('SIGKILL')
    throw new Error(`${(error as Error).message}\n${running.output()}`)
  }
}
