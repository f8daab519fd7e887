import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { ConfigDiff } from '../../../lib/wire/diff.ts'
import type { PolicyEvaluation } from '../../../lib/wire/policy.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RollbackPrepare, RollbackStatus } from '../../../lib/wire/rollback.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// The names and formats in answers that clients rely on literally.
const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let agent: FakeAgent
const COMPONENTS = { receivers: ['otlp'], exporters: ['debug'] }

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  editor = await signIn(ctx, { groups: ['editor'] })
  agent = fakeAgent(ctx.fleet, { components: COMPONENTS })
  await ctx.advance(1_000)
})
afterAll(() => ctx.close())

const call = (request: string, body?: unknown) => invoke(ctx, request, { as: editor.token, body })
const workload = () => `/api/workloads/${agent.workloadId}`
async function push(port: number): Promise<string> {
  const { hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml(port))
  await ctx.advance(1_000)
  return hash
}
const history = async () => (await call(`GET ${workload()}/configs`)).json as RevisionRecord[]
const STATES = ['submitted', 'sent', 'applying', 'applied', 'failed']

describe('a revision', () => {
  it('is current once, though its hash was pushed before', async () => {
    for (const port of [1, 2, 1]) {
      await push(port)
      agent.apply()
      await ctx.advance(1_000)
    }
    expect((await history()).map(({ is_current: isCurrent }) => isCurrent)).toEqual([true, false, false])
  })

  it('has steps with the words of the contract, also when it was overtaken or nobody answered', async () => {
    await push(1)
    await ctx.advance(400_000)
    await push(2)
    await ctx.advance(1_000)
    const [, overtaken] = await history()
    expect(overtaken).toMatchObject({ phase: 'superseded' })
    const { timeline } = overtaken!
    expect(timeline!.every(({ state }) => STATES.includes(state))).toBe(true)
    expect(timeline!.at(-1)).toMatchObject({ terminal: true, message: 'Another push took its place' })
  })

  it('refuses a label that is too long before it looks for what it is to name', async () => {
    const long = { status: 400, json: { error: 'label too long (max 128 chars)' } }
    const body = { label: 'x'.repeat(2_000) }
    expect(await call(`POST ${workload()}/configs/${'0'.repeat(64)}/label`, body)).toMatchObject(long)
    expect(await call(`POST /api/workloads/nobody/configs/${'0'.repeat(64)}/label`, body)).toMatchObject(long)
  })
})

describe('a rollback', () => {
  it('is prepared with the components as a workload has them, and told of in the words of the contract', async () => {
    const first = await push(1)
    agent.apply()
    await push(2)
    agent.apply()
    await ctx.advance(1_000)
    const { json } = await call(`GET ${workload()}/rollback/prepare?target_hash=${first}`)
    const { inputs } = (json as RollbackPrepare).validation
    expect(inputs).toMatchObject({
      available_components: { components: COMPONENTS, hash: expect.any(String) },
      available_components_hash: expect.any(String),
    })
    const { request_id: id } = (await call(`POST ${workload()}/configs/${first}/rollback`)).json as {
      request_id: string
    }
    await push(3)
    const status = (await call(`GET ${workload()}/rollback/status?request_id=${id}`)).json as RollbackStatus
    expect(STATES).toContain(status.last_known_status)
    expect(status).toMatchObject({ apply_status: 'unknown', terminal: true })
  })
})

it('a policy evaluation that does not allow a config does not call it valid', async () => {
  const body = { candidate_yaml: configYaml(), target: { environment: 'production' } }
  const evaluation = (await call('POST /api/configs/policy/preview', body)).json as PolicyEvaluation
  expect(evaluation).toMatchObject({ decision: 'block', allowed: false, valid: false })
})

it('a diff says the port of an address as a number and spells it out with its scheme', async () => {
  const body = { base_yaml: configYaml(4317), target_yaml: configYaml(4319) }
  const { endpoints } = (await call('POST /api/configs/diff', body)).json as ConfigDiff
  expect(endpoints).toMatchObject([
    {
      before: { raw: '127.0.0.1:4317', port: 4317, normalized: 'grpc://127.0.0.1:4317' },
      after: { raw: '127.0.0.1:4319', port: 4319, normalized: 'grpc://127.0.0.1:4319' },
    },
  ])
})
