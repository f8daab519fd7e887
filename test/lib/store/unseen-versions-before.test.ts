import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

it('what was asked for of fleet configs before an upgrade is kept by their names and by account', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(119))
    const heir = '00000000-0000-7000-8000-000000000009'
    const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
    await connection.execute(
      `insert into users (id, email, email_key, password_hash, created_at) values ($1, 'heir', 'heir', 'x', now())`,
      [heir],
    )
    await connection.execute(
      `insert into fleet_configs (id, name, description, selector, priority, newest_version, created_by, created_at, updated_at)
       select id::uuid, name, '', '{}', 0, 3, '', now(), now() from (values ($1, 'edge'), ($2, 'core')) as of (id, name)`,
      [id(1), id(2)],
    )
    // Of 'edge' the second was done, and the third is asked for by the heir of whoever wrote it; 'core' was let go of.
    await connection.execute(
      `insert into fleet_config_versions (fleet_config_id, number, body, hash, variables, comment, author, author_id, created_at)
       select id::uuid, number, '', repeat(hash, 64), '[]', '', '', 'first', now()
       from (values ($1, 1, 'a'), ($1, 2, 'b'), ($1, 3, 'c'), ($2, 1, 'd')) as of (id, number, hash)`,
      [id(1), id(2)],
    )
    await connection.execute(
      `insert into campaigns (id, name, description, status, edition, change, scope, rules, wave, raised, created_by, approvals,
         created_at, updated_at)
       values ('c', '', '', 'done', 0, json_build_object('kind', 'version', 'fleet_config_id', $1::text, 'number', 2), '{}',
         '{}', 0, '{}', '', '[]', now(), now())`,
      [id(1)],
    )
    await connection.execute(
      `insert into managed_fleet_configs (fleet_config_id, owner, wish_hash, version, commit_sha, commit_author, applied_at,
         applied_by, applied_by_id, ran_version) values ($1, 'shop', repeat('0', 64), 3, '', '', now(), '', $2, 2)`,
      [id(1), heir],
    )
    await connection.execute(
      `insert into commit_claims (config_hash, by_id, place, since)
       select repeat(hash, 64), 'first', place, now()
       from (values ('a', $1), ('b', $1), ('c', $1), ('d', $2)) as of (hash, place)`,
      [id(1), id(2)],
    )
    await connection.execute(
      `insert into commit_authors (config_hash, name, noted_at, said, by_id)
       values (repeat('c', 64), 'ann', now(), 'Ann', 'first'), (repeat('c', 64), 'bob', now(), 'Bob', 'else')`,
    )
    await run(all)
    const told = async (what: string, from: string) =>
      (await connection.query<{ is: string }>(`select ${what} as is from ${from} order by 1`)).map(
        ({ is }) => is,
      )
    const who = `replace(by_id, '${heir}', 'heir')`
    expect(
      await told(`concat_ws(' ', place, left(config_hash, 1), ${who}, left(replaced_by, 1))`, `unseen_texts`),
    ).toEqual(['fleet:core d first', 'fleet:edge b heir c', 'fleet:edge c first', 'fleet:edge c heir'])
    expect(
      await told(`concat_ws(' ', place, left(config_hash, 1))`, `commit_claims where place like 'fleet:%'`),
    ).toEqual(['fleet:core d', 'fleet:edge a', 'fleet:edge b', 'fleet:edge c'])
    expect(await told(`concat_ws(' ', name, ${who})`, 'commit_authors')).toEqual([
      'ann first',
      'ann heir',
      'bob else',
    ])
  })
})
