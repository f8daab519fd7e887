import { expect } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import type { Database } from '../../lib/store/db.ts'
import type {
  AutoApplyLeftOut,
  AutoApplyState,
  AutoApplyTarget,
  PlannedAutoApply,
} from '../../lib/wire/auto-apply.ts'
import type { CampaignRecord } from '../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from './fleet.ts'
import { invoke, type SignedIn, signIn } from './invoke.ts'
import type { TestDatabase } from './postgres.ts'
import { configYaml } from './push-config.ts'

/** The text of a version, with a variable by which every host gets a config of its own. */
export const versionText = (number: number): string =>
  configYaml(number).replace('127.0.0.1', `\${muster:site}`)
/** The hash of the config that a host gets from a version. */
export const hashOn = (number: number, host: string): string =>
  configHash(configYaml(number).replace('127.0.0.1', host))

const SITE = { name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }
const VMS = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] }

/** A fleet with one fleet config for the hosts `vm-*`. */
export class AutoApplyScene {
  readonly ctx: FleetTestContext
  readonly editor: SignedIn
  readonly approver: SignedIn
  configId = ''
  /** The agents by host name. */
  readonly agents = new Map<string, FakeAgent>()

  private constructor(ctx: FleetTestContext, editor: SignedIn, approver: SignedIn) {
    this.ctx = ctx
    this.editor = editor
    this.approver = approver
  }

  /** Empty the tables, connect the hosts vm-1 to vm-3 and write version 1. */
  static async open(
    database: TestDatabase,
    db?: Database,
    config: NonNullable<Parameters<typeof createFleetContext>[1]>['config'] = {},
  ): Promise<AutoApplyScene> {
    for (const table of ['fleet_configs', 'campaigns', 'auto_applies', 'workloads', 'alerts'])
      await database.pool.execute(`delete from ${table}`)
    await database.pool.execute(`delete from settings where name = 'approval_policy'`)
    const ctx = await createFleetContext(database, {
      edition: createCompleteEdition(),
      config,
      ...(db ? { db } : {}),
    })
    const editor = await signIn(ctx, { groups: ['editor'] })
    const scene = new AutoApplyScene(ctx, editor, await signIn(ctx, { groups: ['editor'] }))
    for (const host of ['vm-1', 'vm-2', 'vm-3']) scene.connect(host)
    await ctx.advance(1_000)
    const { json } = await scene.call('POST /api/fleet-configs', { name: 'Hosts', selector: VMS })
    scene.configId = (json as { id: string }).id
    await scene.write(1)
    return scene
  }

  connect(host: string, more: Parameters<typeof fakeAgent>[1] = {}): FakeAgent {
    const agent = fakeAgent(this.ctx.fleet, { host, ...more })
    this.agents.set(host, agent)
    return agent
  }

  agent(host: string): FakeAgent {
    return this.agents.get(host)!
  }

  call(route: string, body?: unknown, as = this.editor) {
    return invoke(this.ctx, route, { as: as.token, ...(body === undefined ? {} : { body }) })
  }

  /** Call the API of the fleet config's auto-apply; `path` follows `/auto-apply`. */
  on(method: string, path: string, body?: unknown, as = this.editor) {
    return this.call(`${method} /api/fleet-configs/${this.configId}/auto-apply${path}`, body, as)
  }

  /** Write the next version, and check that it gets this number. */
  async write(number: number, more: object = {}): Promise<void> {
    const body = { content: versionText(number), comment: `Version ${number}`, variables: [SITE], ...more }
    const { status, json } = await this.call(`POST /api/fleet-configs/${this.configId}/versions`, body)
    expect(status, JSON.stringify(json)).toBe(201)
    expect(json).toMatchObject({ number })
  }

  /** Advance the clock by `ms`, then let campaigns and auto-apply do what is due, and the fleet what follows. */
  async work(ms = 0): Promise<void> {
    if (ms > 0) await this.ctx.advance(ms)
    const { signal } = new AbortController()
    await this.ctx.campaigns.work(signal)
    await this.ctx.autoApply.work(signal)
    await this.ctx.advance(300)
  }

  /** Let each of these hosts that was ever offered a config apply the last one. */
  async applyAll(hosts: readonly string[] = [...this.agents.keys()]): Promise<void> {
    for (const host of hosts) if (this.agent(host).offered().length > 0) this.agent(host).apply()
    await this.ctx.advance(300)
  }

