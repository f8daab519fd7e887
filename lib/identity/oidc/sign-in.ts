import type { ActTransaction, AuditedDatabase } from '../../audit/database.ts'
import type { AuditFailure } from '../../audit/delivery.ts'
import type { Clock } from '../../clock.ts'
import { type Random, uuidv7 } from '../../ids.ts'
import { toEmailKey } from '../../model/emails.ts'
import { noteAccountChange } from '../../store/account-ties.ts'
import { listApiTokens } from '../../store/api-tokens.ts'
import type { Db } from '../../store/db.ts'
import {
  deleteLinkRequestOf,
  findExternalUser,
  findFormerId,
  forgetLogin,
  hasEndedAtProvider,
  hasSomethingToLose,
  insertExternalUser,
  isLinkAskedFor,
  isNameOfAnother,
  noteExternalId,
  noteExternalLogin,
  noteProviderNames,
  upsertLinkRequest,
} from '../../store/external-users.ts'
import { findGroups, listUserGroups } from '../../store/groups.ts'
import { deleteUserSessions, insertSession } from '../../store/sessions.ts'
import { findCredentials, lockIdentity } from '../../store/users.ts'
import { followGroups } from '../memberships/memberships.ts'
import type { SessionEnds } from '../sessions/session-ends.ts'
import type { Tokens } from '../sessions/tokens.ts'
import { type ExternalIdentity, mapGroups } from './claims.ts'
import type { SaidRefusals } from './said-refusals.ts'
import type { OidcSettings } from './settings.ts'

/** How the sign-in of a person of the provider ended. */
export type SignInOutcome =
  | { ok: true; token: string; expiresAt: Date }
  /** `no-group`: by the map, none of the groups that the provider sent gives one that muster has. */
  | {
      ok: false
      code: 'no-group'
      groups: readonly string[]
      /** The map gives some of them groups, and muster has none of these. */
      isMappedToMissing?: true
    }
  | { ok: false; code: 'link-requested' }
  /** What the provider calls the person is the e-mail of a local user who is somebody else of the provider. */
  | { ok: false; code: 'name-taken' }
  /**
   * The user was made or removed twice while the person signed in, or what was open at the provider has ended since; the
   * person may begin again.
   */
  | { ok: false; code: 'sign-in-lost' }
  | AuditFailure

interface Parts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  tokens: Tokens
  ends: SessionEnds
  settings: OidcSettings
  said: SaidRefusals
  /** Log that the map names a group that muster does not have. */
  noteMissing: (group: string) => void
  /** E-mails of administrators that the settings name. */
  keptAdministrators: readonly string[]
}

/** A person of the provider, with the user that belongs or will belong to that person. */
interface Person {
  issuer: string
  identity: ExternalIdentity
  userId: string
  isNew: boolean
  /** The id of the user whom the person had before that one was removed; undefined where there is a user, or never was. */
  formerId: string | undefined
  /** The name of the user in the audit log: the e-mail of a local user, else what the provider calls the person. */
  email: string
  /** The local user whose e-mail is the person's at the provider; null where there is none, or it is the person. */
  namesake: { id: string; isBound: boolean } | null
  /** Whether a local user has as e-mail what the provider calls the person, be that an e-mail or a name. */
  isNameTaken: boolean
  now: Date
}

// Nobody may be signed in without a record of it. A sign-in changes nothing in the fleet, so it does not wait for what
// agents reported.
const AT_ONCE = { sink: 'before-commit', waitsForReports: false } as const

/** Characters of a subject behind a name. */
const SUBJECT_SHOWN = 64

/** How often a sign-in is begun again because something changed under it. */
const ATTEMPTS = 2

// What a record says of somebody who stays an administrator against the provider's groups.
const KEPT = { kept_administrator: true } as const

/**
 * Open a session for a person whom the provider has authenticated, in a sign-in that was begun at `begunAt`. Where there
 * is a group map, the groups of the user become those of the claims.
 */
export async function signInExternally(
  parts: Parts,
  issuer: string,
  identity: ExternalIdentity,
  begunAt: Date,
): Promise<SignInOutcome> {
  const { groupMap } = parts.settings
  const groups = groupMap === null ? null : mapGroups(identity.groups, groupMap)
  if (groups !== null) {
    // The map may name groups that nobody has made, or somebody has removed: these give nothing.
    const found = new Set((await findGroups(parts.db, groups)).map(({ name }) => name))
    for (const name of groups) if (!found.has(name)) parts.noteMissing(name)
    if (found.size === 0) return refuse(parts, issuer, identity)
  }
  // Meanwhile the same person may have signed in for the first time in another browser, or a user was made or removed.
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const person = await readPerson(parts, issuer, identity)
    if (person.isNew && person.namesake !== null) return askForLink(parts, person, person.namesake)
    const opened = await openSession(parts, person, groups, begunAt)
    if (opened.ok || opened.code === 'audit-unavailable') return opened
    if (opened.code === 'ended') return { ok: false, code: 'sign-in-lost' }
    if (opened.code === 'no-group') return refuse(parts, issuer, identity)
  }
  return { ok: false, code: 'sign-in-lost' }
}

