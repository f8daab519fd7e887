import { afterEach, describe, expect, it, vi } from 'vitest'
import type { CampaignParts } from '../../../../lib/campaigns/judge/parts.ts'
import { CampaignPlanner } from '../../../../lib/campaigns/plan/planner.ts'
import { PLAN_TURN } from '../../../../lib/campaigns/plan/turn.ts'
import type { Workload } from '../../../../lib/fleet/state/model.ts'
import { configHash } from '../../../../lib/model/config-hash.ts'
import type { StoredCampaign } from '../../../../lib/store/campaigns.ts'
import type { CampaignPlan } from '../../../../lib/wire/campaigns.ts'
import { fakeClock } from '../../../support/fakes.ts'

interface Host {
  isAway?: boolean
  isUnwell?: boolean
  labels?: Record<string, string>
  activeHash?: string | null
  isArchived?: boolean
  instances?: number
}

const workload = (id: string, host: Host): Workload =>
  ({
    id,
    displayName: id,
    type: 'collector',
    version: '',
    labels: {},
    fingerprintKeys: {},
    trustedLabels: { tier: 'web', ...host.labels },
    acceptsRemoteConfig: true,
    availableComponents: null,
    status: host.isAway ? 'disconnected' : host.isUnwell ? 'degraded' : 'connected',
    archivedAt: host.isArchived ? new Date(0) : null,
    activeHash: host.activeHash === undefined ? 'base' : host.activeHash,
    quarantinedHashes: new Set(),
    quarantinedInstances: new Map(),
    instances: new Set(host.isAway ? [] : [{ connection: {}, capabilities: 0xffff, isExcluded: false }]),
    live: {
      instances: () => [],
      count: host.isAway ? 0 : (host.instances ?? 1),
      mostReported: () => null,
    },
  }) as unknown as Workload

const SCOPE = { selector: { match_labels: { 'muster/tier': 'web' } } }
const campaignOf = (more: object = {}): StoredCampaign =>
  ({
    id: 'c1',
    edition: 1,
    change: { kind: 'text', yaml: 'a: b', hash: configHash('a: b') },
    scope: SCOPE,
    rules: { waves: [{ count: 1 }, {}], retryQuarantined: false },
    ...more,
  }) as unknown as StoredCampaign

/** The same workload, which tells whenever somebody looks what it runs. */
function watched(one: Workload, looked: () => void): Workload {
  const { activeHash } = one
  return Object.defineProperty(one, 'activeHash', {
    get() {
      looked()
      return activeHash
    },
  })
}

interface Row {
  workload_id: string
  wave: number | null
  verdict: string
  reason: string | null
  state: string
  position: number
}

/** A planner over these hosts. `isChanged`: the campaign was changed meanwhile; `busy`: so often are the workers. */
function plannerOver(
  hosts: Record<string, Host>,
  { isChanged = false, busy = 0, fault = '', looked = () => {} } = {},
) {
  const stored: { plan: CampaignPlan; planHash: string }[] = []
  const rows: Row[] = []
  const told: string[] = []
  const logged: unknown[] = []
  let left = busy
  const tx = {
    query: async (_: string, params: readonly unknown[]) => {
      if (isChanged) return []
      stored.push({ plan: JSON.parse(String(params[2])) as CampaignPlan, planHash: String(params[3]) })
      return [{}]
    },
    execute: async (_: string, params: readonly unknown[]) => {
      const sent = params.find((param) => typeof param === 'string' && param.startsWith('['))
      if (sent !== undefined) rows.push(...(JSON.parse(String(sent)) as Row[]))
      return 1
    },
  }
  const all = Object.entries(hosts).map(([id, host]) => watched(workload(id, host), looked))
  const parts = {
    clock: fakeClock(),
    log: { error: (about: unknown) => logged.push(about) },
    db: {
      query: async () => {
        if (fault !== '') throw new Error(fault)
        return []
      },
      transaction: async (_: string, work: (inner: typeof tx) => Promise<void>) => work(tx),
    },
    fleet: { state: { workloads: new Map(all.map((one) => [one.id, one])) }, waitForAgents: async () => {} },
    fleetConfigs: { membershipOf: () => ({ configId: null, rivals: [] }) },
    configTargets: { find: async () => ({ labels: {}, trustedLabels: {}, instances: [] }) },
    reservationOf: () => null,
    configs: {
      validate: async () =>
        left-- > 0
          ? { ok: false, code: 'server-busy' }
          : { ok: true, required: [], result: { valid: true, checks: [] } },
      policy: async () => ({ ok: true, evaluation: { decision: 'allow' } }),
      changeKey: async () => ({ ok: true, key: 'k' }),
    },
    config: {
      policy: { otlpAllowlist: [], criticalExporters: [], requiredResourceAttributes: [] },
      runtimeValidation: { minVersion: '' },
    },
  } as unknown as CampaignParts
  const planner = new CampaignPlanner(parts, (id) => told.push(id))
  return { planner, stored, rows, told, logged }
}

