import { toEmailKey } from '../../model/emails.ts'
import { rolesWith } from '../../model/permissions.ts'
import type { Refusal } from '../../model/refusal.ts'
import { noteAccountChange } from '../../store/account-ties.ts'
import { noteApprovers } from '../../store/approval-votes.ts'
import type { Db } from '../../store/db.ts'
import { type Group, hasOtherAdministrator, listUserGroups, replaceUserGroups } from '../../store/groups.ts'
import { findUser, noteKeptAdministrator, type User } from '../../store/users.ts'

/** Who stays an administrator, whatever is asked for. */
interface Kept {
  /** E-mails of administrators that the settings name. They must stay administrators, or the next start would fail. */
  keptAdministrators: readonly string[]
}

/** The groups that a user is to have, and only these. */
export interface MembershipChange {
  userId: string
  groups: readonly Group[]
  /** Whose doing it is, a user's id or an issuer: it counts as an author of what the account asks for; null where it is nobody's. */
  byId: string | null
  /** The account was made in the same transaction. */
  isNew: boolean
  now: Date
}

/**
 * Make these the groups of a user: the only way by which memberships change. Refused where a person would stop being an
 * administrator who has to stay one. The identity must be locked.
 */
export async function setGroups(
  tx: Db,
  kept: Kept,
  { userId, groups, byId, isNew, now }: MembershipChange,
): Promise<Refusal<'last-administrator' | 'seed-admin'> | null> {
  const before = await listUserGroups(tx, userId)
  const user = isAdministrator(before) && !isAdministrator(groups) ? await findUser(tx, userId) : undefined
  const refusal = user === undefined ? null : await refuseLoss(tx, kept, user, before)
  if (refusal !== null) return refusal
  await replaceUserGroups(
    tx,
    userId,
    groups.map(({ id }) => id),
  )
  await noteKeptAdministrator(tx, userId, false)
  const known = new Set(before.map(({ id }) => id))
  const isRegrouped = groups.length !== known.size || groups.some(({ id }) => !known.has(id))
  if (byId !== null && (isNew || isRegrouped)) await noteAccountChange(tx, userId, byId, now)
  await noteApprovers(tx, rolesWith('config:approve'))
  return null
}

/**
 * Do the same with what an identity provider says of a user's groups. Whoever has to stay an administrator keeps the
 * groups that make one, until a sign-in finds another; whether that was so.
 */
export async function followGroups(tx: Db, kept: Kept, change: MembershipChange): Promise<boolean> {
  if ((await setGroups(tx, kept, change)) === null) return false
  const standing = (await listUserGroups(tx, change.userId)).filter(isOfAdministrators)
  await setGroups(tx, kept, { ...change, groups: [...change.groups, ...standing] })
  await noteKeptAdministrator(tx, change.userId, true)
  return true
}

/** Why a user may not be removed or stop being an administrator; null where it may. */
export async function refuseLoss(
  tx: Db,
  { keptAdministrators }: Kept,
  user: User,
  groups: readonly Group[],
): Promise<Refusal<'last-administrator' | 'seed-admin'> | null> {
  const isKept = keptAdministrators.some((email) => toEmailKey(email) === toEmailKey(user.email))
  // Only a user with a password can be the one that the settings name: an e-mail that a provider sends proves nothing.
  if (isKept && user.hasPassword) return { ok: false, code: 'seed-admin' }
  if (!isAdministrator(groups)) return null
  return (await hasOtherAdministrator(tx, user.id)) ? null : { ok: false, code: 'last-administrator' }
}

const isOfAdministrators = ({ role }: Group): boolean => role === 'administrator'
const isAdministrator = (groups: readonly Group[]): boolean => groups.some(isOfAdministrators)
