import { isEmail } from '../../model/emails.ts'

/** What a provider says of somebody, its ID token first. */
export type Claims = Readonly<Record<string, unknown>>

/** Somebody who came back from the provider. */
export interface ExternalIdentity {
  subject: string
  /** For people to read only; nothing is decided by it but whether a local user has it. */
  displayName: string
  /** Null where the provider tells none. */
  email: string | null
  /** The names of the provider's groups; null where it tells none. */
  groups: readonly string[] | null
  /** The provider's own session; null where it names none. */
  providerSession: string | null
}

/** More would not fit a page, and no token carries them. */
const GROUPS_MAX = 2_000
const NAME_MAX = 254
const SPOKEN_NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} .'_@+-]*$/u

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The value at a claim's name or JSON pointer (RFC 6901); undefined where there is none. */
export function readClaim(claims: Claims, path: string): unknown {
  if (!path.startsWith('/')) return Object.hasOwn(claims, path) ? claims[path] : undefined
  let value: unknown = claims
  for (const part of path.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

/**
 * Whether the provider left the groups out because there are too many (Entra): whoever took that for no groups, or asked
 * elsewhere, would decide by half of the truth.
 */
export function isOverage(claims: Claims, groupsClaim: string): boolean {
  const elsewhere = claims['_claim_names']
  const isElsewhere =
    elsewhere !== null && typeof elsewhere === 'object' && Object.hasOwn(elsewhere, groupsClaim)
  const { hasgroups } = claims
  return isElsewhere || hasgroups === true || hasgroups === 'true'
}

function readGroups(claims: Claims, path: string): string[] | null {
  const value = readClaim(claims, path)
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return null
  return value.filter((group): group is string => typeof group === 'string').slice(0, GROUPS_MAX)
}

/** What people read: an e-mail, else a name, else the subject; never what could be taken for something else of ours. */
function nameOf(claims: Claims, email: string | null, subject: string): string {
  const names = [claims['preferred_username'], claims['name'], subject].map(textOf)
  const fitting = names.find((name) => name !== null && name.length <= NAME_MAX && SPOKEN_NAME.test(name))
  return email ?? fitting ?? 'someone'
}

/** Read somebody out of the claims of the ID token and of UserInfo; what both say, the ID token says. */
export function readIdentity(
  idToken: Claims & { sub: string },
  userInfo: Claims,
  groupsClaim: string,
): { ok: true; identity: ExternalIdentity } | { ok: false; code: 'groups-overage' } {
  if (isOverage(idToken, groupsClaim) || isOverage(userInfo, groupsClaim))
    return { ok: false, code: 'groups-overage' }
  const claims = { ...userInfo, ...idToken }
  const given = textOf(claims['email'])
  const email = given !== null && isEmail(given) ? given : null
  const groups = readGroups(idToken, groupsClaim) ?? readGroups(userInfo, groupsClaim)
  const providerSession = textOf(idToken['sid'])
  const { sub: subject } = idToken
  return {
    ok: true,
    identity: { subject, displayName: nameOf(claims, email, subject), email, groups, providerSession },
  }
}

/** Our groups for theirs, sorted; an unknown one of theirs gives nothing. */
export function mapGroups(
  groups: readonly string[] | null,
  map: ReadonlyMap<string, readonly string[]>,
): string[] {
  return [...new Set((groups ?? []).flatMap((group) => map.get(group) ?? []))].sort()
}
