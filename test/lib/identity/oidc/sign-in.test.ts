import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { AuditedDatabase } from '../../../../lib/audit/database.ts'
import type { ExternalIdentity } from '../../../../lib/identity/oidc/claims.ts'
import { openSaidRefusals } from '../../../../lib/identity/oidc/said-refusals.ts'
import type { OidcSettings } from '../../../../lib/identity/oidc/settings.ts'
import { signInExternally } from '../../../../lib/identity/oidc/sign-in.ts'
import { openTokens } from '../../../../lib/identity/sessions/tokens.ts'
import { listAuditRecords } from '../../../../lib/store/audit.ts'
import { noteCommitAuthors } from '../../../../lib/store/commit-authors.ts'
import { insertExternalUser, linkUser, listLinkRequests } from '../../../../lib/store/external-users.ts'
import { insertGroup } from '../../../../lib/store/groups.ts'
import { listAuthors } from '../../../../lib/store/text-authors.ts'
import { insertUser } from '../../../../lib/store/users.ts'
import { createTestContext, TEST_CONFIG } from '../../../support/invoke.ts'
import { settingsFor } from '../../../support/oidc/provider.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

const ISSUER = 'https://issuer.example'
const ADA = {
  subject: 'ada',
  displayName: 'Ada',
  email: 'Ada',
  names: [],
  groups: null,
  providerSession: null,
}

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const said = openSaidRefusals(ctx.clock)

const makeAda = () =>
  insertExternalUser(database.pool, {
    id: '00000000-0000-7000-8000-0000000000ad',
    email: 'Ada',
    issuer: ISSUER,
    subject: 'ada',
    createdAt: new Date(0),
  })
const removeAda = () => database.pool.execute(`delete from users where subject = 'ada'`)

/** Sign Ada in; before the n-th transaction that opens her session somebody does the n-th of these. */
const signIn = (...meanwhile: (() => Promise<unknown>)[]) => signInAs(ADA, null, meanwhile)

function signInAs(
  person: ExternalIdentity,
  groupMap: OidcSettings['groupMap'],
  meanwhile: (() => Promise<unknown>)[] = [],
) {
  const change: AuditedDatabase['change'] = async (name, ...rest) => {
    await meanwhile.shift()?.()
    return ctx.db.change(name, ...rest)
  }
  const db: AuditedDatabase = {
    query: (...of) => ctx.db.query(...of),
    execute: (...of) => ctx.db.execute(...of),
    transaction: (...of) => ctx.db.transaction(...of),
    snapshot: (...of) => ctx.db.snapshot(...of),
    act: (...of) => ctx.db.act(...of),
    observe: (event) => ctx.db.observe(event),
    change,
    upToDate: () => ctx.db.upToDate(),
    doubtedEnded: () => ctx.db.doubtedEnded(),
    settleDoubts: () => ctx.db.settleDoubts(),
    auditLock: ctx.db.auditLock,
  }
  const parts = {
    db,
    clock: ctx.clock,
    random: ctx.random,
    ends: { announce: () => {} },
    tokens: openTokens(TEST_CONFIG.jwtSecret, ctx.clock),
    settings: settingsFor(ISSUER, 'http://muster.example', { groupMap }),
    keptAdministrators: [],
    said,
    noteMissing: () => {},
  }
  return signInExternally(parts, ISSUER, person, ctx.clock.now())
}

it('is the same person when another browser signed her in for the first time meanwhile', async () => {
  expect(await signIn(makeAda)).toMatchObject({ ok: true })
  expect(await database.pool.query(`select from users where subject = 'ada'`)).toHaveLength(1)
  await removeAda()
})

it('is lost, with a code that its page knows, where the user comes and goes meanwhile', async () => {
  expect(await signIn(makeAda, removeAda)).toEqual({ ok: false, code: 'sign-in-lost' })
  expect(await database.pool.query('select from sessions')).toHaveLength(0)
})

it('asks for a link where a local user of that name is made meanwhile', async () => {
  const local = {
    id: '00000000-0000-7000-8000-0000000000ae',
    email: 'Ada',
    emailKey: 'ada',
    passwordHash: 'x',
  }
  const make = () => insertUser(database.pool, { ...local, createdAt: new Date(0) })
  expect(await signIn(make)).toEqual({ ok: false, code: 'link-requested' })
  expect(await database.pool.query(`select from users where subject = 'ada'`)).toHaveLength(0)
  await database.pool.execute('delete from users where id = $1', [local.id])
})

