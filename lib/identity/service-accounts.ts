import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { Clock } from '../clock.ts'
import { type Random, UUID, uuidv7 } from '../ids.ts'
import { isOwnName } from '../model/own-names.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { noteAccountChange } from '../store/account-ties.ts'
import {
  type ApiToken,
  deleteUserApiTokens,
  listApiTokens,
  listTokensSeenBefore,
} from '../store/api-tokens.ts'
import type { Db } from '../store/db.ts'
import { isNameOfPerson } from '../store/external-users.ts'
import { findGroups } from '../store/groups.ts'
import {
  countServiceAccounts,
  findServiceAccount,
  insertServiceAccount,
  type ServiceAccount,
  setServiceAccountOwner,
} from '../store/service-accounts.ts'
import { deleteUser, findUser, lockIdentity } from '../store/users.ts'
import { setGroups } from './memberships/memberships.ts'
import type { SessionEnds } from './sessions/session-ends.ts'
import type { Administrator } from './user-administration.ts'
import { namesOf, refuseUnknownGroup } from './user-groups.ts'

type ServiceAccountRefusal = Refusal<
  | 'group-unknown'
  | 'owner-unknown'
  | 'service-account-name-invalid'
  | 'service-account-not-found'
  | 'service-account-taken'
  | 'too-many-service-accounts'
>

/** How an act on a service account ended. */
export type ServiceAccountOutcome =
  | {
      ok: true
      account: ServiceAccount
      /** After a change of the owner: the tokens that the former one made, which work still. */
      seenBefore?: readonly ApiToken[]
    }
  | ServiceAccountRefusal
  | AuditFailure

/** Accounts for machines: they have groups and an owner, and nobody can sign in as one. */
export interface ServiceAccounts {
  create(
    by: Administrator,
    account: { name: string; ownerId: string; groups: readonly string[] },
  ): Promise<ServiceAccountOutcome>
  /** Change the owner or the groups, where given. */
  update(
    by: Administrator,
    id: string,
    change: { ownerId?: string; groups?: readonly string[] },
  ): Promise<ServiceAccountOutcome>
  /** Remove the account; its tokens and their sockets end at once. */
  remove(by: Administrator, id: string): Promise<ServiceAccountOutcome>
}

interface Parts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  ends: SessionEnds
}

/** The settings name people only. */
const NOBODY_KEPT = { keptAdministrators: [] }
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/
/** The most service accounts that may exist. */
export const SERVICE_ACCOUNTS_MAX = 1_000

/** Service accounts over the database. */
export function openServiceAccounts(parts: Parts): ServiceAccounts {
  return {
    create: (by, account) => createAccount(parts, by, account),
    update: (by, id, change) => updateAccount(parts, by, id, change),
    remove: (by, id) => removeAccount(parts, by, id),
  }
}

/** The owner must be a person and not a service account: somebody has to answer for it in the end. */
const findOwner = async (tx: Db, id: string) => (UUID.test(id) ? findUser(tx, id) : undefined)

async function createAccount(
  { db, clock, random }: Parts,
  by: Administrator,
  asked: { name: string; ownerId: string; groups: readonly string[] },
): Promise<ServiceAccountOutcome> {
  const name = asked.name.trim()
  if (!NAME.test(name) || isOwnName(name)) return refuse('service-account-name-invalid')
  return db.change<ServiceAccountOutcome>('service-account.create', by, async (tx) => {
    await lockIdentity(tx)
    const groups = await findGroups(tx, asked.groups)
    const unknown = refuseUnknownGroup(asked.groups, groups)
    if (unknown) return unknown
    const owner = await findOwner(tx, asked.ownerId)
    if (!owner) return refuse('owner-unknown')
    if ((await countServiceAccounts(tx)) >= SERVICE_ACCOUNTS_MAX)
      return { ok: false, code: 'too-many-service-accounts' }
    if (await isNameOfPerson(tx, name)) return { ok: false, code: 'service-account-taken' }
    const now = clock.now()
    const id = uuidv7(now, random)
    if (!(await insertServiceAccount(tx, { id, name, ownerId: owner.id, createdAt: now })))
      return { ok: false, code: 'service-account-taken' }
    await setGroups(tx, NOBODY_KEPT, { userId: id, groups, byId: by.userId, isNew: true, now })
    const detail = JSON.stringify({ name, owner: owner.email, groups: namesOf(groups) })
    await tx.record({
      action: 'service_account.create',
      resource: 'service_account',
      resourceId: id,
      detail,
    })
    const account = { id, name, owner: { id: owner.id, email: owner.email }, groups: namesOf(groups) }
    return { ok: true, account: { ...account, createdAt: now } }
  })
}

function updateAccount(
  { db, clock, ends }: Parts,
  by: Administrator,
  id: string,
  change: { ownerId?: string; groups?: readonly string[] },
): Promise<ServiceAccountOutcome> {
  return db.change<ServiceAccountOutcome>('service-account.update', by, async (tx) => {
    await lockIdentity(tx)
    const before = await findServiceAccount(tx, id)
    if (!before) return { ok: false, code: 'service-account-not-found' }
    const groups = change.groups === undefined ? null : await findGroups(tx, change.groups)
    const unknown = groups && refuseUnknownGroup(change.groups ?? [], groups)
    if (unknown) return unknown
    const owner = change.ownerId === undefined ? null : await findOwner(tx, change.ownerId)
    if (owner === undefined) return refuse('owner-unknown')
    const now = clock.now()
    if (groups) await setGroups(tx, NOBODY_KEPT, { userId: id, groups, byId: by.userId, isNew: false, now })
    if (owner) await setServiceAccountOwner(tx, id, owner.id)
    if (owner) await noteAccountChange(tx, id, by.userId, now)
    const account = (await findServiceAccount(tx, id))!
    const formerOwnerId = before.owner?.id ?? null
    const seenBefore =
      owner === null || owner.id === formerOwnerId
        ? []
        : await listTokensSeenBefore(tx, { id, formerOwnerId, ownerId: owner.id }, now)
    const changes = {
      ...(groups ? { groups_before: before.groups, groups_after: account.groups } : {}),
      ...(owner ? { owner_before: before.owner?.email ?? null, owner_after: owner.email } : {}),
      ...(seenBefore.length > 0 ? { tokens_of_former_owner: seenBefore.map(({ name }) => name) } : {}),
    }
    const detail = JSON.stringify({ name: before.name, ...changes })
    if (Object.keys(changes).length > 0)
      await tx.record({
        action: 'service_account.update',
        resource: 'service_account',
        resourceId: id,
        detail,
      })
    // Forget what is remembered of the rights of its tokens.
    tx.afterCommit(() => ends.announce([]))
    return { ok: true, account, seenBefore }
  })
}

function removeAccount(
  { db, clock, ends }: Parts,
  by: Administrator,
  id: string,
): Promise<ServiceAccountOutcome> {
  return db.change<ServiceAccountOutcome>('service-account.delete', by, async (tx) => {
    await lockIdentity(tx)
    const account = await findServiceAccount(tx, id)
    if (!account) return { ok: false, code: 'service-account-not-found' }
    const tokens = (await listApiTokens(tx, id)).map(({ name }) => name)
    const ended = await deleteUserApiTokens(tx, id)
    tx.afterCommit(() => ends.announce(ended))
    await deleteUser(tx, id, clock.now())
    const detail = JSON.stringify({ name: account.name, groups: account.groups, tokens })
    await tx.record({
      action: 'service_account.delete',
      resource: 'service_account',
      resourceId: id,
      detail,
    })
    return { ok: true, account }
  })
}
