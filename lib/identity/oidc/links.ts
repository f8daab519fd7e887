import type { AuditedDatabase } from '../../audit/database.ts'
import type { AuditFailure } from '../../audit/delivery.ts'
import type { AuditActor } from '../../audit/event.ts'
import type { Clock } from '../../clock.ts'
import { toEmailKey } from '../../model/emails.ts'
import { FITS_NO_PASSWORD } from '../../model/no-password.ts'
import { deleteUserApiTokens } from '../../store/api-tokens.ts'
import { noteAccountChange } from '../../store/approval-votes.ts'
import { linkUser, takeLinkRequest } from '../../store/external-users.ts'
import { deleteUserSessions } from '../../store/sessions.ts'
import { findUser, lockIdentity } from '../../store/users.ts'
import type { SessionEnds } from '../sessions/session-ends.ts'

/** How answering a link request ended. */
export type LinkOutcome =
  | { ok: true }
  | { ok: false; code: 'link-request-not-found' | 'already-linked' | 'seed-admin' }
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

function accept(
  { db, clock, ends, keptAdministrators }: Parts,
  by: AuditActor,
  id: string,
): Promise<LinkOutcome> {
  const kept = new Set(keptAdministrators.map(toEmailKey))
  return db.change<LinkOutcome>('link.accept', by, async (tx) => {
    await lockIdentity(tx)
    const request = await takeLinkRequest(tx, id)
    const user = request && (await findUser(tx, request.userId))
    if (!user) return { ok: false, code: 'link-request-not-found' }
    if (user.isBound) return { ok: false, code: 'already-linked' }
    if (kept.has(toEmailKey(user.email))) return { ok: false, code: 'seed-admin' }
    await noteAccountChange(tx, user.id, by.userId, clock.now())
    const { issuer, subject } = request
    // Who knew the password may be somebody else than the person of the provider: it fits no more, and all sessions and
    // tokens end.
    await linkUser(tx, { userId: user.id, issuer, subject, passwordHash: FITS_NO_PASSWORD })
    const ended = [
      ...(await deleteUserSessions(tx, user.id, null)),
      ...(await deleteUserApiTokens(tx, user.id)),
    ]
    tx.afterCommit(() => ends.announce(ended))
    await tx.record({
      action: 'user.link',
      resource: 'user',
      resourceId: user.id,
      detail: JSON.stringify({ email: user.email, issuer: request.issuer, subject: request.subject }),
    })
    return { ok: true }
  })
}

function refuse({ db }: Parts, by: AuditActor, id: string): Promise<LinkRefusalOutcome> {
  return db.change<LinkRefusalOutcome>('link.refuse', by, async (tx) => {
    const request = await takeLinkRequest(tx, id)
    if (!request) return { ok: false, code: 'link-request-not-found' }
    await tx.record({
      action: 'user.link_refused',
      resource: 'user',
      resourceId: request.userId,
      detail: JSON.stringify({ email: request.email, issuer: request.issuer, subject: request.subject }),
    })
    return { ok: true }
  })
}
