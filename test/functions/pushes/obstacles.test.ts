import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PUSH_OBSTACLES, PUSH_PATHS } from '../../../lib/fleet/decide/push-obstacle.ts'
import { wearLabels } from '../../../lib/fleet/state/state.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { keepManagedConfig } from '../../../lib/store/managed-configs.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord, CampaignTarget } from '../../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Every way in which a push can begin, against everything that can forbid one. The obstacle comes as the transaction of
// the push begins, after all earlier checks: the state at that moment decides.

const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let admin: string
let approver: string
/** Done once inside the next transaction of one of these names, before its first statement. */
let atBegin: { names: readonly string[]; act(): Promise<void> } | null

const [FIRST, THIRD] = [1, 3].map((number) => configHash(configYaml(number))) as [string, string]
const PUSHES = ['push', 'rollback', 'rollback.automatic', 'campaign.push']
const HOUR_MS = 3_600_000

beforeEach(async () => {
  for (const table of ['campaigns', 'workloads', 'settings'])
    await database.pool.execute(`delete from ${table}`)
  atBegin = null
  const faulty = faultyDatabase(database.pool)
  const db: typeof faulty = {
    ...faulty,
    transaction: (name, work) =>
      faulty.transaction(name, async (tx) => {
        const todo = atBegin?.names.includes(name) ? atBegin : null
        if (todo !== null) atBegin = null
        await todo?.act()
        return work(tx)
      }),
  }
  ctx = await createFleetContext(database, { edition: createCompleteEdition(), db })
  admin = (await signIn(ctx)).token
  approver = (await signIn(ctx)).token
  agent = fakeAgent(ctx.fleet, { host: 'vm-1' })
  await ctx.advance(300)
  for (const number of [1, 2]) {
    await push(await approved(number))
    agent.apply()
    await ctx.advance(300)
  }
})
afterEach(() => ctx.close())

const call = (route: string, body?: unknown, as = admin) =>
  invoke(ctx, route, { as, ...(body === undefined ? {} : { body }) })
const of = (path: string) => `/api/workloads/${agent.workloadId}${path}`

async function approved(number: number, group = ''): Promise<string> {
  const body = { draft_yaml: configYaml(number), target_env: 'test', target_group: group }
  const { json } = await call(`POST ${of('/config/approvals')}`, body)
  const { id } = json as ApprovalRecord
  await call(`POST ${of(`/config/approvals/${id}/approve`)}`, { comment: 'fine' }, approver)
  return id
}
const push = (id: string, more: object = {}) =>
  call(`POST ${of(`/config/approvals/${id}/push`)}`, { comment: 'go', ...more })

/** The code with which a call was refused, or 'begins'. */
const outcomeOf = ({ status, json }: { status: number; json: unknown }): string =>
  status === 202 ? 'begins' : (json as { code: string }).code

async function campaign(): Promise<string> {
  const { json } = await call('POST /api/campaigns', {
    name: 'Three',
    change: { kind: 'text', yaml: configYaml(3) },
    waves: [{}],
    limits: { silent: 1 },
    scope: { workload_ids: [agent.workloadId] },
  })
  const { id } = json as CampaignRecord
  await call(`POST /api/campaigns/${id}/plan`)
  await expect.poll(() => ctx.campaigns.planner.progress(id)).toBeNull()
  const { plan_hash } = (await call(`GET /api/campaigns/${id}`)).json as CampaignRecord
  await call(`POST /api/campaigns/${id}/request`, { plan_hash })
  const done = await call(`POST /api/campaigns/${id}/approve`, { plan_hash, comment: 'yes' }, approver)
  expect(done.status).toBe(200)
  return id
}

/** Let campaigns do what is due three times, so that a workload that was found busy gets another turn. */
async function work(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    await ctx.campaigns.work(new AbortController().signal)
    await ctx.advance(2_500)
  }
}

async function targetOf(id: string): Promise<string> {
  const [target] = (await call(`GET /api/campaigns/${id}/targets?limit=1`)).json as CampaignTarget[]
  const { state, reason } = target!
  return state === 'started' || state === 'rolling_back' ? 'begins' : (reason ?? state)
}

interface Way {
  /** Do everything that comes before the push. The function that it returns begins the push and returns the outcome. */
  prepare(): Promise<() => Promise<string>>
}

const WAYS = {
  request: {
    async prepare() {
      const id = await approved(3)
      return async () => outcomeOf(await push(id))
    },
  },
  'request in stages': {
    async prepare() {
      const id = await approved(3)
      const stages = [{ count: 1 }, { percentage: 100 }].map((one) => ({ ...one, dwell_seconds: 0 }))
      return async () => outcomeOf(await push(id, { stages }))
    },
  },
  'break-glass': {
    async prepare() {
      const id = await approved(3)
      return async () => outcomeOf(await push(id, { break_glass: true, break_glass_reason: 'it burns' }))
    },
  },
  rollback: {
    async prepare() {
      return async () => outcomeOf(await call(`POST ${of(`/configs/${FIRST}/rollback`)}`))
    },
  },
  'rollback to the known-good': {
    async prepare() {
      await call(`POST ${of(`/configs/${FIRST}/known-good`)}`, {})
      return async () => outcomeOf(await call(`POST ${of('/rollback')}`))
    },
  },
  campaign: {
    async prepare() {
      const id = await campaign()
      return async () => {
        await call(`POST /api/campaigns/${id}/start`)
        await work()
        return targetOf(id)
      }
    },
  },
  'campaign-rollback': {
    async prepare() {
      const id = await campaign()
      await call(`POST /api/campaigns/${id}/start`)
      await work()
      agent.apply()
      await work()
      return async () => {
        await call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })
        await work()
        return targetOf(id)
      }
    },
  },
  'auto-rollback': {
    async prepare() {
      await push(await approved(3))
      await ctx.advance(300)
      return async () => {
        agent.fail('it does not start')
        await ctx.advance(1_000)
        const newest = ctx.fleet.workload(agent.workloadId)!.newestPush!
        return newest.kind === 'auto-rollback' ? 'begins' : newest.status
      }
    },
  },
} satisfies Record<string, Way>

