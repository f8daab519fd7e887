import { serveFloor } from './floor.ts'
import { Browsers } from './load/browsers.ts'
import { Harness } from './load/harness.ts'
import { Load } from './load/load.ts'
import { serveRole } from './load/remote.ts'
import { measureInventory, measureStart, measureValidation } from './measures/api.ts'
import { measureCampaign } from './measures/campaign.ts'
import { measureEndpoints } from './measures/endpoints.ts'
import { measureBigWorkload, measureCurve, measureFleet, measureFloor } from './measures/fleet.ts'
import { measureFronts } from './measures/fronts.ts'
import { measureFanOut100k, measureJanitor } from './measures/harness.ts'
import { measureHub } from './measures/hub.ts'
import { measureFanOut, measureRestart } from './measures/push.ts'
import { measureReports } from './measures/reports.ts'
import { measureTimers } from './measures/timers.ts'
import { type MeasureResult, saveResults, toTable } from './results.ts'
import { startDatabase } from './service.ts'
import type { Bench } from './session.ts'

const HELP = `npm run bench -- [--only ID,...] [--agents N] [--time-scale X] [--node-arg ARG]...

Measures the service as a process of its own, with PostgreSQL and the load beside it.
  --only ID,...     1, 1b, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, campaign, fronts, fan-out-100k, timers, janitor, endpoints, curve,
                    curve-1b; all by default
  --agents N        the size of the fleet, 15000 by default
  --time-scale X    shortens what only waits, for a first look
  --node-arg ARG    passed to Node for the service, such as --cpu-prof
`
const ALL = [
  '1',
  '1b',
  '4',
  '3',
  '2',
  '5',
  '6',
  '7',
  '8',
  '9',
  '10',
  '11',
  'campaign',
  'fronts',
  'fan-out-100k',
  'timers',
  'janitor',
  'endpoints',
  'curve',
  'curve-1b',
]

interface Arguments {
  only: ReadonlySet<string>
  agents: number
  timeScale: number
  nodeArguments: string[]
}

function readArguments(args: readonly string[]): Arguments {
  const read: Arguments = { only: new Set(ALL), agents: 15_000, timeScale: 1, nodeArguments: [] }
  for (let at = 0; at < args.length; at += 2) {
    const [name, value] = [args[at], args[at + 1]]
    if (name === '--help' || value === undefined) throw new Error(HELP)
    if (name === '--only') read.only = new Set(value.split(','))
    else if (name === '--agents') read.agents = Number(value)
    else if (name === '--time-scale') read.timeScale = Number(value)
    else if (name === '--node-arg') read.nodeArguments.push(value)
    else throw new Error(HELP)
  }
  const unknown = [...read.only].filter((id) => !ALL.includes(id))
  if (unknown.length > 0) throw new Error(`There is no measure ${unknown.join(', ')}.\n\n${HELP}`)
  return read
}

async function run({ only, agents, timeScale, nodeArguments }: Arguments): Promise<void> {
  const startedAt = new Date()
  const database = await startDatabase()
  const log = (line: string) =>
    console.error(`${((Date.now() - startedAt.getTime()) / 1000).toFixed(1)} s  ${line}`)
  const bench: Bench = { database, agents, timeScale, nodeArguments, log }
  const results: MeasureResult[] = []
  const wants = (...ids: string[]) => ids.some((id) => only.has(id))
  const measure = async (name: string, work: () => Promise<MeasureResult | MeasureResult[]>) => {
    log(name)
    try {
      results.push(...[await work()].flat())
    } catch (error) {
      process.exitCode = 1
      console.error(`${name} did not finish:`, error)
    }
  }
  try {
    if (wants('1', '1b', '2', '3', '4')) {
      log('floor')
      const floor = await measureFloor(bench)
      if (wants('1', '2', '3', '4')) await measure('fleet', () => measureFleet(bench, floor, only))
      if (wants('1b')) await measure('big workload', () => measureBigWorkload(bench, floor, only))
    }
    if (wants('5')) await measure('fan-out', () => measureFanOut(bench))
    if (wants('6')) await measure('restart', () => measureRestart(bench))
    if (wants('7')) await measure('inventory', () => measureInventory(bench))
    if (wants('8')) await measure('browser hub', () => measureHub(bench))
    if (wants('9')) await measure('validation', () => measureValidation(bench))
    if (wants('10')) await measure('evidence pack', () => measureReports(bench))
    if (wants('endpoints')) await measure('endpoints', () => measureEndpoints(bench))
    if (wants('campaign')) await measure('campaign', () => measureCampaign(bench))
    if (wants('fronts')) await measure('several processes', () => measureFronts(bench))
    if (wants('fan-out-100k')) await measure('fan-out to 100,000', () => measureFanOut100k(bench))
    if (wants('timers')) await measure('timers', () => measureTimers(bench))
    if (wants('janitor')) await measure('janitor', () => measureJanitor(bench))
    if (wants('11')) await measure('start', () => measureStart(bench))
    if (wants('curve')) await measure('curve', () => measureCurve(bench, 50))
    if (wants('curve-1b')) await measure('curve of one workload', () => measureCurve(bench, 1))
  } finally {
    await database.end()
  }
  results.sort((a, b) => ALL.indexOf(a.id) - ALL.indexOf(b.id))
  console.log(toTable(results))
  console.log(`\n${saveResults(results, startedAt)}`)
}

const [role, options] = process.argv.slice(2)
if (role === '--role=load') serveRole(new Load(JSON.parse(options!)))
else if (role === '--role=browsers') serveRole(new Browsers(JSON.parse(options!)))
else if (role === '--role=harness') serveRole(new Harness(JSON.parse(options!)))
else if (role === '--role=floor') serveFloor()
else {
  try {
    await run(readArguments(process.argv.slice(2)))
  } catch (error) {
    console.error(error instanceof Error && error.message.startsWith('npm run') ? error.message : error)
    process.exitCode = 1
  }
}
