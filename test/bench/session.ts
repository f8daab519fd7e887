import { type Floor, startFloor } from './floor.ts'
import { type RemoteLoad, startLoad } from './load/process.ts'
import { memoryKib, pause, watchCpu } from './machine.ts'
import { type BenchDatabase, type BenchService, startBenchService } from './service.ts'

/** What every measure is run with. */
export interface Bench {
  database: BenchDatabase
  agents: number
  /** A factor for the measures that only wait; the targets are stated for 1. */
  timeScale: number
  nodeArguments: readonly string[]
  log(line: string): void
}

/** A service with its fleet connected. */
export interface FleetSession {
  service: BenchService
  load: RemoteLoad
  agents: number
  workloads: number
  /** The service's memory before the first agent connects. */
  idleKib: number
  storm: { answeredSeconds: number; storedSeconds: number; statements: number; errors: number }
  busy: Readonly<Record<string, number>>
  pids(): Record<string, number>
  end(): Promise<void>
}

const SETTLE_MS = 250
/**
 * Some eight seconds after its start and the first sign-in the service gives memory back to the system; this leaves a
 * margin.
 */
const MEMORY_SETTLES_MS = 15_000
const STORED_WITHIN_MS = 300_000

/** Connect a fleet to a fresh service, and measure that connect storm as measure 1 does. */
export async function connectFleet(
  bench: Bench,
  options: {
    agents: number
    workloads: number
    name: string
    env?: Readonly<Record<string, string>>
    /** Wait first until the service has given back the memory that its start took. */
    settlesMemory?: boolean
  },
): Promise<FleetSession> {
  const { agents, workloads, name } = options
  const service = await startBenchService({
    database: bench.database,
    name,
    nodeArguments: bench.nodeArguments,
    ...(options.env === undefined ? {} : { env: options.env }),
  })
  // Wait until the service has settled after its first answers, which compile code that the storm would otherwise pay
  // for.
  await pause(options.settlesMemory === true ? MEMORY_SETTLES_MS : 1_000)
  const idleKib = await memoryKib(service.pid())
  const load = startLoad({ host: '127.0.0.1', port: service.opampPort, agents, workloads })
  const end = async () => {
    await load.stop()
    await service.end()
  }
  try {
    return await storm({ service, load, agents, workloads, idleKib }, end)
  } catch (error) {
    await end()
    throw error
  }
}

async function storm(
  { service, load, agents, workloads, idleKib }: Omit<FleetSession, 'storm' | 'busy' | 'pids' | 'end'>,
  end: () => Promise<void>,
): Promise<FleetSession> {
  await load.stats()
  await service.takeStatements()
  const pids = () => ({ service: service.pid(), load: load.pid })
  const startedAt = performance.now()
  const { value, percent } = await watchCpu(pids(), async () => {
    const { seconds } = await load.connect()
    await untilStored(service, agents, workloads)
    return { answeredSeconds: seconds, storedSeconds: (performance.now() - startedAt) / 1000 }
  })
  const { errors } = await load.stats()
  const statements = await service.takeStatements()
  return {
    service,
    load,
    agents,
    workloads,
    idleKib,
    pids,
    storm: { ...value, statements, errors },
    busy: percent,
    end,
  }
}

/** Wait until every agent's row is stored and the inventory shows every workload as connected. */
async function untilStored(service: BenchService, agents: number, workloads: number): Promise<void> {
  for (const until = performance.now() + STORED_WITHIN_MS; performance.now() < until; ) {
    const { rows } = await service.db.query(
      `select (select count(*) from agent_workloads)::int as agents,
         (select count(*) from workloads where status = 'connected')::int as workloads`,
    )
    if (rows[0].agents === agents && rows[0].workloads === workloads && (await showsAll(service, workloads)))
      return
    await pause(SETTLE_MS)
  }
  throw new Error('the inventory or its rows were not complete within five minutes')
}

async function showsAll(service: BenchService, workloads: number): Promise<boolean> {
  const { status, text } = await service.call('GET', '/api/workloads')
  if (status !== 200) throw new Error(`GET /api/workloads answered ${status}`)
  const records = JSON.parse(text) as { status: string }[]
  return records.length === workloads && records.every((record) => record.status === 'connected')
}

/** Connect a load to the bare server; `seconds` is the time of its connect storm, to compare with the service's. */
export async function connectFloor(
  agents: number,
  workloads: number,
): Promise<{ floor: Floor; load: RemoteLoad; seconds: number; idleKib: number }> {
  const floor = await startFloor()
  const idleKib = await memoryKib(floor.pid)
  const load = startLoad({ host: '127.0.0.1', port: floor.port, agents, workloads })
  await load.stats()
  const { seconds } = await load.connect()
  return { floor, load, seconds, idleKib }
}
