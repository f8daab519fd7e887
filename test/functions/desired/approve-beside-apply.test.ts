import { afterAll, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { noteCommitAuthors } from '../../../lib/store/commit-authors.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { type Answer, invoke, signIn } from '../../support/invoke.ts'
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
    await noteCommitAuthors(tx, { ...claim, ...about }, names, ctx.clock.now())
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

it('who approves a campaign while a pipeline names one more author of its version has approved with that one', async () => {
  const [pipeline, bob, ann] = await Promise.all([1, 2, 3].map(() => signIn(ctx, { groups: ['editor'] })))
  const agent = fakeAgent(ctx.fleet)
  fakeAgent(ctx.fleet, { attributes: { 'host.name': 'beside' } })
  await ctx.advance(1_000)
  const content = configYaml(3)
  const selector = { match_labels: { 'identity/host.name': 'beside' } }
  const wish = { owner: 'fleets', name: 'beside', description: '', selector, priority: 0, content }
  const asked = await invoke(ctx, 'POST /api/fleet-configs/desired', {
    as: pipeline!.token,
    body: { ...wish, campaign: { takeover: true } },
  })
  expect(asked.status, JSON.stringify(asked.json)).toBe(200)
  const { fleet_config_id: place, campaign_id } = asked.json as {
    fleet_config_id: string
    campaign_id: string
  }
  const campaign = `/api/campaigns/${campaign_id}`
  const readPlanHash = async () => {
    const { json } = await invoke(ctx, `GET ${campaign}`, { as: bob!.token })
    return (json as CampaignRecord).plan_hash
  }
  await invoke(ctx, `POST ${campaign}/plan`, { as: pipeline!.token, body: {} })
  await expect.poll(readPlanHash).toBeTruthy()
  const body = { plan_hash: await readPlanHash(), comment: 'fine' }
  const requested = await invoke(ctx, `POST ${campaign}/request`, { as: pipeline!.token, body })
  expect(requested.status, JSON.stringify(requested.json)).toBe(200)
  const [version] = await database.pool.query<{ hash: string }>(
    'select content_hash as hash from fleet_config_versions where fleet_config_id = $1',
    [place],
  )
  let approved: Promise<Answer> | null = null
  await database.pool.transaction('test', async (tx) => {
    // Whoever judges the approval reads whom commits name, once it has the campaign's lock.
    await tx.execute('lock table commit_authors in access exclusive mode')
    approved = invoke(ctx, `POST ${campaign}/approve`, { as: bob!.token, body })
    await expect.poll(countWaiting, { timeout: 5_000 }).toBe(1)
    ctx.clock.advance(10)
    const claim = { configHash: version!.hash, byId: pipeline!.userId, place, owner: 'fleets' }
    const names = [{ name: ann!.email, said: ann!.email }]
    const now = ctx.clock.now()
    await noteCommitAuthors(tx, { ...claim, since: now, hasRun: false }, names, now)
  })
  expect(await approved).toMatchObject({ status: 200, json: { status: 'approved' } })
  const elsewhere = `/api/workloads/${agent.workloadId}/config/approvals`
  const wanted = { draft_yaml: content, comment: 'here too' }
  const made = await invoke(ctx, `POST ${elsewhere}`, { as: bob!.token, body: wanted })
  const { id } = made.json as ApprovalRecord
  const by = { as: ann!.token, body: { comment: 'fine' } }
  const tried = await invoke(ctx, `POST ${elsewhere}/${id}/approve`, by)
  expect(tried).toMatchObject({ status: 409, json: { reason: 'author' } })
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
