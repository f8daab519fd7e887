import { afterAll, describe, expect, it } from 'vitest'
import type { AuditSink } from '../../../lib/audit/delivery.ts'
import { REPORTS_AT_ONCE } from '../../../lib/reports/turns.ts'
import { verifyPack } from '../../../lib/reports/verify.ts'
import { listAuditRecords, readAuditHead } from '../../../lib/store/audit.ts'
import type { EvidencePack } from '../../../lib/wire/reports.ts'
import { createEdition } from '../../../runtime/editions.ts'
import { type Answer, createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { seedReportFleet } from '../../support/report-fleet.ts'

const START = '2026-07-01T00:00:00.000Z'
const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
await seedReportFleet(database.pool, { workloads: 3, pushes: 4, events: 5 }, START)
await database.pool.execute(`update workloads set archived_at = $1::timestamptz where id = 'wl-0003'`, [
  START,
])
const operator = await signIn(ctx, { email: 'Operator@example.com', groups: ['editor'] })
const admin = await signIn(ctx)
const viewer = await signIn(ctx, { groups: ['viewer'] })

const PREVIEW = 'POST /api/reports/evidence-pack'
const EXPORT = 'POST /api/reports/evidence-pack/export'
const ALL = { scope: { group_id: 'checkout' } }
const preview = (body: unknown, as = operator.token) => invoke(ctx, PREVIEW, { as, body })
const packOf = (answer: Answer) => answer.json as EvidencePack
const section = (pack: EvidencePack, id: string) => pack.sections.find((one) => one.id === id)!.items
const reportRecords = async () =>
  (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 50, offset: 0 })).filter(
    ({ action }) => action.startsWith('report.'),
  )

