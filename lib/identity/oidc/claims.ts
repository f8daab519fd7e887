import { isEmail, toEmailKey } from '../../model/emails.ts'
import { isOwnName } from '../../model/own-names.ts'
import { isStorableLine } from '../../model/storable.ts'

/** The claims of an ID token or of UserInfo. */
export type Claims = Readonly<Record<string, unknown>>

/** A person whom the identity provider has authenticated. */
export interface ExternalIdentity {
  subject: string
  /** For people to read: the e-mail, else a name, as no two of them look alike but are written differently. */
  displayName: string
  /**
   * The e-mail where the provider says one and does not call it unverified; null where it does not. It decides only
   * whether a link to the local user with this e-mail is asked for.
   */
  email: string | null
  /**
   * The e-mail, the user name and the full name, in the form in which e-mails are compared, whoever vouches for them: a
   * commit that names one of them makes this person an author, which only takes a right away.
   */
  names: readonly string[]
  /** The names of the provider's groups; null where it tells none. */
  groups: readonly string[] | null
  /** The id of the provider's own session (`sid`); null where it names none. */
  providerSession: string | null
}

/** More groups are left out: no honest token carries so many, and no page could show them. */
const GROUPS_MAX = 2_000
const NAME_MAX = 254
const SPOKEN_NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} .'_@+-]*$/u
/** Signs that nobody sees, such as those that turn the direction of what follows. */
const UNSEEN = /[\p{Cf}\p{Cs}]/u
/** OpenID Connect allows no longer subject. */
const ID_MAX = 255

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

/** An id of the provider, a subject or a session; null where it is none that can be kept as it is. */
export function readId(value: unknown): string | null {
  const id = textOf(value)
  return id !== null && id.length <= ID_MAX && isStorableLine(id) ? id : null
}

function emailOf(claims: Claims): string | null {
  const email = textOf(claims['email'])
  return email !== null && !isUnverified(claims) && isEmail(email) && !UNSEEN.test(email) ? email : null
}

/**
 * The name to show: the e-mail, else the user name, else the full name, else the subject. A text that is too long or
 * could be taken for something else on a page, or for muster itself, is passed over. Where the provider says that it
 * has not checked the e-mail, so is whatever looks like one: people may have written there what they like.
 */
function nameOf(claims: Claims, subject: string): string {
  const isFit = (name: string) =>
    name.length <= NAME_MAX &&
    SPOKEN_NAME.test(name) &&
    !isOwnName(name) &&
    !(isUnverified(claims) && name.includes('@'))
  const names = [textOf(claims['preferred_username']), fullNameOf(claims), subject].map(toSeen)
  return names.find((name) => name !== '' && isFit(name)) ?? 'someone'
}

/**
 * The full name, which everybody writes himself; null where it is written as an e-mail: whoever has that address would be
 * taken for the same person, and keeping others from approving is not his to choose.
 */
function fullNameOf(claims: Claims): string | null {
  const name = textOf(claims['name'])
  return name !== null && isEmail(toSeen(name)) ? null : name
}

/** A name as it is seen: pages fold blanks, and the same letter is written in several ways. */
const toSeen = (name: string | null): string => (name ?? '').normalize('NFKC').trim().replaceAll(/\s+/g, ' ')

/** Some providers write booleans as texts. */
const isUnverified = ({ email_verified: said }: Claims): boolean => said === false || said === 'false'

function listNames(claims: Claims, displayName: string): string[] {
  const texts = [textOf(claims['email']), textOf(claims['preferred_username']), fullNameOf(claims)]
  const fit = texts.filter((text) => text !== null && text.length <= NAME_MAX && isStorableLine(text))
  return [...new Set([...fit, displayName].map((text) => toEmailKey(text!)))].filter((name) => name !== '')
}

/**
 * Read a person from the claims of the ID token and of UserInfo; where both have a claim, that of the ID token counts.
 * `provider-refused`: the subject is none by which a person could be known again.
 */
export function readIdentity(
  idToken: Claims & { sub: string },
  userInfo: Claims,
  groupsClaim: string,
):
  | { ok: true; identity: ExternalIdentity }
  | { ok: false; code: 'groups-overage' | 'provider-refused'; cause: Error | null } {
  const subject = readId(idToken.sub)
  if (subject === null) {
    const cause = new Error(
      'Cannot accept the ID token: its "sub" is too long, or holds signs that no text has',
    )
    return { ok: false, code: 'provider-refused', cause }
  }
  if (isOverage(idToken, groupsClaim) || isOverage(userInfo, groupsClaim))
    return { ok: false, code: 'groups-overage', cause: null }
  const claims = { ...userInfo, ...idToken }
  const groups = readGroups(idToken, groupsClaim) ?? readGroups(userInfo, groupsClaim)
  const providerSession = readId(idToken['sid'])
  const email = emailOf(claims)
  const displayName = email ?? nameOf(claims, subject)
  const names = listNames(claims, displayName)
  return { ok: true, identity: { subject, displayName, email, names, groups, providerSession } }
}

/** Our groups for those of the provider, sorted; one that the map does not have gives nothing. */
export function mapGroups(
  groups: readonly string[] | null,
  map: ReadonlyMap<string, readonly string[]>,
): string[] {
  return [...new Set((groups ?? []).flatMap((group) => map.get(group) ?? []))].sort()
}
