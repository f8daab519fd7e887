import pg from 'pg'
import { Load } from '../../bench/load/load.ts'
import { type Launch, type Service, startService } from '../../e2e/support/service.ts'
import { eventually } from '../../support/eventually.ts'

/**
 * The real service, a connection to its database, and agents that reconnect one second after they lose their
 * connection.
 */
export interface FaultFleet {
  service: Service
  db: pg.Client
  load: Load
  workloadId: string
  /** Rows of a query on the service's database. */
  rows<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  end(): Promise<void>
}

/** A config that needs only components that the agents report; the mark makes different ones. */
export const configOf = (mark: string): string =>
  [
    'receivers:\n  component0:\n    endpoint: localhost:4317\nexporters:\n  component0: {}\n',
    `service:\n  pipelines:\n    traces:\n      receivers: [component0]\n      exporters: [component0]\n# ${mark}\n`,
  ].join('')

/**
 * Start the service with so many agents of one workload, all stored. `dsn` leads to its database past any proxy;
 * `through` puts something between the agents and the service's port and answers where they are to connect.
 */
export async function startFaultFleet(options: {
  agents: number
  env?: Launch['env']
  dsn?: string
  through?: (opampPort: number) => Promise<number>
}): Promise<FaultFleet> {
  const service = await startService({ env: { OPAMP_SHARED_SECRET: '', ...options.env } })
  const opampPort = Number(new URL(service.opampHttpUrl).port)
  const db = new pg.Client(options.dsn ?? service.dsn)
  db.on('error', () => undefined)
  await db.connect()
  const load = new Load({
    host: '127.0.0.1',
    port: (await options.through?.(opampPort)) ?? opampPort,
    agents: options.agents,
    workloads: 1,
  })
  await load.connect()
  load.reconnectAfter({ ms: 1_000 })
  const rows = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await db.query<Row>(text, values)).rows
  const workloadId = await eventually('every agent is stored', async () => {
    const [found] = await rows<{ n: number; id: string }>(
      'select count(*)::int as n, min(workload_id) as id from agent_workloads',
    )
    return found!.n === options.agents && found!.id
  })
  return {
    service,
    db,
    load,
    workloadId,
    rows,
    async end() {
      load.end()
      await db.end()
      await service.stop()
    },
  }
}

/** Request and approve a config; returns the API path that pushes it. */
export async function approveConfig({ service, workloadId }: FaultFleet, yaml: string): Promise<string> {
  const approvals = `/api/workloads/${workloadId}/config/approvals`
  const draft = {
    draft_yaml: yaml,
    target_group: 'single',
    target_env: 'test',
    comment: 'fault test',
    retry_quarantined: true,
  }
  const { id } = await service.api.post(approvals, draft, 201)
  await service.api.post(`${approvals}/${id}/approve`, { comment: 'looks right' }, 200)
  return `${approvals}/${id}/push`
}

/** Wait until all agents are connected and answered. */
export async function untilAllOpen({ load }: FaultFleet, agents: number): Promise<void> {
  await eventually('everybody is back', async () => load.stats().open === agents, { everyMs: 50 })
}
