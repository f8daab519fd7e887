import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let db: FaultyDatabase
let agents: FakeAgent[]
let editor: SignedIn
let admin: SignedIn
const [A, B] = [configYaml(1), configYaml(2)]
const STAGES = [
  { count: 1, dwell_seconds: 10 },
  { percentage: 100, dwell_seconds: 0 },
]

beforeEach(async () => {
  await database.pool.execute('delete from workloads')
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db, edition: createCompleteEdition() })
  admin = await signIn(ctx)
  editor = await signIn(ctx, { groups: ['editor'] })
  agents = ['pod-a', 'pod-b', 'pod-c'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod }))
  await ctx.advance(300)
})
afterEach(async () => {
  expect(db.pending()).toEqual([])
  await ctx.close()
})

const path = () => `/api/workloads/${agents[0]!.workloadId}/config`
const send = (config: string, more: object = {}) =>
  invoke(ctx, `POST ${path()}/desired`, { as: editor.token, body: { owner: 'platform', config, ...more } })
async function wish(config: string, more: object = {}): Promise<DesiredResult> {
  const { status, json } = await send(config, more)
  expect({ status, json }).toMatchObject({ status: 200 })
  return json as DesiredResult
}
const requests = async () =>
  (
    await invoke(ctx, `GET ${path()}/approvals?status=pending,approved,pushed,rejected,withdrawn,retired`, {
      as: editor.token,
    })
  ).json as ApprovalRecord[]
const post = (rest: string, body: object = {}) =>
  invoke(ctx, `POST ${path()}/${rest}`, { as: admin.token, body })
const rolloutId = () => ctx.fleet.workload(agents[0]!.workloadId)!.rollout!.stored.id

/** Approve and push a request as people do, to all instances or in stages. */
async function carryOut({ approval_id: id }: DesiredResult, more: object = {}): Promise<void> {
  expect((await post(`approvals/${id}/approve`, { comment: 'fine' })).status).toBe(200)
  expect(await post(`approvals/${id}/push`, { comment: 'go', ...more })).toMatchObject({ status: 202 })
  await ctx.advance(300)
}
/** Let every instance apply what it was offered last, and the stages go on to their end. */
async function finish(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    for (const agent of agents) if (agent.offered().length > 0) agent.apply()
    await ctx.advance(12_000)
  }
}
/** A runs everywhere, by Git, and B is in its first stage. */
async function beginStages(): Promise<DesiredResult> {
  await carryOut(await wish(A))
  await finish()
  const second = await wish(B)
  await carryOut(second, { stages: STAGES })
  return second
}

describe('while a config is rolled out in stages', () => {
  it('a second run waits for it', async () => {
    const second = await beginStages()
    expect(await wish(B)).toMatchObject({
      action: 'waits',
      reason: 'rolling_out',
      approval_id: second.approval_id,
    })
    await finish()
    expect(await wish(B)).toMatchObject({ action: 'unchanged' })
  })

  it('what Git goes back to waits for its end, and is then proposed', async () => {
    await beginStages()
    for (const more of [{ dry_run: true }, {}, {}])
      expect(await wish(A, more)).toMatchObject({ action: 'waits', reason: 'other_rolling_out' })
    await finish()
    expect(ctx.fleet.workload(agents[0]!.workloadId)!.activeHash).toBe(configHash(B))
    const back = await wish(A)
    expect(back).toMatchObject({ action: 'propose' })
    expect(await wish(A)).toMatchObject({ action: 'waits', approval_id: back.approval_id })
    await carryOut(back)
    await finish()
    expect(await wish(A)).toMatchObject({ action: 'unchanged' })
  })

  it('what Git goes back to is in order once that was taken back, and held once something else takes its place', async () => {
    await beginStages()
    await wish(A)
    expect((await post(`canary/${rolloutId()}/rollback`)).status).toBe(202)
    await finish()
    for (let n = 0; n < 2; n++) expect(await wish(A)).toMatchObject({ action: 'unchanged' })
    const asked = await post('approvals', { draft_yaml: configYaml(3), comment: 'now' })
    const broken = { comment: 'now', break_glass: true, break_glass_reason: 'an incident' }
    const { id } = asked.json as ApprovalRecord
    expect((await post(`approvals/${id}/push`, broken)).status).toBe(202)
    expect(await wish(A)).toMatchObject({ action: 'held', reason: 'replaced' })
  })

  it('what Git goes back to is proposed where that was stopped half-way', async () => {
    await beginStages()
    await wish(A)
    agents[0]!.apply()
    await ctx.advance(1_000)
    expect(await post(`canary/${rolloutId()}/abort`)).toMatchObject({ status: 200 })
    const back = await wish(A)
    expect(back).toMatchObject({ action: 'propose' })
    await carryOut(back)
    await finish()
    expect(agents.map((agent) => agent.offered().at(-1))).toEqual(agents.map(() => configHash(A)))
    expect(await wish(A)).toMatchObject({ action: 'unchanged' })
  })
})

it.each([
  ['what ran before', A, 'propose'],
  ['what is rolled out', B, 'unchanged'],
])(
  'a rollout of others goes on where Git comes to hold %s, which has its turn after it',
  async (_, text, then) => {
    const byHand = async (draft_yaml: string, more: object = {}) => {
      const asked = await invoke(ctx, `POST ${path()}/approvals`, { as: editor.token, body: { draft_yaml } })
      const { id } = asked.json as ApprovalRecord
      await carryOut({ approval_id: id } as DesiredResult, more)
    }
    await byHand(A)
    await finish()
    await byHand(B, { stages: STAGES })
    expect(await wish(text)).toMatchObject({ action: 'waits' })
    await finish()
    expect(agents.map((agent) => agent.offered().at(-1))).toEqual(agents.map(() => configHash(B)))
    expect(await wish(text)).toMatchObject({ action: then })
  },
)

it('a run that broke off is finished by the next one, also where its text was rejected or replaced long ago', async () => {
  const rejected = await wish(A)
  await post(`approvals/${rejected.approval_id}/reject`, { comment: 'no' })
  await carryOut(await wish(B))
  db.loseCommit('config.manage')
  await expect(send(A)).rejects.toThrow('connection lost')
  await ctx.advance(5_000)
  // As a version left it that noted the wish first and requested it afterwards.
  await database.pool.execute('update managed_configs set config_hash = $1, approval_id = null', [
    configHash(A),
  ])
  const next = await wish(A)
  expect(next).toMatchObject({ action: 'propose' })
  await carryOut(next)
  await finish()
  expect(await wish(A)).toMatchObject({ action: 'unchanged' })
})

it('of two equal runs at once one asks, and the other finds that it did', async () => {
  const results = await Promise.all([wish(A), wish(A), wish(A)])
  expect(results.map(({ action }) => action).sort()).toEqual(['propose', 'waits', 'waits'])
  expect(new Set(results.map(({ approval_id: id }) => id)).size).toBe(1)
  expect(await requests()).toMatchObject([{ status: 'pending' }])
})
