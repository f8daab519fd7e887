import { describe, expect, it } from 'vitest'
import {
  CampaignJudge,
  JudgeBusy,
  type JudgedChange,
  type Judgement,
} from '../../../../lib/campaigns/judge/judge.ts'
import type { CampaignParts } from '../../../../lib/campaigns/judge/parts.ts'
import { configHash } from '../../../../lib/model/config-hash.ts'
import type { StoredVariable } from '../../../../lib/store/fleet-configs.ts'
import { FAKE_START } from '../../../support/fakes.ts'

type Workload = Parameters<CampaignJudge['judge']>[0]

const BASE = configHash('the base')
const RESULT = configHash('the result')
const TEXT: JudgedChange['change'] = { kind: 'text', yaml: 'the result', hash: RESULT }
const VERSION: JudgedChange['change'] = { kind: 'version', fleet_config_id: 'fc', number: 7 }
const PATCH: JudgedChange['change'] = { kind: 'patch', patch: {}, hash: configHash('{}') }
const NOW = new Date(FAKE_START)

const workload = (more: Partial<Record<keyof Workload, unknown>> = {}): Workload =>
  ({
    id: 'w1',
    type: 'collector',
    version: '0.149.0',
    labels: {},
    trustedLabels: {},
    fingerprintKeys: {},
    acceptsRemoteConfig: true,
    availableComponents: null,
    archivedAt: null,
    activeHash: BASE,
    quarantinedHashes: new Set(),
    quarantinedInstances: new Map(),
    instances: new Set([{ connection: { id: 1 }, workload: {}, capabilities: 0xffff, isExcluded: false }]),
    live: { instances: () => [] },
    ...more,
  }) as unknown as Workload

interface World {
  reservation?: 'held' | 'frozen' | null
  under?: string | null
  /** Texts that are kept, by hash. */
  texts?: Record<string, string>
  /** The owner in Git. */
  owner?: string | null
  variables?: readonly StoredVariable[] | null
  isGone?: boolean
  failedCheck?: string | null
  /** What the result needs, and the components that the workload has said it has. */
  required?: readonly { category: string; type: string }[]
  components?: ReadonlyMap<string, readonly string[]>
  isBlocked?: boolean
  unfit?: 'patch_base_invalid' | 'patch_does_not_fit' | 'patch_mismatch'
  /** How many of the first calls of the config workers find them busy. */
  busy?: number
  /** They were not busy, but took too long over the text. */
  gaveUp?: true
}

/** Parts of which each answers as the world is; `asked` counts the calls of the config workers. */
function partsOf(world: World = {}) {
  const { texts = { [BASE]: 'the base' }, variables = [], owner = null, under = null } = world
  const asked: string[] = []
  let busy = world.busy ?? 0
  const work = async <T>(name: string, answer: (text: string) => T, text = '') => {
    asked.push(name)
    const { gaveUp } = world
    return busy-- > 0 ? { ok: false, code: 'server-busy', gaveUp } : { ok: true, ...answer(text) }
  }
  const db = {
    query: async (sql: string, [key]: [string]) => {
      if (sql.includes('from managed_configs')) return owner === null ? [] : [{ workloadId: 'w1', owner }]
      if (sql.includes('from fleet_config_versions'))
        return variables === null ? [] : [{ body: 'a version', variables, valueTable: null }]
      if (sql.includes('from config_contents'))
        return texts[key] === undefined ? [] : [{ hash: key, body: texts[key], components: [] }]
      return []
    },
  }
  const failed = world.failedCheck ?? null
  const configs = {
    render: ({ values }: { values: Record<string, string> }) =>
      work('render', () => {
        const missing = (variables ?? []).find(({ name, isRequired }) => isRequired && !(name in values))
        return {
          rendering: missing
            ? { ok: false, problem: { code: 'variable_missing', variable: missing.name } }
            : { ok: true, text: `a version ${JSON.stringify(values)}` },
        }
      }),
    patch: (text: string) =>
      work('patch', () => ({
        patching:
          world.unfit === undefined
            ? { ok: true, text: `${text}, patched`, otherMatches: [] }
            : { ok: false, problem: { code: world.unfit, message: `it is ${world.unfit}` } },
      })),
    validate: () =>
      work('validate', () => ({
        required: world.required ?? ['otlp'],
        result: {
          valid: failed === null,
          checks: failed === null ? [] : [{ id: failed, status: 'failed' }],
        },
      })),
    policy: () => work('policy', () => ({ evaluation: { decision: world.isBlocked ? 'block' : 'allow' } })),
  }
  const target = {
    version: '0.149.0',
    labels: {},
    trustedLabels: {},
    instances: [],
    lastKnownComponents: world.components ?? null,
    workloadId: 'w1',
  }
  const parts = {
    db,
    configs,
    clock: { now: () => NOW },
    fleetConfigs: { membershipOf: () => ({ configId: under, rivals: [] }) },
    configTargets: { find: async () => (world.isGone ? null : target) },
    reservationOf: () => world.reservation ?? null,
    config: {
      policy: { otlpAllowlist: [], criticalExporters: [], requiredResourceAttributes: [] },
      runtimeValidation: { minVersion: '' },
    },
  } as unknown as CampaignParts
  return { parts, asked }
}

