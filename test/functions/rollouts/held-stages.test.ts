import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { keepManagedConfig } from '../../../lib/store/managed-configs.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { ChangeNewsBody } from '../../../lib/wire/news.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import type { RolloutRecord } from '../../../lib/wire/rollouts.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
const TEXT = configYaml(7)
const HASH = configHash(TEXT)
let ctx: FleetTestContext
let agents: FakeAgent[]
/** Administrators. */
let ann: SignedIn
let bob: SignedIn
/** An editor, who asks and pushes. */
let eve: SignedIn
let byToken: SignedIn
let rollout: string

beforeEach(async () => {
  for (const table of ['workloads', 'users', 'settings', 'reviews', 'webhook_deliveries'])
    await database.pool.execute(`delete from ${table}`)
  const config = { publicUrl: 'https://muster.example.com', webhookUrl: 'https://hooks.example.com/in' }
  ctx = await createFleetContext(database, { edition: createCompleteEdition(), config })
  ann = await signIn(ctx, { email: 'ann@example.com' })
  bob = await signIn(ctx, { email: 'bob@example.com' })
  eve = await signIn(ctx, { email: 'eve@example.com', groups: ['editor'] })
  byToken = { ...eve, token: (await makeApiToken(ctx, eve, ['workload:push_config'])).token }
  agents = ['pod-a', 'pod-b', 'pod-c'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod }))
  await ctx.advance(300)
})
afterEach(() => ctx.close())

const call = (as: SignedIn, request: string, body?: object) => invoke(ctx, request, { as: as.token, body })
const on = (path: string) => `/api/workloads/${agents[0]!.workloadId}${path}`
const read = async () => (await call(eve, `GET ${on(`/config/canary/${rollout}`)}`)).json as RolloutRecord
const goOn = (as: SignedIn, body?: object) =>
  call(as, `POST ${on(`/config/canary/${rollout}/promote`)}`, body)
const glass = { break_glass: true, break_glass_reason: 'it burns' }
const reached = () => agents.filter((agent) => agent.offered().at(-1) === HASH).length
const reviews = async () => (await call(ann, 'GET /api/reviews')).json as ReviewRecord[]
async function alerts(): Promise<AlertRecord[]> {
  await ctx.alerts.run(new AbortController().signal)
  return (await call(ann, 'GET /api/alerts')).json as AlertRecord[]
}

async function freeze(): Promise<void> {
  const until = new Date(ctx.clock.now().getTime() + 3_600_000).toISOString()
  expect((await call(ann, 'PUT /api/freeze', { reason: 'Black Friday', until })).status).toBe(200)
}
async function removeBob(): Promise<void> {
  expect((await call(ann, `DELETE /api/users/${bob.userId}`)).status).toBe(204)
}
async function requested(): Promise<string> {
  const { json } = await call(eve, `POST ${on('/config/approvals')}`, { draft_yaml: TEXT })
  return (json as ApprovalRecord).id
}
async function approved(): Promise<string> {
  const id = await requested()
  expect((await call(bob, `POST ${on(`/config/approvals/${id}/approve`)}`, { comment: 'ok' })).status).toBe(
    200,
  )
  return id
}
/** Whoever was offered the config applies it, and the rollout looks at that. */
async function settle(): Promise<void> {
  await ctx.advance(1_000)
  for (const agent of agents) if (agent.offered().at(-1) === HASH) agent.apply()
  await ctx.advance(3_000)
}

describe('a canary', () => {
  beforeEach(async () => {
    await approved()
    const wanted = { config: TEXT, selection: { strategy: 'count', count: 1 }, comment: 'x' }
    rollout = ((await call(eve, `POST ${on('/config/canary')}`, wanted)).json as RolloutRecord).id
    await settle()
    expect(reached()).toBe(1)
  })

  it('that nobody promotes for a day calls somebody', async () => {
    ctx.clock.advance(3_600_000)
    expect(await alerts()).toEqual([])
    ctx.clock.advance(23 * 3_600_000)
    ann = await signIn(ctx, { email: 'next-day@example.com' })
    expect(await alerts()).toMatchObject([
      {
        rule: 'rollout_halted',
        message: expect.stringMatching(
          / has waited before stage 2 for a day or longer: nobody has promoted its canary$/,
        ),
        details: { rollout_id: rollout, stage: 2, hold: 'unpromoted' },
      },
    ])
  })

  it('is promoted while all that approved it stands', async () => {
    expect((await goOn(byToken)).status).toBe(202)
    await settle()
    expect(reached()).toBe(3)
    expect(await reviews()).toEqual([])
  })

  it('is promoted in a freeze by a person who breaks the glass, which is listed, and by nobody else', async () => {
    await freeze()
    for (const as of [eve, byToken])
      expect(await goOn(as)).toMatchObject({ status: 409, json: { code: 'workload_frozen' } })
    expect(await goOn(byToken, glass)).toMatchObject({ status: 403, json: { code: 'session_required' } })
    expect(await goOn(eve, { break_glass: true })).toMatchObject({
      json: { code: 'break_glass_reason_required' },
    })
    await settle()
    expect(reached()).toBe(1)
    expect((await goOn(eve, glass)).status).toBe(202)
    await settle()
    expect(reached()).toBe(3)
    expect(await reviews()).toMatchObject([{ kind: 'break_glass', config_hash: HASH, reason: 'it burns' }])
    const told = await database.pool.query<{ body: string }>(
      'select body from webhook_deliveries order by id',
    )
    const glasses = told.map(({ body }) => JSON.parse(body) as ChangeNewsBody)
    expect(glasses.filter(({ event }) => event === 'glass_broken')).toMatchObject([
      { change: { kind: 'request', by: eve.email, draft_hash: HASH } },
    ])
  })

  it('is not promoted once the account of who approved it is gone', async () => {
    await removeBob()
    expect(await goOn(eve)).toMatchObject({ status: 409, json: { code: 'rollout_not_approved' } })
    await settle()
    expect(reached()).toBe(1)
  })
})