/**
 * A local user keeps its own e-mail, and nobody is named like one: whose e-mail at the provider is that of a local user
 * keeps the former name.
 */
async function readPerson(
  { db, clock, random }: Pick<Parts, 'clock' | 'random'> & { db: Db },
  issuer: string,
  identity: ExternalIdentity,
): Promise<Person> {
  const now = clock.now()
  const known = await findExternalUser(db, issuer, identity.subject)
  const local = known?.isLocal ? undefined : await findCredentials(db, toEmailKey(identity.displayName))
  // What is no e-mail of the provider's is a name that people may choose: nobody is asked for a link by that.
  const named = identity.email === null ? undefined : local
  const isTaken = local !== undefined && named === undefined
  const email =
    known && (known.isLocal || named) ? known.email : await tellApart(db, issuer, identity, isTaken)
  // Nobody gets rid of what was done under an id by being removed and signing in again.
  const formerId = known ? undefined : await findFormerId(db, issuer, identity.subject)
  const userId = known?.id ?? formerId ?? uuidv7(now, random)
  const namesake = named === undefined ? null : { id: named.id, isBound: named.isBound }
  const isNew = known === undefined
  return { issuer, identity, userId, isNew, formerId, email, namesake, isNameTaken: local !== undefined, now }
}

/**
 * The name of a person, with the subject behind it where somebody else of the provider, a service account or, where it
 * `isTaken`, a local user is called so.
 */
async function tellApart(
  db: Db,
  issuer: string,
  { subject, displayName }: ExternalIdentity,
  isTaken: boolean,
): Promise<string> {
  if (!isTaken && !(await isNameOfAnother(db, displayName, { issuer, subject }))) return displayName
  return `${displayName} (${subject.replaceAll(/[^\p{L}\p{N}._@+|:-]/gu, '_').slice(0, SUBJECT_SHOWN)})`
}

/** Whether what was read of a person is still so. */
const isSame = (person: Person, now: Person): boolean =>
  person.isNew === now.isNew &&
  person.formerId === now.formerId &&
  (person.isNew || person.userId === now.userId) &&
  person.email === now.email &&
  person.namesake?.id === now.namesake?.id

type Opened =
  | { ok: true; token: string; expiresAt: Date }
  | { ok: false; code: 'changed' | 'ended' | 'no-group' }

/**
 * `changed`: the user was made, removed, renamed or replaced since `person` was read, or another took or left its name.
 * `ended`: the provider has said meanwhile that the session there is over. `no-group`: the groups of muster that were
 * found for the claims are gone.
 */
async function openSession(
  parts: Parts,
  person: Person,
  groups: readonly string[] | null,
  begunAt: Date,
): Promise<Opened | AuditFailure> {
  const { userId, email, issuer, identity, now } = person
  return parts.db.change<Opened>(
    'session.open-external',
    { userId, email, askAgain: null },
    async (tx) => {
      await lockIdentity(tx)
      if (!isSame(person, await readPerson({ ...parts, db: tx }, issuer, identity)))
        return { ok: false, code: 'changed' }
      if (await hasEndedAtProvider(tx, { issuer, ...identity, begunAt })) return { ok: false, code: 'ended' }
      const found = groups === null ? null : await findGroups(tx, groups)
      if (found?.length === 0) return { ok: false, code: 'no-group' }
      const { subject } = identity
      if (person.isNew) {
        await insertExternalUser(tx, { id: userId, email, issuer, subject, createdAt: now })
        // Whoever is a user of its own now waits for no link any more.
        await deleteLinkRequestOf(tx, issuer, subject)
      } else await noteExternalId(tx, { userId, issuer, subject }, now)
      const vouched = identity.email === null ? null : toEmailKey(identity.email)
      await noteProviderNames(tx, userId, { names: identity.names, vouched }, now)
      // The provider made or regrouped this account, as an administrator could: its issuer counts as an author of what
      // the account requests.
      const change = { userId, byId: issuer, isNew: person.isNew, now }
      const isKept = found !== null && (await followGroups(tx, parts, { ...change, groups: found }))
      if (found === null && person.isNew) await noteAccountChange(tx, userId, issuer, now)
      await noteExternalLogin(tx, userId, email, now)
      return { ok: true, ...(await insertSignedSession(tx, parts, person, isKept)) }
    },
    AT_ONCE,
  )
}

