import type { SimConfigs } from '../agents/sim-configs.ts'
import type { Troubles } from '../troubles.ts'
import { callAs } from './call.ts'
import { APPROVER, AUTHOR, type OperatorWorld } from './operator-world.ts'

/** What an operator of fleet configs uses of the world. */
export interface ConfigWorld extends OperatorWorld {
  agents: readonly unknown[]
  troubles: Troubles
  configs: Pick<SimConfigs, 'makeVersion'>
  look<Row extends object>(text: string, params?: readonly unknown[]): Promise<Row[]>
  pickWorkload(): string | null
}

const SELECTORS = [
  { match_labels: { 'identity/host.name': 'host-*' } },
  { match_labels: { 'identity/host.name': 'host-*' } },
  { match_labels: { 'muster/team': 'red' } },
  { match_expressions: [{ key: 'identity/host.name', operator: 'NotIn', values: ['host-0'] }] },
]
/** An approval that was given to a version that is to apply by itself: what its approver was shown. */
export interface ApprovedVersion {
  planHash: string
  number: number
  reachesProduction: boolean
}

/**
 * An operator of fleet configs: writes versions, changes selectors and priorities, sets variables, holds and freezes,
 * gives labels by rules, and lets versions apply by themselves. All of it through the functions of the API.
 */
export class FleetConfigOperator {
  readonly #world: ConfigWorld
  #names = 0
  /** The approvals that were given to versions that are to apply by themselves, by id. */
  readonly approved = new Map<string, ApprovedVersion>()

  constructor(world: ConfigWorld) {
    this.#world = world
  }

