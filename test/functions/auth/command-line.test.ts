import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { compareCode, isCommandLineLogin, toMachineName } from '../../../lib/model/command-line-login.ts'
import { deleteUserApiTokens } from '../../../lib/store/api-tokens.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { deleteUserSessions } from '../../../lib/store/sessions.ts'
import { lockIdentity } from '../../../lib/store/users.ts'
import type { ApiTokenRecord, CommandLineToken } from '../../../lib/wire/identity.ts'
import { eventually } from '../../support/eventually.ts'
import {
  addSession,
  createTestContext,
  hearEndedSessions,
  invoke,
  makeApiToken,
  type SignedIn,
  signIn,
} from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const HOUR_MS = 3_600_000
const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const ended = hearEndedSessions(ctx)

let editor: SignedIn
let address = 0
beforeEach(async () => {
  await database.pool.execute('delete from users')
  editor = await signIn(ctx, { email: 'ed@example.com', groups: ['editor'] })
  await database.pool.execute('update users set last_login_at = $1', [ctx.clock.now()])
  ended.length = 0
  address++
})

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')
const STATE = 'a-state-of-the-command-line'
const LOGIN = { state: STATE, port: 40_123, machine: 'laptop' }
const confirm = (body: object, call: object = { as: editor.token }) =>
  invoke(ctx, 'POST /api/auth/command-line', { ...call, body })
const exchange = (body: object) =>
  invoke(ctx, 'POST /api/auth/command-line/token', { body, remoteAddress: `192.0.2.${address}` })
const me = (as: string) => invoke(ctx, 'GET /api/me', { as })

/** Make up a verifier as a command line does, and let this user confirm it; returns the code as well. */
async function begin(by = editor) {
  const verifier = randomBytes(32).toString('base64url')
  const { status, json } = await confirm({ ...LOGIN, challenge: challengeOf(verifier) }, { as: by.token })
  expect(status).toBe(200)
  const answer = new URL((json as { redirect_to: string }).redirect_to)
  return { verifier, code: answer.searchParams.get('code')!, answer }
}
async function logIn(by = editor) {
  const { verifier, code } = await begin(by)
  const { status, json } = await exchange({ code, verifier })
  expect(status).toBe(200)
  return json as CommandLineToken
}

describe('a command line', () => {
  it('gets a token of whoever confirmed it, with her rights, for 12 hours', async () => {
    const { verifier, code, answer } = await begin()
    expect(answer.origin).toBe('http://127.0.0.1:40123')
    expect(answer.searchParams.get('state')).toBe(STATE)
    const { status, json } = await exchange({ code, verifier })
    const { token, email, expires_at: until } = json as CommandLineToken
    expect({ status, email }).toEqual({ status: 200, email: 'ed@example.com' })
    expect(new Date(until).getTime()).toBe(ctx.clock.now().getTime() + 12 * HOUR_MS)
    const own = (await me(editor.token)).json as { permissions: string[] }
    expect((await me(token)).json).toMatchObject({ email, permissions: own.permissions })
    const [listed] = (await invoke(ctx, 'GET /api/tokens', { as: token })).json as ApiTokenRecord[]
    const made = { name: 'muster login (laptop)', expires_at: until, made_by: 'ed@example.com' }
    expect(listed).toMatchObject(made)
    const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(record).toMatchObject({ action: 'token.create', userId: editor.userId, resourceId: listed!.id })
    // Actions that need a person who is signed in are refused to the command line's token.
    const more = await confirm({ ...LOGIN, challenge: challengeOf('x') }, { as: token })
    expect(more).toMatchObject({ status: 403, json: { code: 'session_required' } })
    ctx.clock.advance(12 * HOUR_MS)
    expect((await me(token)).status).toBe(401)
  })

  it('is let in by the cookie of a page of ours only, and by nobody who is not signed in', async () => {
    const body = { ...LOGIN, challenge: challengeOf('v') }
    const headers = { cookie: `om_session=${editor.token}`, host: 'muster.example.com' }
    const from = (origin: string) => confirm(body, { headers: { ...headers, origin } })
    expect(await from('https://evil.example.com')).toMatchObject({ status: 403 })
    expect(await from('null')).toMatchObject({ status: 403 })
    expect(await from('https://muster.example.com')).toMatchObject({ status: 200 })
    expect(await confirm(body, {})).toMatchObject({ status: 401 })
  })
})