describe(PREVIEW, () => {
  it('answers a pack of eleven sections in order, signed with scheme none, whose hashes hold', async () => {
    const answer = await preview(ALL)
    expect(answer).toMatchObject({ status: 200, headers: { 'Content-Type': 'application/json' } })
    const pack = packOf(answer)
    expect(pack.sections.map(({ id, order }) => `${order} ${id}`)).toEqual([
      '10 workloads',
      '20 config_history',
      '25 current_config',
      '27 config_plan',
      '28 campaigns',
      '30 drift',
      '40 version_intelligence',
      '50 alerts',
      '60 workload_events',
      '70 rollback_readiness',
      '80 audit_verification',
    ])
    expect(pack.signatures).toEqual([
      {
        scheme: 'none',
        signed_at: expect.any(String),
        payload_hash: pack.report_hash,
        verifier: 'community-none',
      },
    ])
    expect(pack).not.toHaveProperty('signed_audit')
    expect(pack).not.toHaveProperty('warnings')
    expect(verifyPack(answer.text, null)).toMatchObject({ isIntact: true, isSigned: false })
  })

  it('carries the head of the audit chain, whichever sections it has', async () => {
    const before = await readAuditHead(database.pool)
    const pack = packOf(await preview({ ...ALL, include: { workload_summary: true } }))
    expect(pack.audit_head).toEqual({ seq: before.seq, hash: before.hash })
  })

  it('asks callers to come back while as many reports are read as may be', async () => {
    for (let i = 0; i < REPORTS_AT_ONCE; i++) expect(ctx.reportTurns.take()).toBe(true)
    expect(await preview(ALL)).toMatchObject({ status: 503 })
    for (let i = 0; i < REPORTS_AT_ONCE; i++) ctx.reportTurns.give()
    expect(await preview(ALL)).toMatchObject({ status: 200 })
  })

  it('covers live workloads of the trusted label, says so, and leaves the archived one out', async () => {
    const { scope } = packOf(
      await preview({ scope: { group_id: ' checkout ', since: '2026-07-01T02:00:00+02:00' } }),
    )
    expect(scope).toEqual({
      workload_ids: ['wl-0001', 'wl-0002'],
      workload_count: 2,
      group_id: 'checkout',
      since: START,
      requested_scope: { group_id: 'checkout', since: START },
    })
  })

  it('tells how each push converged, newest first, with the agent’s own words removed', async () => {
    const history = section(packOf(await preview(ALL)), 'config_history')
    expect(history.slice(0, 4).map(({ severity }) => severity)).toEqual([
      'applied',
      'failed',
      'applied',
      'applied',
    ])
    expect(history[0]).toMatchObject({
      observed_at: '2026-07-01T00:04:03.000Z',
      facts: {
        pushed_by: `user:${operator.userId}`,
        converged_50_ms: 1_000,
        converged_90_ms: 2_000,
        converged_100_ms: 2_000,
        target_count: 2,
      },
    })
    expect(history[1]!.facts).toMatchObject({ error_title: 'Port in use', error_message: '[redacted]' })
    expect(history[1]!.facts).not.toHaveProperty('converged_50_ms')
  })

  it('says which components a planned change adds and removes, and who decided', async () => {
    const [plan] = section(packOf(await preview(ALL)), 'config_plan')
    expect(plan!.facts).toMatchObject({
      added_components: ['exporters/otlp/2'],
      removed_components: ['exporters/otlp/1'],
      requested_by: 'user:user-1',
      self_approved: true,
      request_comment: 'asked by [redacted], see https://[redacted]',
      is_production: true,
    })
  })

  it('names the newest applied revision that is not quarantined as the rollback target, a valid pin before it', async () => {
    const hashes = await database.pool.query<{ config_hash: string }>(
      `select config_hash from pushes where workload_id = 'wl-0001' order by seq desc`,
    )
    const target = async () =>
      section(packOf(await preview({ scope: { workload_ids: ['wl-0001'] } })), 'rollback_readiness')[0]!.facts
    expect(await target()).toMatchObject({
      target_kind: 'previous',
      target_config_hash: hashes[2]!.config_hash,
    })
    await database.pool.execute(
      `insert into quarantines (workload_id, config_hash, instance_uid, push_id, created_at)
       values ('wl-0001', $1, '', gen_random_uuid(), $2::timestamptz)`,
      [hashes[2]!.config_hash, START],
    )
    expect(await target()).toMatchObject({ target_config_hash: hashes[3]!.config_hash })
    await database.pool.execute(
      `insert into known_good_configs (workload_id, config_hash, marked_at, marked_by)
       values ('wl-0001', $1, $2::timestamptz, 'operator@example.com')`,
      [hashes[1]!.config_hash, START],
    )
    expect(await target()).toMatchObject({
      target_kind: 'last_known_good',
      target_config_hash: hashes[1]!.config_hash,
      quarantined_config_hashes: [hashes[2]!.config_hash],
    })
    await database.pool.execute('delete from quarantines')
    await database.pool.execute('delete from known_good_configs')
  })

  it('bounds every dated section by the period, both ends included', async () => {
    const pack = packOf(
      await preview({
        scope: { ...ALL.scope, since: '2026-07-01T00:02:00Z', until: '2026-07-01T00:03:00Z' },
      }),
    )
    const submitted = section(pack, 'config_history').map(({ facts }) => facts['submitted_at'])
    expect(new Set(submitted)).toEqual(new Set(['2026-07-01T00:03:00.000Z', '2026-07-01T00:02:00.000Z']))
    expect(section(pack, 'workload_events').map(({ observed_at }) => observed_at)).toEqual([
      ...['2026-07-01T00:03:00.000Z', '2026-07-01T00:02:00.000Z'],
      ...['2026-07-01T00:03:00.000Z', '2026-07-01T00:02:00.000Z'],
    ])
    expect(section(pack, 'alerts')).toEqual([])
    expect(section(pack, 'config_plan')).toHaveLength(2)
    expect(section(pack, 'current_config')).toHaveLength(2)
  })

  it('verifies the whole audit chain and counts what was done to the workloads in scope', async () => {
    await ctx.db.observe({
      action: 'config.rollback',
      actor: operator,
      resource: 'workload',
      resourceId: 'wl-0001',
    })
    await ctx.db.observe({
      action: 'config.rollback',
      actor: operator,
      resource: 'workload',
      resourceId: 'wl-0003',
    })
    const [item] = section(packOf(await preview(ALL)), 'audit_verification')
    const records = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 1 })
    expect(item!.facts).toMatchObject({
      status: 'verified',
      head_seq: records[0]!.seq,
      head_hash: records[0]!.eventHash,
      scope_records_by_action: { 'config.rollback': 1 },
    })
  })

  it('takes a selector over labels, trusted labels and identity, and archived workloads by id', async () => {
    const ids = async (scope: object) => packOf(await preview({ scope })).scope.workload_ids
    expect(await ids({ selector: { team: 'a', 'k8s.deployment.name': 'app-2' } })).toEqual(['wl-0002'])
    expect(await ids({ selector: { 'muster/group': 'checkout' } })).toEqual(['wl-0001', 'wl-0002'])
    expect(await ids({ workload_ids: ['wl-0003', ' wl-0001 ', 'wl-0001', ''] })).toEqual([
      'wl-0001',
      'wl-0003',
    ])
  })

  it('takes a push group by its id, by trusted labels only', async () => {
    await database.pool.execute(
      `insert into push_groups (id, name, description, selector) values
       ('ours', 'Ours', '', '{"match_labels": {"muster/group": "checkout"}}'), ('theirs', 'Theirs', '', '{"match_labels": {"muster/team": "a"}}')`,
    )
    expect(packOf(await preview({ scope: { group_id: 'ours' } })).scope.workload_count).toBe(2)
    expect(await preview({ scope: { group_id: 'theirs' } })).toMatchObject({ status: 409 })
  })

  it('covers the whole fleet without a list of ids, and repeats that it was asked for so', async () => {
    const pack = packOf(await preview({ scope: { whole_fleet: true, since: START } }))
    expect(pack.scope).toEqual({
      workload_ids: ['wl-0001', 'wl-0002'],
      workload_count: 2,
      whole_fleet: true,
      since: START,
      requested_scope: { whole_fleet: true, since: START },
    })
    const answer = await invoke(ctx, `${EXPORT}?format=markdown`, {
      as: operator.token,
      body: { scope: { whole_fleet: true } },
    })
    expect(answer.text).toContain('- whole_fleet: `true`')
    const text = (await preview({ scope: { whole_fleet: true } })).text
    expect(verifyPack(text, null)).toMatchObject({ isIntact: true })
  })

  it('gives the same inputs_hash for the same data, whatever was audited or the clock said between', async () => {
    const first = packOf(await preview({ scope: { workload_ids: ['wl-0001', 'wl-0002'] } }))
    ctx.clock.advance(5_000)
    const second = packOf(await preview({ scope: { workload_ids: ['wl-0002', 'wl-0001', 'wl-0001'] } }))
    expect(second.inputs_hash).toBe(first.inputs_hash)
    expect(second.report_hash).not.toBe(first.report_hash)
    await database.pool.execute(
      `update alerts set resolved_at = $1::timestamptz where workload_id = 'wl-0002'`,
      [START],
    )
    expect(packOf(await preview({ scope: { workload_ids: ['wl-0001', 'wl-0002'] } })).inputs_hash).not.toBe(
      first.inputs_hash,
    )
  })

  it('limits itself to what is asked for', async () => {
    const pack = packOf(await preview({ ...ALL, include: { alerts: true, drift_findings: false } }))
    expect(pack.sections.map(({ id }) => id)).toEqual(['alerts'])
    expect(packOf(await preview({ ...ALL, include: { signed_audit_metadata: true } })).sections).toEqual([])
  })

  it.each([
    ['not JSON', '{', 400, 'invalid_json_body'],
    ['an empty body', '', 400, 'invalid_json_body'],
    ['an unknown field', { ...ALL, scop: {} }, 400, 'invalid_json_body'],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, 'invalid_json_body'],
    ['another schema version', { ...ALL, schema_version: 'v2' }, 400, 'unsupported_schema_version'],
    ['another report type', { ...ALL, report_type: 'x' }, 400, 'unsupported_report_type'],
    ['no redaction', { ...ALL, redaction: 'none' }, 400, 'unsupported_redaction_mode'],
    ['no scope', { scope: {} }, 400, 'invalid_scope'],
    ['a fleet that is not whole', { scope: { whole_fleet: false } }, 400, 'invalid_scope'],
    ['the whole fleet and a part', { scope: { whole_fleet: true, group_id: 'a' } }, 400, 'invalid_scope'],
    ['a fleet that is no yes or no', { scope: { whole_fleet: 'yes' } }, 400, 'invalid_json_body'],
    [
      'a period that ends before it begins',
      { scope: { group_id: 'a', since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' } },
      400,
      'invalid_time_range',
    ],
    ['an unknown id', { scope: { workload_ids: ['wl-0001', 'nobody'] } }, 404, 'workload_not_found'],
    ['a scope of nothing', { scope: { selector: { team: 'none' } } }, 409, 'report_scope_empty'],
    ['ids that are blank', { scope: { workload_ids: [' '] } }, 409, 'report_scope_empty'],
    ['a body over 1 MiB', 'x'.repeat(1_048_577), 413, 'request_body_too_large'],
  ])('refuses %s and records nothing', async (_, body, status, code) => {
    const before = (await reportRecords()).length
    expect(await preview(body)).toMatchObject({ status, json: { error: expect.any(String), code } })
    expect(await reportRecords()).toHaveLength(before)
  })

  it('forbids viewers and strangers', async () => {
    expect(await preview(ALL, viewer.token)).toMatchObject({ status: 403 })
    expect(await invoke(ctx, PREVIEW, { body: ALL })).toMatchObject({ status: 401 })
    expect(await preview(ALL, admin.token)).toMatchObject({ status: 200 })
  })
})

