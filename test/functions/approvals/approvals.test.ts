import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { AuditSink } from '../../../lib/audit/delivery.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { AuditPage } from '../../../lib/wire/audit.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCommunityEdition, createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, productionYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let isSinkDown = false
const sink: AuditSink = {
  async deliver() {
    if (isSinkDown) throw new Error('the archive is away')
  },
}
let ctx: FleetTestContext
let agent: FakeAgent
let admin: SignedIn
let editor: SignedIn
let viewer: SignedIn
let closers: (() => Promise<void>)[] = []

beforeEach(async () => {
  for (const close of closers) await close()
  await database.pool.execute('delete from workloads')
  isSinkDown = false
  ctx = await createFleetContext(database, { edition: { ...createCommunityEdition(), auditSink: sink } })
  closers = [() => ctx.close()]
  admin = await signIn(ctx)
  editor = await signIn(ctx, { groups: ['editor'] })
  viewer = await signIn(ctx, { groups: ['viewer'] })
  agent = await connect()
})
afterAll(() => ctx.close())

async function connect(options: Parameters<typeof fakeAgent>[1] = {}) {
  const connected = fakeAgent(ctx.fleet, options)
  await ctx.advance(300)
  return connected
}

const base = (id = agent.workloadId) => `/api/workloads/${id}/config/approvals`
const post = (path: string, body: object, as = editor) => invoke(ctx, `POST ${path}`, { as: as.token, body })
const create = (body: object = {}, as = editor) =>
  post(base(), { draft_yaml: configYaml(), target_group: 'single', comment: 'please', ...body }, as)
const approve = (id: string, body: object = { comment: 'fine' }, as = admin) =>
  post(`${base()}/${id}/approve`, body, as)
const push = (id: string, body: object = {}, as = editor) => post(`${base()}/${id}/push`, body, as)
const list = async (path = base()) =>
  (await invoke(ctx, `GET ${path}`, { as: editor.token })).json as ApprovalRecord[]
const audits = async (limit = 5) =>
  await listAuditRecords(database.pool, {}, { beforeSeq: null, limit, offset: 0 })
const pushCount = async () =>
  (await database.pool.query<{ count: number }>('select count(*)::int as count from pushes'))[0]!.count

async function requested(body: object = {}): Promise<ApprovalRecord> {
  const answer = await create(body)
  expect(answer.status).toBe(201)
  return answer.json as ApprovalRecord
}

async function approved(body: object = {}): Promise<ApprovalRecord> {
  const { id } = await requested(body)
  expect((await approve(id)).status).toBe(200)
  return (await list()).find((record) => record.id === id)!
}

