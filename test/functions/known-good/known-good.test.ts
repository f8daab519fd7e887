import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let editor: SignedIn
let viewer: SignedIn
let closers: (() => Promise<void>)[] = []
const FIRST = configHash(configYaml(1))
const SECOND = configHash(configYaml(2))

beforeEach(async () => {
  for (const close of closers) await close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  closers = [() => ctx.close()]
  editor = await signIn(ctx, { groups: ['editor'] })
  viewer = await signIn(ctx, { groups: ['viewer'] })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const call = (request: string, options: { as?: SignedIn; body?: object } = {}) => {
  const [method, path] = request.split(' ')
  return invoke(ctx, `${method} /api/workloads/${agent.workloadId}${path}`, {
    as: (options.as ?? editor).token,
    body: options.body,
  })
}

/** The action of the newest audit record, and its detail, parsed. */
async function audited(): Promise<[string, unknown]> {
  const [newest] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
  return [newest!.action, JSON.parse(newest!.detail)]
}

async function run(port: number): Promise<void> {
  ctx.clock.advance(1_000)
  await pushConfig(ctx.fleet, agent.workloadId, configYaml(port))
  agent.apply()
  await ctx.advance(300)
}

describe('the known-good pin', () => {
  const mark = (hash: string, body?: object) => call(`POST /configs/${hash}/known-good`, { body })

  it('is set once, changed only when that is meant, and taken away', async () => {
    await run(1)
    await run(2)
    expect(await call('GET /known-good', { as: viewer })).toMatchObject({ status: 404 })
    expect(await mark(FIRST)).toMatchObject({
      status: 201,
      json: {
        changed: true,
        replaced_config_id: '',
        known_good: { config_id: FIRST, marked_by: editor.email },
      },
    })
    expect(await mark(FIRST)).toMatchObject({ status: 200, json: { changed: false } })
    expect(await mark(SECOND)).toMatchObject({
      status: 409,
      json: { code: 'known_good_conflict', current_known_good: FIRST },
    })
    const conflict = { result: 'conflict', target_hash: SECOND, current_known_good: FIRST, force: false }
    expect(await audited()).toMatchObject(['config.known_good.conflict', conflict])
    expect(await mark(SECOND, { if_current_known_good: SECOND })).toMatchObject({ status: 409 })
    expect(await mark(SECOND, { if_current_known_good: FIRST, replace_reason: ' newer ' })).toMatchObject({
      status: 200,
      json: {
        changed: true,
        replaced_config_id: FIRST,
        known_good: { config_id: SECOND, replace_reason: 'newer', replaced_config_id: FIRST },
      },
    })
    const replaced = { result: 'marked', previous_known_good: FIRST, replace_reason: 'newer', force: false }
    expect(await audited()).toMatchObject(['config.known_good.mark', replaced])
    expect(await mark(FIRST, { force: true })).toMatchObject({ status: 200 })
    const forced = { changed: true, target_hash: FIRST, previous_known_good: SECOND, force: true }
    expect(await audited()).toMatchObject(['config.known_good.mark', forced])
    await mark(FIRST)
    expect(await audited()).toMatchObject(['config.known_good.mark', { result: 'unchanged', changed: false }])
    expect(ctx.fleet.workload(agent.workloadId)!.knownGoodHash).toBe(FIRST)
    expect((await call('GET /known-good', { as: viewer })).json).toMatchObject({ config_id: FIRST })
    expect(await call('DELETE /known-good')).toMatchObject({ status: 204 })
    expect(await audited()).toMatchObject(['config.known_good.clear', { result: 'cleared' }])
    expect(await call('DELETE /known-good')).toMatchObject({ status: 204 })
    expect(await audited()).toMatchObject(['config.known_good.clear', { result: 'unchanged' }])
    expect(ctx.fleet.workload(agent.workloadId)!.knownGoodHash).toBeNull()
  })

  it('takes only what was applied and did not fail since', async () => {
    expect(await mark(FIRST)).toMatchObject({ status: 404 })
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    expect(await mark(FIRST)).toMatchObject({ status: 409, json: { code: 'not_applied' } })
    expect(await mark(FIRST, { replace_reason: 'x'.repeat(257) })).toMatchObject({ status: 400 })
  })

  it('keeps one pin when two are set at once', async () => {
    await run(1)
    await run(2)
    const answers = await Promise.all([mark(FIRST), mark(SECOND)])
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409])
  })
})