describe('a pack over a comment that was stored before its length had a limit', () => {
  // A text that an editor once wrote cannot be changed any more, and must not keep everybody from a report.
  it.each([
    ['JWTs that end nowhere', '-eyJaaaaa'],
    ['credentials', 'a:b@'],
    ['assignments', 'token='],
    ['one long word', 'aB1-'],
  ])('is made all the same: %s', async (_, piece) => {
    const comment = piece.repeat(405_000 / piece.length)
    await database.pool.execute(`update approvals set request_comment = $1 where workload_id = 'wl-0001'`, [
      comment,
    ])
    const plan = section(packOf(await preview(ALL)), 'config_plan')
    expect(plan.length).toBeGreaterThan(0)
    expect(JSON.stringify(plan).length).toBeLessThan(200_000)
    for (const format of ['markdown', 'csv', 'pdf'])
      expect(
        await invoke(ctx, `${EXPORT}?format=${format}`, { as: operator.token, body: ALL }),
      ).toMatchObject({
        status: 200,
      })
  })
})

describe('the files of a preview', () => {
  it('have the hashes that were read, in every format, though things have moved on meanwhile', async () => {
    const pack = packOf(await preview(ALL))
    const made = async (format: string) =>
      (await invoke(ctx, `${EXPORT}?format=${format}`, { as: operator.token, body: ALL })).text
    const rows = await made('csv')
    ctx.clock.advance(60_000)
    await database.pool.execute(`update alerts set resolved_at = now() where workload_id = 'wl-0001'`)
    const file = (format: string, as = operator.token) =>
      invoke(ctx, `${EXPORT}?format=${format}&report_hash=${pack.report_hash}`, { as, body: ALL })
    for (const format of ['markdown', 'pdf', 'markdown']) {
      const answer = await file(format)
      expect(answer.status).toBe(200)
      if (format === 'markdown') expect(answer.text).toContain(pack.report_hash)
    }
    const isOfChain = (line: string) => !line.startsWith('audit_verification')
    const linesOf = (text: string) => text.split('\n').filter(isOfChain)
    expect(linesOf((await file('csv')).text)).toEqual(linesOf(rows))
    expect(linesOf(await made('csv'))).not.toEqual(linesOf(rows))
    expect(await file('csv', admin.token)).toMatchObject({ status: 409, json: { code: 'report_not_kept' } })
    ctx.clock.advance(600_001)
    expect(await file('csv')).toMatchObject({ status: 409, json: { code: 'report_not_kept' } })
  })
})