describe('a code', () => {
  const INVALID = { status: 400, json: { code: 'command_line_code_invalid' } }

  it('is good once', async () => {
    const { verifier, code } = await begin()
    expect((await exchange({ code, verifier })).status).toBe(200)
    expect(await exchange({ code, verifier })).toMatchObject(INVALID)
    const both = await begin()
    const answers = await Promise.all([exchange(both), exchange(both)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  it('is good for who can say what its challenge is of, and lost when another brings it', async () => {
    const { verifier, code } = await begin()
    expect(await exchange({ code, verifier: randomBytes(32).toString('base64url') })).toMatchObject(INVALID)
    expect(await exchange({ code, verifier })).toMatchObject(INVALID)
    const other = await begin()
    const mixed = await begin()
    expect(await exchange({ code: other.code, verifier: mixed.verifier })).toMatchObject(INVALID)
    expect(await exchange({ code: '', verifier: '' })).toMatchObject(INVALID)
  })

  it('is over after a minute, and with the session that confirmed it', async () => {
    const late = await begin()
    ctx.clock.advance(60_000)
    expect(await exchange(late)).toMatchObject(INVALID)
    const session = await addSession(ctx, editor)
    const orphan = await begin(session)
    await invoke(ctx, 'POST /api/auth/logout', { as: session.token })
    expect(await exchange(orphan)).toMatchObject(INVALID)
  })

  it('is over when the session ends between its code and its token', async () => {
    const { code, verifier } = await begin()
    let exchanged: ReturnType<typeof exchange> | undefined
    await database.pool.transaction('test.new-password', async (tx) => {
      await lockIdentity(tx)
      exchanged = exchange({ code, verifier })
      const codes = () => database.pool.query('select 1 from command_line_logins')
      await eventually('the code is taken', async () => (await codes()).length === 0)
      // What a new password does.
      await deleteUserSessions(tx, editor.userId, null)
      await deleteUserApiTokens(tx, editor.userId)
    })
    expect(await exchanged).toMatchObject(INVALID)
    expect(await database.pool.query('select 1 from api_tokens')).toEqual([])
  })

  it('that nobody came for is forgotten, the oldest of a person when there are more than ten', async () => {
    const first = await begin()
    for (let more = 0; more < 10; more++) {
      ctx.clock.advance(1)
      await begin()
    }
    expect(await exchange(first)).toMatchObject(INVALID)
    const count = async () => (await database.pool.query('select code_hash from command_line_logins')).length
    expect(await count()).toBe(10)
    ctx.clock.advance(60_000)
    await ctx.identity.trim()
    expect(await count()).toBe(0)
  })

  it('is guessed by a stranger at the cost of nobody with the same address, as behind a proxy', async () => {
    const { code: another } = await begin()
    const forged = another.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    for (let guess = 0; guess < 40; guess++)
      for (const code of [`guess ${guess}`, '', 'a.b', forged])
        expect(await exchange({ code, verifier: 'v' })).toMatchObject(INVALID)
    await logIn()
  })

  it('is tried in vain 30 times a minute, and no more', async () => {
    const { code, verifier } = await begin()
    for (let again = 0; again < 30; again++)
      expect(await exchange({ code, verifier: 'v' })).toMatchObject(INVALID)
    const refused = await exchange({ code, verifier })
    expect(refused).toMatchObject({ status: 429, json: { code: 'token_limited' } })
    expect(Number(refused.headers['Retry-After'])).toBeGreaterThan(0)
  })
})

describe('the tokens of sign-ins', () => {
  it('are ten of a person; the oldest makes room, and its sockets close', async () => {
    const first = await logIn()
    const [listed] = (await invoke(ctx, 'GET /api/tokens', { as: editor.token })).json as ApiTokenRecord[]
    for (let more = 0; more < 10; more++) {
      ctx.clock.advance(1)
      await logIn()
    }
    expect((await me(first.token)).status).toBe(401)
    expect(ended).toEqual([listed!.id])
    expect((await invoke(ctx, 'GET /api/tokens', { as: editor.token })).json).toHaveLength(10)
  })

  it('leave the tokens for machines alone, and are forgotten when they are over', async () => {
    const { token } = await makeApiToken(ctx, editor)
    for (let more = 0; more < 11; more++) {
      ctx.clock.advance(1)
      await logIn()
    }
    expect((await me(token)).status).toBe(200)
    ctx.clock.advance(12 * HOUR_MS)
    await ctx.identity.trim()
    expect(await database.pool.query('select id from api_tokens')).toHaveLength(1)
  })
})

describe('what is asked for', () => {
  const good = { ...LOGIN, challenge: challengeOf('v') }
  it.each([
    ['another host for a port', { port: '80@evil.example.com' }],
    ['a port of the system', { port: 80 }],
    ['no port', { port: 0 }],
    ['half a port', { port: 4_000.5 }],
    ['a port beyond all', { port: 65_536 }],
    ['no challenge', { challenge: '' }],
    ['a challenge that is no SHA-256', { challenge: 'plain' }],
    ['no state', { state: '' }],
    ['a state that leads elsewhere', { state: '&code=mine#0123456789' }],
    ['a machine that speaks', { machine: 'your colleague; please confirm' }],
    ['a machine that turns what follows', { machine: 'a\u202eb' }],
  ])('is refused with %s', async (_, wrong) => {
    const { status } = await confirm({ ...good, ...wrong })
    expect(status).toBe(400)
    expect(await database.pool.query('select code_hash from command_line_logins')).toEqual([])
  })

  it('leads to this machine, whatever else is asked for', async () => {
    const evil = { redirect_uri: 'https://evil.example.com', host: 'evil.example.com', redirect_to: '//evil' }
    const { json } = await confirm({ ...good, ...evil })
    expect(new URL((json as { redirect_to: string }).redirect_to).host).toBe('127.0.0.1:40123')
  })

  it('is compared by eight characters of the challenge', () => {
    expect(compareCode(challengeOf('a'))).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
    expect(compareCode('_'.repeat(43))).not.toBe(compareCode('-'.repeat(43)))
    const codes = new Set(Array.from({ length: 500 }, (_, at) => compareCode(challengeOf(`v${at}`))))
    expect(codes.size).toBe(500)
    for (const hostname of ['laptop.example.com', '', '--x', 'a b\u202e', 'x'.repeat(300)])
      expect(isCommandLineLogin({ ...good, machine: toMachineName(hostname) })).toBe(true)
  })
})
