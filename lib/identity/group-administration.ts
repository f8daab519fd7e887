import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import { toEmailKey } from '../model/emails.ts'
import { TRUSTED_PREFIX } from '../model/labels.ts'
import { ROLES, type Role, rolesWith } from '../model/permissions.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { isScopable, SCOPABLE_ROLES, type Scope } from '../model/scopes.ts'
import { isStorableLine } from '../model/storable.ts'
import { noteAccountChange } from '../store/account-ties.ts'
import { noteApprovers } from '../store/approval-votes.ts'
import type { Db } from '../store/db.ts'
import {
  deleteGroup,
  findGroups,
  type Group,
  hasAdministrator,
  insertGroup,
  listGroupMembers,
  listGroups,
  lockGroup,
  updateGroup,
} from '../store/groups.ts'
import { findCredentials, findUser, lockIdentity } from '../store/users.ts'
import type { SessionEnds } from './sessions/session-ends.ts'
import type { Administrator } from './user-administration.ts'

/** What a group gives, as it is asked for. */
export interface GroupGift {
  role: string
  scope: Scope | null
}

/** What a group can be refused for, whoever asks. */
export const GIFT_ERRORS = [
  'group-role-unknown',
  'scope-key-invalid',
  'scope-role-unfit',
  'scope-values-invalid',
] as const
type GiftRefusal = Refusal<(typeof GIFT_ERRORS)[number]>

/** How an act on a group ended. */
export type GroupOutcome =
  | { ok: true; group: Group; memberCount: number }
  | GiftRefusal
  | Refusal<
      | 'group-in-use'
      | 'group-name-invalid'
      | 'group-not-found'
      | 'group-of-system'
      | 'group-taken'
      | 'groups-too-many'
      | 'last-administrator'
      | 'seed-admin'
    >
  | AuditFailure

/** Groups that administrators make: a role, everywhere or within a scope. Those of the system stay as they are. */
export interface GroupAdministration {
  create(by: Administrator, asked: GroupGift & { name: string }): Promise<GroupOutcome>
  /** Change what a group gives to all of its members. Its name stays: the identity provider's map says it. */
  update(by: Administrator, id: string, gift: GroupGift): Promise<GroupOutcome>
  /** Remove a group without members. */
  remove(by: Administrator, id: string): Promise<GroupOutcome>
}

interface Parts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  ends: SessionEnds
  /** E-mails of administrators that the settings name. They must stay administrators, or the next start would fail. */
  keptAdministrators: readonly string[]
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/
/** The most groups that may exist. */
export const GROUPS_MAX = 500
const VALUES_MAX = 50
const TEXT_LENGTH_MAX = 256

/** Group administration over the database. */
export const openGroupAdministration = (parts: Parts): GroupAdministration => ({
  create: (by, asked) => createGroup(parts, by, asked),
  update: (by, id, gift) => changeGroup(parts, by, id, gift),
  remove: (by, id) => removeGroup(parts, by, id),
})

const isText = (text: string): boolean =>
  text.trim() === text && text !== '' && text.length <= TEXT_LENGTH_MAX && isStorableLine(text)

function readGift({ role, scope }: GroupGift): { ok: true; gift: GroupGift } | GiftRefusal {
  if (!ROLES.some((known) => known === role))
    return refuse('group-role-unknown', { role, known: ROLES.join(', ') })
  if (scope === null) return { ok: true, gift: { role, scope } }
  if (!isScopable(role as Role)) return refuse('scope-role-unfit', { role, fit: SCOPABLE_ROLES.join(', ') })
  const { key, values } = scope
  if (!key.startsWith(TRUSTED_PREFIX) || !isText(key.slice(TRUSTED_PREFIX.length)))
    return refuse('scope-key-invalid', { prefix: TRUSTED_PREFIX })
  if (values.length === 0 || values.length > VALUES_MAX || !values.every(isText))
    return refuse('scope-values-invalid', { max: VALUES_MAX })
  return { ok: true, gift: { role, scope: { key, values: [...new Set(values)].sort() } } }
}

