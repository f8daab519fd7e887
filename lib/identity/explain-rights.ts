import { IN_PERSON, PERMISSIONS, type Permission } from '../model/permissions.ts'
import { grantsOf, rightsSomewhere, type Scope, scopesOf } from '../model/scopes.ts'
import { type ApiToken, listApiTokens } from '../store/api-tokens.ts'
import type { Db } from '../store/db.ts'
import { type Group, listUserGroups } from '../store/groups.ts'
import { findServiceAccount } from '../store/service-accounts.ts'
import { findUser } from '../store/users.ts'
import { activeUntil } from './token-authority.ts'

/** Why a right that a token was given has no effect: only a person may use it, or the holder does not have it. */
export type Withheld = 'needs-person' | 'not-held'
/** Why a token cannot be used at all now. */
export type TokenIdle = 'expired' | 'holder-inactive' | 'ownerless'

/** What a person or a service account may do, and by which groups. */
export interface Rights {
  id: string
  /** The e-mail of a person, the name of a service account. */
  name: string
  kind: 'person' | 'service'
  groups: readonly Group[]
  /**
   * Every right that exists, with the names of the groups that give it (empty where the holder does not have it), and
   * the scopes that it is bound to (null where it holds everywhere, or is not held).
   * `isWithheld`: the right has no effect for this holder, because only a person may use it.
   */
  rights: readonly {
    permission: Permission
    groups: readonly string[]
    scopes: readonly Scope[] | null
    isWithheld: boolean
  }[]
  tokens: readonly TokenRights[]
}

/** What a token may do now, and which of the rights that it was given have no effect. */
interface TokenRights {
  token: ApiToken
  idle: TokenIdle | null
  rights: readonly Permission[]
  withheld: readonly { permission: string; why: Withheld }[]
}

interface Holder {
  id: string
  name: string
  kind: 'person' | 'service'
  hasOwner: boolean
  lastLoginAt: Date | null
}

async function findHolder(db: Db, id: string): Promise<Holder | null> {
  const user = await findUser(db, id)
  if (user) {
    const { email: name, lastLoginAt } = user
    return { id, name, kind: 'person', hasOwner: false, lastLoginAt }
  }
  const account = await findServiceAccount(db, id)
  if (!account) return null
  return {
    id,
    name: account.name,
    kind: 'service',
    hasOwner: account.owner !== null,
    lastLoginAt: null,
  }
}

/**
 * What a person or a service account may do, by which groups, and what its tokens may do; null when there is no account
 * of this id.
 */
export async function explainRights(db: Db, id: string, now: Date): Promise<Rights | null> {
  const holder = await findHolder(db, id)
  if (holder === null) return null
  const groups = await listUserGroups(db, id)
  const grants = grantsOf(groups)
  const held = rightsSomewhere(grants)
  const { name, kind } = holder
  const rights = PERMISSIONS.map((permission) => ({
    permission,
    groups: groups.flatMap((group) => (rightsSomewhere(grantsOf([group])).has(permission) ? group.name : [])),
    scopes: held.has(permission) ? scopesOf(grants, permission) : null,
    // Nobody can sign in as a service account, so rights for persons have no effect there.
    isWithheld: kind === 'service' && isForPersons(permission),
  }))
  const tokens = (await listApiTokens(db, id)).map((token) => explainToken(token, holder, held, now))
  return { id, name, kind, groups, rights, tokens }
}

const isForPersons = (permission: string): boolean => IN_PERSON.some((one) => one === permission)

function explainToken(token: ApiToken, holder: Holder, held: ReadonlySet<string>, now: Date): TokenRights {
  const rights = PERMISSIONS.filter(
    (one) => token.permissions.includes(one) && held.has(one) && !isForPersons(one),
  )
  const withheld = token.permissions
    .filter((one) => !rights.some((right) => right === one))
    .map((permission) => ({
      permission,
      why: held.has(permission) ? ('needs-person' as const) : ('not-held' as const),
    }))
  return { token, idle: idleOf(token, holder, now), rights, withheld }
}

function idleOf({ expiresAt }: ApiToken, holder: Holder, now: Date): TokenIdle | null {
  if (expiresAt <= now) return 'expired'
  const until = activeUntil({ ...holder, holder: holder.kind, expiresAt })
  if (until !== null && until > now) return null
  return holder.kind === 'service' ? 'ownerless' : 'holder-inactive'
}
