import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RollbackAccepted, RollbackPrepare, RollbackStatus } from '../../../lib/wire/rollback.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { eventually } from '../../support/eventually.ts'
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
const SICK = {
  healthy: false,
  status: 'StatusPermanentError',
  lastError: 'disk full',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}
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
const newestAudit = async () =>
  (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 }))[0]!

/** The action of the newest audit record, and its detail, parsed. */
async function audited(): Promise<[string, unknown]> {
  const { action, detail } = await newestAudit()
  return [action, JSON.parse(detail)]
}

async function run(port: number): Promise<string> {
  ctx.clock.advance(1_000)
  const { hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml(port))
  agent.apply()
  await ctx.advance(300)
  return hash
}

describe('rolling back to a hash', () => {
  const rollBack = (hash: string, as = editor) => call(`POST /configs/${hash}/rollback`, { as })

  it('pushes the old bytes again in the caller’s name, and its status can be followed', async () => {
    await run(1)
    await run(2)
    const answer = await rollBack(FIRST)
    const body = answer.json as RollbackAccepted
    expect(answer.status).toBe(202)
    expect(body).toMatchObject({
      schema_version: 'guided-rollback-action.v1',
      status: 'accepted',
      workload_id: agent.workloadId,
      target_hash: FIRST,
      config_hash: FIRST,
      history_row: { config_id: FIRST, status: 'pending', pushed_by: editor.email },
      timeout_seconds: 30,
      policy_findings: [],
    })
    expect(agent.offered()).toEqual([FIRST, SECOND, FIRST])
    expect(ctx.fleet.workload(agent.workloadId)!.activeHash).toBe(FIRST)
    expect(await newestAudit()).toMatchObject({ action: 'config.rollback', email: editor.email })
    // The status of the former config says nothing about the one that is active now.
    const record = (await call('GET ')).json as WorkloadRecord
    expect(record.active_config_hash).toBe(FIRST)
    expect(record).not.toHaveProperty('remote_config_status')
    const path = `GET ${body.status_url.replace(`/api/workloads/${agent.workloadId}`, '')}`
    expect((await call(path, { as: viewer })).json).toMatchObject({
      apply_status: 'accepted',
      terminal: false,
      target_hash: FIRST,
      target_pushed_by: editor.email,
    })
    ctx.clock.advance(2_000)
    agent.apply()
    await ctx.advance(300)
    const done = (await call(path, { as: viewer })).json as RollbackStatus
    expect(done).toMatchObject({ apply_status: 'applied', terminal: true, terminal_status: 'applied' })
    expect(done.elapsed_ms).toBe(2_000)
  })

  it('names the push that it takes back, and none where it repeats the newest one', async () => {
    await run(1)
    await run(2)
    await rollBack(FIRST)
    agent.apply()
    await ctx.advance(300)
    await rollBack(FIRST)
    await ctx.advance(300)
    const revisions = (await call('GET /configs')).json as RevisionRecord[]
    expect(revisions.map((revision) => revision.rollback_of_push_id)).toEqual([
      undefined,
      revisions[2]!.push_id,
      undefined,
      undefined,
    ])
    const told = ctx.frames.flatMap((frame) => (frame.type === 'push_update' ? [frame.push] : []))
    expect(told.find(({ seq }) => seq === 3)?.rollback_of_push_id).toBe(revisions[2]!.push_id)
  })

  it('says of itself that it is a rollback, also where it takes back nothing that failed', async () => {
    await run(1)
    await run(2)
    await rollBack(FIRST)
    const revisions = (await call('GET /configs')).json as RevisionRecord[]
    expect(revisions.map((revision) => revision.is_rollback)).toEqual([true, false, false])
  })

  it('keeps in the audit log why it was done', async () => {
    await run(1)
    await run(2)
    const comment = '  the batches were too large  '
    expect((await call(`POST /configs/${FIRST}/rollback`, { body: { comment } })).status).toBe(202)
    expect(await audited()).toEqual([
      'config.rollback',
      expect.objectContaining({ comment: 'the batches were too large', target_hash: FIRST }),
    ])
    agent.apply()
    await ctx.advance(300)
    expect((await call('POST /rollback', { body: { comment: 'and back again' } })).status).toBe(202)
    expect((await audited())[1]).toMatchObject({ comment: 'and back again', target_hash: SECOND })
  })

  it.each([
    ['x'.repeat(1_001), 'text_too_long'],
    ['null \u0000 character', 'text_not_storable'],
  ])('pushes nothing with a comment that it cannot keep', async (comment, code) => {
    await run(1)
    await run(2)
    const before = agent.offered().length
    for (const path of [`/configs/${FIRST}/rollback`, '/rollback'])
      expect(await call(`POST ${path}`, { body: { comment } })).toMatchObject({
        status: 400,
        json: { code, retryable: false },
      })
    await ctx.advance(300)
    expect(agent.offered()).toHaveLength(before)
  })

  it('is not held back by a push that is pending, which it supersedes', async () => {
    await run(1)
    const pending = await pushConfig(ctx.fleet, agent.workloadId, configYaml(2))
    expect((await rollBack(FIRST)).status).toBe(202)
    await ctx.advance(300)
    const { json } = await call(`GET /configs/${pending.hash}`)
    expect(json).toMatchObject({ status: 'pending', phase: 'superseded' })
  })

  it('counts as unknown after 30 seconds of silence', async () => {
    await run(1)
    await run(2)
    const { request_id: id } = (await rollBack(FIRST)).json as RollbackAccepted
    ctx.clock.advance(30_000)
    expect((await call(`GET /rollback/status?request_id=${id}`)).json).toMatchObject({
      apply_status: 'unknown',
      terminal: true,
      timed_out: true,
    })
    for (const bad of ['', 'rb_x', `rb_${Buffer.from('{}').toString('base64url')}`])
      expect(await call(`GET /rollback/status?request_id=${bad}`)).toMatchObject({
        status: 400,
        json: { code: 'invalid_request' },
      })
  })

  it('refuses what was never pushed, or never applied', async () => {
    expect(await rollBack(FIRST)).toMatchObject({
      status: 404,
      json: { code: 'target_not_found', retryable: false },
    })
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    agent.fail('no')
    await eventually(
      'it failed',
      () => ctx.fleet.workload(agent.workloadId)!.active!.push.status === 'failed',
    )
    expect(await rollBack(FIRST)).toMatchObject({
      status: 409,
      json: { code: 'target_not_applied', details: { target_status: 'failed' } },
    })
  })

  it('refuses what the collector cannot run any more, and pushes nothing', async () => {
    await run(1)
    await run(2)
    agent.say({
      components: {
        hash: 'new',
        components: new Map([
          ['receivers', ['otlp']],
          ['exporters', ['kafka']],
        ]),
      },
    })
    await ctx.advance(300)
    expect(await rollBack(FIRST)).toMatchObject({
      status: 409,
      json: {
        code: 'component_not_installed',
        retryable: false,
        validation_errors: [{ code: 'component_not_installed' }],
        details: { validation: { valid: false } },
      },
    })
    expect(agent.offered()).toEqual([FIRST, SECOND])
  })

  it('needs somebody who can take it', async () => {
    await run(1)
    await run(2)
    agent.lose()
    await ctx.advance(300)
    expect(await rollBack(FIRST)).toMatchObject({
      status: 409,
      json: { code: 'workload_not_connected', retryable: true },
    })
  })
})

