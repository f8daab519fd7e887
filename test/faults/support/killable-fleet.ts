import pg from 'pg'
import { expect } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import {
  type ApiAnswer,
  BUNDLE,
  createDatabase,
  type Service,
  startService,
} from '../../e2e/support/service.ts'
import { eventually } from '../../support/eventually.ts'
import { type StatementProxy, startStatementProxy, type Verdict } from './statement-proxy.ts'
import { runnableConfig, type SupervisedAgents, startSupervisedAgents } from './supervised-agents.ts'

/**
 * When the process is killed at a commit: a name, the proxy's verdict, and whether the transaction is then committed.
 */
export const COMMITS = [
  ['before', 'kill-before'],
  ['after', 'kill-after'],
] as const satisfies readonly (readonly [string, Verdict])[]

/** Check that all of these counts of broken things are 0. */
export function expectNoneOf(broken: Record<string, number>): void {
  expect(broken).toEqual(Object.fromEntries(Object.keys(broken).map((what) => [what, 0])))
}

/** A workload of supervised agents, and a service that is killed at a named step and started again. */
export class KillableFleet {
  readonly agentCount: number
  readonly service: Service
  readonly agents: SupervisedAgents
  /** The hash of the config that all agents run at first. */
  readonly firstHash: string
  /**
   * The hashes of the offers that arrived between the last `afterTheKill` call and the death of the process, oldest
   * first.
   */
  offeredUntilDeath: string[] = []
  readonly #db: pg.Client
  readonly #proxy: StatementProxy
  readonly #kills: { hasKilled: boolean; now(): void }
  #workload = ''

  private constructor(
    parts: { service: Service; agents: SupervisedAgents; db: pg.Client; proxy: StatementProxy },
    kills: { hasKilled: boolean; now(): void },
    agentCount: number,
    firstHash: string,
  ) {
    this.service = parts.service
    this.agents = parts.agents
    this.#db = parts.db
    this.#proxy = parts.proxy
    this.#kills = kills
    this.agentCount = agentCount
    this.firstHash = firstHash
  }

  /** Start the service and its agents, and let all run a first config. */
  static async start(agentCount: number, env: Record<string, string> = {}): Promise<KillableFleet> {
    const dsn = await createDatabase()
    const kills = { hasKilled: true, now: () => {} }
    const proxy = await startStatementProxy(dsn, () => kills.now())
    const service = await startService({
      args: [BUNDLE, '--edition', 'complete'],
      env: { OPAMP_SHARED_SECRET: '', DB_DSN: proxy.dsn, ...env },
    })
    const db = new pg.Client(dsn)
    await db.connect()
    const agents = startSupervisedAgents(service.opampUrl, agentCount)
    kills.now = () => {
      if (kills.hasKilled) return
      kills.hasKilled = true
      agents.onOffer = null
      proxy.judge = null
      process.kill(service.process().pid, 'SIGKILL')
    }
    const yaml = runnableConfig('the first')
    const fleet = new KillableFleet({ service, agents, db, proxy }, kills, agentCount, configHash(yaml))
    await fleet.#settleIn(yaml)
    return fleet
  }

