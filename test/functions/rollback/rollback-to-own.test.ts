import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { StagePlan } from '../../../lib/store/rollouts.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import type { RollbackPrepare } from '../../../lib/wire/rollback.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { productionYaml } from '../../support/push-config.ts'

// While a workload is staging its author's own approval does. Once it is production a token alone brings back only what
// somebody else approved; a person may at once, and that is looked at afterwards.

const database = await useTestDatabase()
let ctx: FleetTestContext | undefined
let shop: FakeAgent
let admin: SignedIn
let second: SignedIn
let eve: SignedIn
let ann: SignedIn
let token: string
const OWN = productionYaml(1)
const SEEN = productionYaml(2)
const NOW = productionYaml(3)

beforeEach(async () => {
  await ctx?.close()
  for (const table of ['workloads', 'approvals', 'reviews', 'campaigns', 'settings'])
    await database.pool.execute(`delete from ${table}`)
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  second = await signIn(ctx)
  eve = await signIn(ctx, { groups: ['editor'] })
  ann = await signIn(ctx, { groups: ['editor'] })
  token = (await makeApiToken(ctx, eve, ['config:read_content', 'workload:push_config'])).token
  shop = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  await label('staging')
})
afterAll(() => ctx?.close())

const send = (as: string, request: string, body?: object) =>
  invoke(ctx!, request, { as, ...(body ? { body } : {}) })
const call = (as: string, request: string, body?: object) => {
  const [method, path] = request.split(' ')
  return send(as, `${method} /api/workloads/${shop.workloadId}${path}`, body)
}
async function label(env: string): Promise<void> {
  const { status, json } = await call(admin.token, 'PUT /trusted-labels', { labels: { env } })
  expect(status, JSON.stringify(json)).toBe(200)
  for (const { id } of (await send(second.token, 'GET /api/reviews')).json as ReviewRecord[])
    await send(second.token, `POST /api/reviews/${id}`, { comment: 'so it is', accepted: true })
}
async function settle(): Promise<void> {
  await ctx!.advance(300)
  shop.apply()
  await ctx!.advance(300)
}
/** Eve asks for a text and pushes it once somebody approved it. */
async function bring(text: string, approver = eve): Promise<void> {
  const asked = { draft_yaml: text, comment: 'new', prod_confirmation: true }
  const { json } = await call(eve.token, 'POST /config/approvals', asked)
  const way = `POST /config/approvals/${(json as ApprovalRecord).id}`
  expect((await call(approver.token, `${way}/approve`, { comment: 'fine' })).status).toBe(200)
  const pushed = await call(eve.token, `${way}/push`, { comment: 'now', prod_double_confirmed: true })
  expect(pushed.status, JSON.stringify(pushed.json)).toBe(202)
  await settle()
}
const back = (text: string, as = token) =>
  call(as, `POST /configs/${configHash(text)}/rollback`, { comment: 'back' })
const REFUSED = { status: 409, json: { code: 'approved_for_less' } }

describe('what only its author approved, while the workload was staging', () => {
  beforeEach(async () => {
    await bring(OWN)
    await bring(NOW)
  })

  it('no token brings back once it is production, by its hash, as the one before or as what it pins', async () => {
    expect(await back(NOW)).toMatchObject({ status: 202 })
    await settle()
    await label('production')
    expect(await back(OWN)).toMatchObject(REFUSED)
    expect(await call(token, 'POST /rollback')).toMatchObject(REFUSED)
    expect(await call(token, `POST /configs/${configHash(OWN)}/known-good`)).toMatchObject(REFUSED)
    // Nor where a person has pinned it.
    expect((await call(ann.token, `POST /configs/${configHash(OWN)}/known-good`)).status).toBe(201)
    expect(await call(token, 'POST /rollback')).toMatchObject(REFUSED)
  })

  it('a token is told so beforehand, and a person that nothing is in the way', async () => {
    await label('production')
    const look = async (as: string) =>
      (await call(as, `GET /rollback/prepare?target_hash=${configHash(OWN)}`)).json as RollbackPrepare
    const { action, validation } = await look(token)
    expect(action).toMatchObject({
      can_submit: false,
      blocking_reasons: [expect.stringMatching(/by less than is asked now/)],
    })
    expect(validation.can_confirm).toBe(false)
    expect(validation.findings.map(({ code }) => code)).toContain('approved_for_less')
    expect((await look(eve.token)).action).toMatchObject({ can_submit: true, blocking_reasons: [] })
  })

  it('a person brings back at once, and somebody looks at it afterwards', async () => {
    await label('production')
    expect((await back(OWN, eve.token)).status).toBe(202)
    const waiting = (await send(second.token, 'GET /api/reviews')).json as ReviewRecord[]
    expect(waiting).toMatchObject([{ kind: 'rollback', config_hash: configHash(OWN), done_by: eve.email }])
  })

  it('a token brings back while the rule asks no more than it did', async () => {
    expect((await back(OWN)).status).toBe(202)
  })

  it('goes back by itself where a push fails, as ever', async () => {
    await bring(OWN)
    await label('production')
    const asked = { draft_yaml: SEEN, comment: 'new', prod_confirmation: true }
    const { json } = await call(ann.token, 'POST /config/approvals', asked)
    const way = `POST /config/approvals/${(json as ApprovalRecord).id}`
    await call(eve.token, `${way}/approve`, { comment: 'fine' })
    await call(ann.token, `${way}/push`, { comment: 'now', prod_double_confirmed: true })
    await ctx!.advance(300)
    shop.fail('no such thing')
    await ctx!.advance(300)
    expect(ctx!.fleet.workload(shop.workloadId)?.activeHash).toBe(configHash(OWN))
  })
})

