import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// What a pipeline says of its commit is kept with every workload and fleet config, and read at each start: it is
// bounded, and no word of it keeps another out of the audit trail.

const database = await useTestDatabase()
let ctx: FleetTestContext
let token: string
let workloadId: string

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  token = (await makeApiToken(ctx, await signIn(ctx), ['config:create', 'config:request'])).token
  workloadId = fakeAgent(ctx.fleet).workloadId
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const ways: [string, (commit: object) => Promise<{ status: number; json: unknown }>][] = [
  [
    'a workload',
    (commit) => {
      const body = { owner: 'eves', config: configYaml(), ...commit }
      return invoke(ctx, `POST /api/workloads/${workloadId}/config/desired`, { as: token, body })
    },
  ],
  [
    'a fleet config',
    (commit) => {
      const selector = { match_labels: { 'muster/nowhere': 'x' } }
      const body = { owner: 'eves', name: 'edge', selector, content: configYaml(), ...commit }
      return invoke(ctx, 'POST /api/fleet-configs/desired', { as: token, body })
    },
  ],
]

describe.each(ways)('the commit of what Git asks for %s', (_, wish) => {
  it.each([
    ['commit_sha', 'a'.repeat(129)],
    ['commit_author', `Eve <${'x'.repeat(507)}>`],
  ])('is refused where its %s is longer than any is', async (field, text) => {
    const { status, json } = await wish({ [field]: text })
    expect(status).toBe(400)
    expect(JSON.stringify(json)).toContain(field)
  })

  it.each([
    ['commit_sha', `${'a'.repeat(20)}\0`],
    ['commit_author', 'Eve <\0>'],
    ['commit_authors', ['Ann', 'Eve <\0>']],
  ])('is refused where its %s cannot be stored', async (field, text) => {
    expect(await wish({ [field]: text })).toMatchObject({
      status: 400,
      json: { error: `${field} must be Unicode text without null characters` },
    })
  })

  it('is kept and recorded whole where it is as long as may be', async () => {
    const quoted = '"'.repeat(500)
    const commit = {
      commit_sha: '"'.repeat(128),
      commit_author: `E <${quoted}>`,
      commit_authors: Array.from({ length: 200 }, (_, n) => `${n} <${quoted}>`),
    }
    expect(await wish(commit)).toMatchObject({ status: 200 })
    const kept = { action: 'config.manage' }
    const [record] = await listAuditRecords(database.pool, kept, { beforeSeq: null, limit: 1, offset: 0 })
    const detail = JSON.parse(record!.detail) as Record<string, unknown>
    expect(detail).toMatchObject({ commit_sha: commit.commit_sha, commit_author: commit.commit_author })
    expect(detail['commit_authors_left_out']).toBeGreaterThan(0)
  })
})
