import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()
const idOf = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`
const NAMES = ['managed', 'let-go', 'carried', 'brought']

it('whom Git named for a text stays an author of what waits with that text and other values, however long ago it named them', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(87))
    for (const [n, name] of NAMES.entries()) {
      await connection.execute(
        `insert into fleet_configs (id, name, description, selector, priority, newest_version, created_by, created_at,
           updated_at)
         values ('${idOf(n)}', '${name}', '', '{}', 0, 2, '', now(), now())`,
      )
      await connection.execute(
        `insert into fleet_config_versions (fleet_config_id, number, body, hash, variables, value_table, comment, author,
           author_id, created_at)
         select '${idOf(n)}', number, 'b', repeat('${n}', 64), '[]', jsonb_build_object('rows', number), '', 'p', 'p',
           '2026-01-01'::timestamptz + number * interval '1 day'
         from generate_series(1, 2) as number`,
      )
      await connection.execute(
        `insert into commit_authors (config_hash, name, noted_at) values (repeat('${n}', 64), 'ann', '2026-01-02')`,
      )
      if (name === 'carried' || name === 'brought')
        await connection.execute(
          `insert into campaigns (id, name, description, status, edition, change, scope, rules, wave, raised, created_by,
             approvals, created_at, updated_at)
           values ('${name}', '', '', '${name === 'brought' ? 'done' : 'requested'}', 1,
             '{"fleet_config_id": "${idOf(n)}", "number": 2}', '{}', '{}', 0, '{}', '', '[]', now(), now())`,
        )
    }
    await connection.execute(
      `insert into managed_fleet_configs (fleet_config_id, owner, wish_hash, version, commit_sha, commit_author, applied_at,
         applied_by)
       values ('${idOf(0)}', 'platform', repeat('a', 64), 2, '', '', now(), 'p')`,
    )
    await run(all)
    expect(
      await connection.query(
        `select f.name, v.number from commit_authors c join fleet_config_versions v on v.content_hash = c.config_hash
           join fleet_configs f on f.id = v.fleet_config_id
         where c.name = 'ann' order by f.id, v.number`,
      ),
    ).toEqual(['managed', 'let-go', 'carried'].map((name) => ({ name, number: 2 })))
  })
})
