import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openLinkAdministration } from '../../../../lib/identity/oidc/links.ts'
import { findApiToken, insertApiToken } from '../../../../lib/store/api-tokens.ts'
import {
  findExternalUser,
  insertExternalUser,
  listLinkRequests,
  upsertLinkRequest,
} from '../../../../lib/store/external-users.ts'
import { findSession, insertSession } from '../../../../lib/store/sessions.ts'
import { findCredentials, insertUser } from '../../../../lib/store/users.ts'
import { createTestContext } from '../../../support/invoke.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

const ISSUER = 'https://issuer.example'
const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
const [ADA, REQUEST, SESSION, BOUND] = [id(1), id(2), id(3), id(4)]
const BY = { userId: id(9), email: 'admin@example.com', askAgain: null }

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

let ended: string[]
let recorded: number
const links = (keptAdministrators: readonly string[] = []) =>
  openLinkAdministration({
    clock: ctx.clock,
    db: ctx.db,
    keptAdministrators,
    ends: { announce: (ids) => ended.push(...ids) },
  })
const ask = (userId = ADA, email = 'ada@example.com', requestId = REQUEST) =>
  upsertLinkRequest(database.pool, {
    id: requestId,
    userId,
    issuer: ISSUER,
    subject: 'ada',
    email,
    requestedAt: ctx.clock.now(),
  })
const listRecords = () =>
  database.pool.query<{ action: string; resource_id: string }>(
    `select action, resource_id from audit_events where action like 'user.link%' order by seq`,
  )
/** The records of this test, with what each is about. */
const records = async () =>
  (await listRecords()).slice(recorded).map(({ action, resource_id }) => [action, resource_id])
const waiting = () => listLinkRequests(database.pool, 9)
const isSignedIn = async () => (await findSession(database.pool, SESSION, ctx.clock.now())) !== undefined

beforeEach(async () => {
  ended = []
  await database.pool.execute('delete from users')
  // The audit trail only grows.
  recorded = (await listRecords()).length
  const createdAt = ctx.clock.now()
  const ada = { id: ADA, email: 'Ada@example.com', emailKey: 'ada@example.com', passwordHash: 'x', createdAt }
  await insertUser(database.pool, ada)
  const expiresAt = new Date(createdAt.getTime() + 3_600_000)
  await insertSession(database.pool, { id: SESSION, userId: ADA, createdAt, expiresAt })
  await ask()
})

describe('a link that is accepted', () => {
  it('lets the local user sign in with the provider, and ends every session of whoever knew the password', async () => {
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: true })
    expect(await findExternalUser(database.pool, ISSUER, 'ada')).toMatchObject({ id: ADA, isLocal: true })
    expect([await isSignedIn(), ended]).toEqual([false, [SESSION]])
    expect(await records()).toEqual([['user.link', ADA]])
  })

  it('ends the password, and the tokens that whoever knew it made', async () => {
    const token = { id: id(7), userId: ADA, name: 't', permissions: [], createdAt: ctx.clock.now() }
    const expiresAt = new Date(ctx.clock.now().getTime() + 3_600_000)
    const maker = { madeById: null, madeBy: null }
    await insertApiToken(database.pool, {
      ...token,
      ...maker,
      expiresAt,
      isLogin: false,
      hash: 'a'.repeat(64),
    })
    await links().accept(BY, REQUEST)
    expect(ended).toEqual([SESSION, token.id])
    expect(await findApiToken(database.pool, 'a'.repeat(64), ctx.clock.now())).toBeUndefined()
    const known = await findCredentials(database.pool, 'ada@example.com')
    expect([known?.id, known?.passwordHash === 'x']).toEqual([ADA, false])
  })

  it('is an account that the administrator changed, so it approves nothing for him', async () => {
    await links().accept(BY, REQUEST)
    const rows = await database.pool.query(`select user_id, by_id from account_changes`)
    expect(rows).toEqual([{ user_id: ADA, by_id: BY.userId }])
  })

  it('is answered once', async () => {
    await links().accept(BY, REQUEST)
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: false, code: 'link-request-not-found' })
    expect(await links().refuse(BY, REQUEST)).toEqual({ ok: false, code: 'link-request-not-found' })
  })
})

