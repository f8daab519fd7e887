import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderPack } from '../../../lib/reports/render.ts'
import { verifyPack } from '../../../lib/reports/verify.ts'
import type { EvidenceItem, EvidencePack } from '../../../lib/wire/reports.ts'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { readPdfText } from '../../support/pdf-text.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { seedReportFleet } from '../../support/report-fleet.ts'

const START = '2026-07-01T00:00:00.000Z'
const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const operator = await signIn(ctx, { email: 'operator@example.com', groups: ['editor'] })

const hash = (digit: string) => digit.repeat(64)
const RULES = {
  waves: [{ count: 1 }],
  limits: { failed: 0 },
  maxInFlight: 500,
  catchUpSeconds: 604_800,
  windows: [{ from: '08:00', to: '18:00' }],
  retryQuarantined: false,
}
const WAVE = { instance_count: 1, production_count: 0, dwell_seconds: 60 }
const PLAN = {
  planned_at: START,
  verdicts: { changes: 3 },
  refused: {},
  target_count: 3,
  instance_count: 3,
  production_count: 1,
  no_way_back_count: 0,
  group_count: 1,
  environments: ['prod'],
  clusters: [],
  waves: [
    { target_count: 1, ...WAVE },
    { target_count: 2, ...WAVE },
  ],
}
const HALT = { gate: 'failed', value: 1, limit: 0, wave: 1, workload_ids: ['wl-0002'], title: 'Port in use' }
const approval = { by: 'boss@example.com', byId: 'user-boss', at: '2026-07-01T01:10:00.000Z' }

async function addCampaign(id: string, status: string, at: string, ended: string | null): Promise<void> {
  await database.pool.execute(
    `insert into campaigns (id, name, description, status, edition, change, scope, rules, plan, plan_hash, policy_hash, wave,
       halt, raised, created_by, requested_by, requested_by_id, requested_at, request_comment, approvals, started_by,
       started_by_id, started_at, ended_at, created_at, updated_at)
     values ($1, $2, '', $3, 1, $4::jsonb, '{}', $5::jsonb, $6::jsonb, $7, $8, 1, $9::jsonb, '{"failed": 2}',
       'operator@example.com', 'operator@example.com', $10, $11::timestamptz, 'because of password=hunter2-raw',
       $12::jsonb, 'operator@example.com', $10, $11, $13::timestamptz, $11, $11)`,
    [
      ...[
        id,
        `Move ${id}`,
        status,
        JSON.stringify({ kind: 'text', yaml: 'raw-yaml-secret', hash: hash('c') }),
      ],
      ...[JSON.stringify(RULES), JSON.stringify(PLAN), hash('a'), hash('b')],
      status === 'halted' ? JSON.stringify(HALT) : null,
      ...[operator.userId, at, JSON.stringify([{ ...approval, comment: 'Bearer raw-token-of-boss' }]), ended],
    ],
  )
}

async function addTarget(
  campaignId: string,
  position: number,
  target: { id: string; wave: number; state: string; started: string | null; ended: string | null },
): Promise<void> {
  const failed = target.state === 'failed'
  await database.pool.execute(
    `insert into campaign_targets (campaign_id, workload_id, workload_name, position, wave, verdict, base_hash, result_hash,
       is_production, instance_count, state, cause, title, was_degraded, started_at, ended_at, variables)
     values ($1, $2, 'Name of ' || $2, $3, $4, 'changes', $5, $6, false, 1, $7, $8, $9, false, $10::timestamptz,
       $11::timestamptz, '{"region": "variable-raw"}')`,
    [
      ...[campaignId, target.id, position, target.wave, hash('d'), hash('c'), target.state],
      ...[failed ? 'port_in_use' : null, failed ? 'Port in use' : null, target.started, target.ended],
    ],
  )
}