describe('rolling back without naming a target', () => {
  const rollBack = () => call('POST /rollback')

  it('prefers the pin and takes what was applied before otherwise', async () => {
    expect(await rollBack()).toMatchObject({ status: 409, json: { code: 'no_rollback_target' } })
    await run(1)
    expect(await rollBack()).toMatchObject({ status: 409, json: { code: 'no_rollback_target' } })
    await run(2)
    await run(3)
    expect(await rollBack()).toMatchObject({
      status: 202,
      json: { status: 'rollback initiated', config_hash: SECOND, target_kind: 'previous' },
    })
    agent.apply()
    await ctx.advance(300)
    expect((await call(`POST /configs/${FIRST}/known-good`)).status).toBe(201)
    expect(await rollBack()).toMatchObject({
      status: 202,
      json: { config_hash: FIRST, target_kind: 'last_known_good' },
    })
  })
})

describe('looking before it is done', () => {
  const prepare = (query: string, as = editor) => call(`GET /rollback/prepare?${query}`, { as })

  it('shows both configs, the smallest difference and the checks', async () => {
    await run(1)
    await run(2)
    const answer = await prepare(`target_hash=${FIRST}`)
    const body = answer.json as RollbackPrepare
    expect(body).toMatchObject({
      schema_version: 'guided-rollback-prepare.v1',
      target_ref: { selector: 'hash', target_hash: FIRST, known_good: false, known_good_source: 'none' },
      current_config: { hash: SECOND, content: configYaml(2), source: 'active_config' },
      target_config: { hash: FIRST, content: configYaml(1), metadata: { previous_status: 'applied' } },
      diff: { status: 'available', base_hash: SECOND, raw_diff: { truncated: false } },
      validation: { valid: true, can_confirm: true, unavailable_components: [] },
      action: { can_submit: true, blocking_reasons: [] },
    })
    const changed = body.diff.raw_diff!.text.split('\n').filter((line) => /^[-+] /.test(line))
    expect(changed).toEqual(['-        endpoint: "127.0.0.1:2"', '+        endpoint: "127.0.0.1:1"'])
    expect(await prepare(`target_hash=${FIRST}`, viewer)).toMatchObject({ status: 403 })
  })

  it('says how each config did: that its instances were unhealthy under it, also once they are well again', async () => {
    await run(1)
    await run(2)
    agent.say({ health: SICK })
    await ctx.advance(5_000)
    const worst_health = { unhealthy_count: 1, instance_count: 1, at: expect.any(String) }
    const revisions = async () => (await call('GET /configs')).json as RevisionRecord[]
    expect((await revisions()).map((one) => one.worst_health)).toEqual([worst_health, undefined])
    agent.say({ health: { ...SICK, healthy: true, status: 'StatusOK', lastError: '' } })
    await ctx.advance(5_000)
    const body = (await prepare(`target_hash=${FIRST}`)).json as RollbackPrepare
    expect(body.current_config.metadata.worst_health).toEqual(worst_health)
    expect(body.target_config.metadata).not.toHaveProperty('worst_health')
    // It is stored with the push, and stays when another takes its place.
    await run(3)
    expect((await revisions()).map((one) => one.worst_health)).toEqual([undefined, worst_health, undefined])
    const back = (await prepare(`target_hash=${SECOND}`)).json as RollbackPrepare
    expect(back.target_config.metadata.worst_health).toEqual(worst_health)
  })

  it('says what stands in the way', async () => {
    await run(1)
    await run(2)
    agent.say({
      components: {
        hash: 'new',
        components: new Map([
          ['receivers', ['otlp']],
          ['exporters', ['kafka']],
        ]),
      },
    })
    await ctx.advance(300)
    agent.lose()
    await ctx.advance(300)
    const body = (await prepare(`target_hash=${FIRST}`)).json as RollbackPrepare
    expect(body.validation).toMatchObject({
      status: 'invalid',
      can_confirm: false,
      unavailable_components: [
        { category: 'exporters', component_type: 'debug', available: ['kafka'], blocking: true },
      ],
    })
    expect(body.validation.findings.map((finding) => finding.code)).toContain('workload_not_connected')
    expect(body.action).toMatchObject({ can_submit: false })
  })

  it('wants exactly one target', async () => {
    await run(1)
    for (const query of [
      '',
      'target_hash=',
      `target_hash=${FIRST}&target_selector=known_good`,
      'target_selector=newest',
    ])
      expect(await prepare(query)).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
    expect(await prepare('target_selector=known_good')).toMatchObject({
      status: 404,
      json: { code: 'known_good_not_found' },
    })
    expect(await prepare(`target_hash=${SECOND}`)).toMatchObject({
      status: 404,
      json: { code: 'target_not_found' },
    })
  })
})

