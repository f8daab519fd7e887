import { expect, it } from 'vitest'
import { gitGroupOf } from '../../../lib/model/git-group.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

it.each(['note_claims_approved', 'inherit_approval'])(
  'the trigger %s finds requests from Git by the group that they are given',
  async (name) => {
    const rows = await database.pool.query<{ source: string }>(
      'select prosrc as source from pg_proc where proname = $1',
      [name],
    )
    expect(rows[0]!.source).toMatch(new RegExp(`'${gitGroupOf('')}' \\|\\| (new\\.)?owner`))
  },
)
