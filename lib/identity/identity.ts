import type { CommitFollowers, Reread } from '../audit/commit-followers.ts'
import type { AuditedDatabase } from '../audit/database.ts'
import type { Clock } from '../clock.ts'
import { type Random, UUID } from '../ids.ts'
import type { Log } from '../log.ts'
import { deleteOldAccountChanges } from '../store/account-ties.ts'
import { deleteExpiredApiTokens } from '../store/api-tokens.ts'
import { deleteExpiredConfirmedLogins } from '../store/command-line-logins.ts'
import { deleteOldCommitAuthors } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { deleteOldEndsAtProvider, deleteOldLinkRequests } from '../store/external-users.ts'
import { deleteExpiredSessions, deleteSession, listStandingSessions } from '../store/sessions.ts'
import { deleteOldUnseen } from '../store/unseen-texts.ts'
import { lockIdentity } from '../store/users.ts'
import { type Authentication, openAuthority } from './authority.ts'
import { type CommandLineLogins, openCommandLineLogins } from './command-line-logins.ts'
import { type GroupAdministration, openGroupAdministration } from './group-administration.ts'
import { type LoginOutcome, type LoginRequest, openLogin } from './login.ts'
import { type LoginLimit, openLoginLimit } from './login-limit.ts'
import { type LinkAdministration, openLinkAdministration } from './oidc/links.ts'
import { FLOW_LIFETIME_S, type Oidc, openOidc } from './oidc/oidc.ts'
import type { IssuerFetch } from './oidc/provider.ts'
import type { OidcSettings } from './oidc/settings.ts'
import { openCallbackRoom } from './oidc-callbacks.ts'
import { openOwnPassword, type PasswordChange, type PasswordChangeOutcome } from './own-password.ts'
import type { Passwords } from './passwords.ts'
import { openServiceAccounts, type ServiceAccounts } from './service-accounts.ts'
import type { SessionEnds, SessionSockets } from './sessions/session-ends.ts'
import { openTokens, type Tokens } from './sessions/tokens.ts'
import { openTokenAdministration, type TokenAdministration } from './token-administration.ts'
import { isApiToken, openTokenAuthority, type TokenAuthentication } from './token-authority.ts'
import { openUserAdministration, type UserAdministration } from './user-administration.ts'

/** Who may sign in and what they may do. */
export interface Identity {
  /** Who a session token stands for, as a cookie or a query parameter holds it. */
  authenticate(token: string): Promise<Authentication>
  /**
   * Who a bearer credential stands for: a session token or an API token. `address` is the address of the peer, by which
   * unknown API tokens are counted.
   */
  authenticateBearer(token: string, address: string): Promise<TokenAuthentication>
  logIn(request: LoginRequest): Promise<LoginOutcome>
  /** End the session of a session token, or revoke an API token; any other text is ignored. */
  logOut(token: string, address: string): Promise<void>
  changePassword(change: PasswordChange): Promise<PasswordChangeOutcome>
  /** Sign-in with an identity provider; null where none is configured. */
  oidc: Oidc | null
  links: LinkAdministration
  users: UserAdministration
  groups: GroupAdministration
  apiTokens: TokenAdministration
  commandLineLogins: CommandLineLogins
  serviceAccounts: ServiceAccounts
  /**
   * Delete what has expired (sessions, API tokens, confirmed command-line logins, old link requests and account
   * changes) and forget failed logins that no longer count. Returns how many sessions were deleted.
   */
  trim(): Promise<number>
}

/** What the parts of identity share. */
export interface IdentityParts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  log: Log
  passwords: Passwords
  /** JWT_SECRET, unchanged. */
  jwtSecret: string
  /** E-mails of administrators that the settings name. They must stay administrators, or the next start would fail. */
  keptAdministrators: readonly string[]
  /** The only e-mail that may log in with a password; null where every local user may. */
  onlyPasswordLogin: string | null
  /** Null where nobody signs in with an identity provider. */
  oidc: OidcSettings | null
  /** Sends the requests to the identity provider. */
  fetchFromIssuer: IssuerFetch
  followers: CommitFollowers
  /** The sockets of sessions and API tokens, which are closed where these end before they expire. */
  sockets: SessionSockets
}

/** Unknown API tokens and wrong command-line codes of one address in a minute; one more is refused. */
const UNKNOWN_TOKENS_MAX = 30
/**
 * How long an expired token is still listed, so that its holder sees why it does not work, and how long a link request
 * may wait for an answer.
 */
const EXPIRED_SHOWN_MS = 30 * 86_400_000
/**
 * How long it is remembered, after an account was deleted, who changed it: they count as authors of what was requested
 * with that account.
 */
const CHANGES_KEPT_MS = 366 * 86_400_000