async function addAutoApply(): Promise<void> {
  await database.pool.execute(
    `insert into auto_applies (id, fleet_config_id, fleet_config_name, status, number, version_hash, selector, priority,
       policy_hash, reaches_production, plan, plan_hash, author_ids, requested_by, requested_by_id, requested_at,
       request_comment, approvals, active_since, updated_at)
     values ('aa_1', gen_random_uuid(), 'Hosts', 'active', 7, $1, '{"match_labels": {"identity/host.name": "vm-*"}}', 0,
       $2, false, '{}', $3, '{}', 'operator@example.com', $4, $5::timestamptz, 'for newcomers', $6::jsonb, $5, $5)`,
    [
      hash('e'),
      hash('b'),
      hash('f'),
      operator.userId,
      START,
      JSON.stringify([{ ...approval, comment: 'yes' }]),
    ],
  )
  await database.pool.execute(
    `insert into auto_apply_targets (auto_apply_id, workload_id, workload_name, is_newcomer, is_production, base_hash,
       result_hash, state, push_id, started_at, ended_at)
     select 'aa_1', id, 'Name of ' || id, true, false, null, $1, 'applied', gen_random_uuid(), at::timestamptz,
       at::timestamptz + interval '2 seconds'
     from (values ('wl-0001', '2026-07-01T02:00:00Z'), ('gone-too', '2026-07-20T02:00:00Z')) as v (id, at)`,
    [hash('e')],
  )
}

beforeAll(async () => {
  await seedReportFleet(database.pool, { workloads: 3, pushes: 2, events: 1 }, START)
  await addCampaign('cmp_1', 'halted', '2026-07-01T01:00:00Z', null)
  const times = { started: '2026-07-01T01:20:00Z', ended: '2026-07-01T01:20:04Z' }
  await addTarget('cmp_1', 0, { id: 'wl-0001', wave: 0, state: 'applied', ...times })
  const later = { started: '2026-07-01T01:30:00Z', ended: '2026-07-01T01:30:09Z' }
  await addTarget('cmp_1', 1, { id: 'wl-0002', wave: 1, state: 'failed', ...later })
  await addTarget('cmp_1', 2, { id: 'gone', wave: 1, state: 'waiting', started: null, ended: null })
  await addCampaign('cmp_2', 'done', '2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z')
  const early = { started: '2026-06-01T00:10:00Z', ended: '2026-06-01T00:10:09Z' }
  await addTarget('cmp_2', 0, { id: 'wl-0002', wave: 0, state: 'applied', ...early })
  await addCampaign('cmp_draft', 'planned', '2026-07-01T01:00:00Z', null)
  await addTarget('cmp_draft', 0, { id: 'wl-0001', wave: 0, state: 'waiting', started: null, ended: null })
  await addAutoApply()
})

const one = (id: string) => ({ workload_ids: [id] })
const include = { campaigns: true }
const ask = async (scope: object) => {
  const answer = await invoke(ctx, 'POST /api/reports/evidence-pack', {
    as: operator.token,
    body: { scope, include },
  })
  expect(answer.status).toBe(200)
  return answer
}
const itemsOf = (pack: unknown) => (pack as EvidencePack).sections[0]!.items
const ids = (items: readonly EvidenceItem[]) => items.map(({ id }) => id).sort()

