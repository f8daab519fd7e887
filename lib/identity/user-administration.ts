import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import { isEmail, toEmailKey } from '../model/emails.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { noteAccountChange } from '../store/account-ties.ts'
import { deleteUserApiTokens, listTokensAnsweredFor } from '../store/api-tokens.ts'
import { findLookalike, noteProviderNames } from '../store/external-users.ts'
import { findGroups } from '../store/groups.ts'
import { deleteUserSessions } from '../store/sessions.ts'
import { deleteUser, findUser, insertUser, lockIdentity, type User, updatePassword } from '../store/users.ts'
import { refuseLoss, setGroups } from './memberships/memberships.ts'
import { type Busy, type PasswordRefusal, type Passwords, refusePassword } from './passwords.ts'
import type { SessionEnds } from './sessions/session-ends.ts'
import { namesOf, refuseUnknownGroup } from './user-groups.ts'

/** The user who acts: an administrator or, for an own token, any user. */
export type Administrator = AuditActor

type UserRefusal =
  | PasswordRefusal
  | Refusal<
      | 'email-invalid'
      | 'email-looks-alike'
      | 'email-taken'
      | 'group-unknown'
      | 'groups-follow-claims'
      | 'last-administrator'
      | 'no-password-here'
      | 'seed-admin'
      | 'user-not-found'
    >

/** How an act on a user ended. */
export type UserOutcome = { ok: true; user: User } | UserRefusal | Busy | AuditFailure

/** What administrators do with users. The last administrator stays one, and so do those whom the settings name. */
export interface UserAdministration {
  /** Whether the groups of a user follow the identity provider, so that nobody changes them here. */
  followsClaims(user: Pick<User, 'isBound'>): boolean
  create(
    by: Administrator,
    user: { email: string; password: string; groups: readonly string[] },
  ): Promise<UserOutcome>
  /**
   * Change the groups or the password, where given. A new password ends all sessions of the user and revokes its
   * tokens.
   */
  update(
    by: Administrator,
    id: string,
    change: { groups?: readonly string[]; password?: string },
  ): Promise<UserOutcome>
  /**
   * Remove the user and end its sessions and tokens; history keeps the e-mail. Service accounts that the user owned,
   * and their tokens, cannot be used until they have another owner.
   */
  remove(by: Administrator, id: string): Promise<UserOutcome>
}

interface Parts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  passwords: Passwords
  ends: SessionEnds
  /** E-mails of administrators that the settings name. They must stay administrators, or the next start would fail. */
  keptAdministrators: readonly string[]
  /** Whether the groups of a user who signs in with the provider come from its claims. */
  groupsFollowClaims: boolean
}

/** User administration over the database. */
export function openUserAdministration(parts: Parts): UserAdministration {
  return {
    followsClaims: (user) => followsClaims(parts, user),
    create: (by, user) => createUser(parts, by, user),
    update: (by, id, change) => updateUser(parts, by, id, change),
    remove: (by, id) => removeUser(parts, by, id),
  }
}

const followsClaims = (parts: Parts, { isBound }: Pick<User, 'isBound'>): boolean =>
  isBound && parts.groupsFollowClaims

async function createUser(
  parts: Parts,
  by: Administrator,
  asked: { email: string; password: string; groups: readonly string[] },
): Promise<UserOutcome> {
  const { db, clock, random, passwords } = parts
  const email = asked.email.trim()
  if (!isEmail(email)) return refuse('email-invalid')
  const refused = refusePassword('password', asked.password)
  if (refused) return refused
  const hashed = await passwords.hash(asked.password)
  if (!hashed.ok) return hashed
  return db.change<UserOutcome>('user.create', by, async (tx) => {
    await lockIdentity(tx)
    const groups = await findGroups(tx, asked.groups)
    const unknown = refuseUnknownGroup(asked.groups, groups)
    if (unknown) return unknown
    const now = clock.now()
    const id = uuidv7(now, random)
    const emailKey = toEmailKey(email)
    const alike = await findLookalike(tx, email, emailKey)
    if (alike !== null) return refuse('email-looks-alike', { email: alike })
    const row = { id, email, emailKey, passwordHash: hashed.hash, createdAt: now }
    if (!(await insertUser(tx, row))) return { ok: false, code: 'email-taken' }
    const refusal = await setGroups(tx, parts, { userId: id, groups, byId: by.userId, isNew: true, now })
    if (refusal !== null) return refusal
    const detail = JSON.stringify({ email, groups: namesOf(groups) })
    await tx.record({ action: 'user.create', resource: 'user', resourceId: id, detail })
    const user = { id, email, groups: namesOf(groups), createdAt: now, lastLoginAt: null }
    return { ok: true, user: { ...user, hasPassword: true, isBound: false } }
  })
}

