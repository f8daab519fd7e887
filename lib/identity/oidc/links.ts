import type { AuditedDatabase } from '../../audit/database.ts'
import type { AuditFailure } from '../../audit/delivery.ts'
import type { AuditActor, AuditEvent } from '../../audit/event.ts'
import type { Clock } from '../../clock.ts'
import { toEmailKey } from '../../model/emails.ts'
import { FITS_NO_PASSWORD } from '../../model/no-password.ts'
import { noteAccountChange } from '../../store/account-ties.ts'
import { deleteUserApiTokens } from '../../store/api-tokens.ts'
import {
  findExternalUser,
  type LinkRequest,
  linkUser,
  takeLinkRequest,
  takeLinkRequestsAbout,
} from '../../store/external-users.ts'
import { deleteUserSessions } from '../../store/sessions.ts'
import { findUser, lockIdentity } from '../../store/users.ts'
import type { SessionEnds } from '../sessions/session-ends.ts'

/** How answering a link request ended. */
export type LinkOutcome =
  | { ok: true }
  /** `already-linked` and `person-linked`: the user, or the person, is bound already, and the request is gone. */
  | { ok: false; code: 'link-request-not-found' | 'already-linked' | 'person-linked' | 'seed-admin' }
  | AuditFailure

/** How refusing a link request ended. */
export type LinkRefusalOutcome = { ok: true } | { ok: false; code: 'link-request-not-found' } | AuditFailure

/**
 * How an administrator answers a link request: whether a person of the identity provider and a local user are the same.
 */
export interface LinkAdministration {
  /** They are the same: the local user signs in with the provider from now on, and no more with the password. */
  accept(by: AuditActor, id: string): Promise<LinkOutcome>
  /** They are not the same: the request is deleted, and made again at the next sign-in of that person. */
  refuse(by: AuditActor, id: string): Promise<LinkRefusalOutcome>
}

interface Parts {
  clock: Clock
  db: AuditedDatabase
  ends: SessionEnds
  /** E-mails of administrators who must be able to sign in without a provider. */
  keptAdministrators: readonly string[]
}

/** Link administration over the database. */
export function openLinkAdministration(parts: Parts): LinkAdministration {
  return {
    accept: (by, id) => accept(parts, by, id),
    refuse: (by, id) => refuse(parts, by, id),
  }
}

/** Why nobody can accept a link request, now or later. */
type Impossible = 'already-linked' | 'person-linked'

async function accept(parts: Parts, by: AuditActor, id: string): Promise<LinkOutcome> {
  const { db, clock, ends, keptAdministrators } = parts
  const kept = new Set(keptAdministrators.map(toEmailKey))
  type Answered = { ok: true; impossible?: Impossible } | (LinkOutcome & { ok: false })
  const outcome = await db.change<Answered>('link.accept', by, async (tx) => {
    await lockIdentity(tx)
    const request = await takeLinkRequest(tx, id)
    const user = request && (await findUser(tx, request.userId))
    if (!user) return { ok: false, code: 'link-request-not-found' }
    const { issuer, subject } = request
    const impossible = user.isBound
      ? 'already-linked'
      : (await findExternalUser(tx, issuer, subject))
        ? 'person-linked'
        : null
    if (impossible !== null) {
      // The request goes with this answer: nobody could ever give another one.
      await tx.record(toRefusalEvent(request, impossible))
      return { ok: true, impossible }
    }
    if (kept.has(toEmailKey(user.email))) return { ok: false, code: 'seed-admin' }
    const now = clock.now()
    await noteAccountChange(tx, user.id, by.userId, now)
    // Who knew the password may be somebody else than the person of the provider: it fits no more, and all sessions and
    // tokens end.
    await linkUser(tx, { userId: user.id, issuer, subject, passwordHash: FITS_NO_PASSWORD }, now)
    const ended = [
      ...(await deleteUserSessions(tx, user.id, null)),
      ...(await deleteUserApiTokens(tx, user.id)),
    ]
    tx.afterCommit(() => ends.announce(ended))
    const others = await takeLinkRequestsAbout(tx, user.id)
    await tx.recordAll([
      {
        action: 'user.link',
        resource: 'user',
        resourceId: user.id,
        detail: JSON.stringify({ email: user.email, issuer, subject }),
      },
      ...others.map((other) => toRefusalEvent(other, 'already-linked')),
    ])
    return { ok: true }
  })
  return outcome.ok && outcome.impossible ? { ok: false, code: outcome.impossible } : outcome
}

/** A link request that ended without a link; `reason` where nobody could have made it. */
const toRefusalEvent = (
  { userId, email, issuer, subject }: LinkRequest,
  reason?: Impossible,
): Omit<AuditEvent, 'actor'> => ({
  action: 'user.link_refused',
  resource: 'user',
  resourceId: userId,
  detail: JSON.stringify({ email, issuer, subject, ...(reason && { reason: reason.replaceAll('-', '_') }) }),
})

function refuse({ db }: Parts, by: AuditActor, id: string): Promise<LinkRefusalOutcome> {
  return db.change<LinkRefusalOutcome>('link.refuse', by, async (tx) => {
    const request = await takeLinkRequest(tx, id)
    if (!request) return { ok: false, code: 'link-request-not-found' }
    await tx.record(toRefusalEvent(request))
    return { ok: true }
  })
}
