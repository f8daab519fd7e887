import { expect, it } from 'vitest'
import sweepJanitor from '../../functions/janitor/sweep.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { useTestService } from '../support/service.ts'

// A process stands still, another takes over, and then the first goes on beside it.

const database = await useTestDatabase()
const on = await useTestService(database)
const as = await on.token()

it('a process that another one has taken over from neither changes nor removes anything, whoever asks', async () => {
  const day = 86_400_000
  const old = new Date(Date.now() - 2 * day)
  await database.pool.execute(`insert into reported_configs values ('old', '', $1)`, [old])
  await database.pool.execute('update process_epoch set epoch = epoch + 1')

  const body = { id: 'edge', name: 'Edge', selector: { types: ['collector'] } }
  expect((await on.call('POST', '/api/push-groups', { as, body })).status).toBe(503)
  await sweepJanitor.run(on.service.ctx, new AbortController().signal)

  const kept = (table: string) => database.pool.query(`select from ${table}`)
  expect(await kept('push_groups')).toHaveLength(0)
  expect(await kept('reported_configs')).toHaveLength(1)
  expect(on.fatal()).toBe('another process has become the active one')
})