  async #settleIn(yaml: string): Promise<void> {
    this.#workload = await eventually('every agent is stored', async () => {
      const [found] = await this.rows<{ n: number; id: string }>(
        'select count(*)::int as n, min(workload_id) as id from agent_workloads',
      )
      return found!.n === this.agentCount && found!.id
    })
    expect((await this.push(await this.approved(yaml))).status).toBe(202)
    await this.untilSettled(this.firstHash)
  }

  /** Use this workload from now on. */
  follow(workloadId: string): void {
    this.#workload = workloadId
  }

  /** Kill nothing any more, and start the service again where it has ended: whatever the test before left. */
  async recover(): Promise<void> {
    this.#kills.hasKilled = true
    this.#proxy.judge = null
    this.agents.onOffer = null
    if (this.service.process().hasEnded()) await this.service.restart()
  }

  async end(): Promise<void> {
    this.agents.end()
    await this.#db.end()
    await this.service.stop()
    await this.#proxy.close()
  }

  async rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#db.query<Row>(text, values)).rows
  }

  /** How many rows a `from` clause selects: a table or a join, with its condition. */
  async count(from: string, values: unknown[] = []): Promise<number> {
    return (await this.rows<{ n: number }>(`select count(*)::int as n from ${from}`, values))[0]!.n
  }

  /** Call a path under the workload. */
  call(method: string, path = '', body?: unknown): Promise<ApiAnswer> {
    return this.service.api.call(method, `/api/workloads/${this.#workload}${path}`, body)
  }

  /** POST to a path under the workload. */
  post(path: string, body?: unknown): Promise<ApiAnswer> {
    return this.call('POST', path, body)
  }

  request(yaml: string): Promise<ApiAnswer> {
    return this.post('/config/approvals', {
      draft_yaml: yaml,
      target_group: 'single',
      target_env: 'test',
      comment: 'step by step',
      retry_quarantined: true,
    })
  }

  approve(id: string): Promise<ApiAnswer> {
    return this.post(`/config/approvals/${id}/approve`, { comment: 'yes' })
  }

  push(id: string, stages?: readonly object[]): Promise<ApiAnswer> {
    return this.post(`/config/approvals/${id}/push`, { comment: 'go', ...(stages && { stages }) })
  }

  /** Request and approve a config; returns the id of the request. */
  async approved(yaml: string): Promise<string> {
    const { body } = await this.request(yaml)
    expect((await this.approve(body.id)).status).toBe(200)
    return body.id
  }

  /**
   * Let the commit of the next transaction of this name go through, and cut the connection before the service sees the
   * answer.
   */
  loseAnswer(name: string): void {
    this.#proxy.judge = ({ text, transaction }) =>
      text === 'COMMIT' && transaction === name ? 'cut-after' : 'pass'
  }

  /**
   * Kill at the commit of the next transaction of this name: before the database sees it, or before the service sees
   * the answer.
   */
  killAtCommit(name: string, verdict: 'kill-before' | 'kill-after'): void {
    this.#kills.hasKilled = false
    this.#proxy.judge = ({ text, transaction }) =>
      text === 'COMMIT' && transaction === name ? verdict : 'pass'
  }

  /** Kill as the n-th frame that offers this hash arrives. */
  killAtOffer(hash: string, n: number): void {
    this.#kills.hasKilled = false
    let left = n
    this.agents.onOffer = (offered) => {
      if (offered === hash && --left === 0) this.#kills.now()
    }
  }

  /** Wait until the process is killed, and start it again. Returns the status that the call got, null for none. */
  async afterTheKill(calling: Promise<{ status: number }> | null): Promise<number | null> {
    const heardBefore = this.agents.heard.length
    const answered = calling?.then(
      ({ status }) => status,
      () => null,
    )
    await eventually('it is killed', async () => this.#kills.hasKilled && this.service.process().hasEnded(), {
      everyMs: 5,
    })
    const status = (await answered) ?? null
    await eventually('agents have read all there was', async () =>
      this.agents.agents.every((agent) => !agent.isConnected()),
    )
    this.offeredUntilDeath = this.agents.heard.slice(heardBefore).map(({ hash }) => hash)
    await this.service.restart('SIGKILL')
    return status
  }

  /** The uids of the agents that have reported this config as applied. */
  running(hash: string): string[] {
    return this.agents.agents
      .filter(
        ({ collector: { storage } }) => storage.remoteConfigHash === hash && storage.status === 'applied',
      )
      .map((agent) => agent.uidHex())
  }

  /** Wait until all agents run this config, which the workload is assigned, and its push is stored as applied. */
  async untilSettled(hash: string): Promise<void> {
    await eventually(
      'everybody runs what is assigned, and it is stored',
      async () => {
        const [row] = await this.rows<Record<string, unknown>>(
          // Agents that were not back yet when a rollback began join it and count as well.
          `select w.active_config_hash as hash, p.status, p.phase, (select count(*)::int from push_targets t
             where t.push_id = p.push_id and t.state = 'applied') as applied
           from workloads w join pushes p on p.push_id = w.active_push_id`,
        )
        return (
          this.running(hash).length === this.agents.agents.length &&
          row!['hash'] === hash &&
          row!['status'] === 'applied' &&
          row!['applied'] === this.agentCount
        )
      },
      { explain: () => this.service.output().slice(-2_000) },
    )
  }

  /**
   * Count what breaks a promise about pushes: something committed is missing, or a part of a push is there without the
   * rest.
   */
  async countBroken(): Promise<Record<string, number>> {
    const offered = this.agents.heard.map(({ uid, hash }) => `${uid}/${hash}`)
    return {
      'offers without a row': await this.count(
        `unnest($1::text[]) o where not exists (select from push_targets t join pushes p using (push_id)
           where t.instance_uid || '/' || p.config_hash = o)`,
        [offered],
      ),
      'approvals and pushes that do not agree': await this.count(
        `approvals a full join pushes p on p.push_id = a.push_id
           where (a.status = 'pushed' and p.push_id is null) or (p.kind = 'approval' and a.status is distinct from 'pushed')`,
      ),
      'pushes without exactly one audit row': await this.count(
        `pushes p where (select count(*) from audit_events e where e.config_hash = p.config_hash and
           (e.action like '%push%' or e.action in ('config.rollback', 'config.auto_rollback', 'config.canary.rollback')))
           <> (select count(*) from pushes q where q.config_hash = p.config_hash)`,
      ),
      'requests without an audit row': await this.count(
        `approvals a where not exists (select from audit_events e where e.action = 'config.approval.request'
           and position(a.id in e.resource_id || e.detail) > 0)`,
      ),
      'failed pushes not rolled back once': await this.count(
        `pushes p where p.status = 'failed' and
           (select count(*) from pushes r where r.rollback_of_push_id = p.push_id) <> 1`,
      ),
      'failed pushes that are not in quarantine': await this.count(
        `pushes p where p.status = 'failed' and not exists (select from quarantines q where q.push_id = p.push_id)`,
      ),
      'audit chains that are cut': (await this.service.api.get('/api/audit/verify')).valid ? 0 : 1,
    }
  }
}