describe('a push in stages', () => {
  const stages = [{ count: 1 }, { percentage: 100 }]
  async function push(id: string, more: object = {}): Promise<void> {
    const body = { comment: 'x', prod_double_confirmed: true, stages, ...more }
    expect((await call(eve, `POST ${on(`/config/approvals/${id}/push`)}`, body)).status).toBe(202)
    rollout = ctx.fleet.workload(agents[0]!.workloadId)!.rollout!.stored.id
  }

  it('waits before its next stage while the workload is frozen, says so, and goes on by itself', async () => {
    await push(await approved())
    await freeze()
    await settle()
    expect(await read()).toMatchObject({
      status: 'running',
      hold: { reason: 'frozen', about: 'Black Friday' },
    })
    expect(reached()).toBe(1)
    expect((await call(ann, 'DELETE /api/freeze')).status).toBe(204)
    await settle()
    expect(reached()).toBe(3)
    expect(await read()).not.toHaveProperty('hold')
  })

  it('waits once its workload is kept in Git', async () => {
    await push(await approved())
    const { workloadId } = agents[0]!
    const now = ctx.clock.now()
    const applied = {
      configHash: HASH,
      approvalId: null,
      commitSha: '',
      ranCommitSha: '',
      commitAuthor: '',
      appliedAt: now,
    }
    const by = { appliedBy: 'ci@example.com', appliedById: null, isAccepted: true }
    await keepManagedConfig(database.pool, { workloadId, owner: 'infra/edge', ...applied, ...by })
    await settle()
    expect(await read()).toMatchObject({ hold: { reason: 'kept_in_git', about: 'infra/edge' } })
    expect(await goOn(eve)).toMatchObject({ json: { code: 'managed_elsewhere', owner: 'infra/edge' } })
    expect(reached()).toBe(1)
  })

  it('waits once who approved it is gone, until a person breaks the glass or ends it', async () => {
    await push(await approved())
    await removeBob()
    await settle()
    expect(await read()).toMatchObject({ hold: { reason: 'not_approved' } })
    expect(await alerts()).toEqual([])
    // Nobody need look at the page: held for an hour, it calls somebody.
    ctx.clock.advance(3_600_000)
    await settle()
    expect(await alerts()).toMatchObject([
      {
        rule: 'rollout_halted',
        message: expect.stringMatching(
          / has waited before stage 2 for an hour or longer: its approvals do not all count any more$/,
        ),
        details: { rollout_id: rollout, stage: 2, hold: 'not_approved' },
      },
    ])
    expect(await goOn(byToken)).toMatchObject({ status: 409, json: { code: 'rollout_not_approved' } })
    expect((await goOn(eve, glass)).status).toBe(202)
    await settle()
    expect(reached()).toBe(3)
    expect(await alerts()).toEqual([])
    expect(await reviews()).toMatchObject([{ kind: 'break_glass', config_hash: HASH }])
  })

  it('for which the glass was broken goes on in a freeze, and after a halt by a person only', async () => {
    await freeze()
    await push(await requested(), glass)
    await ctx.advance(1_000)
    const first = agents.find((agent) => agent.offered().at(-1) === HASH)!
    first.say({ health: { ...SICK } })
    first.apply()
    await ctx.advance(65_000)
    expect(await read()).toMatchObject({ status: 'halted' })
    expect(await goOn(byToken)).toMatchObject({ status: 403, json: { code: 'session_required' } })
    expect((await goOn(eve)).status).toBe(202)
    await settle()
    expect(reached()).toBe(3)
  })
})

const SICK = {
  healthy: false,
  status: 'StatusPermanentError',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}
