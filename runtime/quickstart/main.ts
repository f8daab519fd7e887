import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withoutSlashes } from '../without-slashes.ts'
import { type Child, startChild, turnLog } from './child.ts'
import { makeDemoHistory } from './demo-history.ts'
import { TRIAL_CAMPAIGN } from './demo-stores.ts'
import { chooseAddress, findFreePort, reachAt } from './ports.ts'
import { type EmbeddedPostgres, startPostgres } from './postgres.ts'
import { claimDirectory, forgetRunning, noteRunning } from './running.ts'
import { serviceLogOf, startServices } from './services.ts'
import { openSettings, type QuickStartSettings } from './settings.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DATA = process.env['MUSTER_DATA_DIR'] ?? join(ROOT, '.data')
const FLEET_LOG = join(DATA, 'demo-fleet.log')
/** Database sessions of one process: up to 40 for its requests, and some of its own. */
const SESSIONS_EACH = 45
const PROCESSES_MAX = 5

const HELP = `npm start [-- options]

Builds muster and runs it with a database and a small fleet of simulated collectors, all on this machine.
Data is kept in .data and survives a restart; remove that folder to start anew.

  --no-demo       without the simulated collectors
  --processes N   so many processes of muster behind one address, 1 to ${PROCESSES_MAX}
  --help          this text

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

async function startDatabase(settings: QuickStartSettings, processes: number): Promise<EmbeddedPostgres> {
  return startPostgres({
    directory: join(DATA, 'postgres'),
    port: await findFreePort('127.0.0.1'),
    password: settings.databasePassword,
    settings: [`max_connections=${15 + SESSIONS_EACH * processes}`],
  })
}

/** The bundles that are run, as paths, and the process that runs them. */
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

function startDemoFleet(bundle: string, opampUrl: string): Child {
  return startChild({
    script: bundle,
    args: [opampUrl, join(DATA, 'demo-fleet.json')],
    hasChannel: true,
    logFile: FLEET_LOG,
    env: { PATH: process.env['PATH'] ?? '', OPAMP_SHARED_SECRET: process.env['OPAMP_SHARED_SECRET'] ?? '' },
  })
}

/** Whether the password is that of the first start, as far as the service says: only a refused one was changed. */
async function isPasswordUnchanged(url: string, settings: QuickStartSettings): Promise<boolean> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: settings.adminEmail, password: settings.adminPassword }),
  })
  return response.status !== 401
}

function printWelcome(
  settings: QuickStartSettings,
  url: string,
  opampUrl: string,
  hasDemo: boolean,
  { isUnchanged, hasHistory }: { isUnchanged: boolean; hasHistory: boolean },
  pids: readonly number[],
) {
  const logs = pids.map((_, index) => serviceLogOf(DATA, index)).join('\n            ')
  const steps = hasDemo
    ? [
        'Find what is wrong: payments-collector is degraded, and its health says why.',
        'Correct its config: ask for approval, approve, push, and watch each instance take it.',
        'Push billing-collector an exporter it does not have (kafka, say): it fails, and the last good one returns.',
        ...(hasHistory
          ? [
              'Decide about the request for checkout-collector that waits under approvals.',
              `Carry one change to forty hosts: under Campaigns plan “${TRIAL_CAMPAIGN}”, see whom it leaves out and why, and start it.`,
            ]
          : []),
      ]
    : [`Point the OpAMP Supervisor of a collector at ${opampUrl} (see README.md).`]
  const [first] = pids
  const last = pids.at(-1)
  if (pids.length > 1)
    steps.push(
      `Take one of the ${pids.length} processes away: kill -STOP ${last} stops one and kill -CONT ${last} lets it go on, kill ${first} ends the one that decides. The others serve on; Settings, Processes says which decides then and what each does.`,
    )
  const processes =
    pids.length > 1
      ? `\n  Processes ${pids.join(', ')}; the two addresses lead to each that answers, ${first} decides at first`
      : ''
  say(`
muster runs.

  Open      ${url}
  Log in    ${settings.adminEmail}
            ${isUnchanged ? settings.adminPassword : '(the password was changed since the first start)'}
  OpAMP     ${opampUrl}${processes}
  Logs      ${logs}