describe('a link that is not made', () => {
  it('to another user, or for another e-mail, than whoever answers was shown', async () => {
    const [boss, again] = [id(5), id(6)]
    const email = 'boss@example.com'
    const createdAt = ctx.clock.now()
    await insertUser(database.pool, { id: boss, email, emailKey: email, passwordHash: 'x', createdAt })
    await ask(boss, email, again)
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: false, code: 'link-request-not-found' })
    expect(await links().refuse(BY, REQUEST)).toEqual({ ok: false, code: 'link-request-not-found' })
    expect(await findExternalUser(database.pool, ISSUER, 'ada')).toBeUndefined()
    expect(await links().accept(BY, again)).toEqual({ ok: true })
    expect(await findExternalUser(database.pool, ISSUER, 'ada')).toMatchObject({ id: boss })
  })

  it('and the same request asked again can still be answered', async () => {
    await ask(ADA, 'ada@example.com', id(6))
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: true })
  })

  it('to an administrator whom the settings name, however his e-mail is written', async () => {
    expect(await links([' ADA@Example.com ', 'other@example.com']).accept(BY, REQUEST)).toEqual({
      ok: false,
      code: 'seed-admin',
    })
    expect(await findExternalUser(database.pool, ISSUER, 'ada')).toBeUndefined()
    expect([await isSignedIn(), ended, await records()]).toEqual([true, [], []])
    // The request is still there.
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: true })
  })

  it('to a user who is bound already', async () => {
    const bound = { id: BOUND, email: 'Bo', issuer: ISSUER, subject: 'bo', createdAt: ctx.clock.now() }
    await insertExternalUser(database.pool, bound)
    await ask(BOUND)
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: false, code: 'already-linked' })
    expect(await findExternalUser(database.pool, ISSUER, 'ada')).toBeUndefined()
    // Nobody could ever accept it, so it ends, and the audit trail says so.
    expect([await waiting(), await records()]).toEqual([[], [['user.link_refused', BOUND]]])
  })

  it('where the person has become a user meanwhile: it ends with a reason, and both stay as they were', async () => {
    const bound = { id: BOUND, email: 'Ada', issuer: ISSUER, subject: 'ada', createdAt: ctx.clock.now() }
    await insertExternalUser(database.pool, bound)
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: false, code: 'person-linked' })
    expect(await findExternalUser(database.pool, ISSUER, 'ada')).toMatchObject({ id: BOUND })
    expect([await isSignedIn(), ended]).toEqual([true, []])
    expect([await waiting(), await records()]).toEqual([[], [['user.link_refused', ADA]]])
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: false, code: 'link-request-not-found' })
  })

  it('to a user for whom another one was accepted: what nobody can accept any more ends with that', async () => {
    await upsertLinkRequest(database.pool, {
      id: id(6),
      userId: ADA,
      issuer: ISSUER,
      subject: 'other ada',
      email: 'ada@example.com',
      requestedAt: ctx.clock.now(),
    })
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: true })
    expect(await waiting()).toEqual([])
    expect(await records()).toEqual([
      ['user.link', ADA],
      ['user.link_refused', ADA],
    ])
  })

  it('where it is refused: the request is gone, the user stays as he was, and it can be asked for again', async () => {
    expect(await links().refuse(BY, REQUEST)).toEqual({ ok: true })
    expect(await findExternalUser(database.pool, ISSUER, 'ada')).toBeUndefined()
    expect([await isSignedIn(), ended, await records()]).toEqual([true, [], [['user.link_refused', ADA]]])
    await ask()
    expect(await links().accept(BY, REQUEST)).toEqual({ ok: true })
  })
})