async function updateUser(
  parts: Parts,
  by: Administrator,
  id: string,
  change: { groups?: readonly string[]; password?: string },
): Promise<UserOutcome> {
  let passwordHash: string | null = null
  if (change.password !== undefined) {
    const refused = refusePassword('password', change.password)
    if (refused) return refused
    const hashed = await parts.passwords.hash(change.password)
    if (!hashed.ok) return hashed
    passwordHash = hashed.hash
  }
  return parts.db.change<UserOutcome>('user.update', by, async (tx) => {
    await lockIdentity(tx)
    const user = await findUser(tx, id)
    if (!user) return { ok: false, code: 'user-not-found' }
    if (passwordHash !== null && (user.isBound || !user.hasPassword))
      return { ok: false, code: 'no-password-here' }
    if (change.groups !== undefined && followsClaims(parts, user))
      return { ok: false, code: 'groups-follow-claims' }
    const groups = change.groups === undefined ? null : await findGroups(tx, change.groups)
    const unknown = groups && refuseUnknownGroup(change.groups ?? [], groups)
    if (unknown) return unknown
    let ended: string[] = []
    const now = parts.clock.now()
    const refusal =
      groups && (await setGroups(tx, parts, { userId: id, groups, byId: by.userId, isNew: false, now }))
    if (refusal) return refusal
    if (passwordHash !== null) await noteAccountChange(tx, id, by.userId, now)
    if (passwordHash !== null) {
      await updatePassword(tx, id, passwordHash, null)
      // A new password is to lock out whoever had the old one, so the tokens go with the sessions.
      ended = [...(await deleteUserSessions(tx, id, null)), ...(await deleteUserApiTokens(tx, id))]
    }
    // Also where only the groups changed: what is remembered of the user's rights must be forgotten.
    tx.afterCommit(() => parts.ends.announce(ended))
    const after = { ...user, groups: groups ? namesOf(groups) : user.groups }
    const changes = describeChange(user, after, passwordHash !== null)
    if (changes) {
      const detail = JSON.stringify(changes)
      await tx.record({ action: 'user.update', resource: 'user', resourceId: id, detail })
    }
    return { ok: true, user: after }
  })
}

function removeUser(parts: Parts, by: Administrator, id: string): Promise<UserOutcome> {
  return parts.db.change<UserOutcome>('user.delete', by, async (tx) => {
    await lockIdentity(tx)
    const user = await findUser(tx, id)
    if (!user) return { ok: false, code: 'user-not-found' }
    const refusal = await refuseLoss(tx, parts, user, await findGroups(tx, user.groups))
    if (refusal) return refusal
    const ended = [...(await deleteUserSessions(tx, id, null)), ...(await listTokensAnsweredFor(tx, id))]
    tx.afterCommit(() => parts.ends.announce(ended))
    const now = parts.clock.now()
    // Whoever has the same e-mail at the provider is the same person, also for what this account did before.
    const email = toEmailKey(user.email)
    if (user.hasPassword) await noteProviderNames(tx, id, { names: [email], vouched: email }, now)
    await deleteUser(tx, id, now)
    const detail = JSON.stringify({ email: user.email, groups: user.groups })
    await tx.record({ action: 'user.delete', resource: 'user', resourceId: id, detail })
    return { ok: true, user }
  })
}

function describeChange(before: User, after: User, isPasswordReset: boolean): object | null {
  const hasMoved = before.groups.join() !== after.groups.join()
  if (!hasMoved && !isPasswordReset) return null
  return {
    ...(hasMoved ? { groups_before: before.groups, groups_after: after.groups } : {}),
    ...(isPasswordReset ? { password_reset: true } : {}),
  }
}