async function planOf(hosts: Record<string, Host>, more: object = {}) {
  const made = plannerOver(hosts)
  await made.planner.begin(campaignOf(more), 'ann').done
  expect(made.logged).toEqual([])
  const { plan, planHash } = made.stored[0]!
  const waves: Record<string, number | null> = {}
  for (const { workload_id: id, wave } of made.rows) waves[id] = wave
  return { plan, planHash, waves, rows: made.rows }
}

describe('a plan', () => {
  it('tries the change on a workload that is there before any that is away', async () => {
    const hosts = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`w${n}`, { isAway: n !== 7 }] as const),
    )
    const { plan, waves, rows } = await planOf(hosts)
    expect(waves['w7']).toBe(0)
    expect(Object.values(waves).filter((wave) => wave === 1)).toHaveLength(11)
    expect(rows.find(({ workload_id: id }) => id === 'w3')).toMatchObject({
      verdict: 'offline',
      state: 'offline',
    })
    expect(plan).toMatchObject({ target_count: 12, instance_count: 1, verdicts: { changes: 1, offline: 11 } })
    expect(plan.waves.map(({ target_count }) => target_count)).toEqual([1, 11])
  })

  it('tries the change on a workload that is well before any that is not', async () => {
    const hosts = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`w${n}`, { isUnwell: n !== 7, isAway: n === 3 }] as const),
    )
    const { waves, rows } = await planOf(hosts, { rules: { waves: [{ count: 1 }, { count: 10 }, {}] } })
    expect(waves['w7']).toBe(0)
    expect(waves['w3']).toBe(2)
    // Its place in the campaign's order is that of any other.
    expect(rows.map(({ workload_id: id, position }) => [id, position])).not.toContainEqual(['w7', 0])
  })

  const production = { labels: { env: 'production' } }
  const meant = (tier: string) => ({ match_labels: { 'muster/tier': tier } })
  it.each([
    ['means nobody', [{ count: 1, selector: meant('canary') }, {}]],
    [
      'means nobody, and neither does the next one',
      [{ selector: meant('canary') }, { selector: meant('x') }, {}],
    ],
    ['takes several', [{ count: 2 }, {}]],
    ['is the only one', [{ count: 1 }]],
    ['means who is away', [{ count: 1, selector: meant('away') }, {}]],
  ])('with production in it has one workload tried first where the first wave %s', async (_, waves) => {
    const hosts = {
      ...Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`w${n}`, production])),
      gone: { labels: { env: 'production', tier: 'away' }, isAway: true },
    }
    const scope = { selector: { match_expressions: [{ key: 'muster/env', operator: 'Exists', values: [] }] } }
    const { plan, rows } = await planOf(hosts, { rules: { waves }, scope })
    const first = rows.filter(({ wave }) => wave === 0)
    expect(first).toMatchObject([{ verdict: 'changes' }])
    expect(plan.waves[0]).toMatchObject({ target_count: 1, dwell_seconds: 60 })
    expect(plan.waves.reduce((sum, { target_count: count }) => sum + count, 0)).toBe(10)
  })

  it('with production in it takes the one that was asked for first, by whatever name', async () => {
    const hosts = { w1: production, w2: production, w3: { labels: { env: 'production', tier: 'canary' } } }
    const scope = { selector: { match_expressions: [{ key: 'muster/env', operator: 'Exists', values: [] }] } }
    const waves = [{ selector: meant('canary'), dwell_seconds: 5 }, {}]
    const { plan, waves: found } = await planOf(hosts, { rules: { waves }, scope })
    expect(found).toMatchObject({ w1: 1, w2: 1, w3: 0 })
    expect(plan.waves.map(({ target_count: count }) => count)).toEqual([1, 2])
  })

  it('begins with the first wave that means somebody: that is held to what the first is held to', async () => {
    const waves = [{ count: 1, selector: meant('canary') }, { count: 2 }, {}]
    const { plan } = await planOf({ w1: {}, w2: {}, w3: {} }, { rules: { waves } })
    expect(plan.waves.map(({ target_count: count }) => count)).toEqual([2, 1])
  })

  it('names whom it leaves out, in no wave, and says why', async () => {
    const { plan, waves, rows } = await planOf(
      { w1: {}, w2: {}, fresh: { activeHash: null }, same: { activeHash: configHash('a: b') } },
      { scope: { ...SCOPE, exclude_ids: ['w2'] } },
    )
    expect(waves).toEqual({ w1: 0, w2: null, fresh: null, same: null })
    expect(plan.verdicts).toEqual({ changes: 1, excluded: 1, unmanaged: 1, same: 1 })
    for (const { workload_id: id, state } of rows) expect(state).toBe(id === 'w1' ? 'waiting' : 'left_out')
  })

  it('has nobody else in it: not the archived, nor whom its selector does not mean', async () => {
    const { waves } = await planOf({ w1: {}, old: { isArchived: true }, edge: { labels: { tier: 'edge' } } })
    expect(Object.keys(waves)).toEqual(['w1'])
  })

  it('that is cut to a scope leaves out whoever is outside, and says how many', async () => {
    const hosts = { w1: { labels: { env: 'dev' } }, w2: { labels: { env: 'qa' } }, w3: {} }
    const cut = { cut_to: [{ key: 'muster/env', values: ['dev'] }] }
    const whole = await planOf(hosts)
    expect(whole.plan).not.toHaveProperty('outside_scope_count')
    const { plan, waves } = await planOf(hosts, { scope: { ...SCOPE, ...cut } })
    expect(Object.keys(waves)).toEqual(['w1'])
    expect(plan.outside_scope_count).toBe(2)
  })

  it('counts what people decide by: production, no way back, restarts', async () => {
    const change = { kind: 'text', yaml: 'a: b', hash: configHash('a: b'), takeover: true }
    const { plan } = await planOf(
      { w1: { labels: { env: 'prod' }, instances: 3 }, w2: { activeHash: null }, w3: {} },
      { change },
    )
    expect(plan).toMatchObject({
      target_count: 3,
      instance_count: 5,
      production_count: 1,
      no_way_back_count: 1,
      environments: ['prod'],
    })
  })

  it('has the same hash for the same, and another one when a workload comes or changes its base', async () => {
    const { planHash } = await planOf({ w1: {}, w2: {} })
    expect((await planOf({ w2: {}, w1: {} })).planHash).toBe(planHash)
    expect((await planOf({ w1: {}, w2: {}, w3: {} })).planHash).not.toBe(planHash)
    expect((await planOf({ w1: {}, w2: { activeHash: 'moved' } })).planHash).not.toBe(planHash)
  })
})

