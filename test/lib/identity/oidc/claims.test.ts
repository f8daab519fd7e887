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

  it('has the provider’s own session from the ID token alone', () => {
    expect(read({ sid: 'p1' })).toMatchObject({ providerSession: 'p1' })
    expect(read({}, { sid: 'p2' })).toMatchObject({ providerSession: null })
  })
})