What to try:
${steps.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}

Ctrl-C stops everything; the data stays in ${DATA}.
`)
}

const HISTORY_NOTE = join(DATA, 'demo-history')

/** Whether the demo's history was made, at this start or an earlier one. */
const hasHistory = () => existsSync(HISTORY_NOTE)

/** Make the demo's history at the first start with it; the service is usable without. */
async function makeHistoryOnce(url: string, settings: QuickStartSettings): Promise<void> {
  try {
    await makeDemoHistory(url, settings)
    await writeFile(HISTORY_NOTE, 'made\n')
  } catch (error) {
    say(`The demo has no history: ${describe(error)}`)
  }
}

/** Start all parts, in order; what is in `parts` afterwards has to be stopped, also after a throw. */
async function startAll(
  parts: Parts,
  { hasDemo, processes }: Options,
  bundles: Bundles,
): Promise<Promise<string>[]> {
  const settings = await openSettings(DATA)
  await claimDirectory(DATA)
  await noteRunning(DATA, { url: 'starting', services: [] })
  parts.add('the note of what runs', () => forgetRunning(DATA))
  await turnLog(FLEET_LOG)
  const api = await chooseAddress('LISTEN_ADDR', process.env['LISTEN_ADDR'], 8080)
  const opamp = await chooseAddress('OPAMP_ADDR', process.env['OPAMP_ADDR'], 4320, [api.port])
  for (const { port, busyPort } of [api, opamp]) {
    if (busyPort !== null) say(`Port ${busyPort} is taken: using ${port}.`)
  }
  const ends: Promise<string>[] = []
  let dsn = process.env['DB_DSN'] ?? ''
  if (dsn === '') {
    const database = await startDatabase(settings, processes)
    parts.add('PostgreSQL', () => database.stop())
    ends.push(database.ended.then((said) => `PostgreSQL ended:\n${said.slice(-1_000)}`))
    dsn = database.dsn('postgres')
  }
  const url = `http://${reachAt(api)}`
  const { ended, pids } = await startServices({
    directory: DATA,
    script: bundles.service,
    settings,
    dsn,
    addresses: { api, opamp },
    processes,
    say,
    add: (name, stop) => parts.add(name, stop),
    note: (services) => noteRunning(DATA, { url, services }),
  })
  ends.push(ended)
  const opampUrl = `ws://${reachAt(opamp)}/v1/opamp`
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
  if (hasDemo && !hasHistory() && isUnchanged) await makeHistoryOnce(url, settings)
  printWelcome(
    settings,
    withoutSlashes(process.env['MUSTER_PUBLIC_URL']?.trim() ?? '') || url,
    opampUrl,
    hasDemo,
    { isUnchanged, hasHistory: hasHistory() },
    pids,
  )
  return ends
}

/** What the command line asks for. */
interface Options {
  hasDemo: boolean
  processes: number
}

/** Read the arguments; a string is a sentence that says what is wrong with them. */
function readOptions(args: readonly string[]): Options | string {
  const options = { hasDemo: true, processes: 1 }
  for (let at = 0; at < args.length; at++) {
    if (args[at] === '--no-demo') options.hasDemo = false
    else if (args[at] === '--processes') {
      const count = args[++at] ?? ''
      if (!/^\d$/.test(count) || Number(count) < 1 || Number(count) > PROCESSES_MAX)
        return `--processes must be 1 to ${PROCESSES_MAX}, found "${count}"`
      options.processes = Number(count)
    } else return `Unknown option ${args[at]}`
  }
  return options
}

/** The whole quick start; resolves with the exit code when it is over. */
export async function quickStart(args: readonly string[], bundles: Bundles): Promise<number> {
  if (args.includes('--help')) {
    say(HELP)
    return 0
  }
  const options = readOptions(args)
  if (typeof options === 'string') {
    console.error(`${options}\n\n${HELP}`)
    return 2
  }
  const parts = new Parts()
  const interrupted = waitForTheEnd(bundles.parent)
  let code = 0
  try {
    const started = startAll(parts, options, bundles)
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