  /** Create a fleet config with a first version. */
  async create(): Promise<void> {
    const { dice } = this.#world
    const created = await this.#call('POST /api/fleet-configs', {
      name: `fleet ${++this.#names}`,
      selector: dice.pick(SELECTORS),
      priority: dice.pick([0, 0, 10]),
    })
    if (created?.ok === true) await this.#addVersion(String(created.json['id']))
  }

  async addVersion(): Promise<void> {
    const id = await this.pickConfig()
    if (id !== null) await this.#addVersion(id)
  }

  async #addVersion(id: string): Promise<void> {
    const { dice, agents, troubles, configs } = this.#world
    const region = {
      ...(dice.chance(0.8) ? { default: 'eu' } : {}),
      ...(dice.chance(0.4) ? { label: dice.pick(['identity/host.name', 'muster/team']) } : {}),
    }
    await this.#call(`POST /api/fleet-configs/${id}/versions`, {
      content: configs.makeVersion(agents.length, troubles),
      variables: [{ name: 'region', ...region }],
      ...(dice.chance(0.3) ? { table: { label: 'muster/team', rows: { red: { region: 'north' } } } } : {}),
      comment: 'another version',
    })
  }

  /** Give a fleet config another selector or priority. */
  async change(): Promise<void> {
    const { dice } = this.#world
    const found = await this.#configs()
    if (found.length === 0) return
    const { id, name, selector, priority } = dice.pick(found)
    const changed = dice.chance(0.5)
      ? { selector: dice.pick(SELECTORS) }
      : { priority: dice.pick([0, 5, 10]) }
    await this.#call(`PUT /api/fleet-configs/${id}`, {
      name,
      description: '',
      selector,
      priority,
      ...changed,
    })
  }

  async remove(): Promise<void> {
    const id = await this.pickConfig()
    if (id !== null) await this.#call(`DELETE /api/fleet-configs/${id}`)
  }

  async setVariables(workloadId: string): Promise<void> {
    const region = this.#world.dice.pick(['eu', 'us', 'asia'])
    await this.#call(`PUT /api/workloads/${workloadId}/variables`, { values: { region } })
  }

  async hold(workloadId: string): Promise<void> {
    await this.#call(`POST /api/workloads/${workloadId}/hold`, { reason: 'leave it alone' })
  }

  async release(): Promise<void> {
    const rows = await this.#world.look<{ id: string }>(
      `select workload_id as id from workload_holds order by 1`,
    )
    if (rows.length > 0) await this.#call(`POST /api/workloads/${this.#world.dice.pick(rows).id}/release`)
  }

  /** Release every workload that is held. */
  async releaseAll(): Promise<void> {
    const rows = await this.#world.look<{ id: string }>(
      `select workload_id as id from workload_holds order by 1`,
    )
    if (rows.length > 0)
      await this.#call('POST /api/holds/release', { workload_ids: rows.map(({ id }) => id) })
  }

  /** Freeze all workloads or some, and lift the freeze later. */
  async freeze(forMs: number): Promise<void> {
    const { dice, time } = this.#world
    const until = new Date(time.clock.now().getTime() + dice.pick([forMs / 2, 3_600_000])).toISOString()
    const selector = dice.chance(0.5)
      ? {}
      : { selector: { match_labels: { 'identity/host.name': 'host-1' } } }
    await this.#call('PUT /api/freeze', { reason: 'month end', until, ...selector })
    time.after(forMs, () => void this.lift())
  }

  async lift(): Promise<void> {
    await this.#call('DELETE /api/freeze')
  }

  /** Create, change or take away a rule that gives labels: also one by which workloads become production. */
  async changeRules(): Promise<void> {
    const { dice } = this.#world
    const rules = await this.#world.look<{ id: string; name: string }>(
      `select id, name from label_rules order by 1`,
    )
    const rule = {
      name: `rule ${++this.#names}`,
      selector: {
        match_labels: { 'identity/host.name': dice.pick(['host-*', 'host-0', 'host-1', 'host-2']) },
      },
      labels: dice.chance(0.5)
        ? { environment: dice.pick(['production', 'staging']) }
        : { team: dice.pick(['red', 'blue']) },
      confirm_lowering: true,
    }
    if (rules.length === 0 || (rules.length < 3 && dice.chance(0.4))) {
      await this.#call('POST /api/label-rules', rule)
      return
    }
    const { id, name } = dice.pick(rules)
    if (dice.chance(0.4)) await this.#call(`PUT /api/label-rules/${id}`, { ...rule, name })
    else await this.#call(`DELETE /api/label-rules/${id}`)
  }

  /** Do the next step of what applies by itself in some fleet config. `isAtRest` ends what stands still. */
  async stepAutoApply(isAtRest: boolean): Promise<void> {
    const { dice } = this.#world
    const rows = await this.#world.look<{
      id: string
      aid: string | null
      status: string | null
      plan_hash: string
      number: number
      reaches_production: boolean
      newest: number
    }>(
      `select f.id, a.id as aid, a.status, a.plan_hash, a.number, a.reaches_production, f.newest_version as newest
       from fleet_configs f left join auto_applies a
         on a.fleet_config_id = f.id and a.status in ('requested', 'active', 'paused', 'held')
       order by f.created_at, f.id, a.requested_at, a.id`,
    )
    for (const { id, aid, status, newest, ...asked } of rows) {
      const { plan_hash: planHash, number, reaches_production: reachesProduction } = asked
      if (status === null) {
        if (!isAtRest && dice.chance(0.7)) await this.#request(id)
      } else if (status === 'requested') {
        if (dice.chance(0.1)) await this.#decide(id, 'withdraw')
        else if (await this.#approve(id, planHash))
          this.approved.set(aid!, { planHash, number, reachesProduction })
      } else if (status === 'active') {
        const act = dice.next()
        if (act < 0.04 && !isAtRest) await this.#decide(id, 'pause')
        else if (act < 0.06 && !isAtRest) await this.#decide(id, 'turn-off')
        else if (
          !isAtRest &&
          act < 0.1 &&
          newest > number &&
          !rows.some((one) => one.id === id && one.status === 'requested')
        )
          await this.#request(id)
      } else await this.#decide(id, dice.chance(0.7) ? 'continue' : 'turn-off')
    }
  }

  /** Request that a version applies by itself which some campaign that is done has brought to its workloads. */
  async #request(id: string): Promise<void> {
    const { dice } = this.#world
    const done = await this.#world.look<{ number: number }>(
      `select distinct (change->>'number')::int as number from campaigns
       where status = 'done' and change->>'fleet_config_id' = $1 order by 1`,
      [id],
    )
    if (done.length === 0) return
    const wanted = {
      number: dice.pick(done).number,
      ...(dice.chance(0.2) ? { selector: dice.pick(SELECTORS) } : {}),
    }
    const planned = await this.#call(`POST /api/fleet-configs/${id}/auto-apply/plan`, wanted)
    if (planned?.ok !== true) return
    const plan = planned.json['plan'] as { campaign_ids: string[] }
    if (plan.campaign_ids.length === 0) return
    const asked = {
      plan_hash: planned.json['plan_hash'],
      prod_confirmation: true,
      comment: 'for all to come',
    }
    await this.#call(`POST /api/fleet-configs/${id}/auto-apply`, { ...wanted, ...asked })
  }

  /** Approve; also true when no answer came, since the approval may stand. */
  async #approve(id: string, planHash: string): Promise<boolean> {
    const path = `POST /api/fleet-configs/${id}/auto-apply/approve`
    const answer = await callAs(this.#world, APPROVER, path, { plan_hash: planHash, comment: 'fine' })
    return answer?.ok !== false
  }

  async #decide(id: string, what: 'pause' | 'continue' | 'turn-off' | 'withdraw'): Promise<void> {
    await this.#call(`POST /api/fleet-configs/${id}/auto-apply/${what}`, { comment: 'as it is' })
  }

  /** The id of some fleet config; null when there is none. */
  async pickConfig(): Promise<string | null> {
    const found = await this.#configs()
    return found.length === 0 ? null : this.#world.dice.pick(found).id
  }

  #configs(): Promise<{ id: string; name: string; selector: object; priority: number; newest: number }[]> {
    return this.#world.look(
      `select id, name, selector, priority, newest_version as newest from fleet_configs order by created_at, id`,
    )
  }

  #call(request: string, body?: object) {
    return callAs(this.#world, AUTHOR, request, body)
  }
}
