import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import trimSessions from '../../functions/auth/trim-sessions.ts'
import sweepJanitor from '../../functions/janitor/sweep.ts'
import { DatabaseUnavailable } from '../../lib/store/db.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { useTestService } from '../support/service.ts'

// A process stands still, another takes over, and then the first goes on beside it.

const database = await useTestDatabase()
const on = await useTestService(database)
const as = await on.token()

const userId = (await database.pool.query<{ id: string }>('select id from users limit 1'))[0]!.id
const addSession = (id: string, expiresAt: Date) =>
  database.pool.execute(
    'insert into sessions (id, user_id, created_at, expires_at) values ($1, $2, $3, $4)',
    [id, userId, new Date(0), expiresAt],
  )

it('a command line that brings its code to it can bring the code to the owner afterwards', async () => {
  const verifier = 'b'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const login = { challenge, state: 'a-state-of-the-command-line', port: 40_123, machine: 'laptop' }
  const asked = await on.call('POST', '/api/auth/command-line', { as, body: login })
  const code = new URL((asked.json as { redirect_to: string }).redirect_to).searchParams.get('code')
  await database.pool.execute('update process_epoch set epoch = epoch + 1')

  const body = { code, verifier }
  expect((await on.call('POST', '/api/auth/command-line/token', { body })).status).toBe(503)
  expect(await database.pool.query('select from command_line_logins')).toHaveLength(1)
})

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

it('what it would do to people without an audit record is refused as well', async () => {
  const signal = new AbortController().signal
  const { ctx } = on.service
  await database.pool.execute('update process_epoch set epoch = epoch + 1')

  const preferences = { theme: 'dark', language: 'fr' }
  expect((await on.call('PUT', '/api/me/preferences', { as, body: preferences })).status).toBe(503)
  expect(await database.pool.query('select from user_preferences')).toHaveLength(0)

  // The owner remembers sessions: only a logout that the owner carries out closes the sockets at once.
  expect((await on.call('POST', '/api/auth/logout', { as })).status).toBe(503)
  expect((await on.call('GET', '/api/me', { as })).status).toBe(200)

  await addSession('00000000-0000-7000-8000-00000000dead', new Date(1))
  await expect(trimSessions.run(ctx, signal)).rejects.toBeInstanceOf(DatabaseUnavailable)
  expect(await database.pool.query('select from sessions where expires_at < now()')).toHaveLength(1)
})
