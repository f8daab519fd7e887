import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

it('a roll-back that a token began before that was kept with it, and that is under way, is that token’s', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(128))
    await connection.execute(
      `insert into campaigns (id, name, description, status, edition, change, scope, rules, wave, raised, created_by, approvals,
         created_at, updated_at)
       select id, id, '', status, 1, '{}', '{}', '{}', 0, '{}', 'ann', '[]', now(), now()
       from (values ('by-token', 'rolling_back'), ('by-hand', 'rolling_back'), ('over', 'rolled_back')) as c (id, status)`,
    )
    await connection.execute(
      `insert into audit_events (seq, id, occurred_at, action, user_id, email, resource, resource_id, workload_id,
         config_hash, detail, prev_hash, event_hash)
       select seq, gen_random_uuid(), now(), 'campaign.roll_back_all', 'u', who, 'campaign', id, '', '', '',
         lpad(seq::text, 64, '0'), lpad((seq + 1)::text, 64, '0')
       from (values (1, 'by-token', 'ann@example.com (token chat (bot))'), (2, 'by-hand', 'ann@example.com'),
         (3, 'over', 'ann@example.com (token chat)')) as e (seq, id, who)`,
    )
    await run(all)
    const rows = await connection.query('select id, closed_by_token as by from campaigns order by id')
    expect(rows).toEqual([
      { id: 'by-hand', by: null },
      { id: 'by-token', by: 'chat (bot)' },
      { id: 'over', by: null },
    ])
  })
})