const describe = ({ role, scope }: GroupGift) => ({ role, ...(scope === null ? {} : { scope }) })

async function createGroup(
  { db, clock, random }: Parts,
  by: Administrator,
  asked: GroupGift & { name: string },
): Promise<GroupOutcome> {
  const name = asked.name.trim()
  if (!NAME.test(name)) return refuse('group-name-invalid')
  const read = readGift(asked)
  if (!read.ok) return read
  return db.change<GroupOutcome>('group.create', by, async (tx) => {
    await lockIdentity(tx)
    if ((await listGroups(tx)).length >= GROUPS_MAX) return refuse('groups-too-many', { max: GROUPS_MAX })
    const createdAt = clock.now()
    const group: Group = { id: uuidv7(createdAt, random), name, ...read.gift, isSystem: false, createdAt }
    if (!(await insertGroup(tx, group))) return refuse('group-taken')
    const detail = JSON.stringify({ name, ...describe(read.gift) })
    await tx.record({ action: 'group.create', resource: 'group', resourceId: group.id, detail })
    return { ok: true, group, memberCount: 0 }
  })
}

async function changeGroup(
  parts: Parts,
  by: Administrator,
  id: string,
  asked: GroupGift,
): Promise<GroupOutcome> {
  const read = readGift(asked)
  if (!read.ok) return read
  return parts.db.change<GroupOutcome>('group.update', by, async (tx) => {
    await lockIdentity(tx)
    const before = await lockGroup(tx, id)
    if (before === undefined) return refuse('group-not-found')
    if (before.isSystem) return refuse('group-of-system')
    const members = await listGroupMembers(tx, id)
    const group = { ...before, ...read.gift }
    const [was, is] = [JSON.stringify(describe(before)), JSON.stringify(describe(group))]
    if (was === is) return { ok: true, group, memberCount: members.length }
    await updateGroup(tx, group)
    const refusal = await refuseLoss(tx, parts)
    if (refusal !== null) return refusal
    // Whoever changes what a group gives has regrouped its members: that counts as a change of each account.
    for (const { userId } of members) await noteAccountChange(tx, userId, by.userId, parts.clock.now())
    await noteApprovers(tx, rolesWith('config:approve'))
    // Forget what is remembered of the rights of the members.
    tx.afterCommit(() => parts.ends.announce([]))
    const detail = JSON.stringify({ name: group.name, before: describe(before), after: describe(group) })
    await tx.record({ action: 'group.update', resource: 'group', resourceId: id, detail })
    return { ok: true, group, memberCount: members.length }
  })
}

function removeGroup({ db }: Parts, by: Administrator, id: string): Promise<GroupOutcome> {
  return db.change<GroupOutcome>('group.delete', by, async (tx) => {
    await lockIdentity(tx)
    const group = await lockGroup(tx, id)
    if (group === undefined) return refuse('group-not-found')
    if (group.isSystem) return refuse('group-of-system')
    if (!(await deleteGroup(tx, id)))
      return refuse('group-in-use', { count: (await listGroupMembers(tx, id)).length })
    const detail = JSON.stringify({ name: group.name, ...describe(group) })
    await tx.record({ action: 'group.delete', resource: 'group', resourceId: id, detail })
    return { ok: true, group, memberCount: 0 }
  })
}

/** Refuse a change that left no administrator, or one less of those whom the settings name; null where it did not. */
async function refuseLoss(
  tx: Db,
  { keptAdministrators }: Parts,
): Promise<Refusal<'last-administrator' | 'seed-admin'> | null> {
  if (!(await hasAdministrator(tx))) return refuse('last-administrator')
  for (const email of keptAdministrators) {
    const known = await findCredentials(tx, toEmailKey(email))
    const user = known && (await findUser(tx, known.id))
    const groups = await findGroups(tx, user?.groups ?? [])
    if (user?.hasPassword && !groups.some(({ role }) => role === 'administrator')) return refuse('seed-admin')
  }
  return null
}