describe('whose name a local user has', () => {
  const LOCAL = '00000000-0000-7000-8000-0000000000ae'
  const waiting = () => listLinkRequests(database.pool, 9)
  beforeEach(async () => {
    const local = { id: LOCAL, email: 'Ada', emailKey: 'ada', passwordHash: 'x', createdAt: new Date(0) }
    await insertUser(database.pool, local)
    return () => database.pool.execute('delete from users')
  })

  it('is not asked about where that user is somebody else of the provider: nobody could say yes', async () => {
    expect(await signIn()).toEqual({ ok: false, code: 'link-requested' })
    expect(await waiting()).toHaveLength(1)
    await linkUser(
      database.pool,
      { userId: LOCAL, issuer: ISSUER, subject: 'bo', passwordHash: 'x' },
      new Date(0),
    )
    expect(await signIn()).toEqual({ ok: false, code: 'name-taken' })
    expect(await waiting()).toEqual([])
    const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(record).toMatchObject({ action: 'auth.login.failure', resourceId: LOCAL })
    expect(JSON.parse(record!.detail)).toEqual({ method: 'oidc', reason: 'name_taken', name: 'Ada' })
  })

  it('is asked about by her e-mail alone: a name that people may choose gets the subject behind it', async () => {
    expect(await signInAs({ ...ADA, email: null }, null)).toMatchObject({ ok: true })
    expect(await waiting()).toEqual([])
    expect(await database.pool.query(`select email from users where subject = 'ada'`)).toEqual([
      { email: 'Ada (ada)' },
    ])
    const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(JSON.parse(record!.detail)).toMatchObject({ name_taken: 'Ada' })
  })

  it('is asked about no longer once she signs in under another name, as a user of her own', async () => {
    expect(await signIn()).toEqual({ ok: false, code: 'link-requested' })
    expect(await signInAs({ ...ADA, displayName: 'Ada L.', email: null }, null)).toMatchObject({ ok: true })
    expect(await waiting()).toEqual([])
  })
})

describe('whose names commits may use', () => {
  const HASH = 'c'.repeat(64)
  const idOf = async (subject: string) =>
    (await database.pool.query<{ id: string }>('select id from users where subject = $1', [subject]))[0]!.id
  const authors = async () =>
    (
      await listAuthors(database.pool, {
        hash: HASH,
        askers: [],
        textSetters: [],
        places: [],
        at: new Date(0),
      })
    ).all
  const noted = (names: string[]) =>
    noteCommitAuthors(
      database.pool,
      { configHash: HASH, byId: '', place: '' },
      names.map((name) => ({ name, said: name })),
      { now: () => new Date(0) },
    )
  beforeEach(
    () => () =>
      database.pool.execute('delete from users; delete from commit_authors; delete from provider_names'),
  )

  it('is an author by each of them that the provider has ever said, also when she is called otherwise by now', async () => {
    await signInAs({ ...ADA, names: ['ada@example.com', 'ada'] }, null)
    await signInAs({ ...ADA, displayName: 'Lovelace', names: ['lovelace'] }, null)
    await noted(['ada@example.com'])
    expect(await authors()).toEqual([await idOf('ada')])
  })

  it('is kept as an author, however many others a text names', async () => {
    await signInAs({ ...ADA, names: ['ada@example.com'] }, null)
    await noted(Array.from({ length: 1_000 }, (_, n) => `nobody-${n}`))
    await noted(['ada@example.com', 'one-more'])
    expect(await authors()).toEqual([await idOf('ada')])
  })

  it('has so many names at most: the first, and those by which she is called now', async () => {
    for (let n = 0; n < 4; n++) {
      const names = Array.from({ length: 40 }, (_, m) => `ada-${n * 40 + m}`)
      expect(await signInAs({ ...ADA, names }, null)).toMatchObject({ ok: true })
      ctx.clock.advance(1)
    }
    for (const [name, expected] of [
      ['ada-0', [await idOf('ada')]],
      ['ada-159', [await idOf('ada')]],
      ['ada-119', []],
    ] as const) {
      await database.pool.execute('delete from commit_authors')
      await noted([name])
      expect(await authors(), name).toEqual(expected)
    }
    const count = 'select count(*)::int as count from provider_names'
    expect(await database.pool.query(count)).toEqual([{ count: 100 }])
  })

  it('is noted by a new name also where her former ones are nearly too many', async () => {
    await signInAs({ ...ADA, names: Array.from({ length: 99 }, (_, n) => `ada-${n}`) }, null)
    await signInAs({ ...ADA, names: ['ada-0', 'lovelace'] }, null)
    await noted(['lovelace'])
    expect(await authors()).toEqual([await idOf('ada')])
  })
})

