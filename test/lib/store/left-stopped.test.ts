import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

it('what had been stopped for long before such things began to end has a week left, of which people are told', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(81))
    await connection.execute(
      `insert into auto_applies (id, fleet_config_id, fleet_config_name, status, number, version_hash, selector, priority,
         policy_hash, reaches_production, plan, plan_hash, author_ids, requested_by, requested_by_id, requested_at,
         request_comment, approvals, updated_at)
       select status || ' ' || days, gen_random_uuid(), 'Hosts', status, 1, 'v', '{}', 0, 'p', false, '{}', 'h', '{}', 'a', 'a',
         now(), '', '[]', now() - days * interval '1 day'
       from unnest('{paused,held,active}'::text[]) as s (status) cross join unnest('{5,29,200}'::int[]) as d (days)`,
    )
    await run(all)
    expect(
      await connection.query(
        `select id, extract(day from now() - updated_at)::int as days from auto_applies order by id`,
      ),
    ).toEqual([
      { id: 'active 200', days: 200 },
      { id: 'active 29', days: 29 },
      { id: 'active 5', days: 5 },
      { id: 'held 200', days: 23 },
      { id: 'held 29', days: 23 },
      { id: 'held 5', days: 5 },
      { id: 'paused 200', days: 23 },
      { id: 'paused 29', days: 23 },
      { id: 'paused 5', days: 5 },
    ])
  })
})
