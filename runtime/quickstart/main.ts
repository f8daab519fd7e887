import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Child, startChild, tailLog } from './child.ts'
import { makeDemoHistory } from './demo-history.ts'
import { type ChosenAddress, chooseAddress, findFreePort } from './ports.ts'
import { type EmbeddedPostgres, startPostgres } from './postgres.ts'
import { claimDirectory, forgetRunning, noteRunning } from './running.ts'
import { openSettings, type QuickStartSettings } from './settings.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DATA = process.env['MUSTER_DATA_DIR'] ?? join(ROOT, '.data')
const SERVICE_LOG = join(DATA, 'muster.log')
const FLEET_LOG = join(DATA, 'demo-fleet.log')
const READY_PATIENCE_MS = 60_000
/** The service itself stops within 10 s; see its graceful stop. */
const STOP_PATIENCE_MS = 12_000

const HELP = `npm start [-- options]

Builds muster and runs it with a database and a small fleet of simulated collectors, all on this machine.
Data is kept in .data and survives a restart; remove that folder to start anew.

  --no-demo   without the simulated collectors
  --help      this text

LISTEN_ADDR, OPAMP_ADDR and every other variable of the service count here too; with DB_DSN set, that
database is used and no PostgreSQL is started.
`

/** What was started, in the order in which it is stopped. */
class Parts {
  readonly #stops: { name: string; stop(): Promise<void> }[] = []

  add(name: string, stop: () => Promise<void>): void {
    this.#stops.unshift({ name, stop })
  }

  async stopAll(): Promise<void> {
    for (const { name, stop } of this.#stops.splice(0)) {
      await stop().catch((error: unknown) => console.error(`Stopping ${name}: ${describe(error)}`))
    }
  }
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))
const say = (text: string) => console.log(text)

async function startDatabase(settings: QuickStartSettings): Promise<EmbeddedPostgres> {
  return startPostgres({
    directory: join(DATA, 'postgres'),
    port: await findFreePort('127.0.0.1'),
    password: settings.databasePassword,
    settings: ['max_connections=60'],
  })
}

/** The bundles that are run, as paths, and who runs them. */
export interface Bundles {
  service: string
  fleet: string
  /** The process that started this one, as it was at the very start. */
  parent: number
}

/** How soon it is seen that the parent has gone. */
const PARENT_WATCH_MS = 500

/** Resolves when this process is told to end, or when the one that started it is gone and cannot tell it any more. */
function waitForTheEnd(parent: number): Promise<null> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(null))
    const watch = setInterval(() => {
      if (process.ppid !== parent) resolve(null)
    }, PARENT_WATCH_MS)
    watch.unref()
  })
}

function startService(
  script: string,
  settings: QuickStartSettings,
  dsn: string,
  addresses: { api: ChosenAddress; opamp: ChosenAddress },
): Child {
  return startChild({
    script,
    // Whoever tries it out sees all of it; a service of one's own starts as community.
    args: ['--edition', 'complete'],
    hasChannel: false,
    logFile: SERVICE_LOG,
    env: {
      JWT_SECRET: settings.jwtSecret,
      SEED_ADMIN_EMAIL: settings.adminEmail,
      SEED_ADMIN_PASSWORD: settings.adminPassword,
      ...process.env,
      DB_DSN: dsn,
      LISTEN_ADDR: `${addresses.api.host}:${addresses.api.port}`,
      OPAMP_ADDR: `${addresses.opamp.host}:${addresses.opamp.port}`,
    },
  })
}

/** Wait until the service says that it is ready. Throws with its last words when it ends before. */
async function waitUntilReady(service: Child, url: string): Promise<void> {
  const deadline = performance.now() + READY_PATIENCE_MS
  while (performance.now() < deadline) {
    if (service.hasEnded())
      throw new Error(`the service ended (${await service.ended}):\n${tailLog(SERVICE_LOG)}`)
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`the service was not ready within ${READY_PATIENCE_MS / 1000} s:\n${tailLog(SERVICE_LOG)}`)
}

function startDemoFleet(bundle: string, opampUrl: string): Child {
  return startChild({
    script: bundle,
    args: [opampUrl, join(DATA, 'demo-fleet.json')],
    hasChannel: true,
    logFile: FLEET_LOG,
    env: { PATH: process.env['PATH'] ?? '', OPAMP_SHARED_SECRET: process.env['OPAMP_SHARED_SECRET'] ?? '' },
  })
}

/** One log a start: the former one is kept beside it. */
async function turnLog(file: string): Promise<void> {
  if (existsSync(file)) await rename(file, `${file}.1`)
}

async function isPasswordUnchanged(url: string, settings: QuickStartSettings): Promise<boolean> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: settings.adminEmail, password: settings.adminPassword }),
  })
  return response.ok
}

function hostOf(address: ChosenAddress): string {
  const isEverywhere = address.host === '' || address.host === '0.0.0.0' || address.host === '::'
  return `${isEverywhere || address.host === '127.0.0.1' ? 'localhost' : address.host}:${address.port}`
}

