import { describe, expect, it } from 'vitest'
import { type Claims, mapGroups, readClaim, readIdentity } from '../../../../lib/identity/oidc/claims.ts'

const read = (idToken: Claims, userInfo: Claims = {}, claim = 'groups') => {
  const found = readIdentity({ sub: 's1', ...idToken }, userInfo, claim)
  if (!found.ok) return found.code
  return found.identity
}

describe('groups', () => {
  it('come from the named claim or JSON pointer, of the ID token before UserInfo', () => {
    expect(read({ groups: ['a'] }, { groups: ['b'] })).toMatchObject({ groups: ['a'] })
    expect(read({}, { groups: 'only' })).toMatchObject({ groups: ['only'] })
    expect(read({ 'a/b': { roles: ['x', 7, null] } }, {}, '/a~1b/roles')).toMatchObject({ groups: ['x'] })
    expect(read({})).toMatchObject({ groups: null })
  })

  it.each([[{ _claim_names: { groups: 'src1' } }], [{ hasgroups: true }], [{ hasgroups: 'true' }]])(
    'that were left out because there are too many are no groups: %j',
    (claims) => {
      expect(read(claims)).toBe('groups-overage')
      expect(read({ groups: ['a'] }, claims)).toBe('groups-overage')
      expect(read(claims, {}, '/groups')).toBe('groups-overage')
    },
  )

  it('that were left out are missed under a JSON pointer by the claim that it begins at', () => {
    const elsewhere = (claim: string) => ({ _claim_names: { [claim]: 'src1' } })
    expect(read(elsewhere('realm/access'), {}, '/realm~1access/roles')).toBe('groups-overage')
    expect(read({ groups: ['a'], ...elsewhere('roles') }, {}, '/groups')).toMatchObject({ groups: ['a'] })
  })

  it('of muster are those of the map alone', () => {
    const map = new Map([
      ['sre', ['editor', 'viewer']],
      ['dev', ['viewer']],
    ])
    expect(mapGroups(['dev', 'sre', 'administrator'], map)).toEqual(['editor', 'viewer'])
    expect(mapGroups(['administrator'], map)).toEqual([])
    expect(mapGroups(null, map)).toEqual([])
  })

  it('are not found in what every object has', () => {
    expect(readClaim({}, 'constructor')).toBeUndefined()
    expect(readClaim({ a: {} }, '/a/toString')).toBeUndefined()
  })
})

describe('a person', () => {
  it('is known by the subject of the ID token, whatever UserInfo says', () => {
    expect(read({}, { sub: 'somebody-else' })).toMatchObject({ subject: 's1' })
  })

  it('is called by the e-mail only where it looks like one, and by a name that cannot be taken for something else', () => {
    expect(read({ email: 'ada@example.com' })).toMatchObject({
      displayName: 'ada@example.com',
    })
    expect(read({ email: 'ada', name: 'Ada L.' })).toMatchObject({ displayName: 'Ada L.' })
    expect(read({ name: '<b>admin</b>', preferred_username: 'ada\u202e' })).toMatchObject({
      displayName: 's1',
    })
    expect(read({ sub: '{"x"}' })).toMatchObject({ displayName: 'someone' })
  })

  it.each([false, 'false'])(
    'is not called by an e-mail, or what looks like one, that the provider calls unverified (%j)',
    (email_verified) => {
      const boss = { email: 'boss@example.com', email_verified }
      expect(read({ ...boss, preferred_username: 'mallory' })).toMatchObject({ displayName: 'mallory' })
      expect(read({ ...boss, preferred_username: 'boss@example.com', name: 'Mallory M.' })).toMatchObject({
        displayName: 'Mallory M.',
      })
      expect(read(boss, { email_verified: true })).toMatchObject({ displayName: 's1' })
      expect(read({ email: 'boss@example.com' }, { email_verified })).toMatchObject({ displayName: 's1' })
      expect(read({ ...boss, sub: 'x@y' })).toMatchObject({ displayName: 'someone' })
    },
  )

  it('is called by an e-mail of which the provider does not say whether it is verified', () => {
    for (const more of [{}, { email_verified: true }, { email_verified: 'true' }])
      expect(read({ email: 'ada@example.com', ...more })).toMatchObject({ displayName: 'ada@example.com' })
  })

  it('may be named by a commit as the provider calls that person, verified or not', () => {
    const said = {
      email: 'Ada@Example.com',
      email_verified: false,
      preferred_username: 'ADA',
      name: 'Ada L.',
    }
    expect(read(said)).toMatchObject({ names: ['ada@example.com', 'ada', 'ada l.'] })
    expect(read({ email: 'a\0@b', preferred_username: 7 })).toMatchObject({ names: ['s1'] })
  })

  it.each(['auto-rollback', 'Auto-Rollback', 'system', 'auto-apply', 'muster'])(
    'is never called %s, as muster calls itself',
    (name) => {
      expect(read({ preferred_username: name, name: 'Ada L.' })).toMatchObject({ displayName: 'Ada L.' })
      expect(read({ sub: name })).toMatchObject({ displayName: 'someone' })
    },
  )

  it.each([
    ['jose ', 'jose'],
    ['Ann  Lee', 'Ann Lee'],
    ['Jose\u0301', 'José'],
    ['ａｎｎ', 'ann'],
  ])('is called as people see that: %j', (preferred_username, displayName) => {
    expect(read({ preferred_username })).toMatchObject({ displayName })
  })

  it('is never called as muster calls itself in other signs that look the same', () => {
    expect(read({ preferred_username: 'ｍuster', name: 'Ada L.' })).toMatchObject({ displayName: 'Ada L.' })
  })

  it('has an e-mail only where the provider says one: a user name that looks like one is a name', () => {
    expect(read({ email: 'ada@example.com' })).toMatchObject({ email: 'ada@example.com' })
    expect(read({ preferred_username: 'boss@example.com' })).toMatchObject({
      displayName: 'boss@example.com',
      email: null,
    })
    expect(read({ email: 'boss@example.com', email_verified: false })).toMatchObject({ email: null })
  })

  it('is not called by an e-mail with signs that nobody sees', () => {
    for (const sign of ['\u202e', '\u200b', '\ud800'])
      expect(read({ email: `a${sign}@example.com` })).toMatchObject({ displayName: 's1' })
  })

  it.each(['a\0b', 'a\ud800b', 'a\nb', 'x'.repeat(256), ''])(
    'is refused whose subject could not be kept as it is: %j',
    (sub) => {
      expect(read({ sub })).toBe('provider-refused')
      expect(read({ sid: sub })).toMatchObject({ subject: 's1', providerSession: null })
    },
  )

  it('may have a subject of 255 characters', () => {
    expect(read({ sub: 'x'.repeat(255) })).toMatchObject({ subject: 'x'.repeat(255) })
  })

  it('has the provider’s own session from the ID token alone', () => {
    expect(read({ sid: 'p1' })).toMatchObject({ providerSession: 'p1' })
    expect(read({}, { sid: 'p2' })).toMatchObject({ providerSession: null })
  })
})