describe('asking', () => {
  it('stores the draft as it was sent, with its hash and what was active', async () => {
    const answer = await create({ target_env: ' test ', comment: ' please ' })
    expect(answer).toMatchObject({
      status: 201,
      json: {
        id: expect.stringMatching(/^car_[0-9a-f]{32}$/),
        workload_id: agent.workloadId,
        draft_yaml: configYaml(),
        draft_hash: configHash(configYaml()),
        target_group: 'single',
        target_env: 'test',
        requester: editor.email,
        request_comment: 'please',
        status: 'pending',
        prod_target: false,
        prod_confirmation: false,
        break_glass: false,
      },
    })
    expect(answer.json).not.toHaveProperty('base_config_hash')
    expect((await audits())[0]).toMatchObject({ action: 'config.approval.request', email: editor.email })
  })

  it('needs nothing but a draft', async () => {
    const answer = await post(base(), { draft_yaml: configYaml() })
    expect(answer).toMatchObject({
      status: 201,
      json: { target_group: '', target_env: '', request_comment: '' },
    })
  })

  it('refuses what cannot be run, and says why', async () => {
    expect(await create({ draft_yaml: '  \n' })).toMatchObject({
      status: 400,
      json: { error: 'empty config draft' },
    })
    expect(await create({ draft_yaml: 'a: [' })).toMatchObject({
      status: 400,
      json: {
        error: 'configuration failed validation',
        validation_errors: [{ code: 'yaml_parse', check_id: 'yaml_static' }],
      },
    })
    expect(await create({ draft_yaml: `${configYaml()}#\u0000` })).toMatchObject({ status: 400 })
    expect(await invoke(ctx, `POST ${base()}`, { as: editor.token, body: '{' })).toMatchObject({
      status: 400,
      json: { error: 'invalid approval request body' },
    })
    expect(await post(base('none'), { draft_yaml: configYaml() })).toMatchObject({ status: 404 })
    const readOnly = await connect({ service: 'ro', capabilities: 1 })
    expect(await post(base(readOnly.workloadId), { draft_yaml: configYaml() })).toMatchObject({
      status: 409,
      json: { code: 'remote_config_unsupported' },
    })
    expect(await list()).toEqual([])
  })

  it('wants a confirmation for production, by group, environment or trusted label', async () => {
    const refused = { status: 400, json: { error: 'prod approval request requires confirmation' } }
    expect(await create({ target_group: 'prod-collectors' })).toMatchObject(refused)
    expect(await create({ target_env: 'production' })).toMatchObject(refused)
    expect(await create({ target_group: 'non-prod' })).toMatchObject({ status: 201 })
    await ctx.fleet.setTrustedLabels(agent.workloadId, { stage: 'prod' }, null, async () => {})
    expect(await create()).toMatchObject(refused)
    expect(await create({ prod_confirmation: true })).toMatchObject({
      status: 201,
      json: { prod_target: true, prod_confirmation: true },
    })
  })

  it('retires the pending request of the same group, which nobody can approve or push any more', async () => {
    const first = await requested()
    const other = await requested({ target_group: 'others' })
    ctx.clock.advance(1_000)
    const second = await requested({ draft_yaml: configYaml(2) })
    expect((await list()).map(({ id }) => id)).toEqual([second.id, other.id])
    expect(await approve(first.id)).toMatchObject({ status: 409, json: { code: 'approval_not_pending' } })
    expect(await push(first.id)).toMatchObject({ status: 409, json: { code: 'approval_required' } })
    expect(await push(first.id, { break_glass: true, comment: 'c', break_glass_reason: 'r' })).toMatchObject({
      status: 409,
      json: { code: 'approval_required' },
    })
  })

  it('keeps one pending request when two come at once', async () => {
    const answers = await Promise.all([create(), create({ draft_yaml: configYaml(2) }), create()])
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201])
    expect(await list()).toHaveLength(1)
    const { json } = await invoke(ctx, `GET /api/workloads/${agent.workloadId}`, { as: viewer.token })
    expect((json as WorkloadRecord).waiting_approval_count).toBe(1)
  })
})

describe('reading', () => {
  it('shows drafts to those who may push and to nobody else, and pages over all workloads', async () => {
    for (let n = 1; n <= 3; n++) {
      ctx.clock.advance(1_000)
      await requested({ target_group: `group-${n}` })
    }
    const groups = (records: ApprovalRecord[]) => records.map((record) => record.target_group)
    expect(groups(await list('/api/approvals'))).toEqual(['group-3', 'group-2', 'group-1'])
    const page = await invoke(ctx, 'GET /api/approvals?status=pending&limit=2', { as: editor.token })
    expect(groups(page.json as ApprovalRecord[])).toEqual(['group-3', 'group-2'])
    const next = /<([^>]+)>/.exec(page.headers['Link']!)![1]!
    expect(groups(await list(next))).toEqual(['group-1'])
    expect(await list('/api/approvals?status=approved')).toEqual([])
    expect(await invoke(ctx, 'GET /api/approvals?status=gone', { as: editor.token })).toMatchObject({
      status: 400,
    })
    for (const path of [base(), '/api/approvals']) {
      const refused = await invoke(ctx, `GET ${path}`, { as: viewer.token })
      expect(refused).toMatchObject({ status: 403, text: '{"error":"forbidden"}\n' })
    }
  })

  it('tells browsers of requests without the draft or anybody’s words', async () => {
    const { id } = await approved({ comment: 'a private word' })
    const frames = ctx.frames.filter((frame) => frame.type === 'approval_update')
    expect(frames.map((frame) => frame.approval.status)).toEqual(['pending', 'approved'])
    expect(frames[1]!.approval).toEqual({
      id,
      workload_id: agent.workloadId,
      status: 'approved',
      target_group: 'single',
      updated_at: expect.any(String),
    })
    expect(JSON.stringify(ctx.frames)).not.toMatch(/private word|receivers:/)
  })
})

