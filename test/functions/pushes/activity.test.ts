import { afterAll, describe, expect, it } from 'vitest'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const { token: as } = await signIn(ctx, { groups: ['viewer'] })

let pushes = 0
async function insertPush(submittedAt: string, status = 'applied'): Promise<void> {
  const seq = ++pushes
  await database.pool.execute(
    `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status,
       last_seen_at, labels, trusted_labels, accepts_remote_config, generation, push_seq, archived_at, created_at)
     values ('w1', 'uid', '{}', 'w', 'collector', '', 'connected', $1, '{}', '{}', true, 0, 0, $1, $1)
     on conflict do nothing`,
    [submittedAt],
  )
  await database.pool.execute(
    `insert into config_contents (hash, body, components, created_at)
     values (repeat('a', 64), '\\x61', '[]', $1) on conflict do nothing`,
    [submittedAt],
  )
  await database.pool.execute(
    `insert into pushes (push_id, workload_id, seq, config_hash, kind, pushed_by, generation, status, phase,
       submitted_at, updated_at, target_count, applying_count, applied_count, failed_count, straggler_count,
       gone_count, joined_count, excluded)
     values (gen_random_uuid(), 'w1', $1, repeat('a', 64), 'auto-rollback', 'auto-rollback', $1, $2, 'applied',
       $3, $3, 0, 0, 0, 0, 0, 0, 0, '{}')`,
    [seq, status, submittedAt],
  )
}

const activity = (query = '') => invoke(ctx, `GET /api/pushes/activity${query}`, { as })

describe('GET /api/pushes/activity', () => {
  it('answers seven days without a push, today last', async () => {
    const { status, json } = await activity()
    expect(status).toBe(200)
    expect(json).toEqual(
      ['2026-06-25', '2026-06-26', '2026-06-27', '2026-06-28', '2026-06-29', '2026-06-30', '2026-07-01'].map(
        (day) => ({ day, count: 0 }),
      ),
    )
  })

  it('counts every push by its UTC day, those of archived workloads and by the service included', async () => {
    await insertPush('2026-06-24T23:59:59.999Z')
    await insertPush('2026-06-25T00:00:00.000Z')
    await insertPush('2026-06-30T23:59:59.999Z', 'failed')
    await insertPush('2026-07-01T00:00:00.000Z', 'pending')
    await insertPush('2026-07-01T07:00:00.000Z')
    const counts = ((await activity('?window=7d')).json as { count: number }[]).map((day) => day.count)
    expect(counts).toEqual([1, 0, 0, 0, 0, 1, 2])
  })

  it('takes an empty window for seven days and knows no other', async () => {
    expect((await activity('?window=')).status).toBe(200)
    for (const window of ['30d', '7D', '24h', '7d%20', 'x']) {
      expect(await activity(`?window=${window}`)).toMatchObject({
        status: 400,
        json: { error: 'unsupported window; only 7d is supported' },
      })
    }
  })
})