describe('the campaigns of an evidence pack', () => {
  it('say what was planned, who asked and allowed it, how its waves went, and why it halted', async () => {
    const { json, text } = await ask({ whole_fleet: true })
    expect((json as EvidencePack).sections.map(({ id }) => id)).toEqual(['campaigns'])
    const campaign = itemsOf(json).find(({ id }) => id === 'campaign:cmp_1')!
    expect(campaign.summary).toContain('halted: failed is 1, allowed is 0 (Port in use)')
    expect(campaign.facts).toMatchObject({
      name: 'Move cmp_1',
      status: 'halted',
      plan_hash: hash('a'),
      change_hash: hash('c'),
      requested_by: `user:${operator.userId}`,
      requested_at: '2026-07-01T01:00:00.000Z',
      approvals: [{ by: 'user:user-boss', at: approval.at, comment: '[redacted]' }],
      limits: { failed: 0 },
      raised_limits: { failed: 2 },
      max_in_flight: 500,
      halt: 'failed is 1, allowed is 0 (Port in use)',
      waves: [
        {
          wave: 1,
          target_count: 1,
          outcomes: { applied: 1 },
          began_at: '2026-07-01T01:20:00.000Z',
          ended_at: '2026-07-01T01:20:04.000Z',
        },
        { wave: 2, began_at: '2026-07-01T01:30:00.000Z', outcomes: { failed: 1, waiting: 1 } },
      ],
    })
    expect((campaign.facts['waves'] as object[])[1]).not.toHaveProperty('ended_at')
    expect(verifyPack(text, null).isIntact).toBe(true)
    expect(verifyPack(text.replaceAll('"outcome":"failed"', '"outcome":"applied"'), null).isIntact).toBe(
      false,
    )
  })

  it('say what became of each workload, also of those that are gone', async () => {
    const items = itemsOf((await ask({ whole_fleet: true })).json)
    expect(ids(items)).toEqual([
      'auto_apply:aa_1',
      'auto_apply_target:aa_1:gone-too',
      'auto_apply_target:aa_1:wl-0001',
      'campaign:cmp_1',
      'campaign:cmp_2',
      'campaign_target:cmp_1:gone',
      'campaign_target:cmp_1:wl-0001',
      'campaign_target:cmp_1:wl-0002',
      'campaign_target:cmp_2:wl-0002',
    ])
    const target = items.find(({ id }) => id === 'campaign_target:cmp_1:wl-0002')!
    expect(target).toMatchObject({
      severity: 'failed',
      facts: { outcome: 'failed', wave: 2, error_title: 'Port in use', result_config_hash: hash('c') },
    })
    expect(items.find(({ id }) => id === 'auto_apply:aa_1')!.facts).toMatchObject({
      name: 'Hosts 7',
      plan_hash: hash('f'),
      requested_by: `user:${operator.userId}`,
      approvals: [{ by: 'user:user-boss', at: approval.at, comment: 'yes' }],
      outcomes: { applied: 2 },
    })
  })

  it('are those of the period', async () => {
    const july = await ask({
      whole_fleet: true,
      since: '2026-07-02T00:00:00Z',
      until: '2026-07-03T00:00:00Z',
    })
    expect(ids(itemsOf(july.json)).filter((id) => !id.startsWith('campaign_target:cmp_1'))).toEqual([
      'auto_apply:aa_1',
      'campaign:cmp_1',
    ])
    const june = await ask({ whole_fleet: true, until: '2026-06-15T00:00:00Z' })
    expect(ids(itemsOf(june.json))).toEqual(['campaign:cmp_2', 'campaign_target:cmp_2:wl-0002'])
  })

  it('show of other workloads nothing when one is asked for', async () => {
    const { json, text } = await ask(one('wl-0001'))
    expect(ids(itemsOf(json))).toEqual([
      'auto_apply:aa_1',
      'auto_apply_target:aa_1:wl-0001',
      'campaign:cmp_1',
      'campaign_target:cmp_1:wl-0001',
    ])
    expect(text).not.toContain('wl-0002')
    expect(text).not.toContain('gone')
    expect(itemsOf((await ask(one('wl-0003'))).json)).toEqual([])
  })

  it('hold no text, value of a variable, credential or address', async () => {
    const { text } = await ask({ whole_fleet: true })
    expect(text).toContain('because of [redacted]')
    for (const secret of [
      'raw-yaml-secret',
      'variable-raw',
      'hunter2-raw',
      'raw-token-of-boss',
      '@example.com',
    ])
      expect(text).not.toContain(secret)
  })

  it.each(['markdown', 'csv', 'pdf'] as const)('are in the pack as %s', async (format) => {
    const { json } = await ask({ whole_fleet: true })
    const bytes = Buffer.concat(renderPack(json as EvidencePack, format))
    // The tables of a PDF break lines anywhere, so the pieces are joined.
    const text = format === 'pdf' ? readPdfText(bytes).join(' ') : bytes.toString('utf8')
    for (const words of ['Move cmp_1', 'Port in use', 'Name of gone', 'user-boss', 'Hosts 7'])
      expect(text).toContain(words)
  })
})