describe('texts of requests', () => {
  const long = 'x'.repeat(4_000)
  it('are as long as a report can carry, and refused by name and length beyond', async () => {
    const refusal = (name: string, most: number) => ({
      status: 400,
      json: { error: `${name} must be at most ${most} characters, found ${most + 1}` },
    })
    expect(await create({ comment: `${long}x` })).toMatchObject(refusal('comment', 4_000))
    expect(await create({ target_group: 'g'.repeat(257) })).toMatchObject(refusal('target_group', 256))
    expect(await create({ target_env: 'e'.repeat(257) })).toMatchObject(refusal('target_env', 256))
    const { id } = await requested({ comment: long })
    expect(await approve(id, { comment: `${long}x` })).toMatchObject(refusal('comment', 4_000))
    expect(await approve(id, { comment: long })).toMatchObject({ status: 200 })
    expect(await push(id, { comment: `${long}x` })).toMatchObject(refusal('comment', 4_000))
    const reason = { break_glass: true, comment: 'c', break_glass_reason: `${long}x` }
    expect(await push(id, reason)).toMatchObject(refusal('break_glass_reason', 4_000))
  })
})

describe('approving', () => {
  it('needs a comment, and says when one approved one’s own request', async () => {
    await ctx.fleet.setTrustedLabels(agent.workloadId, { env: 'staging' }, null, async () => {})
    const { id } = await requested()
    expect(await approve(id, { comment: ' ' })).toMatchObject({
      status: 400,
      json: { error: 'comment is required' },
    })
    expect(await approve(id, { comment: 'fine' }, editor)).toMatchObject({
      status: 200,
      json: {
        status: 'approved',
        approved_by: editor.email,
        approver: editor.email,
        approval_comment: 'fine',
        self_approved: true,
      },
    })
    expect(await approve(id)).toMatchObject({ status: 409, json: { code: 'approval_not_pending' } })
    expect((await audits())[0]).toMatchObject({ action: 'config.approval.approve', detail: id })
  })

  it('knows only the requests of its own workload', async () => {
    const { id } = await requested()
    const other = await connect({ service: 'other' })
    expect(await post(`${base(other.workloadId)}/${id}/approve`, { comment: 'x' })).toMatchObject({
      status: 404,
      json: { error: 'approval request not found' },
    })
  })

  it('looks at the draft again as the workload is now', async () => {
    const { id } = await requested()
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
    expect(await approve(id)).toMatchObject({
      status: 400,
      json: { validation_errors: [{ code: 'component_not_installed' }] },
    })
  })

  it('succeeds once when two approve at once', async () => {
    const { id } = await requested()
    const answers = await Promise.all([approve(id), approve(id)])
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409])
  })
})