const judgeOf = (parts: CampaignParts, change: JudgedChange['change'], more: Partial<JudgedChange> = {}) =>
  new CampaignJudge(parts, { change, scope: {}, rules: { retryQuarantined: false }, ...more })

const judge = (
  world: World,
  who: Partial<Record<keyof Workload, unknown>> = {},
  change: JudgedChange['change'] = TEXT,
  more: Partial<JudgedChange> = {},
): Promise<Judgement> => judgeOf(partsOf(world).parts, change, more).judge(workload(who))

const REQUIRED = (name: string, label: string | null = null): StoredVariable => ({
  name,
  label,
  type: 'string',
  isRequired: true,
  pattern: null,
  fallback: null,
  description: '',
})

describe('a workload that a change is meant for', () => {
  it('changes, from what it runs to what it would run', async () => {
    expect(await judge({})).toEqual({
      verdict: 'changes',
      reason: null,
      baseHash: BASE,
      isProduction: false,
      required: ['otlp'],
      result: { ok: true, hash: RESULT, text: 'the result', values: {}, otherMatches: [] },
    })
  })

  it('is offline while it has no instance that can take the config, and is checked all the same', async () => {
    const away = { instances: new Set() }
    expect(await judge({}, away)).toMatchObject({ verdict: 'offline', result: { hash: RESULT } })
    expect(await judge({ failedCheck: 'schema' }, away)).toMatchObject({ verdict: 'refused' })
  })

  it('is the same where it runs the result already, whatever speaks against the result', async () => {
    const there = { activeHash: RESULT, quarantinedHashes: new Set([RESULT]) }
    expect(await judge({ failedCheck: 'schema', isBlocked: true }, there)).toMatchObject({ verdict: 'same' })
  })

  it.each<[string, World, object, string, string]>([
    ['is archived', {}, { archivedAt: NOW }, 'refused', 'archived'],
    ['is frozen', { reservation: 'frozen' }, {}, 'held', 'frozen'],
    ['somebody holds', { reservation: 'held' }, {}, 'held', 'held'],
    ['Git keeps', { owner: 'shop' }, {}, 'refused', 'kept_in_git'],
    ['takes no config', {}, { acceptsRemoteConfig: false }, 'refused', 'read_only'],
    ['is under a fleet config', { under: 'fc' }, {}, 'refused', 'under_fleet_config'],
    ['the result failed on', {}, { quarantinedHashes: new Set([RESULT]) }, 'quarantined', 'quarantined'],
    [
      'the result failed on in one instance',
      {},
      { quarantinedInstances: new Map([[RESULT, new Set(['i1'])]]) },
      'quarantined',
      'quarantined',
    ],
    ['is deleted meanwhile', { isGone: true }, {}, 'refused', 'workload_gone'],
    ['lacks a component', { failedCheck: 'component_availability' }, {}, 'refused', 'component_missing'],
    ['could not read the result', { failedCheck: 'schema' }, {}, 'refused', 'invalid'],
    ['the policy keeps from it', { isBlocked: true }, {}, 'refused', 'policy_blocked'],
  ])('that %s is left out, and says so', async (_, world, who, verdict, reason) => {
    expect(await judge(world, who)).toMatchObject({ verdict, reason, required: [] })
  })

  it('that lacks components is told which, each once', async () => {
    const required = [
      { category: 'processors', type: 'batch' },
      { category: 'processors', type: 'tail_sampling' },
      { category: 'processors', type: 'tail_sampling' },
      { category: 'exporters', type: 'kafka' },
    ]
    const components = new Map([
      ['processors', ['batch']],
      ['exporters', ['otlp']],
    ])
    const lacking = { failedCheck: 'component_availability', required, components }
    expect(await judge(lacking)).toMatchObject({
      reason: 'component_missing',
      missing: ['processors.tail_sampling', 'exporters.kafka'],
      detail: 'processors.tail_sampling, exporters.kafka',
    })
  })

  it('is tried again with what failed there only where that was said in the request', async () => {
    const failed = { quarantinedHashes: new Set([RESULT]) }
    const rules = { retryQuarantined: true }
    expect(await judge({}, failed, TEXT, { rules })).toMatchObject({ verdict: 'changes' })
  })

  it('that muster never pushed to has no base: only a takeover reaches it, never a patch', async () => {
    const fresh = { activeHash: null }
    const takeover = { ...TEXT, takeover: true }
    expect(await judge({}, fresh)).toMatchObject({ verdict: 'unmanaged', reason: null, result: null })
    expect(await judge({}, fresh, takeover)).toMatchObject({ verdict: 'changes', baseHash: null })
    expect(await judge({}, fresh, PATCH)).toMatchObject({ verdict: 'unmanaged' })
  })

  it('is production by a trusted label, and by the environment that its agents report', async () => {
    expect(await judge({}, { trustedLabels: { tier: 'prod-1' } })).toMatchObject({ isProduction: true })
    expect(await judge({}, { labels: { env: 'production' } })).toMatchObject({ isProduction: true })
    expect(await judge({}, { labels: { env: 'non-prod' } })).toMatchObject({ isProduction: false })
  })
})