/** Add the session of somebody who is a user by now, with its record, and sign its token. */
async function insertSignedSession(
  tx: ActTransaction,
  { random, tokens, ends, settings }: Parts,
  { userId, email, issuer, identity, isNameTaken, now }: Person,
  isKept: boolean,
): Promise<{ token: string; expiresAt: Date }> {
  const groups = (await listUserGroups(tx, userId)).map((group) => group.name)
  const sessionId = uuidv7(now, random)
  const lifetimeS = Math.floor(settings.sessionMs / 1_000)
  const signed = await tokens.sign({ userId, email, groups, sessionId, issuedAt: now, lifetimeS })
  const session = { id: sessionId, userId, createdAt: now, expiresAt: signed.expiresAt }
  await insertSession(tx, { ...session, issuer, providerSession: identity.providerSession })
  // The groups may have changed: forget what is remembered of other sessions of the same person.
  tx.afterCommit(() => ends.announce([]))
  const taken = isNameTaken ? { name_taken: identity.displayName } : {}
  const detail = JSON.stringify({ method: 'oidc', groups, ...(isKept ? KEPT : {}), ...taken })
  await tx.record({ action: 'auth.login.success', resource: 'user', resourceId: userId, detail })
  return signed
}

/** An administrator is asked whether the two are the same, unless the local user is somebody else already. */
async function askForLink(
  { db, random, said }: Parts,
  { issuer, identity, now }: Person,
  { id: localId, isBound }: NonNullable<Person['namesake']>,
): Promise<SignInOutcome> {
  const { subject, displayName: email } = identity
  const code = isBound ? 'name-taken' : 'link-requested'
  const isSaid = said.say(code, issuer, subject)
  if (isSaid && (isBound || (await isLinkAskedFor(db, { userId: localId, issuer, subject, email }))))
    return { ok: false, code }
  const asked = await db.change<{ ok: true }>(
    'link.request',
    null,
    async (tx) => {
      if (isBound) {
        await deleteLinkRequestOf(tx, issuer, subject)
        const detail = JSON.stringify({ method: 'oidc', reason: 'name_taken', name: email })
        await tx.record({ action: 'auth.login.failure', resource: 'user', resourceId: localId, detail })
        return { ok: true }
      }
      await upsertLinkRequest(tx, {
        id: uuidv7(now, random),
        userId: localId,
        issuer,
        subject,
        email,
        requestedAt: now,
      })
      const detail = JSON.stringify({ email, subject })
      await tx.record({ action: 'auth.link.request', resource: 'user', resourceId: localId, detail })
      return { ok: true }
    },
    AT_ONCE,
  )
  if (!asked.ok) said.forget(code, issuer, subject)
  return asked.ok ? { ok: false, code } : asked
}

/**
 * A person without any group that counts may not sign in any more: the groups, the sessions and the last login of the
 * user are removed as well. The last administrator stays one all the same, for the day on which the groups are right.
 */
async function refuse(parts: Parts, issuer: string, identity: ExternalIdentity): Promise<SignInOutcome> {
  const { db, ends, said } = parts
  const { subject } = identity
  const { groupMap } = parts.settings
  const isMapped = groupMap !== null && mapGroups(identity.groups, groupMap).length > 0
  const outcome = {
    ok: false,
    code: 'no-group',
    groups: identity.groups ?? [],
    ...(isMapped ? { isMappedToMissing: isMapped } : {}),
  } as const
  if (said.say('no-group', issuer, subject) && !(await hasSomethingToLose(db, issuer, subject)))
    return outcome
  const refused = await db.change<{ ok: true }>(
    'session.refuse-external',
    null,
    async (tx) => {
      await lockIdentity(tx)
      const known = await findExternalUser(tx, issuer, subject)
      let isKept = false
      if (known) {
        const change = { userId: known.id, byId: issuer, isNew: false, now: parts.clock.now() }
        isKept = await followGroups(tx, parts, { ...change, groups: [] })
        await forgetLogin(tx, known.id)
        // The person's tokens stay, for a later sign-in, but nothing that is open with one goes on.
        const tokens = (await listApiTokens(tx, known.id)).map(({ id }) => id)
        const ended = [...(await deleteUserSessions(tx, known.id, null)), ...tokens]
        tx.afterCommit(() => ends.announce(ended))
      }
      await tx.record({
        action: 'auth.login.failure',
        resource: 'user',
        resourceId: known?.id ?? '',
        detail: JSON.stringify({
          method: 'oidc',
          reason: 'no_group',
          name: identity.displayName,
          ...(isKept ? KEPT : {}),
        }),
      })
      return { ok: true }
    },
    AT_ONCE,
  )
  if (!refused.ok) said.forget('no-group', issuer, subject)
  return refused.ok ? outcome : refused
}