describe(EXPORT, () => {
  it.each([
    ['?format=markdown', 'md', 'text/markdown; charset=utf-8', '# Evidence Pack'],
    ['?format=md', 'md', 'text/markdown; charset=utf-8', '# Evidence Pack'],
    ['', 'md', 'text/markdown; charset=utf-8', '# Evidence Pack'],
    ['?format=csv', 'csv', 'text/csv; charset=utf-8', 'section_id,item_id,resource,resource_id,observed_at,'],
    ['?format=pdf', 'pdf', 'application/pdf', '%PDF-1.'],
  ])('answers %s as a file with its type and name, and records it', async (query, extension, type, start) => {
    const { inputs_hash } = packOf(await preview(ALL))
    const answer = await invoke(ctx, `${EXPORT}${query}`, { as: operator.token, body: ALL })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'Content-Type': type,
      'Content-Disposition': `attachment; filename="evidence-pack-${inputs_hash.slice(0, 12)}.${extension}"`,
    })
    expect(answer.text.startsWith(start)).toBe(true)
    const [record] = await reportRecords()
    expect(record).toMatchObject({
      action: 'report.export',
      resource: 'report',
      resourceId: inputs_hash,
      userId: operator.userId,
      detail: expect.stringMatching(/^format=(markdown|csv|pdf) report_type=evidence_pack workloads=2$/),
    })
  })

  it('shows nothing that is secret in any format', async () => {
    const answers = await Promise.all([
      preview(ALL),
      ...['markdown', 'csv', 'pdf'].map((format) =>
        invoke(ctx, `${EXPORT}?format=${format}`, { as: operator.token, body: ALL }),
      ),
    ])
    for (const { text } of answers) {
      for (const secret of [
        'example.com',
        'elsewhere.test',
        'tenant-a.internal',
        'SECRET_TOKEN',
        'Bearer',
        'raw-',
        'agent-label',
      ])
        expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
    }
  })

  it('names people beside their ids in Markdown where that is asked for, and what was taken out stays so', async () => {
    const ask = (format: string, names = '&names=true') =>
      invoke(ctx, `${EXPORT}?format=${format}${names}`, { as: operator.token, body: ALL })
    const { text } = await ask('markdown')
    const named = `${operator.email} (user:${operator.userId})`
    expect(text).toContain(`pushed_by: \`${named}\``)
    expect(text).toContain(`"muster/contact":"user:${operator.userId}"`)
    const addresses = text.split(operator.email).length
    expect(text.split(named)).toHaveLength(addresses)
    expect((await ask('csv')).text).not.toContain(operator.email)
    expect((await ask('markdown', '')).text).not.toContain(operator.email)
    const details = (await reportRecords())
      .slice(0, 3)
      .map(({ detail }) => String(detail).endsWith(' names=true'))
    expect(details).toEqual([false, true, true])
  })

  it('refuses another format before it looks at the body', async () => {
    expect(await invoke(ctx, `${EXPORT}?format=docx`, { as: operator.token, body: '{' })).toMatchObject({
      status: 400,
      json: { error: 'unsupported export format', code: 'unsupported_export_format' },
    })
  })

  it('answers 501 with another format to take where PDF cannot be made, before anything is recorded', async () => {
    const before = (await reportRecords()).length
    const without = {
      ...ctx,
      reportWorkers: {
        ...ctx.reportWorkers,
        run: async () => ({ ok: true, value: { kind: 'pdf-unavailable', cause: 'no font' } }) as never,
      },
    }
    expect(await invoke(without, `${EXPORT}?format=pdf`, { as: operator.token, body: ALL })).toMatchObject({
      status: 501,
      json: { error: 'pdf export unavailable', code: 'pdf_unavailable', fallback_format: 'markdown' },
    })
    expect(await reportRecords()).toHaveLength(before)
  })

  it('answers 500 where the pack could not be built, and 503 where it could not be signed', async () => {
    const failing = {
      ...ctx,
      reportWorkers: {
        ...ctx.reportWorkers,
        run: async () => ({ ok: false, code: 'worker-failed', cause: 'out of memory' }) as never,
      },
    }
    expect(await invoke(failing, EXPORT, { as: operator.token, body: ALL })).toMatchObject({
      status: 500,
      json: { error: 'failed to build evidence pack', code: 'report_build_failed' },
    })
    const edition = createEdition({
      name: 'signed',
      capabilities: [],
      reports: { signer: { sign: async () => ({ ok: false, code: 'report-signing-unavailable' }) } },
    })
    expect(await invoke({ ...ctx, edition }, EXPORT, { as: operator.token, body: ALL })).toMatchObject({
      status: 503,
      json: { error: 'report signing unavailable', code: 'report_signing_unavailable' },
    })
  })

  it('hands out nothing of a report whose record could not be made', async () => {
    const auditSink: AuditSink = { deliver: () => Promise.reject(new Error('archive is down')) }
    const edition = createEdition({ name: 'archived', capabilities: [], auditSink })
    const archived = createTestContext(database, { edition })
    const { token } = await signIn(archived)
    for (const request of [PREVIEW, `${EXPORT}?format=csv`]) {
      expect(await invoke(archived, request, { as: token, body: ALL })).toMatchObject({
        status: 503,
        json: { error: 'audit unavailable', code: 'audit_unavailable', side_effect_status: 'none' },
      })
    }
    await archived.close()
  })
})