describe('ending a request', () => {
  const end = (id: string, how: 'reject' | 'withdraw' | 'comments', body: object = {}, as = admin) =>
    post(`${base()}/${id}/${how}`, body, as)
  const read = async (id: string) =>
    (await invoke(ctx, `GET ${base()}/${id}`, { as: editor.token })).json as ApprovalRecord
  const steps = async (id: string) =>
    (await read(id)).timeline.map(({ what, who, comment }) => [what, who, comment])
  const waiting = async () => {
    const path = `GET /api/workloads/${agent.workloadId}`
    return ((await invoke(ctx, path, { as: editor.token })).json as WorkloadRecord).waiting_approval_count
  }

  it('is rejected with a reason, which is recorded, told and kept in its timeline', async () => {
    const { id } = await requested()
    for (const body of [{}, { comment: ' ' }, { comment: 'a\u0000b' }, { comment: 'x'.repeat(4_001) }])
      expect(await end(id, 'reject', body)).toMatchObject({ status: 400 })
    expect(await waiting()).toBe(1)
    ctx.frames.length = 0
    expect(await end(id, 'reject', { comment: ' The limit is too low. ' })).toMatchObject({
      status: 200,
      json: { id, status: 'rejected', closed_by: admin.email, close_comment: 'The limit is too low.' },
    })
    expect((await audits())[0]).toMatchObject({
      action: 'config.approval.reject',
      email: admin.email,
      detail: id,
      configHash: configHash(configYaml()),
    })
    await ctx.advance(1_000)
    expect(ctx.frames).toContainEqual({
      type: 'approval_update',
      approval: expect.objectContaining({ id, status: 'rejected' }),
    })
    expect(JSON.stringify(ctx.frames)).not.toContain('too low')
    expect(await waiting()).toBe(0)
    expect(await steps(id)).toEqual([
      ['requested', editor.email, 'please'],
      ['rejected', admin.email, 'The limit is too low.'],
    ])
  })

  it('is withdrawn with or without a word, before and after its approval', async () => {
    const first = await approved()
    expect(await end(first.id, 'withdraw', {}, editor)).toMatchObject({
      status: 200,
      json: { status: 'withdrawn' },
    })
    const second = await requested()
    expect(await end(second.id, 'withdraw', { comment: 'not needed' }, editor)).toMatchObject({
      json: { status: 'withdrawn', close_comment: 'not needed' },
    })
    expect((await audits()).filter(({ action }) => action === 'config.approval.withdraw')).toHaveLength(2)
  })

  it('has one end: what is over is not approved, pushed, rejected, withdrawn or talked about', async () => {
    const { id } = await approved()
    await end(id, 'reject', { comment: 'no' })
    for (const how of ['reject', 'withdraw', 'comments'] as const)
      expect(await end(id, how, { comment: 'again' })).toMatchObject({
        status: 409,
        json: { code: 'approval_not_pending' },
      })
    expect(await approve(id)).toMatchObject({ status: 409, json: { code: 'approval_not_pending' } })
    for (const body of [{}, { break_glass: true, break_glass_reason: 'now', comment: 'x' }])
      expect(await push(id, body)).toMatchObject({
        status: 409,
        json: { code: 'approval_required', request_status: 'rejected' },
      })
    expect(await pushCount()).toBe(0)
    const pushed = await approved()
    await push(pushed.id)
    expect(await end(pushed.id, 'withdraw')).toMatchObject({ status: 409 })
  })

  it('gathers what is said about it, up to a bound, and tells that something was', async () => {
    const { id } = await requested()
    expect(await end(id, 'comments', { comment: '' })).toMatchObject({ status: 400 })
    expect(await end(id, 'comments', { comment: 'Please raise the limit first.' })).toMatchObject({
      status: 201,
      json: { status: 'pending' },
    })
    expect(await end(id, 'comments', { comment: 'Done in the next one.' }, editor)).toMatchObject({
      status: 201,
    })
    expect((await audits())[0]).toMatchObject({ action: 'config.approval.comment', email: editor.email })
    expect(await steps(id)).toEqual([
      ['requested', editor.email, 'please'],
      ['commented', admin.email, 'Please raise the limit first.'],
      ['commented', editor.email, 'Done in the next one.'],
    ])
    await database.pool.execute(
      `insert into approval_comments (approval_id, author, author_id, body, created_at)
       select $1, 'a', 'a', 'b', now() from generate_series(1, 198)`,
      [id],
    )
    expect(await end(id, 'comments', { comment: 'one more' })).toMatchObject({ status: 400 })
    expect((await read(id)).timeline).toHaveLength(201)
  })

  it('says where a token said it', async () => {
    const { id } = await requested()
    const { token } = await makeApiToken(ctx, editor, ['config:request'])
    await end(id, 'comments', { comment: 'by hand' }, editor)
    await end(id, 'comments', { comment: 'by a token' }, { ...editor, token })
    const said = (await read(id)).timeline.filter(({ what }) => what === 'commented')
    expect(said.map(({ comment, who, by_token: isByToken }) => [comment, who, isByToken])).toEqual([
      ['by hand', editor.email, undefined],
      ['by a token', editor.email, true],
    ])
  })

  it('takes so many comments of one account, which keeps nobody else from saying anything', async () => {
    const { id } = await requested()
    await database.pool.execute(
      `insert into approval_comments (approval_id, author, author_id, body, created_at)
       select $1, 'a', $2, 'b', now() from generate_series(1, 50)`,
      [id, editor.userId],
    )
    const full = { status: 400, json: { code: 'comments_full_of_one', max: 50 } }
    expect(await end(id, 'comments', { comment: 'one more' }, editor)).toMatchObject(full)
    expect((await end(id, 'comments', { comment: 'enough' })).status).toBe(201)
  })

  it('is listed by how it ended, and retired ones only when asked for', async () => {
    const retired = await requested()
    const rejected = await requested()
    ctx.clock.advance(1_000)
    await end(rejected.id, 'reject', { comment: 'no' })
    ctx.clock.advance(1_000)
    const withdrawn = await requested()
    await end(withdrawn.id, 'withdraw')
    const ids = async (query: string, path = '/api/approvals') =>
      (await list(path + query)).map(({ id }) => id)
    for (const path of ['/api/approvals', base()]) {
      expect(await ids('?status=rejected', path)).toEqual([rejected.id])
      expect(await ids('?status=retired,withdrawn', path)).toEqual([withdrawn.id, retired.id])
      expect(await ids('', path)).toEqual([withdrawn.id, rejected.id])
      expect(await invoke(ctx, `GET ${path}?status=rejected,gone`, { as: editor.token })).toMatchObject({
        status: 400,
      })
    }
    expect(await steps(retired.id)).toEqual([
      ['requested', editor.email, 'please'],
      ['retired', editor.email, undefined],
    ])
  })

  it('keeps how risky it was when it was pushed, also where nothing was there to compare it with', async () => {
    const first = await approved()
    expect(first).not.toHaveProperty('risk')
    await push(first.id, { comment: 'go' })
    await ctx.advance(300)
    agent.apply()
    await ctx.advance(1_000)
    expect((await read(first.id)).risk).toMatchObject({ severity: 'none', compared_with: 'nothing' })
    const elsewhere = configYaml()
      .replace('  debug:', '  otlphttp: {endpoint: "https://elsewhere.example.com"}')
      .replace('[debug]', '[otlphttp]')
    const plan = await invoke(ctx, `POST /api/workloads/${agent.workloadId}/config/plan`, {
      as: editor.token,
      body: elsewhere,
    })
    const { severity, reasons, reason_codes } = (plan.json as ConfigPlan).risk_score
    const risk = { severity, reasons, reason_codes, compared_with: 'active' }
    expect(severity).toBe('high')
    const second = await approved({ draft_yaml: elsewhere })
    await push(second.id, { comment: 'go' })
    expect((await read(second.id)).risk).toEqual(risk)
    // What runs since is another thing: the list says it as well, of both.
    await ctx.advance(300)
    agent.apply()
    await ctx.advance(1_000)
    const pushed = await list('/api/approvals?status=pushed')
    expect(pushed.map((one) => one.risk?.compared_with)).toEqual(['active', 'nothing'])
    expect(pushed[0]!.risk).toEqual(risk)
  })

  it('says what became of the push', async () => {
    const { id } = await approved()
    await push(id, { comment: 'go' })
    await ctx.advance(300)
    agent.fail('exit code 1')
    await ctx.advance(1_000)
    const record = await read(id)
    expect(record.outcome).toEqual({
      status: 'failed',
      phase: 'failed',
      outcome: 'failed',
      target_count: 1,
      applied_count: 0,
      failed_count: 1,
      aftermath: { kind: 'nowhere_to_go', running_count: 0 },
    })
    expect(record.timeline.map(({ what }) => what)).toEqual(['requested', 'approved', 'pushed'])
    expect((await list('/api/approvals?status=pushed'))[0]).toMatchObject({ id, outcome: record.outcome })
  })

  it('is not for those who may not push, nor by the path of another workload', async () => {
    const { id } = await requested()
    const other = await connect({ service: 'other' })
    for (const how of ['reject', 'withdraw', 'comments'] as const) {
      expect(await end(id, how, { comment: 'no' }, viewer)).toMatchObject({ status: 403 })
      expect(await post(`${base(other.workloadId)}/${id}/${how}`, { comment: 'no' })).toMatchObject({
        status: 404,
      })
    }
    expect(await invoke(ctx, `GET ${base()}/${id}`, { as: viewer.token })).toMatchObject({ status: 403 })
    expect(await invoke(ctx, `GET ${base(other.workloadId)}/${id}`, { as: editor.token })).toMatchObject({
      status: 404,
    })
  })
})

