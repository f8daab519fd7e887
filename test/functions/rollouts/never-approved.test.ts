import { afterEach, beforeEach, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import type { RolloutRecord } from '../../../lib/wire/rollouts.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { breakGlassFor, review } from '../../support/broken-glass.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const UNAPPROVED = configYaml(66)
let ctx: FleetTestContext
let eve: SignedIn
let bob: SignedIn
let agents: FakeAgent[]
let open: ReviewRecord
let rollout: string

// All instances run a config for which Eve broke the glass, and one of them an approved one, in a rollout.
beforeEach(async () => {
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  eve = await signIn(ctx, { groups: ['editor'] })
  bob = await signIn(ctx, { groups: ['editor'] })
  agents = ['pod-a', 'pod-b', 'pod-c'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod }))
  await ctx.advance(300)
  open = await breakGlassFor(ctx, eve, agents, UNAPPROVED)
  const gates = ['no_failure'] as const
  const stages = [
    { count: 1, dwellMs: 3_600_000, gates },
    { percentage: 100, dwellMs: 0, gates },
  ]
  await pushConfig(ctx.fleet, agents[0]!.workloadId, configYaml(2), () => {}, stages)
  await ctx.advance(300)
  agents[0]!.apply()
  await ctx.advance(300)
  rollout = ctx.fleet.workload(agents[0]!.workloadId)!.rollout!.stored.id
})
afterEach(() => ctx.close())

const path = (act = '') => `/api/workloads/${agents[0]!.workloadId}/config/canary/${rollout}${act}`
const rollBack = () => invoke(ctx, `POST ${path('/rollback')}`, { as: eve.token })
const reviews = async () => (await invoke(ctx, 'GET /api/reviews', { as: bob.token })).json as ReviewRecord[]

it('nobody takes the members of a rollout back to what a second person refused, and its record names no way back', async () => {
  await review(ctx, bob, open, false)
  expect(await rollBack()).toMatchObject({ status: 409, json: { code: 'rollout_no_way_back' } })
  const record = (await invoke(ctx, `GET ${path()}`, { as: eve.token })).json as RolloutRecord
  expect(record).toMatchObject({ status: 'running' })
  expect(record.rollback_target_hash).toBeUndefined()
  expect(agents[0]!.offered().at(-1)).toBe(configHash(configYaml(2)))
})

it('a rollout is taken back to what a second person accepted, and that is listed for somebody else to look at', async () => {
  await review(ctx, bob, open, true)
  expect((await rollBack()).status).toBe(202)
  await ctx.advance(300)
  expect(agents[0]!.offered().at(-1)).toBe(configHash(UNAPPROVED))
  expect(await reviews()).toMatchObject([
    {
      kind: 'rollback',
      config_hash: configHash(UNAPPROVED),
      done_by: eve.email,
      push_id: expect.any(String),
    },
  ])
})

it('a member that fails goes back by itself to what ran before, whoever approved it', async () => {
  agents[0]!.fail('exit code 1')
  await ctx.advance(1_000)
  expect(agents[0]!.offered().at(-1)).toBe(configHash(UNAPPROVED))
  expect(await reviews()).toMatchObject([{ id: open.id }])
})