describe('a config that only broken glass has ever pushed', () => {
  async function breakGlass(port: number): Promise<string> {
    ctx.clock.advance(1_000)
    const asked = { draft_yaml: configYaml(port), target_group: `g${port}` }
    const { id } = (await call('POST /config/approvals', { body: asked })).json as ApprovalRecord
    const body = { comment: 'now', break_glass: true, break_glass_reason: 'it burns' }
    expect((await call(`POST /config/approvals/${id}/push`, { body })).status).toBe(202)
    agent.apply()
    await ctx.advance(300)
    return configHash(configYaml(port))
  }

  it('is nothing that an operator goes back to, looks at going back to, or pins', async () => {
    const broken = await breakGlass(7)
    await run(1)
    const refused = { status: 409, json: { code: 'target_not_approved', retryable: false } }
    expect(await call(`POST /configs/${broken}/rollback`)).toMatchObject(refused)
    expect(await call(`GET /rollback/prepare?target_hash=${broken}`)).toMatchObject(refused)
    expect(await call('POST /rollback')).toMatchObject({
      status: 409,
      json: { code: 'no_rollback_target' },
    })
    expect(await call(`POST /configs/${broken}/known-good`)).toMatchObject({
      status: 409,
      json: { code: 'config_not_approved' },
    })
    expect(agent.offered()).toEqual([broken, FIRST])
  })

  it('is passed over for what was approved before it', async () => {
    await run(1)
    await breakGlass(7)
    await run(2)
    expect(await call('POST /rollback')).toMatchObject({ status: 202, json: { config_hash: FIRST } })
  })

  it('is what an automatic rollback may still go back to: nobody chose it', async () => {
    const broken = await breakGlass(7)
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    agent.fail('no')
    await eventually('it is back', () => ctx.fleet.workload(agent.workloadId)!.activeHash === broken)
    expect(agent.offered()).toEqual([broken, FIRST, broken])
  })

  it('is one that was approved once a push of it was', async () => {
    const broken = await breakGlass(7)
    await run(1)
    await run(7)
    await run(1)
    expect((await call(`POST /configs/${broken}/rollback`)).status).toBe(202)
  })
})