describe('a draft that changes nothing', () => {
  it('is refused, unless what is active has failed', async () => {
    const { id } = await approved()
    await push(id)
    await ctx.advance(300)
    agent.apply()
    await ctx.advance(300)
    expect(await create()).toMatchObject({ status: 409, json: { code: 'nothing_changes' } })
    // A text that differs only in whitespace counts as another text.
    expect(await create({ draft_yaml: `${configYaml()}\n` })).toMatchObject({ status: 201 })
    agent.fail('exit code 1')
    await ctx.advance(1_000)
    expect(ctx.fleet.workload(agent.workloadId)!.activeHash).toBe(configHash(configYaml()))
    expect(await create({ retry_quarantined: true })).toMatchObject({ status: 201 })
  })
})

describe('a draft that failed on the workload', () => {
  it('is refused until whoever asks says to know that, and any other one is taken', async () => {
    const { id } = await approved()
    await push(id)
    await ctx.advance(300)
    agent.fail('exit code 1')
    await ctx.advance(1_000)
    const before = await list('/api/approvals?status=pending')
    expect(await create()).toMatchObject({
      status: 409,
      json: { code: 'config_quarantined', error: expect.stringContaining('retry_quarantined') },
    })
    expect(await list('/api/approvals?status=pending')).toEqual(before)
    expect(await create({ draft_yaml: `${configYaml()}\n` })).toMatchObject({ status: 201 })
    const again = await approved({ retry_quarantined: true })
    // Pushed anew, it is nobody's failure until it fails again.
    await push(again.id)
    expect(await create()).toMatchObject({ status: 409, json: { code: 'nothing_changes' } })
  })
})