function printWelcome(
  settings: QuickStartSettings,
  url: string,
  opampUrl: string,
  hasDemo: boolean,
  isNew: boolean,
) {
  const steps = hasDemo
    ? [
        'Find what is wrong: payments-collector is degraded, and its health says why.',
        'Correct its config: ask for approval, approve, push, and watch each instance take it.',
        'Push billing-collector an exporter it does not have (kafka, say): it fails, and the last good one returns.',
        'Decide about the request for checkout-collector that waits under approvals.',
      ]
    : [`Point the OpAMP Supervisor of a collector at ${opampUrl} (see README.md).`]
  say(`
muster runs.

  Open      ${url}
  Log in    ${settings.adminEmail}
            ${isNew ? settings.adminPassword : '(the password was changed since the first start)'}
  OpAMP     ${opampUrl}
  Logs      ${SERVICE_LOG}

What to try:
${steps.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}

Ctrl-C stops everything; the data stays in ${DATA}.
`)
}

/** Make the demo's history at the first start with it; the service is usable without. */
async function makeHistoryOnce(url: string, settings: QuickStartSettings): Promise<void> {
  try {
    await makeDemoHistory(url, settings)
    await writeFile(join(DATA, 'demo-history'), 'made\n')
  } catch (error) {
    say(`The demo has no history: ${describe(error)}`)
  }
}

/** Start all parts, in order; what is in `parts` afterwards has to be stopped, also after a throw. */
async function startAll(parts: Parts, hasDemo: boolean, bundles: Bundles): Promise<Promise<string>[]> {
  const isFirstStart = !existsSync(join(DATA, 'demo-history'))
  const settings = await openSettings(DATA)
  await claimDirectory(DATA)
  await noteRunning(DATA, { url: 'starting', service: 0 })
  parts.add('the note of what runs', () => forgetRunning(DATA))
  await turnLog(SERVICE_LOG)
  await turnLog(FLEET_LOG)
  const api = await chooseAddress('LISTEN_ADDR', process.env['LISTEN_ADDR'], 8080)
  const opamp = await chooseAddress('OPAMP_ADDR', process.env['OPAMP_ADDR'], 4320, [api.port])
  for (const { port, busyPort } of [api, opamp]) {
    if (busyPort !== null) say(`Port ${busyPort} is taken: using ${port}.`)
  }
  const ends: Promise<string>[] = []
  let dsn = process.env['DB_DSN'] ?? ''
  if (dsn === '') {
    const database = await startDatabase(settings)
    parts.add('PostgreSQL', () => database.stop())
    ends.push(database.ended.then((said) => `PostgreSQL ended:\n${said.slice(-1_000)}`))
    dsn = database.dsn('postgres')
  }
  const url = `http://${hostOf(api)}`
  const service = startService(bundles.service, settings, dsn, { api, opamp })
  parts.add('the service', () => service.stop(STOP_PATIENCE_MS))
  ends.push(service.ended.then((how) => `The service ended (${how}):\n${tailLog(SERVICE_LOG)}`))
  await noteRunning(DATA, { url, service: service.pid })
  await waitUntilReady(service, url)
  const opampUrl = `ws://${hostOf(opamp)}/v1/opamp`
  if (hasDemo) {
    const fleet = startDemoFleet(bundles.fleet, opampUrl)
    let isStopping = false
    parts.add('the demo fleet', () => {
      isStopping = true
      return fleet.stop(3_000)
    })
    fleet.ended.then((how) => {
      if (!isStopping) say(`The demo fleet ended (${how}); the service goes on. Its log: ${FLEET_LOG}`)
    })
  }
  const isUnchanged = await isPasswordUnchanged(url, settings)
  if (hasDemo && isFirstStart && isUnchanged) await makeHistoryOnce(url, settings)
  printWelcome(settings, url, opampUrl, hasDemo, isUnchanged)
  return ends
}

/** The whole quick start; resolves with the exit code when it is over. */
export async function quickStart(args: readonly string[], bundles: Bundles): Promise<number> {
  if (args.includes('--help')) {
    say(HELP)
    return 0
  }
  const unknown = args.find((arg) => arg !== '--no-demo')
  if (unknown !== undefined) {
    console.error(`Unknown option ${unknown}\n\n${HELP}`)
    return 2
  }
  const parts = new Parts()
  const interrupted = waitForTheEnd(bundles.parent)
  let code = 0
  try {
    const started = startAll(parts, !args.includes('--no-demo'), bundles)
    const ends = await Promise.race([started, interrupted])
    const crash = ends === null ? null : await Promise.race([interrupted, ...ends])
    if (crash === null) say('Stopping.')
    else {
      console.error(crash)
      code = 1
    }
    await started.catch(() => [])
  } catch (error) {
    console.error(`muster did not start: ${describe(error)}`)
    code = 1
  }
  await parts.stopAll()
  return code
}