describe('what somebody else approved, while the workload was staging', () => {
  it('a token brings back once it is production, though whoever approved it is gone', async () => {
    await bring(SEEN, ann)
    await bring(NOW, ann)
    await label('production')
    const removed = await send(admin.token, `DELETE /api/users/${ann.userId}`)
    expect(removed.status, JSON.stringify(removed.json)).toBe(204)
    await ctx!.advance(2 * 3_600_000)
    expect(await back(SEEN)).toMatchObject({ status: 202 })
  })

  it('but not where two have to approve by now', async () => {
    await bring(SEEN, ann)
    await bring(NOW, ann)
    await label('production')
    const { json } = await send(admin.token, 'GET /api/approval-policy')
    const production = { approvals: 2, author_counts: false }
    const policy = { ...(json as object), production }
    const put = await send(admin.token, 'PUT /api/approval-policy', policy)
    expect(put.status, JSON.stringify(put.json)).toBe(200)
    expect(await back(SEEN)).toMatchObject(REFUSED)
  })
})

/** A campaign of Eve's that Ann approves brings a text, in these waves; answers its id. */
async function carry(text: string, waves: object[] = [{}]): Promise<string> {
  const change = { kind: 'text', yaml: text }
  const selector = { match_labels: { 'muster/env': 'staging' } }
  const draft = { name: 'Seen', change, scope: { selector }, waves }
  const made = await send(eve.token, 'POST /api/campaigns', draft)
  expect(made.status, JSON.stringify(made.json)).toBe(201)
  const { id } = made.json as CampaignRecord
  const step = async (as: SignedIn, name: string, body?: object) => {
    const { status, json } = await send(as.token, `POST /api/campaigns/${id}/${name}`, body)
    expect(status, JSON.stringify(json)).toBeLessThan(300)
  }
  await step(eve, 'plan')
  while (ctx!.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
  const { plan_hash } = (await send(eve.token, `GET /api/campaigns/${id}`)).json as CampaignRecord
  await step(eve, 'request', { plan_hash })
  await step(ann, 'approve', { comment: 'yes', plan_hash })
  await step(eve, 'start')
  await work()
  expect(ctx!.fleet.workload(shop.workloadId)?.activeHash).toBe(configHash(text))
  return id
}
async function work(): Promise<void> {
  for (let at = 0; at < 3; at++) {
    await ctx!.campaigns.work(new AbortController().signal)
    await settle()
  }
}

it('what a campaign brought counts by who approved that', async () => {
  await bring(OWN)
  const id = await carry(SEEN)
  await bring(NOW, ann)
  await label('production')
  expect(await back(SEEN)).toMatchObject({ status: 202 })
  await settle()
  // As where the policy of then had let her approve it herself.
  await database.pool.execute(
    `update campaigns set approvals = jsonb_set(approvals, '{0,byId}', to_jsonb($1::text)) where id = $2`,
    [eve.userId, id],
  )
  expect(await back(SEEN)).toMatchObject(REFUSED)
})

describe('a campaign over what only its author approved, while the workload was staging', () => {
  let id: string
  beforeEach(async () => {
    await bring(OWN)
    id = await carry(SEEN)
  })
  const begin = (as: string) => send(as, `POST /api/campaigns/${id}/roll-back`, { comment: 'back' })
  const takeBack = async (as: string, meanwhile = async () => {}) => {
    const { status, json } = await begin(as)
    expect(status, JSON.stringify(json)).toBe(200)
    await meanwhile()
    await work()
    expect((await send(eve.token, `GET /api/campaigns/${id}`)).json).toMatchObject({ status: 'rolled_back' })
    const { json: targets } = await send(eve.token, `GET /api/campaigns/${id}/targets`)
    return { active: ctx!.fleet.workload(shop.workloadId)?.activeHash, targets }
  }

  it('no token begins to take back, since that is done once: a person takes all of it back at once', async () => {
    await label('production')
    const { displayName: name } = ctx!.fleet.workload(shop.workloadId)!
    const error = expect.stringContaining(name)
    expect(await begin(token)).toMatchObject({
      status: 409,
      json: { code: 'campaign_approved_for_less', workload: name, error },
    })
    expect((await send(eve.token, `GET /api/campaigns/${id}`)).json).toMatchObject({ status: 'done' })
    expect(await takeBack(ann.token)).toMatchObject({ active: configHash(OWN) })
  })

  it('no token takes back to that where it became production as it was about to, and it is said why', async () => {
    expect(await takeBack(token, () => label('production'))).toMatchObject({
      active: configHash(SEEN),
      targets: [{ state: 'no_way_back', reason: 'approved_for_less' }],
    })
  })

  it('a person takes back at once', async () => {
    await label('production')
    expect(await takeBack(eve.token)).toMatchObject({
      active: configHash(OWN),
      targets: [{ state: 'rolled_back' }],
    })
  })

  it('a token takes back while the rule asks no more than it did', async () => {
    expect(await takeBack(token)).toMatchObject({ active: configHash(OWN) })
  })
})

describe('a rollout over what only its author approved, while the workload was staging', () => {
  let pods: [FakeAgent, FakeAgent]
  beforeEach(async () => {
    pods = ['a', 'b'].map((pod) => fakeAgent(ctx!.fleet, { host: 'vm', pod })) as typeof pods
    shop = pods[0]
    await ctx!.advance(300)
    await label('staging')
    await bringToBoth(OWN)
  })
  async function bringToBoth(text: string, approver = eve): Promise<void> {
    await bring(text, approver)
    pods[1].apply()
    await ctx!.advance(300)
  }
  /** Bring a text to one of both; answers where that is rolled back. */
  async function begin(text: string): Promise<string> {
    const stages: StagePlan[] = [
      { count: 1, dwellMs: 60_000, gates: [] },
      { percentage: 100, dwellMs: 0, gates: [] },
    ]
    const { workloadId } = shop
    const begun = await ctx!.fleet.push(
      {
        workloadId,
        hash: configHash(text),
        body: text,
        used: [],
        stages,
        path: 'request',
        actor: { userId: eve.userId, email: eve.email, askAgain: null },
        approvalId: null,
        rollbackTargetKind: null,
      },
      async () => ({ ok: true }),
    )
    expect(begun.ok).toBe(true)
    await ctx!.advance(300)
    return `POST /config/canary/${ctx!.fleet.workload(workloadId)?.rollout?.stored.id}/rollback`
  }
  const offered = () => pods.map((pod) => pod.offered().at(-1))

  it('a token takes the instances back to what the others run, by whomever that was approved', async () => {
    await label('production')
    const way = await begin(SEEN)
    const { status, json } = await call(token, way)
    expect(status, JSON.stringify(json)).toBe(202)
    await ctx!.advance(300)
    expect(offered()).toEqual([configHash(OWN), configHash(OWN)])
  })

  it('a token takes them back to nothing older of that kind, where what the others run has failed here since; a person may', async () => {
    await bringToBoth(NOW, ann)
    await label('production')
    const way = await begin(SEEN)
    // As where it failed, and its rollback did.
    await database.pool.execute(
      `insert into quarantines (workload_id, config_hash, instance_uid, push_id, created_at)
       select workload_id, config_hash, '', push_id, $3 from pushes where workload_id = $1 and config_hash = $2 limit 1`,
      [shop.workloadId, configHash(NOW), ctx!.clock.now()],
    )
    expect(await call(token, way)).toMatchObject(REFUSED)
    await ctx!.advance(300)
    expect(offered()).toEqual([configHash(SEEN), configHash(NOW)])
    expect(ctx!.fleet.workload(shop.workloadId)?.rollout?.stored.status).toBe('running')
    expect((await call(ann.token, way)).status).toBe(202)
    await ctx!.advance(300)
    expect(offered()).toContain(configHash(OWN))
  })
})
