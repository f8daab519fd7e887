import { isEmail } from '../../model/emails.ts'

/** The claims of an ID token or of UserInfo. */
export type Claims = Readonly<Record<string, unknown>>

/** A person whom the identity provider has authenticated. */
export interface ExternalIdentity {
  subject: string
  /**
   * For people to read: the e-mail where the provider says one. It decides only whether a link to the local user with
   * this e-mail is asked for.
   */
  displayName: string
  /** The names of the provider's groups; null where it tells none. */
  groups: readonly string[] | null
  /** The id of the provider's own session (`sid`); null where it names none. */
  providerSession: string | null
}

/** More groups are left out: no honest token carries so many, and no page could show them. */
const GROUPS_MAX = 2_000
const NAME_MAX = 254
const SPOKEN_NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} .'_@+-]*$/u

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The claim that a name or JSON pointer (RFC 6901) begins at, and the names that lead on from there. */
function partsOf(path: string): [claim: string, ...inner: string[]] {
  if (!path.startsWith('/')) return [path]
  const parts = path.slice(1).split('/')
  const [claim = '', ...inner] = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return [claim, ...inner]
}

/** The value at a claim's name or JSON pointer (RFC 6901); undefined where there is none. */
export function readClaim(claims: Claims, path: string): unknown {
  let value: unknown = claims
  for (const key of partsOf(path)) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

/**
 * Whether the provider left the groups out because there are too many (Entra). Taking that for no groups, or fetching
 * them elsewhere, would decide by incomplete groups.
 */
export function isOverage(claims: Claims, groupsClaim: string): boolean {
  const elsewhere = claims['_claim_names']
  const [claim] = partsOf(groupsClaim)
  const isElsewhere = elsewhere !== null && typeof elsewhere === 'object' && Object.hasOwn(elsewhere, claim)
  const { hasgroups } = claims
  return isElsewhere || hasgroups === true || hasgroups === 'true'
}

function readGroups(claims: Claims, path: string): string[] | null {
  const value = readClaim(claims, path)
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return null
  return value.filter((group): group is string => typeof group === 'string').slice(0, GROUPS_MAX)
}

/**
 * The name to show: the e-mail, else the user name, else the full name, else the subject. A text that is too long or
 * could be taken for something else on a page is passed over.
 */
function nameOf(claims: Claims, email: string | null, subject: string): string {
  const names = [claims['preferred_username'], claims['name'], subject].map(textOf)
  const fitting = names.find((name) => name !== null && name.length <= NAME_MAX && SPOKEN_NAME.test(name))
  return email ?? fitting ?? 'someone'
}

/**
 * Read a person from the claims of the ID token and of UserInfo; where both have a claim, that of the ID token counts.
 */
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
    identity: { subject, displayName: nameOf(claims, email, subject), groups, providerSession },
  }
}

/** Our groups for those of the provider, sorted; one that the map does not have gives nothing. */
export function mapGroups(
  groups: readonly string[] | null,
  map: ReadonlyMap<string, readonly string[]>,
): string[] {
  return [...new Set((groups ?? []).flatMap((group) => map.get(group) ?? []))].sort()
}
