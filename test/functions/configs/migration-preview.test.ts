import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import type { MigrationPreview } from '../../../lib/wire/migration.ts'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
// An administrator: the preview needs the permission to validate configs.
const { token: as } = await signIn(ctx)

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/migration/${name}`, import.meta.url), 'utf8')
const preview = (body: unknown) => invoke(ctx, 'POST /api/configs/migration-assistant/preview', { as, body })

describe('POST /api/configs/migration-assistant/preview', () => {
  it.each([
    ['datadog_agent', 'datadog.yaml', 'yaml'],
    ['fluent_bit', 'fluent-bit.conf', 'conf'],
    ['splunk_forwarder', 'splunk.ini', 'ini'],
    ['new_relic_infra', 'newrelic.yml', 'yaml'],
  ])('converts a %s source into a valid draft', async (vendor, name, format) => {
    const answer = await preview({
      schema_version: 'config_migration_preview_request.v1',
      vendor: ` ${vendor} `,
      source: fixture(name),
      source_format: 'something else',
      labels: { team: 'checkout' },
      context: { otlp_endpoint: 'otlp.example.com:4317', notes: null },
    })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({
      schema_version: 'config_migration_preview.v1',
      vendor,
      source_format: format,
      confidence: 'medium',
      validation: { valid: true, overall_status: 'warning', validated_at: '2026-07-01T08:00:00.000Z' },
      save_hint: { kind: 'draft', source_type: 'migration_assistant', tags: ['migration', vendor] },
    })
    expect((answer.json as MigrationPreview).draft_yaml).toContain('"team"')
  })

  it('answers what cannot be read with a skeleton, and stores nothing', async () => {
    const answer = await preview({ vendor: 'datadog_agent', source: '{{{' })
    expect(answer).toMatchObject({
      status: 200,
      json: { confidence: 'low', unsupported_keys: [], redactions: [] },
    })
    const [counts] = await database.pool.query<{ n: number }>('select count(*)::int as n from templates')
    expect(counts!.n).toBe(0)
  })

  it.each([
    [{}, 'vendor is required'],
    [{ vendor: ' ' }, 'vendor is required'],
    [{ vendor: 'vector', source: 'a' }, 'unsupported vendor'],
    [{ vendor: 'fluent_bit' }, 'source is required'],
    [{ vendor: 'fluent_bit', source: ' \n' }, 'source is required'],
    [{ vendor: 'fluent_bit', source: 1 }, 'invalid JSON'],
    [{ vendor: 'fluent_bit', source: 'a', labels: { a: 1 } }, 'invalid JSON'],
    ['{', 'invalid JSON'],
  ])('refuses %j', async (body, error) => {
    expect(await preview(body)).toMatchObject({ status: 400, json: { error } })
  })

  it('takes a source of exactly 1 MiB, in a worker, and no larger one', async () => {
    const source = `display_name: a\n${`# ${'padding '.repeat(100)}\n`.repeat(1_400)}`.slice(0, 1_048_576)
    expect(await preview({ vendor: 'new_relic_infra', source })).toMatchObject({
      status: 200,
      json: { confidence: 'high' },
    })
    expect(await preview({ vendor: 'new_relic_infra', source: `${source}x` })).toMatchObject({
      status: 413,
      json: { error: 'source exceeds 1 MiB limit' },
    })
    expect(await preview({ vendor: 'unknown', source: `${source}x` })).toMatchObject({ status: 400 })
    const longest = 'x'.repeat(1_048_576 + 65_536)
    expect(await preview({ vendor: 'new_relic_infra', source: longest })).toMatchObject({
      status: 413,
      json: { error: 'request body exceeds migration preview limit' },
    })
  })
})
