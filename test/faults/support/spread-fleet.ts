import { expect } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { SimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { type OneOfSeveral, type Several, type SeveralOptions, startSeveral } from './several.ts'
import { type SupervisedAgents, startSupervisedAgents } from './supervised-agents.ts'

/** A rollout as it is stored. */
interface StoredRollout {
  id: string
  status: string
  members: number
}

/**
 * Agents of one workload at several processes. Those behind each balancer prefer another process, and connect to the
 * next where theirs takes no connections.
 */
export class SpreadFleet {
  readonly several: Several
  readonly workloadId: string
  /** How many agents there are. */
  readonly size: number
  readonly #balancers: readonly Balancer[]
  readonly #groups: readonly SupervisedAgents[]
  readonly #looking: NodeJS.Timeout
  #owner: OneOfSeveral

  private constructor(parts: {
    several: Several
    balancers: readonly Balancer[]
    groups: readonly SupervisedAgents[]
    workloadId: string
    owner: OneOfSeveral
    size: number
  }) {
    this.several = parts.several
    this.workloadId = parts.workloadId
    this.size = parts.size
    this.#balancers = parts.balancers
    this.#groups = parts.groups
    this.#owner = parts.owner
    this.#looking = setInterval(() => {
      void this.several.owner().then((found) => {
        this.#owner = found ?? this.#owner
      })
    }, 100)
  }

  /** Start so many processes with so many agents at each of them. */
  static async start(
    processes: number,
    agentsEach: number,
    options: SeveralOptions = {},
  ): Promise<SpreadFleet> {
    const several = await startSeveral(processes, options)
    const ports = several.all.map(({ opampPort }) => opampPort)
    const balancers: Balancer[] = []
    const groups: SupervisedAgents[] = []
    for (const index of ports.keys()) {
      const balancer = await startBalancer([...ports.slice(index), ...ports.slice(0, index)])
      balancers.push(balancer)
      groups.push(startSupervisedAgents(`ws://127.0.0.1:${balancer.port}/v1/opamp`, agentsEach))
    }
    const size = processes * agentsEach
    const workloadId = await eventually('every agent is stored', async () => {
      const [found] = await several.rows<{ n: number; id: string }>(
        'select count(*)::int as n, min(workload_id) as id from agent_workloads',
      )
      return found!.n === size && found!.id
    })
    return new SpreadFleet({ several, balancers, groups, workloadId, owner: (await several.owner())!, size })
  }

  async end(): Promise<void> {
    clearInterval(this.#looking)
    for (const group of this.#groups) group.end()
    for (const balancer of this.#balancers) await balancer.close()
    await this.several.end()
  }

  /** The process that owned when it was last looked at. */
  get owner(): OneOfSeveral {
    return this.#owner
  }

  /** Of each process, how many agents are connected to it and how many connections to it have ended. */
  connections(): Map<OneOfSeveral, { open: number; ended: number }> {
    const { all } = this.several
    const sums = new Map(all.map((one) => [one, { open: 0, ended: 0 }]))
    for (const [first, balancer] of this.#balancers.entries()) {
      const [open, ended] = [balancer.open(), balancer.ended()]
      for (const at of open.keys()) {
        const sum = sums.get(all[(first + at) % all.length]!)!
        sum.open += open[at]!
        sum.ended += ended[at]!
      }
    }
    return sums
  }

  /** A process that runs and did not own when it was last looked at. */
  get front(): OneOfSeveral {
    return this.several.all.find((one) => one !== this.#owner && !one.running().hasEnded())!
  }

  get agents() {
    return this.#groups.flatMap(({ agents }) => agents)
  }

  /** The hashes of the configs that were offered to each agent, by its uid, the first offer first. */
  offersByAgent(): Map<string, string[]> {
    const offers = new Map<string, string[]>(this.agents.map((agent) => [agent.uidHex(), []]))
    for (const { heard } of this.#groups) for (const { uid, hash } of heard) offers.get(uid)!.push(hash)
    return offers
  }

  /** The uids of the agents that were ever offered this config. */
  offered(hash: string): string[] {
    return [...this.offersByAgent()].flatMap(([uid, hashes]) => (hashes.includes(hash) ? [uid] : []))
  }

  /** The agents that prefer another process than this one. */
  agentsBeside(one: OneOfSeveral): SimulatedAgent[] {
    const index = this.several.all.indexOf(one)
    return this.#groups.flatMap(({ agents }, at) => (at === index ? [] : agents))
  }

  /** Whether this agent runs this config and has said so. */
  runs({ collector: { storage } }: SimulatedAgent, hash: string): boolean {
    return storage.remoteConfigHash === hash && storage.status === 'applied'
  }

  /** How many agents run this config and have said so. */
  running(hash: string): number {
    return this.agents.filter((agent) => this.runs(agent, hash)).length
  }

  /** Call each of these once, when so many offers of this config have arrived. */
  atOffers(hash: string, acts: Readonly<Record<number, () => void>>): void {
    let arrived = 0
    for (const group of this.#groups)
      group.onOffer = (offered) => {
        if (offered === hash) acts[++arrived]?.()
      }
  }

  /** Ask one process that runs after the other, until the answer is one that tells. `notThis` is not asked. */
  call(method: string, path: string, body?: unknown, notThis: OneOfSeveral | null = null) {
    return eventually(`${method} ${path}`, async () => {
      const one = this.several.all.find((each) => each !== notThis && !each.running().hasEnded())!
      const answer = await one.api.call(method, path, body)
      return answer.status !== 503 && answer
    })
  }

  /** Request and approve a config; returns the request's path. */
  async approved(yaml: string): Promise<string> {
    const approvals = `/api/workloads/${this.workloadId}/config/approvals`
    const draft = {
      draft_yaml: yaml,
      target_group: 'single',
      target_env: 'test',
      comment: 'in stages',
      retry_quarantined: true,
    }
    const { id } = (await this.call('POST', approvals, draft)).body
    await this.call('POST', `${approvals}/${id}/approve`, { comment: 'yes' })
    return `${approvals}/${id}`
  }

  /** Push a new config in these stages, or to all; returns its hash. */
  async push(yaml: string, stages?: readonly object[]): Promise<string> {
    const request = await this.approved(yaml)
    expect(await this.pushApproved(request, stages)).toMatchObject({ status: 202 })
    return configHash(yaml)
  }

  /** Push the approved request of this path. Where the owner dies between the push and its answer, it counts as done. */
  async pushApproved(request: string, stages?: readonly object[]) {
    const answer = await this.call('POST', `${request}/push`, { comment: 'go', ...(stages && { stages }) })
    // No other refusal says that the first attempt was done.
    return answer.body.request_status === 'pushed' ? { ...answer, status: 202 } : answer
  }

  /** Wait until everybody runs this config. */
  async untilRunning(hash: string): Promise<void> {
    await eventually('everybody runs it', async () => this.running(hash) === this.size, { withinMs: 90_000 })
  }

  async rolloutOf(hash: string): Promise<StoredRollout | undefined> {
    const [found] = await this.several.rows<StoredRollout>(
      `select r.id, r.status, (select count(*)::int from rollout_members m where m.rollout_id = r.id) as members
       from rollouts r join pushes p using (push_id) where p.config_hash = $1`,
      [hash],
    )
    return found
  }

  async untilRollout(hash: string, status: string): Promise<void> {
    await eventually(
      `the rollout is ${status}`,
      async () => (await this.rolloutOf(hash))?.status === status,
      { withinMs: 90_000 },
    )
  }

  /**
   * Wait until everybody runs this config, and it is stored that all have applied it. Never for the two minutes after
   * which an offer without an answer is repeated: no offer that a process has lost may have to wait for that.
   */
  async untilAllRun(hash: string, withinMs = 90_000): Promise<void> {
    await eventually(
      'everybody runs it, and it is stored',
      async () => {
        const [row] = await this.several.rows<{ hash: string; status: string; applied: number }>(
          `select w.active_config_hash as hash, p.status, (select count(*)::int from push_targets t
             where t.push_id = p.push_id and t.state = 'applied') as applied
           from workloads w join pushes p on p.push_id = w.active_push_id`,
        )
        const isStored = row?.hash === hash && row.status === 'applied' && row.applied === this.size
        return isStored && this.running(hash) === this.size
      },
      { withinMs },
    )
  }

  /** Every offer has its row, every target of a rollout is a member, nobody was given up, and the audit trail is whole. */
  async expectNothingBroken(): Promise<void> {
    const offered = [...this.offersByAgent()].flatMap(([uid, hashes]) =>
      hashes.map((hash) => `${uid}/${hash}`),
    )
    const [broken] = await this.several.rows<Record<string, number>>(
      `select (select count(*)::int from unnest($1::text[]) o where not exists (select from push_targets t
         join pushes p using (push_id) where t.instance_uid || '/' || p.config_hash = o)) as offers_without_a_row,
       (select count(*)::int from push_targets t join rollouts r using (push_id) where t.is_target and not exists
         (select from rollout_members m where m.rollout_id = r.id and m.instance_uid = t.instance_uid)) as no_members,
       (select count(*)::int from push_targets where state = 'failed' and push_id not in
         (select push_id from pushes where status = 'failed')) as given_up`,
      [offered],
    )
    expect(broken).toEqual({ offers_without_a_row: 0, no_members: 0, given_up: 0 })
    expect((await this.call('GET', '/api/audit/verify')).body).toMatchObject({ valid: true })
  }

  /** Nobody was led back and forth: each agent was offered only `before`, and from some time on only `next`. */
  expectOneWay(before: string, next: string): void {
    for (const hashes of this.offersByAgent().values()) {
      expect([...new Set(hashes)]).toEqual([before, next])
      expect(hashes.slice(hashes.indexOf(next)).every((hash) => hash === next)).toBe(true)
    }
  }
}
