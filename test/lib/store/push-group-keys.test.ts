import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

it('the labels of stored push groups, which meant what operators set, say so', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(13))
    await connection.execute(
      `insert into push_groups (id, name, description, selector) values
         ('all', 'All', '', '{"types": ["collector"]}'),
         ('none', 'None', '', '{"match_labels": {}, "versions": ["1"]}'),
         ('prod', 'Prod', '', '{"match_labels": {"env": "prod", "a/b": "c"}, "types": ["sdk"]}')`,
    )
    await run(all)
    expect(await connection.query('select id, selector from push_groups order by id')).toEqual([
      { id: 'all', selector: { types: ['collector'] } },
      { id: 'none', selector: { match_labels: {}, versions: ['1'] } },
      {
        id: 'prod',
        selector: { match_labels: { 'muster/env': 'prod', 'muster/a/b': 'c' }, types: ['sdk'] },
      },
    ])
  })
})
