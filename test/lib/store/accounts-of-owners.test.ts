import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()
const idOf = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`

it('what Git kept belongs to the account of its name where that is certain: one that was there then, and no other', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(50))
    await connection.execute(
      `insert into users (id, email, kind, issuer, subject, created_at) values
         ('${idOf(1)}', 'sure@example.com', 'external', 'i', '1', '2026-01-01'),
         ('${idOf(2)}', 'late@example.com', 'external', 'i', '2', '2026-03-01'),
         ('${idOf(3)}', 'twice@example.com', 'external', 'i', '3', '2026-01-01'),
         ('${idOf(4)}', 'twice@example.com', 'external', 'i', '4', '2026-01-01')`,
    )
    const names = ['sure', 'late', 'twice', 'gone']
    for (const [n, name] of names.entries()) {
      await connection.execute(
        `insert into fleet_configs (id, name, description, selector, priority, newest_version, created_by, created_at,
           updated_at)
         values ('${idOf(n)}', '${name}', '', '{}', 0, 1, '', now(), now())`,
      )
      await connection.execute(
        `insert into managed_fleet_configs (fleet_config_id, owner, wish_hash, version, commit_sha, commit_author,
           applied_at, applied_by)
         values ('${idOf(n)}', 'platform', repeat('a', 64), 1, '', '', '2026-02-01', '${name}@example.com')`,
      )
    }
    await run(all)
    const accounts = () =>
      connection.query(
        'select applied_by as name, applied_by_id as id from managed_fleet_configs order by fleet_config_id',
      )
    const told = (sure: string | null) =>
      names.map((name) => ({ name: `${name}@example.com`, id: name === 'sure' ? sure : null }))
    expect(await accounts()).toEqual(told(idOf(1)))
    await connection.execute(`delete from users where id = '${idOf(1)}'`)
    expect(await accounts()).toEqual(told(null))
  })
})