/** Identity over the database; nothing is read yet. */
export function openIdentity(parts: IdentityParts): Identity {
  const tokens = openTokens(parts.jwtSecret, parts.clock)
  const authority = openAuthority({ ...parts, tokens })
  const limit = openLoginLimit(parts)
  const strangers = openAddressLimit(parts, UNKNOWN_TOKENS_MAX)
  const replays = openAddressLimit(parts, UNKNOWN_TOKENS_MAX)
  const tokenAuthority = openTokenAuthority({ ...parts, limit: strangers })
  const ends: SessionEnds = {
    announce(sessionIds) {
      authority.forget()
      tokenAuthority.forget()
      if (sessionIds.length > 0) parts.sockets.endSessions(sessionIds)
    },
  }
  parts.followers.follow((db) => readSessionsAgain(db, ends, parts.sockets))
  const apiTokens = openTokenAdministration({ ...parts, ends })
  const authenticateBearer: Identity['authenticateBearer'] = (token, address) =>
    isApiToken(token) ? tokenAuthority.authenticate(token, address) : authority.authenticate(token)
  /** An API token may always revoke itself. */
  async function revokeItself(token: string, address: string): Promise<void> {
    const found = await tokenAuthority.authenticate(token, address)
    if (!found.ok) return
    // What ends a right needs none that could be lost.
    await apiTokens.revoke({ ...found.user, askAgain: null }, found.user.userId, found.user.sessionId)
  }
  return {
    authenticate: (token) => authority.authenticate(token),
    authenticateBearer,
    logIn: openLogin({ ...parts, tokens, limit }),
    async logOut(token, address) {
      if (isApiToken(token)) return revokeItself(token, address)
      const claims = await tokens.verify(token)
      if (claims === null) return
      const { sessionId } = claims
      if (await parts.db.transaction('session.close', (tx) => deleteSession(tx, sessionId)))
        ends.announce([sessionId])
    },
    changePassword: openOwnPassword({ ...parts, limit, ends }),
    oidc: openSignIn({ ...parts, tokens, ends }),
    links: openLinkAdministration({ ...parts, ends }),
    users: openUserAdministration({ ...parts, ends, groupsFollowClaims: parts.oidc?.groupMap != null }),
    groups: openGroupAdministration({ ...parts, ends }),
    apiTokens,
    commandLineLogins: openCommandLineLogins({ ...parts, limit: replays, ends }),
    serviceAccounts: openServiceAccounts({ ...parts, ends }),
    trim() {
      limit.trim()
      strangers.trim()
      replays.trim()
      return trimStored(parts)
    },
  }
}

/** A limit of the failures of an address alone. */
const openAddressLimit = ({ clock }: IdentityParts, max: number): LoginLimit =>
  openLoginLimit({ clock, perAccount: max, perAddress: max })

/** Sign-in with the provider of the settings; null where there is none. */
function openSignIn(parts: IdentityParts & { tokens: Tokens; ends: SessionEnds }): Oidc | null {
  const { oidc: settings } = parts
  return settings === null
    ? null
    : openOidc({
        ...parts,
        settings,
        limitExchange: openCallbackRoom(parts.clock),
      })
}

/** Somebody may have been removed, signed out or given other rights unheard: end what does not stand any more. */
async function readSessionsAgain(db: Db, ends: SessionEnds, sockets: SessionSockets): Promise<Reread> {
  // Before the sockets are asked for: one that is opened later is checked against what is read from now on.
  ends.announce([])
  const open = sockets.sessionIds().filter((id) => UUID.test(id))
  const standing = open.length === 0 ? new Set() : await listStandingSessions(db, open)
  const ended = open.filter((id) => !standing.has(id))
  ends.announce(ended)
  return { adopted: ended, passedOver: [] }
}

/** Delete what has expired; returns how many sessions were deleted. */
async function trimStored({ db, clock }: IdentityParts): Promise<number> {
  const now = clock.now()
  const lately = new Date(now.getTime() - EXPIRED_SHOWN_MS)
  const longAgo = new Date(now.getTime() - CHANGES_KEPT_MS)
  // By itself, and in the order of whoever asks for something in Git: it waits for those, and nobody who signs in for it.
  await db.transaction('identity.trim-authors', async (tx) => {
    await deleteOldCommitAuthors(tx, longAgo)
    await deleteOldUnseen(tx, longAgo)
  })
  return db.transaction('identity.trim', async (tx) => {
    await lockIdentity(tx)
    await deleteExpiredApiTokens(tx, lately, now)
    await deleteExpiredConfirmedLogins(tx, now)
    await deleteOldLinkRequests(tx, lately)
    await deleteOldEndsAtProvider(tx, new Date(now.getTime() - FLOW_LIFETIME_S * 1_000))
    await deleteOldAccountChanges(tx, longAgo)
    return deleteExpiredSessions(tx, now)
  })
}