describe('whom the provider calls as it calls somebody else', () => {
  const nameOf = async (subject: string) =>
    (
      await database.pool.query<{ email: string }>('select email from users where subject = $1', [subject])
    )[0]!.email
  beforeEach(() => () => database.pool.execute('delete from users'))

  it('has the subject behind the name, so that nobody takes one for the other', async () => {
    const mallory = { ...ADA, displayName: 'ADA', subject: 'mallory 2\u202e' }
    for (let n = 0; n < 2; n++) {
      await signIn()
      await signInAs(mallory, null)
    }
    expect([await nameOf(ADA.subject), await nameOf(mallory.subject)]).toEqual(['Ada', 'ADA (mallory_2_)'])
    // However it is written.
    const written = { ...ADA, displayName: '  a\uff44a', subject: 'eve' }
    await signInAs(written, null)
    expect(await nameOf('eve')).toBe('  a\uff44a (eve)')
    // Once the other is gone the name is enough.
    await removeAda()
    await database.pool.execute(`delete from users where subject = 'eve'`)
    await signInAs(mallory, null)
    expect(await nameOf(mallory.subject)).toBe('ADA')
  })

  it('has it also where the name only looks the same: letters of another script, marks that nobody sees, a local e-mail', async () => {
    await signInAs({ ...ADA, displayName: 'ada@example.com' }, null)
    const local = `insert into users (id, email, email_key, password_hash, kind, created_at)
      values (gen_random_uuid(), 'Bob@example.com', 'bob@example.com', 'x', 'local', now())`
    await database.pool.execute(local)
    const named = { c: '\u0430da@ex\u0430mple.com', m: 'a\u200bda@example.com', b: 'B\u043eb@example.com' }
    for (const [subject, displayName] of Object.entries(named)) {
      await signInAs({ ...ADA, displayName, email: null, subject }, null)
      expect(await nameOf(subject)).toBe(`${displayName} (${subject})`)
    }
    // Who has a script of his own is called by it.
    await signInAs({ ...ADA, displayName: '\u0416\u0430\u043d\u043d\u0430', email: null, subject: 'z' }, null)
    expect(await nameOf('z')).toBe('\u0416\u0430\u043d\u043d\u0430')
  })

  it('has the subject behind the name where a service account has it', async () => {
    await database.pool.execute(
      `insert into users (id, email, kind, created_at) values (gen_random_uuid(), 'service:ada', 'service', now())`,
    )
    await signIn()
    expect(await nameOf(ADA.subject)).toBe('Ada (ada)')
  })
})

it('is refused where the only group that she would have had goes meanwhile', async () => {
  const id = '00000000-0000-7000-8000-0000000000a5'
  const group = { id, name: 'shop', role: 'editor', scope: null, isSystem: false, createdAt: new Date(0) }
  await insertGroup(database.pool, group)
  const map = new Map([['shop', ['shop']]])
  const grouped = { ...ADA, groups: ['shop', 'cooks'] }
  const remove = () => database.pool.execute('delete from groups where id = $1', [id])
  expect(await signInAs(grouped, map, [remove])).toEqual({
    ok: false,
    code: 'no-group',
    groups: ['shop', 'cooks'],
    isMappedToMissing: true,
  })
  expect(await database.pool.query(`select from users where subject = 'ada'`)).toHaveLength(0)
})

describe('whoever is refused again and again', () => {
  const map = new Map([['shop', ['viewer']]])
  const stranger = { ...ADA, groups: ['cooks'] }
  const listActions = async () =>
    (await database.pool.query<{ action: string }>('select action from audit_events order by seq')).map(
      ({ action }) => action,
    )
  const isRecorded = async () => (await listActions()).slice(before)
  let before: number
  beforeEach(async () => {
    // Nothing that was said before is remembered.
    ctx.clock.advance(60_000)
    // The audit trail only grows.
    before = (await listActions()).length
    return () => database.pool.execute('delete from users')
  })

  it('for want of a group is recorded once a minute, and each time with something to lose', async () => {
    for (let n = 0; n < 5; n++)
      expect(await signInAs(stranger, map)).toEqual({ ok: false, code: 'no-group', groups: ['cooks'] })
    expect(await isRecorded()).toEqual(['auth.login.failure'])
    // Another person is another matter.
    await signInAs({ ...stranger, subject: 'bo' }, map)
    expect(await isRecorded()).toHaveLength(2)
    ctx.clock.advance(60_000)
    await signInAs(stranger, map)
    expect(await isRecorded()).toHaveLength(3)
    expect(await signInAs({ ...ADA, groups: ['shop'] }, map)).toMatchObject({ ok: true })
    for (let n = 0; n < 3; n++) await signInAs(stranger, map)
    expect(await database.pool.query('select from sessions')).toEqual([])
    expect(await isRecorded()).toHaveLength(5)
  })

  it('since a link waits, or the name is taken, is recorded once a minute as long as that is so', async () => {
    const LOCAL = '00000000-0000-7000-8000-0000000000ae'
    const local = { id: LOCAL, email: 'Ada', emailKey: 'ada', passwordHash: 'x', createdAt: new Date(0) }
    await insertUser(database.pool, local)
    for (let n = 0; n < 3; n++) expect(await signIn()).toEqual({ ok: false, code: 'link-requested' })
    expect(await isRecorded()).toEqual(['auth.link.request'])
    await database.pool.execute('delete from link_requests')
    for (let n = 0; n < 3; n++) expect(await signIn()).toEqual({ ok: false, code: 'link-requested' })
    expect(await listLinkRequests(database.pool, 9)).toHaveLength(1)
    expect(await isRecorded()).toHaveLength(2)
    await linkUser(
      database.pool,
      { userId: LOCAL, issuer: ISSUER, subject: 'bo', passwordHash: 'x' },
      ctx.clock.now(),
    )
    for (let n = 0; n < 3; n++) expect(await signIn()).toEqual({ ok: false, code: 'name-taken' })
    expect(await isRecorded()).toHaveLength(3)
  })
})
