import { expect } from 'vitest'
import { Campaigns } from '../../lib/campaigns/campaigns.ts'
import { orderTargets } from '../../lib/campaigns/plan/waves.ts'
import { configHash } from '../../lib/model/config-hash.ts'
import type { AgentReport } from '../../lib/opamp/report.ts'
import type { Database } from '../../lib/store/db.ts'
import type { CampaignRecord, CampaignTarget } from '../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../runtime/editions.ts'
import { HEALTHY } from './agent-report.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from './fleet.ts'
import { invoke, type SignedIn, signIn } from './invoke.ts'
import type { TestDatabase } from './postgres.ts'
import { configYaml, pushConfig } from './push-config.ts'

/** What the hosts run before the campaign, and what it brings. */
export const FIRST = configHash(configYaml(1))
export const SECOND = configHash(configYaml(2))

/** An agent's health when its collector has died of its config. */
export const SICK = {
  healthy: false,
  status: 'StatusPermanentError',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}

const VMS = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] }

/** Hosts `vm-1`, `vm-2` … that all run the first config, and campaigns over them that somebody else approves. */
export class CampaignScene {
  readonly #database: TestDatabase
  ctx: FleetTestContext
  campaigns: Campaigns
  readonly editor: SignedIn
  readonly approver: SignedIn
  agents: FakeAgent[] = []

  private constructor(
    database: TestDatabase,
    ctx: FleetTestContext,
    people: Record<'editor' | 'approver', SignedIn>,
  ) {
    this.#database = database
    this.ctx = ctx
    this.campaigns = ctx.campaigns
    this.editor = people.editor
    this.approver = people.approver
  }

  /** Empty the tables and connect so many hosts. */
  static async open(database: TestDatabase, hosts: number, db?: Database): Promise<CampaignScene> {
    for (const table of ['campaigns', 'workloads']) await database.pool.execute(`delete from ${table}`)
    const ctx = await createFleetContext(database, {
      edition: createCompleteEdition(),
      ...(db ? { db } : {}),
    })
    const editor = await signIn(ctx, { groups: ['editor'] })
    const scene = new CampaignScene(database, ctx, {
      editor,
      approver: await signIn(ctx, { groups: ['editor'] }),
    })
    for (let n = 1; n <= hosts; n++) scene.agents.push(fakeAgent(ctx.fleet, { host: `vm-${n}` }))
    await ctx.advance(300)
    for (const agent of scene.agents) await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    for (const agent of scene.agents) agent.apply()
    await ctx.advance(300)
    return scene
  }

  call(method: string, path: string, body?: unknown, as = this.editor) {
    return invoke(this.ctx, `${method} /api/campaigns${path}`, { as: as.token, body })
  }

  async record(id: string): Promise<CampaignRecord> {
    return (await this.call('GET', `/${id}`)).json as CampaignRecord
  }

  async targetOf(id: string, { workloadId }: FakeAgent): Promise<CampaignTarget> {
    const targets = (await this.call('GET', `/${id}/targets?limit=500`)).json as CampaignTarget[]
    return targets.find(({ workload_id }) => workload_id === workloadId)!
  }

  /** Advance the clock by `ms`, let the campaigns do what is due, and the fleet what follows; `times` times. */
  async work(ms = 0, times = 1): Promise<void> {
    for (let n = 0; n < times; n++) {
      if (ms > 0) await this.ctx.advance(ms)
      await this.campaigns.work(new AbortController().signal)
      await this.ctx.advance(300)
    }
  }

  /** A campaign that brings the second config to the hosts, as a draft. */
  async drafted(more: object = {}): Promise<string> {
    const change = { kind: 'text', yaml: configYaml(2) }
    const draft = { name: 'Two', change, scope: { selector: VMS }, waves: [{}], ...more }
    const { status, json } = await this.call('POST', '', draft)
    expect(status, JSON.stringify(json)).toBe(201)
    return (json as CampaignRecord).id
  }

  /** A campaign that brings the second config to the hosts, once it is planned. */
  async planned(more: object = {}): Promise<string> {
    const id = await this.drafted(more)
    expect((await this.call('POST', `/${id}/plan`)).status).toBe(202)
    while (this.ctx.campaigns.planner.progress(id) !== null)
      await new Promise((resolve) => setTimeout(resolve, 5))
    return id
  }

  /** Plan, request and approve a campaign that brings the second config to the hosts. */
  async approved(more: object = {}): Promise<string> {
    const id = await this.planned(more)
    const { plan_hash } = await this.record(id)
    expect((await this.call('POST', `/${id}/request`, { plan_hash })).status).toBe(200)
    const yes = { comment: 'yes', plan_hash }
    expect((await this.call('POST', `/${id}/approve`, yes, this.approver)).status).toBe(200)
    return id
  }

  async start(more: object = {}): Promise<string> {
    const id = await this.approved(more)
    expect((await this.call('POST', `/${id}/start`)).status).toBe(200)
    return id
  }

  /** The agent that a campaign changes first. */
  async firstOf(id: string): Promise<FakeAgent> {
    return (await orderTargets(id, this.agents))[0]!
  }

  /** Agents that were last offered this config. */
  offered(hash: string): FakeAgent[] {
    return this.agents.filter((agent) => agent.offered().at(-1) === hash)
  }

  /** The process ends, and another one starts on the same database; its agents have yet to come back. */
  async restart(downMs: number): Promise<void> {
    const { clock } = this.ctx
    await this.ctx.close()
    clock.advance(downMs)
    this.ctx = await createFleetContext(this.#database, { edition: createCompleteEdition(), clock })
    this.campaigns = this.ctx.campaigns
  }

  /** The time passes in which no process runs; the agents are there again when one does. */
  async sleep(ms: number): Promise<void> {
    this.ctx.clock.advance(ms)
    this.campaigns = new Campaigns(this.ctx.campaigns.parts)
    await this.campaigns.work(new AbortController().signal)
  }

  /** An agent connects again and says that it runs this config, and how it is. */
  comeBack(agent: FakeAgent, hash: string, more: Partial<AgentReport> = { health: HEALTHY }): FakeAgent {
    const n = this.agents.indexOf(agent)
    const back = fakeAgent(this.ctx.fleet, { host: `vm-${n + 1}`, uid: agent.uid, more })
    this.agents[n] = back
    back.apply(hash)
    return back
  }
}
