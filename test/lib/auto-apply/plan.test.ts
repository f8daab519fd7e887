import { describe, expect, it } from 'vitest'
import type { AutoApplyParts } from '../../../lib/auto-apply/parts.ts'
import { planAutoApply } from '../../../lib/auto-apply/plan.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import { openSelector, toSelectable } from '../../../lib/selectors/selector.ts'
import type { StoredFleetConfig } from '../../../lib/store/fleet-configs.ts'
import type { Selector } from '../../../lib/wire/selectors.ts'
import { fakeClock } from '../../support/fakes.ts'

const WEB: Selector = { match_labels: { 'muster/tier': 'web' } }
const EDGE: Selector = { match_labels: { 'muster/tier': 'edge' } }
const CONFIG = { id: 'fc', name: 'Web', selector: WEB, priority: 0 } as StoredFleetConfig

const workload = (id: string, trustedLabels: Record<string, string>, more: Partial<Workload> = {}) =>
  ({
    id,
    displayName: id,
    type: 'collector',
    version: '',
    labels: {},
    trustedLabels,
    fingerprintKeys: {},
    acceptsRemoteConfig: true,
    availableComponents: null,
    archivedAt: null,
    activeHash: null,
    createdAt: new Date(0),
    ...more,
  }) as unknown as Workload

interface World {
  workloads?: readonly Workload[]
  policy?: string[]
  isRolledBack?: boolean
  versions?: readonly number[]
  /** Workloads that one person alone labelled out of production. */
  kept?: readonly string[]
}

function plan(world: World, wanted: { number?: number; selector?: Selector; priority?: number } = {}) {
  const { workloads = [], policy = [], isRolledBack = false, versions = [1, 2], kept = [] } = world
  const db = {
    query: async (sql: string, params: [unknown, unknown]) => {
      if (sql.includes("'rolled_back')")) return isRolledBack ? versions.map((number) => ({ number })) : []
      if (sql.includes('from fleet_config_versions'))
        return versions.flatMap((number) => (number === params[1] ? [{ number, hash: `h${number}` }] : []))
      if (sql.includes('from reviews'))
        return kept.map((workloadId) => ({ workloadId, classes: ['production'] }))
      return []
    },
  }
  const under = (one: Workload, configs: readonly StoredFleetConfig[]) => ({
    configId: configs.find(({ selector }) => openSelector(selector)(toSelectable(one)))?.id ?? null,
    rivals: [],
  })
  const parts = {
    db,
    clock: fakeClock(),
    fleet: { state: { workloads: new Map(workloads.map((one) => [one.id, one])) } },
    fleetConfigs: {
      configs: [CONFIG],
      config: () => CONFIG,
      membershipOf: (one: Workload) => under(one, [CONFIG]),
      membershipAmong: under,
    },
    config: { policy: { otlpAllowlist: policy, criticalExporters: [], requiredResourceAttributes: [] } },
  } as unknown as AutoApplyParts
  return planAutoApply(parts, CONFIG, { number: 1, selector: WEB, priority: 0, ...wanted })
}

async function planned(...of: Parameters<typeof plan>) {
  const outcome = await plan(...of)
  if (!outcome.ok) throw new Error(outcome.code)
  return outcome
}

describe('a plan', () => {
  it('is of a version that is there, and was not rolled back', async () => {
    expect(await plan({}, { number: 9 })).toMatchObject({ code: 'fleet-config-version-not-found' })
    expect(await plan({ isRolledBack: true })).toMatchObject({ code: 'auto-apply-rolled-back' })
  })

  it('counts who is under the fleet config then, who comes and who goes', async () => {
    const workloads = ['web', 'web', 'edge', 'edge', 'edge', 'other'].map((tier, n) =>
      workload(`w${n}`, { tier }),
    )
    const { plan: same } = await planned({ workloads })
    expect(same).toMatchObject({ under_count: 2, arriving_count: 0, leaving_count: 0 })
    const { plan: other } = await planned({ workloads }, { selector: EDGE })
    expect(other).toMatchObject({ under_count: 3, arriving_count: 3, leaving_count: 2 })
  })
})

describe('a plan reaches production', () => {
  const reaches = async (world: World, selector: Selector = WEB) =>
    (await planned(world, { selector })).plan.reaches_production

  it('where one of its workloads is production, by its labels or until a second person has accepted them', async () => {
    const workloads = [workload('w', { tier: 'web' })]
    expect(await reaches({ workloads })).toBe(false)
    expect(await reaches({ workloads, kept: ['w'] })).toBe(true)
    expect(await reaches({ workloads: [workload('p', { tier: 'web', env: 'prod' })] })).toBe(true)
    expect(await reaches({ workloads: [workload('r', { tier: 'web' }, { labels: { env: 'prod' } })] })).toBe(
      true,
    )
  })

  it.each<[string, Selector, boolean]>([
    ['asks for a trusted label of production', { match_labels: { 'muster/env': 'prod' } }, true],
    [
      'takes one of production among others',
      { match_expressions: [{ key: 'muster/env', operator: 'In', values: ['dev', 'production'] }] },
      true,
    ],
    [
      'shuts production out',
      { match_expressions: [{ key: 'muster/env', operator: 'NotIn', values: ['prod'] }] },
      false,
    ],
    ['asks for what is no production', { match_labels: { 'muster/env': 'preprod' } }, false],
    ['asks for a name of a host', { match_labels: { 'identity/host.name': 'prod' } }, false],
  ])('or not, while nobody is there, where its selector %s', async (_, selector, expected) => {
    expect(await reaches({}, selector)).toBe(expected)
  })
})

describe('what an approval covers', () => {
  const hash = async (...of: Parameters<typeof plan>) => (await planned(...of)).planHash

  it('is the rule, and not the workloads of today', async () => {
    const today = await hash({ workloads: [workload('w', { tier: 'web' })] })
    expect(await hash({})).toBe(today)
    expect(await hash({ workloads: [workload('v', { tier: 'web' }), workload('u', { tier: 'web' })] })).toBe(
      today,
    )
  })

  it('is another one with another version, selector, priority, policy, or with production', async () => {
    const hashes = [
      await hash({}),
      await hash({}, { number: 2 }),
      await hash({}, { selector: EDGE }),
      await hash({}, { priority: 1 }),
      await hash({ policy: ['https://collector.example'] }),
      await hash({ workloads: [workload('p', { tier: 'web', env: 'prod' })] }),
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})