type Word = keyof typeof WAYS

const until = () => new Date(ctx.clock.now().getTime() + HOUR_MS).toISOString()
const now = () => ctx.clock.now()

const OBSTACLES = {
  async frozen() {
    const { status } = await call('PUT /api/freeze', { reason: 'Black Friday', until: until() })
    expect(status).toBe(200)
  },
  async held() {
    expect((await call(`POST ${of('/hold')}`, { reason: 'mine' })).status).toBe(200)
  },
  async 'kept-in-git'() {
    await keepManagedConfig(database.pool, {
      workloadId: agent.workloadId,
      owner: 'infra/edge',
      configHash: FIRST,
      approvalId: null,
      commitSha: '',
      ranCommitSha: '',
      commitAuthor: '',
      appliedAt: now(),
      appliedBy: 'ci@example.com',
      appliedById: null,
      isAccepted: true,
    })
  },
  async quarantined() {
    for (const hash of [FIRST, THIRD]) ctx.fleet.workload(agent.workloadId)!.quarantinedHashes.add(hash)
  },
  async production() {
    wearLabels(ctx.fleet.workload(agent.workloadId)!, { handLabels: { env: 'prod' } })
  },
}

const GO_ON = { frozen: 'begins', held: 'begins', 'kept-in-git': 'begins', quarantined: 'begins' } as const

/**
 * The promised outcome of each push path at each obstacle. A freeze and Git stop requests and campaigns, a hold stops
 * campaigns only; none of them stops a rollback or breaking the glass.
 */
const PROMISED: Readonly<Record<Word, Readonly<Record<keyof typeof OBSTACLES, string>>>> = {
  request: {
    frozen: 'workload_frozen',
    held: 'begins',
    'kept-in-git': 'managed_elsewhere',
    // An operator may try a quarantined config again.
    quarantined: 'begins',
    production: 'production_double_confirmation_required',
  },
  'request in stages': {
    frozen: 'workload_frozen',
    held: 'begins',
    'kept-in-git': 'managed_elsewhere',
    quarantined: 'begins',
    production: 'production_double_confirmation_required',
  },
  // Breaking the glass also needs the confirmations for production.
  'break-glass': { ...GO_ON, production: 'production_double_confirmation_required' },
  rollback: { ...GO_ON, production: 'begins' },
  'rollback to the known-good': { ...GO_ON, production: 'begins' },
  campaign: {
    // A freeze passes, so it loses nobody.
    frozen: 'waiting',
    held: 'held',
    'kept-in-git': 'kept_in_git',
    quarantined: 'quarantined',
    production: 'became_production',
  },
  'campaign-rollback': { ...GO_ON, production: 'begins' },
  'auto-rollback': { ...GO_ON, production: 'begins' },
}

const cells = (Object.keys(PROMISED) as Word[]).flatMap((way) =>
  (Object.keys(OBSTACLES) as (keyof typeof OBSTACLES)[]).map((obstacle) => ({
    way,
    obstacle,
    promised: PROMISED[way][obstacle],
  })),
)

describe('a push that begins as an obstacle comes', () => {
  it.each(cells)('by $way, $obstacle: $promised', async ({ way, obstacle, promised }) => {
    const begin = await WAYS[way].prepare()
    atBegin = { names: PUSHES, act: OBSTACLES[obstacle] }
    expect(await begin()).toBe(promised)
    expect(atBegin, 'it came inside the transaction').toBeNull()
  })
})

describe('a push to a workload in which another one has not ended', () => {
  it.each([
    ['request', 'begins'],
    ['rollback', 'begins'],
    // A campaign waits up to ten minutes for the other push to end.
    ['campaign', 'waiting'],
  ] as const)('by %s: %s', async (way, promised) => {
    const older = await approved(9, 'other')
    await ctx.advance(1_000)
    const begin = await WAYS[way].prepare()
    // A request is overtaken by any push but that of one that was made before it, which holds campaigns off as well.
    if (way === 'request') expect(outcomeOf(await push(older))).toBe('begins')
    else await pushConfig(ctx.fleet, agent.workloadId, configYaml(9))
    expect(await begin()).toBe(promised)
  })
})

it('every path and every obstacle stands in this table, or says why not', () => {
  const elsewhere = {
    'auto-apply': 'as a campaign',
    'rollout-rollback': 'test/functions/rollouts: it ends what is pushed',
    archived: 'a workload with an agent is never archived',
    busy: 'asked above',
  }
  const known: string[] = [...Object.keys(WAYS), ...Object.keys(OBSTACLES), ...Object.keys(elsewhere)]
  expect([...PUSH_PATHS, ...PUSH_OBSTACLES].filter((one) => !known.includes(one))).toEqual([])
})
