import { describe, expect, it } from 'vitest'
import { readConfig } from '../../runtime/config.ts'

const BASE = { JWT_SECRET: 'x'.repeat(40), DB_DSN: 'postgres://db' }
const OIDC = {
  MUSTER_PUBLIC_URL: 'https://muster.example.com/',
  OIDC_ISSUER: 'https://login.example.com/realms/main',
  OIDC_CLIENT_ID: 'muster',
  OIDC_CLIENT_SECRET: 's',
}
const read = (env: Record<string, string>) => readConfig({ ...BASE, ...env })
const errorOf = (env: Record<string, string>) => {
  const result = read(env)
  return result.ok ? null : result.error
}

describe('the settings of an identity provider', () => {
  it('are none unless an issuer is named', () => {
    const result = read({})
    expect(
      result.ok && [result.config.oidc, result.config.publicUrl, result.config.onlyPasswordLogin],
    ).toEqual([null, '', null])
  })

  it('are read with their defaults', () => {
    const result = read(OIDC)
    expect(result.ok && result.config.oidc).toEqual({
      issuer: OIDC.OIDC_ISSUER,
      clientId: 'muster',
      clientSecret: 's',
      clientAuth: 'basic',
      scopes: 'openid profile email',
      groupsClaim: 'groups',
      groupMap: null,
      name: 'single sign-on',
      sessionMs: 36_000_000,
      publicUrl: 'https://muster.example.com',
      callbackUrl: 'https://muster.example.com/api/auth/oidc/callback',
    })
    const map = read({ ...OIDC, OIDC_GROUP_MAP: '{"a": "viewer", "b": ["editor", "x"]}' })
    expect(map.ok && [...(map.config.oidc?.groupMap ?? [])]).toEqual([
      ['a', ['viewer']],
      ['b', ['editor', 'x']],
    ])
  })

  it.each([
    [{ OIDC_ISSUER: 'http://login.example.com' }, /^OIDC_ISSUER must be the https URL/],
    [{ OIDC_ISSUER: 'http://127.0.0.1.evil.example' }, /^OIDC_ISSUER must be/],
    [{ OIDC_ISSUER: 'https://user:pass@login.example.com' }, /^OIDC_ISSUER must be/],
    [{ OIDC_ISSUER: 'login' }, /^OIDC_ISSUER must be/],
    [{ OIDC_ISSUER: 'https://login.microsoftonline.com/common/v2.0' }, /^OIDC_ISSUER is of no single tenant/],
    [{ OIDC_ISSUER: 'https://login.microsoftonline.com/organizations/v2.0' }, /^OIDC_ISSUER is of no single/],
    [{ OIDC_ISSUER: 'https://id.example.com/{tenantid}/v2.0' }, /^OIDC_ISSUER is of no single tenant/],
    [{ MUSTER_PUBLIC_URL: '' }, /^OIDC_ISSUER needs MUSTER_PUBLIC_URL/],
    [{ MUSTER_PUBLIC_URL: 'http://muster.example.com' }, /^MUSTER_PUBLIC_URL must be https/],
    [{ MUSTER_PUBLIC_URL: 'https://muster.example.com/ui' }, /^MUSTER_PUBLIC_URL must be/],
    [{ OIDC_CLIENT_ID: '' }, /^OIDC_CLIENT_ID is required/],
    [{ OIDC_CLIENT_SECRET: '' }, /^OIDC_CLIENT_SECRET is required/],
    [{ OIDC_CLIENT_AUTH: 'none' }, /^OIDC_CLIENT_SECRET is required, but for/],
    [{ OIDC_CLIENT_AUTH: 'jwt' }, /^OIDC_CLIENT_AUTH must be/],
    [{ OIDC_SCOPES: 'profile' }, /^OIDC_SCOPES must hold "openid"/],
    [{ OIDC_GROUP_MAP: '{"a": 1}' }, /^OIDC_GROUP_MAP must be JSON/],
    [{ OIDC_GROUP_MAP: '{}' }, /^OIDC_GROUP_MAP must be JSON/],
    [{ OIDC_SESSION_HOURS: '25' }, /^OIDC_SESSION_HOURS must be/],
    [{ OIDC_SESSION_HOURS: '1h' }, /^OIDC_SESSION_HOURS must be/],
    [{ PASSWORD_LOGIN: 'none' }, /^PASSWORD_LOGIN must be/],
  ])('with %o do not start', (change, error) => {
    expect(errorOf({ ...OIDC, ...change })).toMatch(error)
  })

  it('let http pass on this machine, and a client that has no secret', () => {
    const local = {
      ...OIDC,
      OIDC_ISSUER: 'http://localhost:8000',
      MUSTER_PUBLIC_URL: 'http://127.0.0.1:8080',
    }
    expect(errorOf({ ...local, OIDC_CLIENT_AUTH: 'none', OIDC_CLIENT_SECRET: '' })).toBeNull()
  })
})

describe('PASSWORD_LOGIN', () => {
  it('leaves one e-mail, where there is another way to sign in', () => {
    const result = read({ ...OIDC, PASSWORD_LOGIN: 'only: last@example.com' })
    expect(result.ok && result.config.onlyPasswordLogin).toBe('last@example.com')
    expect(errorOf({ PASSWORD_LOGIN: 'only:last@example.com' })).toMatch(/needs OIDC_ISSUER/)
  })
})
