import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { type Answer, invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// A process that has just started, or has just become the owner, knows of no agent yet: they come back, or fronts tell of
// them. What is pushed or rolled back by then waits for the first of them, and is not refused for want of any.

const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let admin: SignedIn

beforeEach(async () => {
  await database.pool.execute('delete from workloads')
  await start()
  agent = fakeAgent(ctx.fleet, { host: 'one' })
  await ctx.advance(300)
})
afterEach(() => ctx.close())

async function start(): Promise<void> {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
}

async function restart(): Promise<void> {
  await ctx.close()
  await start()
}

const post = (path: string, body: object = {}, as = admin) =>
  invoke(ctx, `POST /api/workloads/${agent.workloadId}${path}`, { as: as.token, body })

/** Let time pass until there is an answer; returns its status, or the code of a refusal. */
async function untilAnswered(answer: Promise<Answer>): Promise<number | string> {
  let outcome: number | string = 0
  void answer.then((given) => {
    outcome = (given.json as { code?: string }).code ?? given.status
  })
  while (outcome === 0) await ctx.advance(100)
  return outcome
}

async function run(port: number): Promise<string> {
  ctx.clock.advance(1_000)
  const { hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml(port))
  agent.apply()
  await ctx.advance(300)
  return hash
}

/** Make a request and approve it; returns what pushes it. */
async function requestPush(how: object = {}): Promise<() => Promise<Answer>> {
  const draft = { draft_yaml: configYaml(3), comment: 'please', target_env: 'test' }
  const { id } = (await post('/config/approvals', draft)).json as ApprovalRecord
  await post(`/config/approvals/${id}/approve`, { comment: 'fine' }, await signIn(ctx))
  return () => post(`/config/approvals/${id}/push`, { comment: 'go', ...how })
}

/** Each is called before the restart, and returns what is then asked for. */
const CHANGES: Readonly<Record<string, () => Promise<() => Promise<Answer>>>> = {
  'a push of an approved request': () => requestPush(),
  'a roll-back to a config': async () => {
    const first = await run(1)
    await run(2)
    return () => post(`/configs/${first}/rollback`)
  },
  'a roll-back to what ran before': async () => {
    await run(1)
    await run(2)
    return () => post('/rollback')
  },
}

describe.each(Object.keys(CHANGES))('right after a start, %s', (name) => {
  it('waits for the first agent that is told of', async () => {
    const ask = await CHANGES[name]!()
    await restart()
    const answer = ask()
    await ctx.advance(2_000)
    fakeAgent(ctx.fleet, { uid: agent.uid, host: 'one' })
    expect(await untilAnswered(answer)).toBe(202)
  })

  it('is refused in the end where no agent comes', async () => {
    const ask = await CHANGES[name]!()
    await restart()
    expect(await untilAnswered(ask())).toBe('workload_not_connected')
  })
})
