import { isForManyTenants, MANY_TENANTS, type OidcSettings } from '../lib/identity/oidc/settings.ts'
import { isEmail } from '../lib/model/emails.ts'
import { isLoopback } from './listen-address.ts'
import { withoutSlashes } from './without-slashes.ts'

/** Where a provider sends browsers back to; `functions/oidc/callback.ts` answers there. */
const CALLBACK_PATH = '/api/auth/oidc/callback'

/** Reads one variable; an empty one is an unset one. */
type ReadText = (name: string, fallback?: string) => string

/** The settings of signing in, or the fault that keeps muster from starting. */
export type SignInSettings =
  | { ok: true; publicUrl: string; oidc: OidcSettings | null; onlyPasswordLogin: string | null }
  | { ok: false; error: string }

const HOUR_MS = 3_600_000
const SESSION_HOURS_MAX = 24

const fault = (error: string) => ({ ok: false, error }) as const

/** An address that is https, or http on this machine; null for any other. */
function readUrl(text: string): URL | null {
  // Also behind a slash: a password that was not encoded would be read as a host and a path, which everybody is shown.
  if (text.includes('@')) return null
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return null
  }
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
  const isPlain = url.search === '' && url.hash === ''
  return isSafe && isPlain ? url : null
}

/** Read which groups of muster each group of the identity provider gives; null where no map is set. */
function readGroupMap(text: string): OidcSettings['groupMap'] | 'unusable' {
  if (text === '') return null
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return 'unusable'
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) return 'unusable'
  const map = new Map<string, readonly string[]>()
  for (const [theirs, value] of Object.entries(parsed)) {
    const ours: unknown[] = Array.isArray(value) ? value : [value]
    if (!ours.every((group): group is string => typeof group === 'string' && group !== '')) return 'unusable'
    map.set(theirs, ours)
  }
  return map.size === 0 ? 'unusable' : map
}

/** Who may sign in how: with passwords, with an identity provider, or both. */
export function readSignIn(text: ReadText): SignInSettings {
  const publicText = withoutSlashes(text('MUSTER_PUBLIC_URL').trim())
  const publicUrl = publicText === '' ? null : readUrl(publicText)
  if (publicText !== '' && (publicUrl === null || publicUrl.pathname !== '/'))
    return fault('MUSTER_PUBLIC_URL must be https://host (http on this machine only), without a path')
  const wanted = text('PASSWORD_LOGIN', 'all').trim()
  const email = wanted.startsWith('only:') ? wanted.slice(5).trim() : ''
  const only = isEmail(email) ? email : null
  if (wanted !== 'all' && only === null) return fault('PASSWORD_LOGIN must be "all" or "only:<e-mail>"')
  const oidc = readOidc(text, publicText)
  if (!oidc.ok) return oidc
  if (only !== null && oidc.settings === null)
    return fault('PASSWORD_LOGIN=only:<e-mail> needs OIDC_ISSUER: nobody else could sign in')
  return { ok: true, publicUrl: publicText, oidc: oidc.settings, onlyPasswordLogin: only }
}

function readOidc(
  text: ReadText,
  publicUrl: string,
): { ok: true; settings: OidcSettings | null } | { ok: false; error: string } {
  const issuer = text('OIDC_ISSUER').trim()
  if (issuer === '') return { ok: true, settings: null }
  if (readUrl(issuer) === null)
    return fault('OIDC_ISSUER must be the https URL of one issuer (http on this machine only)')
  if (isForManyTenants(issuer)) return fault(`OIDC_ISSUER is of no single tenant: ${MANY_TENANTS}`)
  if (publicUrl === '')
    return fault('OIDC_ISSUER needs MUSTER_PUBLIC_URL, from which the redirect URI derives')
  const clientId = text('OIDC_CLIENT_ID').trim()
  if (clientId === '') return fault('OIDC_CLIENT_ID is required when OIDC_ISSUER is set')
  const clientAuth = text('OIDC_CLIENT_AUTH', 'basic').trim()
  if (clientAuth !== 'basic' && clientAuth !== 'post' && clientAuth !== 'none')
    return fault('OIDC_CLIENT_AUTH must be basic, post or none')
  const clientSecret = text('OIDC_CLIENT_SECRET')
  if ((clientAuth === 'none') !== (clientSecret === ''))
    return fault('OIDC_CLIENT_SECRET is required, but for OIDC_CLIENT_AUTH=none, where there must be none')
  const scopes = text('OIDC_SCOPES', 'openid profile email').trim()
  if (!scopes.split(/\s+/).includes('openid')) return fault('OIDC_SCOPES must hold "openid"')
  const groupMap = readGroupMap(text('OIDC_GROUP_MAP').trim())
  if (groupMap === 'unusable')
    return fault('OIDC_GROUP_MAP must be JSON such as {"otel-admins": "administrator", "otel": ["editor"]}')
  const hours = text('OIDC_SESSION_HOURS', '10').trim()
  if (!/^\d+$/.test(hours) || Number(hours) < 1 || Number(hours) > SESSION_HOURS_MAX)
    return fault(`OIDC_SESSION_HOURS must be a whole number from 1 to ${SESSION_HOURS_MAX}`)
  return {
    ok: true,
    settings: {
      issuer,
      clientId,
      clientSecret,
      clientAuth,
      scopes,
      groupMap,
      publicUrl,
      callbackUrl: `${publicUrl}${CALLBACK_PATH}`,
      groupsClaim: text('OIDC_GROUPS_CLAIM', 'groups').trim(),
      name: text('OIDC_NAME', 'single sign-on').trim(),
      sessionMs: Number(hours) * HOUR_MS,
    },
  }
}