describe('pushing', () => {
  it('sends the approved bytes to every capable instance, and records it', async () => {
    const second = await connect({
      host: ctx.fleet.workload(agent.workloadId)!.fingerprintKeys['host.name']!,
    })
    const { id, draft_hash: hash } = await approved()
    const answer = await push(id)
    expect(answer).toMatchObject({
      status: 202,
      json: {
        id,
        status: 'pushed',
        config_hash: hash,
        push_comment: '',
        break_glass: false,
        pushed_at: expect.any(String),
      },
    })
    expect([agent.offered(), second.offered()]).toEqual([[hash], [hash]])
    const sent = agent.received.at(-1)!['remoteConfig'] as {
      config: { configMap: Record<string, { body: Buffer }> }
    }
    expect(sent.config.configMap['']!.body.toString()).toBe(configYaml())
    expect((await audits(3)).map((record) => record.action)).toEqual([
      'config.approval.push',
      'config.approval.approve',
      'config.approval.request',
    ])
    expect(await push(id)).toMatchObject({
      status: 409,
      json: { code: 'approval_required', request_status: 'pushed' },
    })
    expect(await pushCount()).toBe(1)
  })

  it('is told in the audit log with what each said, which the log itself keeps by the request', async () => {
    const { id } = await approved({ comment: 'faster batches' })
    await push(id, { comment: 'before the sale' })
    const { id: other } = await requested({ draft_yaml: configYaml(2), comment: '' })
    await post(`${base()}/${other}/reject`, { comment: 'not now' }, admin)
    const page = (
      await invoke(ctx, `GET /api/audit/events?resource_id=${agent.workloadId}` as 'GET /api/audit/events', {
        as: admin.token,
      })
    ).json as AuditPage
    const told = page.events
      .filter(({ action }) => action.startsWith('config.approval.'))
      .map(({ action, comment }) => [action.split('.').at(-1), comment])
    expect(told).toEqual([
      ['reject', 'not now'],
      ['request', undefined],
      ['push', 'before the sale'],
      ['approve', 'fine'],
      ['request', 'faster batches'],
    ])
  })

  it('refuses a request that nobody approved', async () => {
    const { id } = await requested()
    expect(await push(id)).toMatchObject({
      status: 409,
      json: { code: 'approval_required', request_status: 'pending' },
    })
    expect(agent.offered()).toEqual([])
  })

  it('pushes once when two push at once', async () => {
    const { id } = await approved()
    const answers = await Promise.all([push(id), push(id), push(id)])
    expect(answers.map((answer) => answer.status).sort()).toEqual([202, 409, 409])
    expect(await pushCount()).toBe(1)
    expect(agent.offered()).toHaveLength(1)
  })

  it('wants a comment and a second confirmation for production, also when it became so since', async () => {
    const { id } = await approved({ draft_yaml: productionYaml() })
    await ctx.fleet.setTrustedLabels(agent.workloadId, { env: 'production' }, null, async () => {})
    expect(await push(id)).toMatchObject({ status: 400, json: { error: 'comment is required' } })
    expect(await push(id, { comment: 'go' })).toMatchObject({
      status: 400,
      json: { error: 'prod push requires double confirmation' },
    })
    const answer = await push(id, { comment: 'go', prod_double_confirmed: true })
    expect(answer).toMatchObject({ status: 202, json: { prod_target: true, prod_double_confirmed: true } })
  })

  it('needs somebody who can take it now', async () => {
    const { id } = await approved()
    agent.lose()
    // Right after the start it is waited for.
    await ctx.advance(15_000)
    expect(await push(id)).toMatchObject({ status: 409, json: { code: 'workload_not_connected' } })
    expect(await pushCount()).toBe(0)
  })

  it('is blocked by policy, break-glass or not, and records that without the draft', async () => {
    const draft = configYaml().replace(
      'debug:',
      'debug:\n  otlp:\n    endpoint: "collector.evil.example:4317"\n    tls: {insecure: true}',
    )
    const unsafe = draft.replace('exporters: [debug]', 'exporters: [otlp]')
    const { id } = await approved({ draft_yaml: unsafe, target_env: 'prod', prod_confirmation: true })
    for (const more of [{}, { break_glass: true, break_glass_reason: 'fire' }]) {
      const answer = await push(id, { comment: 'go', prod_double_confirmed: true, ...more })
      expect(answer).toMatchObject({
        status: 400,
        json: { code: 'config_policy_blocked', policy: { decision: 'block' } },
      })
      expect(answer.text).not.toContain('evil.example')
      const [record] = await audits(1)
      expect(record).toMatchObject({ action: 'config.policy.block' })
      expect(record!.detail).not.toContain('evil.example')
    }
    expect(await pushCount()).toBe(0)
    isSinkDown = true
    expect(await push(id, { comment: 'go', prod_double_confirmed: true })).toMatchObject({
      status: 503,
      json: { error: 'audit unavailable', side_effect_status: 'none' },
    })
  })

  it('is done by a token where it is approved; approving and breaking the glass need a person', async () => {
    const machine = {
      ...editor,
      ...(await makeApiToken(ctx, editor, ['config:request', 'workload:push_config'])),
    }
    const { id } = (await create({}, machine)).json as ApprovalRecord
    const refused = { status: 403, json: { code: 'session_required' } }
    expect(await approve(id, { comment: 'fine' }, machine)).toMatchObject(refused)
    const glass = { break_glass: true, comment: 'now', break_glass_reason: 'fire' }
    expect(await push(id, glass, machine)).toMatchObject(refused)
    expect(await pushCount()).toBe(0)
    expect(await approve(id)).toMatchObject({ status: 200 })
    expect(await push(id, {}, machine)).toMatchObject({ status: 202 })
    expect((await audits(1))[0]).toMatchObject({ email: `${editor.email} (token machine)` })
  })

  it('takes a pending request with break-glass, a reason and a comment, once', async () => {
    const { id } = await requested()
    expect(await push(id, { break_glass: true, break_glass_reason: 'fire' })).toMatchObject({
      status: 400,
      json: { error: 'comment is required' },
    })
    expect(await push(id, { break_glass: true, comment: 'now' })).toMatchObject({
      status: 400,
      json: { error: 'break_glass_reason is required' },
    })
    const body = { break_glass: true, comment: 'now', break_glass_reason: 'fire' }
    expect(await push(id, body)).toMatchObject({
      status: 202,
      json: { status: 'pushed', break_glass: true, break_glass_reason: 'fire', push_comment: 'now' },
    })
    expect((await audits(1))[0]).toMatchObject({ action: 'config.approval.break_glass_push' })
    expect(await push(id, body)).toMatchObject({
      status: 409,
      json: { code: 'approval_already_pushed' },
    })
    expect(agent.offered()).toHaveLength(1)
  })

  it('does not send to everyone what was asked for in stages', async () => {
    const { id } = await approved()
    expect(await push(id, { stages: [{ count: 1 }] })).toMatchObject({
      status: 403,
      json: { code: 'feature_disabled' },
    })
    expect(agent.offered()).toEqual([])
  })

  it('rolls out in stages where the edition has them', async () => {
    const host = ctx.fleet.workload(agent.workloadId)!.fingerprintKeys['host.name']!
    const second = await connect({ host })
    const { id } = await approved()
    const complete = { ...ctx, edition: createCompleteEdition() }
    const staged = (stages: unknown[]) =>
      invoke(complete, `POST ${base()}/${id}/push`, { as: editor.token, body: { stages } })
    expect(await staged([{ count: 1, percentage: 5 }])).toMatchObject({
      status: 400,
      json: { error: 'stages[0] needs either count or percentage' },
    })
    expect(await staged([{ count: 2 }, { count: 1 }])).toMatchObject({ status: 400 })
    expect(await staged([{ count: 1, dwell_seconds: 60 }, { percentage: 100 }])).toMatchObject({
      status: 202,
    })
    expect(agent.offered().length + second.offered().length).toBe(1)
    expect(ctx.fleet.workload(agent.workloadId)!.rollout!.stored).toMatchObject({
      stages: [{ count: 1, dwellMs: 60_000, gates: ['no_failure', 'health', 'drift'] }, { percentage: 100 }],
    })
    const { json } = await invoke(ctx, `GET /api/workloads/${agent.workloadId}/configs`, { as: editor.token })
    expect(json).toMatchObject([{ rollout_id: ctx.fleet.workload(agent.workloadId)!.rollout!.stored.id }])
  })

  it('stands when only the outside archive did not hear of it, and says so', async () => {
    const { id } = await approved()
    isSinkDown = true
    expect(await push(id)).toMatchObject({
      status: 503,
      json: { error: 'audit unavailable', side_effect_status: 'applied' },
    })
    expect(agent.offered()).toHaveLength(1)
    expect((await list())[0]).toMatchObject({ status: 'pushed' })
  })

  it('changes nothing when it cannot be recorded', async () => {
    const { id } = await approved()
    await database.pool.execute('alter table audit_events rename column detail to lost')
    const answer = await push(id)
    await database.pool.execute('alter table audit_events rename column lost to detail')
    expect(answer).toMatchObject({ status: 503, json: { side_effect_status: 'none' } })
    expect(agent.offered()).toEqual([])
    expect(await pushCount()).toBe(0)
    expect((await list())[0]).toMatchObject({ status: 'approved' })
    expect(await push(id)).toMatchObject({ status: 202 })
  })
})
