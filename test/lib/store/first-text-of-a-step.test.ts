import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

// The first text of 0083, which some databases have run: it was changed later the same day.
const FIRST_TEXT = `alter table managed_configs add column ran_commit_sha text not null default '';
  alter table managed_fleet_configs add column ran_commit_sha text not null default ''`

it('a database that ran the first text of a step which was changed afterwards has all columns in the end', async () => {
  await onEmptySchema(database, async ({ connection, all, run }) => {
    const asItWas = all.map((step) => (step.version === 83 ? { ...step, sql: FIRST_TEXT } : step))
    await run(asItWas.filter(({ version }) => version <= 84))
    await run(all)
    await expect(
      connection.query('select ran_commit_sha, ran_config_hash from managed_configs'),
    ).resolves.toEqual([])
  })
})

it('so does one that ran a step which was numbered anew afterwards', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    const moved = all.find(({ name }) => name === 'makers-of-tokens')!
    await run([...before(89), { ...moved, version: 89 }])
    await run(all)
    await expect(connection.query('select made_by_id, made_by from api_tokens')).resolves.toEqual([])
  })
})
