import { afterAll, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { noteCommitAuthors } from '../../../lib/store/commit-authors.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { type Answer, invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database, { edition: createCompleteEdition() })
afterAll(() => ctx.close())

const countWaiting = async () =>
  (
    await database.pool.query(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    )
  ).length

it('who approves what Git asks for first locks the workload before all else, as a pipeline does that asks anew', async () => {
  const [pipeline, bob] = [
    await signIn(ctx, { groups: ['editor'] }),
    await signIn(ctx, { groups: ['editor'] }),
  ]
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  const path = `/api/workloads/${agent.workloadId}/config`
  const body = { owner: 'platform', config: configYaml(1) }
  const asked = await invoke(ctx, `POST ${path}/desired`, { as: pipeline.token, body })
  const { approval_id: id } = asked.json as DesiredResult
  let approved: Promise<Answer> | null = null
  await database.pool.transaction('test', async (tx) => {
    await tx.query('select from workloads where id = $1 for update', [agent.workloadId])
    approved = invoke(ctx, `POST ${path}/approvals/${id}/approve`, {
      as: bob.token,
      body: { comment: 'fine' },
    })
    await expect.poll(countWaiting, { timeout: 5_000 }).toBe(1)
    // What the pipeline would take next: the owner's turn, then its open requests.
    expect(
      await database.pool.query('select from approvals where id = $1 for update skip locked', [id]),
    ).toHaveLength(1)
  })
  expect(await approved).toMatchObject({ status: 200, json: { status: 'approved' } })
})

it('who approves while a pipeline names one more author has approved with that one, who is an author elsewhere too', async () => {
  const [pipeline, bob, ann] = await Promise.all([1, 2, 3].map(() => signIn(ctx, { groups: ['editor'] })))
  const [agent, other] = [fakeAgent(ctx.fleet), fakeAgent(ctx.fleet)]
  await ctx.advance(300)
  const path = `/api/workloads/${agent.workloadId}/config`
  const config = configYaml(2)
  const body = { owner: 'shops', config }
  const asked = await invoke(ctx, `POST ${path}/desired`, { as: pipeline!.token, body })
  const { approval_id: id } = asked.json as DesiredResult
  let approved: Promise<Answer> | null = null
  await database.pool.transaction('test', async (tx) => {
    await tx.query('select from workloads where id = $1 for update', [agent.workloadId])
    const comment = { comment: 'fine' }
    approved = invoke(ctx, `POST ${path}/approvals/${id}/approve`, { as: bob!.token, body: comment })
    await expect.poll(countWaiting, { timeout: 5_000 }).toBe(1)
    ctx.clock.advance(10)
    const claim = { configHash: configHash(config), byId: pipeline!.userId, place: agent.workloadId }
    const about = { owner: 'shops', since: ctx.clock.now(), hasRun: false }
    const names = [{ name: ann!.email, said: ann!.email }]
    await noteCommitAuthors(tx, { ...claim, ...about }, names, ctx.clock)
  })
  expect(await approved).toMatchObject({ status: 200, json: { status: 'approved' } })
  const elsewhere = `/api/workloads/${other.workloadId}/config/approvals`
  const wanted = { draft_yaml: config, comment: 'here too' }
  const made = await invoke(ctx, `POST ${elsewhere}`, { as: bob!.token, body: wanted })
  const { id: second } = made.json as ApprovalRecord
  const by = { as: ann!.token, body: { comment: 'fine' } }
  const tried = await invoke(ctx, `POST ${elsewhere}/${second}/approve`, by)
  expect(tried).toMatchObject({ status: 409, json: { reason: 'author' } })
})

it('who approves what an account asks for by hand waits for whom it names meanwhile, wherever it asks in Git', async () => {
  const [pipeline, bob, ann] = await signInThree()
  const [agent, other] = [fakeAgent(ctx.fleet), fakeAgent(ctx.fleet)]
  await ctx.advance(300)
  const config = configYaml(4)
  const id = await askByHand(pipeline, agent.workloadId, config)
  let approved: Promise<Answer> | null = null
  await database.pool.transaction('test', async (tx) => {
    const claim = { configHash: configHash(config), byId: pipeline.userId, place: other.workloadId }
    await noteCommitAuthors(tx, { ...claim, owner: 'hands', ...now() }, naming(ann), ctx.clock)
    ctx.clock.advance(10)
    approved = approveByHand(ann, agent.workloadId, id)
    await expect.poll(countWaiting, { timeout: 5_000 }).toBe(1)
  })
  expect(await approved).toMatchObject({ status: 409, json: { reason: 'author' } })
  expect(await approveByHand(bob, agent.workloadId, id)).toMatchObject({ status: 200 })
})

it('who asks for a text while Git asks for it there asks for it after that, with whom Git names', async () => {
  const [pipeline, bob, ann] = await signInThree()
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  const config = configYaml(5)
  let asked: Promise<string> | null = null
  await database.pool.transaction('test', async (tx) => {
    await tx.query('select from workloads where id = $1 for update', [agent.workloadId])
    asked = askByHand(bob, agent.workloadId, config)
    await expect.poll(countWaiting, { timeout: 5_000 }).toBe(1)
    ctx.clock.advance(10)
    const claim = { configHash: configHash(config), byId: pipeline.userId, place: agent.workloadId }
    await noteCommitAuthors(tx, { ...claim, owner: 'asks', ...now() }, naming(ann), ctx.clock)
  })
  const tried = await approveByHand(ann, agent.workloadId, await asked!)
  expect(tried).toMatchObject({ status: 409, json: { reason: 'author' } })
})

describe('a campaign that is approved while a pipeline names one more author of its version', () => {
  it('is approved with that one, who is an author elsewhere too', async () => {
    const [pipeline, bob, ann] = await signInThree()
    const { agent, content, place, claim, approve } = await askForVersion(pipeline, bob, 'beside')
    let approved: Promise<Answer> | null = null
    await database.pool.transaction('test', async (tx) => {
      await noteCommitAuthors(tx, { ...claim, place, ...now() }, naming(ann), ctx.clock)
      ctx.clock.advance(10)
      approved = approve()
      await expect.poll(countWaiting, { timeout: 5_000 }).toBe(1)
    })
    expect(await approved).toMatchObject({ status: 200, json: { status: 'approved' } })
    const tried = await approveByHand(ann, agent.workloadId, await askByHand(bob, agent.workloadId, content))
    expect(tried).toMatchObject({ status: 409, json: { reason: 'author' } })
  })

  it('was approved without one whom the pipeline waited to name, and whom nobody judged', async () => {
    const [pipeline, bob, ann] = await signInThree()
    const { agent, content, place, wish, approve } = await askForVersion(pipeline, bob, 'behind')
    let named: Promise<Answer> | null = null
    await database.pool.transaction('test', async (tx) => {
      await tx.query('select from fleet_configs where id = $1 for update', [place])
      named = invoke(ctx, 'POST /api/fleet-configs/desired', {
        as: pipeline.token,
        body: { ...wish, commit_author: `Ann <${ann.email}>` },
      })
      await expect.poll(countWaiting, { timeout: 5_000 }).toBe(1)
      ctx.clock.advance(10)
      expect(await approve()).toMatchObject({ status: 200, json: { status: 'approved' } })
      ctx.clock.advance(10)
    })
    expect((await named!).status).toBe(200)
    const tried = await approveByHand(ann, agent.workloadId, await askByHand(bob, agent.workloadId, content))
    expect(tried).toMatchObject({ status: 200 })
  })
})

it('who hands over locks the requests before what Git asks for, as everybody does who ends or approves one', async () => {
  const [first, second, bob] = await Promise.all([1, 2, 3].map(() => signIn(ctx, { groups: ['editor'] })))
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  const path = `/api/workloads/${agent.workloadId}/config`
  const ids: string[] = []
  for (const [owner, as] of [
    ['former', first!],
    ['heirs', second!],
  ] as const) {
    const body = { owner, config: `${configYaml(1)}# ${owner}\n` }
    const { status, json } = await invoke(ctx, `POST ${path}/desired`, { as: as.token, body })
    expect(status, JSON.stringify(json)).toBe(200)
    ids.push((json as DesiredResult).approval_id!)
    await ctx.advance(1)
  }
  let handed: Promise<Answer> | null = null
  await database.pool.transaction('test', async (tx) => {
    await tx.query('select from approvals where id = any($1::text[]) order by created_at desc for update', [
      ids,
    ])
    const body = { owner: 'former', to_owner: 'heirs', to_account_id: second!.userId }
    handed = invoke(ctx, 'POST /api/managed-configs/hand-over', { as: bob!.token, body })
    await expect.poll(countWaiting, { timeout: 5_000 }).toBe(1)
    expect(
      await database.pool.query('select from git_wishes where workload_id = $1 for update skip locked', [
        agent.workloadId,
      ]),
    ).toHaveLength(2)
  })
  expect(await handed).toMatchObject({ status: 200, json: { workload_count: 1 } })
  const open = await database.pool.query(
    'select id, target_group as "group" from approvals where closed_at is null',
  )
  expect(open).toContainEqual({ id: ids[0], group: 'git/heirs' })
})

async function signInThree(): Promise<[SignedIn, SignedIn, SignedIn]> {
  const [pipeline, bob, ann] = await Promise.all([1, 2, 3].map(() => signIn(ctx, { groups: ['editor'] })))
  return [pipeline!, bob!, ann!]
}

const now = () => ({ since: ctx.clock.now(), hasRun: false })
const naming = ({ email }: SignedIn) => [{ name: email, said: email }]

async function askByHand(as: SignedIn, workloadId: string, draft_yaml: string): Promise<string> {
  const body = { draft_yaml, comment: 'by hand' }
  const made = await invoke(ctx, `POST /api/workloads/${workloadId}/config/approvals`, { as: as.token, body })
  expect(made.status, JSON.stringify(made.json)).toBe(201)
  return (made.json as ApprovalRecord).id
}

const approveByHand = (as: SignedIn, workloadId: string, id: string): Promise<Answer> =>
  invoke(ctx, `POST /api/workloads/${workloadId}/config/approvals/${id}/approve`, {
    as: as.token,
    body: { comment: 'fine' },
  })

/** Ask in Git for a version of a fleet config of this name, and for its campaign to be approved. */
async function askForVersion(pipeline: SignedIn, bob: SignedIn, name: string) {
  const agent = fakeAgent(ctx.fleet)
  fakeAgent(ctx.fleet, { attributes: { 'host.name': name } })
  await ctx.advance(1_000)
  const content = `${configYaml(3)}# ${name}\n`
  const selector = { match_labels: { 'identity/host.name': name } }
  const wish = {
    owner: `fleets-${name}`,
    name,
    description: '',
    selector,
    priority: 0,
    content,
    campaign: { takeover: true },
  }
  const asked = await invoke(ctx, 'POST /api/fleet-configs/desired', { as: pipeline.token, body: wish })
  expect(asked.status, JSON.stringify(asked.json)).toBe(200)
  const { fleet_config_id: place, campaign_id } = asked.json as Record<
    'fleet_config_id' | 'campaign_id',
    string
  >
  const campaign = `/api/campaigns/${campaign_id}`
  const readPlanHash = async () => {
    const { json } = await invoke(ctx, `GET ${campaign}`, { as: bob.token })
    return (json as CampaignRecord).plan_hash
  }
  await invoke(ctx, `POST ${campaign}/plan`, { as: pipeline.token, body: {} })
  await expect.poll(readPlanHash).toBeTruthy()
  const body = { plan_hash: await readPlanHash(), comment: 'fine' }
  const requested = await invoke(ctx, `POST ${campaign}/request`, { as: pipeline.token, body })
  expect(requested.status, JSON.stringify(requested.json)).toBe(200)
  const [version] = await database.pool.query<{ hash: string }>(
    'select content_hash as hash from fleet_config_versions where fleet_config_id = $1',
    [place],
  )
  const claim = { configHash: version!.hash, byId: pipeline.userId, owner: `fleets-${name}` }
  const approve = () => invoke(ctx, `POST ${campaign}/approve`, { as: bob.token, body })
  return { agent, content, place, wish, claim, approve }
}