describe('a version of a fleet config', () => {
  it('changes nobody but those under that fleet config', async () => {
    expect(await judge({ under: 'fc' }, {}, VERSION)).toMatchObject({ verdict: 'changes' })
    for (const under of ['other', null])
      expect(await judge({ under }, {}, VERSION)).toMatchObject({ reason: 'not_under_fleet_config' })
  })

  it('names the variable that has no value, and is refused where it is gone', async () => {
    const world = { under: 'fc', variables: [REQUIRED('site')] }
    expect(await judge(world, {}, VERSION)).toMatchObject({
      verdict: 'refused',
      reason: 'variable_missing',
      variable: 'site',
    })
    expect(await judge({ under: 'fc', variables: null }, {}, VERSION)).toMatchObject({
      verdict: 'refused',
      reason: 'version_gone',
    })
  })

  it('is filled from what agents report only where somebody looks at the plan, or outside production', async () => {
    const world = { under: 'fc', variables: [REQUIRED('site', 'site')] }
    const labels = { site: 'paris' }
    const inProduction = { labels, trustedLabels: { env: 'prod' } }
    expect(await judge(world, inProduction, VERSION)).toMatchObject({
      verdict: 'changes',
      result: { values: { site: 'paris' } },
    })
    const approved = { coversValues: async () => true }
    const byItself = { byItself: { production: new Set<string>(), ...approved } }
    expect(await judge(world, { labels }, VERSION, byItself)).toMatchObject({ verdict: 'changes' })
    const missing = { verdict: 'refused', reason: 'variable_missing' }
    expect(await judge(world, inProduction, VERSION, byItself)).toMatchObject(missing)
    // It counts as production although its labels do not say so: a second person has not looked at them yet.
    const counted = { byItself: { production: new Set(['w1']), ...approved } }
    expect(await judge(world, { labels }, VERSION, counted)).toMatchObject(missing)
  })
})

describe('a patch', () => {
  it('is of the text that muster pushed, and refused where that is gone or it does not fit', async () => {
    const after = configHash('the base, patched')
    expect(await judge({}, {}, PATCH)).toMatchObject({ verdict: 'changes', result: { hash: after } })
    expect(await judge({ texts: {} }, {}, PATCH)).toMatchObject({ reason: 'base_content_gone' })
    for (const unfit of ['patch_base_invalid', 'patch_does_not_fit', 'patch_mismatch'] as const)
      expect(await judge({ unfit }, {}, PATCH)).toMatchObject({
        verdict: 'refused',
        reason: unfit,
        detail: `it is ${unfit}`,
      })
  })
})

describe('the config workers', () => {
  it('do equal work once', async () => {
    const { parts, asked } = partsOf()
    const one = judgeOf(parts, PATCH)
    for (const id of ['w1', 'w2', 'w3']) await one.judge(workload({ id }))
    expect(asked).toEqual(['patch', 'validate', 'policy'])
    await one.judge(workload({ id: 'w4', trustedLabels: { env: 'prod' } }))
    expect(asked).toEqual(['patch', 'validate', 'policy', 'policy'])
  })

  it.each([PATCH, VERSION, TEXT])(
    'that are busy say nothing of a workload for %j: it is asked anew',
    async (change) => {
      const { parts } = partsOf({ busy: 1, under: change.kind === 'version' ? 'fc' : null })
      const one = judgeOf(parts, change)
      await expect(one.judge(workload())).rejects.toThrow(JudgeBusy)
      expect(await one.judge(workload())).toMatchObject({ verdict: 'changes' })
    },
  )

  it('that took too long over a text are asked for it once, however many workloads would run it', async () => {
    const { parts, asked } = partsOf({ busy: 1, gaveUp: true })
    const one = judgeOf(parts, PATCH)
    for (const id of ['w1', 'w2', 'w3'])
      await expect(one.judge(workload({ id }))).rejects.toMatchObject({ gaveUp: true })
    expect(asked).toEqual(['patch'])
    expect(await judgeOf(parts, PATCH).judge(workload())).toMatchObject({ verdict: 'changes' })
  })
})
