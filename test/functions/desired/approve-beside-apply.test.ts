import { afterAll, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { noteCommitAuthors } from '../../../lib/store/commit-authors.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
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
    await noteCommitAuthors(tx, claim, [{ name: ann.email, said: ann.email }], ctx.clock)
  })
  const tried = await approveByHand(ann, agent.workloadId, await asked!)
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

async function signInThree(): Promise<[SignedIn, SignedIn, SignedIn]> {
  const [pipeline, bob, ann] = await Promise.all([1, 2, 3].map(() => signIn(ctx, { groups: ['editor'] })))
  return [pipeline!, bob!, ann!]
}

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
