import type { SimConfigs } from '../agents/sim-configs.ts'
import { callAs } from './call.ts'
import type { ConfigWorld } from './fleet-configs.ts'
import { APPROVER, AUTHOR } from './operator-world.ts'

/** A target as the approver of its campaign was shown it. */
export interface ShownTarget {
  workload_id: string
  wave: number | null
  verdict: string
  base_hash: string | null
  result_hash: string | null
  is_production: boolean
}

/** What an operator of campaigns uses of the world. */
export interface CampaignWorld extends ConfigWorld {
  configs: ConfigWorld['configs'] & Pick<SimConfigs, 'make'>
}

interface Row {
  id: string
  status: string
  plan_hash: string | null
}

/** After so many decisions to continue a campaign is aborted. */
const CONTINUES_MAX = 3
const ENDED = `('rolled_back', 'rejected', 'withdrawn', 'expired')`

/**
 * An operator of campaigns: makes them, and takes each a step further whenever he looks, sometimes twice at once. He
 * sees what is stored, so a decision whose answer got lost is found out by the next look.
 */
export class CampaignOperator {
  readonly #world: CampaignWorld
  #count = 0
  readonly #continued = new Map<string, number>()
  /** The targets that were shown with the plan of this hash, by campaign. */
  readonly shown = new Map<string, { planHash: string; targets: readonly ShownTarget[] }>()
  /** When he was told that a campaign is started, by campaign; in ms of virtual time. */
  readonly startedMs = new Map<string, number>()

  constructor(world: CampaignWorld) {
    this.#world = world
  }

  /** Make a campaign, as a draft. */
  async create(): Promise<void> {
    const change = await this.#makeChange()
    if (change === null) return
    await this.#call('POST /api/campaigns', {
      name: `campaign ${++this.#count}`,
      ...change,
      ...this.#makeRules(),
    })
  }

  async #makeChange(): Promise<{ change: object; scope: object } | null> {
    const { dice, agents, troubles, configs } = this.#world
    const takeover = dice.chance(0.85) ? { takeover: true } : {}
    const hosts = { selector: { match_labels: { 'identity/host.name': dice.pick(['host-*', 'host-1']) } } }
    const kind = dice.next()
    if (kind < 0.12)
      return {
        change: { kind: 'text', yaml: configs.make(agents.length, troubles), ...takeover },
        scope: hosts,
      }
    if (kind < 0.3) {
      const patch = {
        merge: { exporters: { debug: { verbosity: dice.pick(['basic', 'normal', 'detailed']) } } },
      }
      return { change: { kind: 'patch', patch }, scope: hosts }
    }
    const found = await this.#world.look<{ id: string; newest: number }>(
      `select id, newest_version as newest from fleet_configs where newest_version > 0 order by created_at, id`,
    )
    if (found.length === 0) return null
    const { id, newest } = dice.pick(found)
    const number = Math.max(1, newest - (dice.chance(0.8) ? 0 : 1))
    const named = this.#world.pickWorkload()
    const scope =
      named === null || dice.chance(0.6)
        ? {}
        : dice.chance(0.5)
          ? { workload_ids: [named] }
          : { ...hosts, exclude_ids: [named] }
    return { change: { kind: 'version', fleet_config_id: id, number, ...takeover }, scope }
  }

  #makeRules(): object {
    const { dice } = this.#world
    const dwell = () => ({ dwell_seconds: dice.int(20) })
    return {
      waves: dice.pick([
        [{ percentage: 100, ...dwell() }],
        [
          { count: 1, ...dwell() },
          { percentage: 100, ...dwell() },
        ],
        [
          { count: 1, ...dwell() },
          { count: 1, ...dwell() },
          { percentage: 100, ...dwell() },
        ],
      ]),
      limits: dice.chance(0.5) ? {} : { failed: dice.int(3), silent: dice.int(3), unhealthy: 2 },
      ...(dice.chance(0.6) ? { max_in_flight: 1 + dice.int(3) } : {}),
      catch_up_seconds: dice.int(240),
      ...(dice.chance(0.1) ? { retry_quarantined: true } : {}),
    }
  }

  /**
   * Take each open campaign a step further. `isAtRest` lets those that go on alone, and brings the others to an end.
   */
  async step(isAtRest: boolean): Promise<void> {
    const { dice } = this.#world
    const rows = await this.#world.look<Row>(
      `select id, status, plan_hash from campaigns where status not in ${ENDED} order by created_at, id`,
    )
    for (const row of rows) {
      if (dice.chance(0.05)) void this.#stepOne(row, isAtRest)
      await this.#stepOne(row, isAtRest)
    }
  }

  /** Withdraw what waits for somebody to decide: nobody will. */
  async withdrawAll(): Promise<void> {
    const rows = await this.#world.look<Pick<Row, 'id'>>(
      `select id from campaigns where status in ('requested', 'approved') order by created_at, id`,
    )
    for (const { id } of rows) await this.#decide(id, 'withdraw')
  }

  async #stepOne({ id, status, plan_hash: planHash }: Row, isAtRest: boolean): Promise<void> {
    const { dice } = this.#world
    const act = dice.next()
    switch (status) {
      case 'draft':
        await this.#call(`POST /api/campaigns/${id}/plan`)
        break
      case 'planned':
        if (act < 0.1) await this.#call(`POST /api/campaigns/${id}/plan`)
        else await this.#decide(id, 'request', { plan_hash: planHash, prod_confirmation: true })
        break
      case 'requested':
        if (act < 0.06) await this.#decide(id, act < 0.03 ? 'reject' : 'withdraw')
        else await this.#approve(id, planHash!)
        break
      case 'approved':
        await this.#decide(id, act < 0.05 ? 'withdraw' : 'start')
        break
      case 'running':
        if (isAtRest || act > 0.13) break
        await this.#decide(id, act < 0.08 ? 'pause' : act < 0.1 ? 'abort' : 'roll-back')
        break
      case 'paused':
      case 'halted':
        await this.#goOn(id, act)
        break
      case 'done':
      case 'aborted':
        if (!isAtRest && act < 0.012) await this.#decide(id, 'roll-back')
        break
    }
  }

  async #goOn(id: string, act: number): Promise<void> {
    const count = (this.#continued.get(id) ?? 0) + 1
    this.#continued.set(id, count)
    if (count > CONTINUES_MAX || act < 0.15) await this.#decide(id, 'abort')
    else if (act < 0.35) await this.#decide(id, 'roll-back')
    else await this.#decide(id, 'continue', { limits: { failed: 20, silent: 20, unhealthy: 20 } })
  }

  /** Approve the plan of this hash, having looked at its targets. */
  async #approve(id: string, planHash: string): Promise<void> {
    const targets = await this.#world.look<ShownTarget>(
      `select workload_id, t.wave, verdict, base_hash, result_hash, is_production from campaign_targets t
         join campaigns c on c.id = t.campaign_id where c.id = $1 and c.plan_hash = $2 order by position`,
      [id, planHash],
    )
    this.shown.set(id, { planHash, targets })
    const body = { plan_hash: planHash, comment: 'fine' }
    await callAs(this.#world, APPROVER, `POST /api/campaigns/${id}/approve`, body)
  }

  async #decide(id: string, what: string, body: object = {}): Promise<void> {
    const called = await this.#call(`POST /api/campaigns/${id}/${what}`, { comment: 'as it is', ...body })
    if (what === 'start' && called?.ok) this.startedMs.set(id, this.#world.time.nowMs)
  }

  #call(request: string, body?: object) {
    return callAs(this.#world, AUTHOR, request, body)
  }
}