  async campaign(number: number, more: object = {}): Promise<string> {
    const change = { kind: 'version', fleet_config_id: this.configId, number, takeover: true }
    const draft = {
      name: `To ${number}`,
      change,
      scope: {},
      waves: [{}],
      limits: { failed: 50, silent: 50 },
      ...more,
    }
    const { status, json } = await this.call('POST /api/campaigns', draft)
    expect(status, JSON.stringify(json)).toBe(201)
    const { id } = json as CampaignRecord
    await this.call(`POST /api/campaigns/${id}/plan`)
    while (this.ctx.campaigns.planner.progress(id) !== null)
      await new Promise((resolve) => setTimeout(resolve, 5))
    const { plan_hash } = await this.readCampaign(id)
    const yes = { comment: 'yes', plan_hash, prod_confirmation: true }
    expect((await this.call(`POST /api/campaigns/${id}/request`, yes)).status).toBe(200)
    expect((await this.call(`POST /api/campaigns/${id}/approve`, yes, this.approver)).status).toBe(200)
    expect((await this.call(`POST /api/campaigns/${id}/start`, yes)).status).toBe(200)
    return id
  }

  async readCampaign(id: string): Promise<CampaignRecord> {
    return (await this.call(`GET /api/campaigns/${id}`)).json as CampaignRecord
  }

  /** Run a campaign to its end, so that all hosts run the version; returns its id. */
  async carry(number: number, more: object = {}): Promise<string> {
    const id = await this.campaign(number, more)
    for (let n = 0; n < 12 && (await this.readCampaign(id)).status !== 'done'; n++) {
      // With production among the hosts the first wave is one workload, which is watched for a minute.
      await this.work(n < 6 ? 300 : 31_000)
      await this.applyAll()
    }
    expect((await this.readCampaign(id)).status).toBe('done')
    return id
  }

  async plan(number: number, more: object = {}): Promise<PlannedAutoApply> {
    const { status, json } = await this.on('POST', '/plan', { number, ...more })
    expect(status, JSON.stringify(json)).toBe(200)
    return json as PlannedAutoApply
  }

  async request(number: number, more: object = {}) {
    const { plan_hash } = await this.plan(number, more)
    return this.on('POST', '', {
      number,
      ...more,
      plan_hash,
      comment: 'for newcomers',
      prod_confirmation: true,
    })
  }

  approve(planHash: string, as = this.approver) {
    return this.on('POST', '/approve', { comment: 'yes', plan_hash: planHash }, as)
  }

  /** Request and approve that a version applies by itself, so that it is in force. */
  async apply(number: number, more: object = {}): Promise<void> {
    const asked = await this.request(number, more)
    expect(asked.status, JSON.stringify(asked.json)).toBe(201)
    const { plan_hash } = asked.json as PlannedAutoApply
    expect(await this.approve(plan_hash)).toMatchObject({ status: 200, json: { status: 'active' } })
    await this.work()
  }

  async state(): Promise<AutoApplyState> {
    return (await this.on('GET', '')).json as AutoApplyState
  }

  async targets(): Promise<AutoApplyTarget[]> {
    return (await this.on('GET', '/targets')).json as AutoApplyTarget[]
  }

  /** Why auto-apply left hosts out, by host: the reason, and the variable where one is missing. */
  async leftOut(): Promise<Record<string, string>> {
    const rows = (await this.on('GET', '/left-out')).json as AutoApplyLeftOut[]
    const hostOf = new Map([...this.agents].map(([host, { workloadId }]) => [workloadId, host]))
    return Object.fromEntries(
      rows.map(({ workload_id: id, reason, detail }) => [
        hostOf.get(id) ?? id,
        detail === undefined ? reason : `${reason} ${detail}`,
      ]),
    )
  }

  /** The hash that a host was offered last. */
  runs(host: string): string | undefined {
    return this.agent(host).offered().at(-1)
  }

  /** Set the trusted labels of a host's workload, as a new administrator. */
  async label(host: string, labels: Record<string, string>): Promise<void> {
    const { workloadId } = this.agent(host)
    const admin = await signIn(this.ctx)
    const { status } = await this.call(`PUT /api/workloads/${workloadId}/trusted-labels`, { labels }, admin)
    expect(status).toBe(200)
  }

  /** Put a policy in force by which somebody alone changes what has no environment. */
  async letAuthorsCountUnlabelled(): Promise<void> {
    const policy = {
      production: { approvals: 1, author_counts: false },
      other: { approvals: 1, author_counts: true },
      unlabelled: { approvals: 1, author_counts: true },
    }
    // A second administrator confirms what asks for less.
    for (let n = 0; n < 2; n++)
      expect((await this.call('PUT /api/approval-policy', policy, await signIn(this.ctx))).status).toBe(200)
  }
}