describe('the planner', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('makes one plan of a campaign at a time, and says how far it is', async () => {
    const { planner, stored, told } = plannerOver({ w1: {}, w2: {} })
    const first = planner.begin(campaignOf(), 'ann')
    expect(planner.progress('c1')).toEqual({ done: 0, total: 0 })
    expect(planner.begin(campaignOf(), 'ann').refusal).toBe('campaign-being-planned')
    await first.done
    expect([first.refusal, stored.length, planner.progress('c1'), told]).toEqual([null, 1, null, ['c1']])
    const again = planner.begin(campaignOf(), 'ann')
    await again.done
    expect([again.refusal, stored.length]).toEqual([null, 2])
  })

  it('lets others have their turn while it begins with many workloads', async () => {
    const hosts = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`w${n}`, {}] as const))
    const turns: number[] = []
    let inTurn = 0
    let isOver = false
    const turn = () => {
      turns.push(inTurn)
      inTurn = 0
      if (!isOver) setImmediate(turn)
    }
    // The plan is given up where its beginning is over.
    const { planner } = plannerOver(hosts, { looked: () => inTurn++, fault: 'lost' })
    turn()
    await planner.begin(campaignOf(), 'ann').done
    isOver = true
    turn()
    expect(turns.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(1_000)
    expect(Math.max(...turns)).toBeLessThanOrEqual(PLAN_TURN)
  })

  it('is made beside so few others that nobody keeps others from planning', async () => {
    const { planner, stored } = plannerOver({ w1: {} })
    const begun = (by: string, ids: readonly string[]) =>
      ids.map((id) => planner.begin(campaignOf({ id }), by))
    const ofAnn = begun('ann', ['a1', 'a2', 'a3', 'a4'])
    expect(ofAnn.map(({ refusal }) => refusal)).toEqual([null, null, null, 'plans-too-many-of-one'])
    // One that is being made is no other plan.
    expect(planner.begin(campaignOf({ id: 'a1' }), 'ann').refusal).toBe('campaign-being-planned')
    const ofOthers = [...begun('bob', ['b1', 'b2', 'b3']), ...begun('cem', ['c1', 'c2', 'c3'])]
    expect(ofOthers.map(({ refusal }) => refusal)).toEqual([null, null, null, null, null, 'plans-too-many'])
    await Promise.all([...ofAnn, ...ofOthers].map(({ done }) => done))
    expect(stored).toHaveLength(8)
    const again = planner.begin(campaignOf({ id: 'a4' }), 'ann')
    await again.done
    expect([again.refusal, stored.length]).toEqual([null, 9])
  })

  it('stores no plan of a campaign that was changed meanwhile', async () => {
    const { planner, rows, told } = plannerOver({ w1: {} }, { isChanged: true })
    await planner.begin(campaignOf(), 'ann').done
    expect([rows, told]).toEqual([[], ['c1']])
  })

  it('gives a plan up when the database is lost, tells so, and can begin anew', async () => {
    const { planner, logged, told } = plannerOver({ w1: {} }, { fault: 'the database is away' })
    await planner.begin(campaignOf(), 'ann').done
    expect([logged.length, told, planner.progress('c1')]).toEqual([1, ['c1'], null])
    const again = planner.begin(campaignOf(), 'ann')
    expect(again.refusal).toBeNull()
    await again.done
  })

  it.each([
    [49, 'changes', null],
    [50, 'refused', 'unreadable'],
  ] as const)(
    'asks busy config workers again: after %i refusals the workload %s',
    async (busy, verdict, reason) => {
      vi.useFakeTimers({ toFake: ['setTimeout'] })
      const { planner, rows } = plannerOver({ w1: {} }, { busy })
      const { done } = planner.begin(campaignOf(), 'ann')
      await vi.advanceTimersByTimeAsync(11_000)
      await done
      expect(rows).toMatchObject([{ workload_id: 'w1', verdict, reason }])
    },
  )
})
