import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import { answerAddress, type CommandLineLogin, isCommandLineLogin } from '../model/command-line-login.ts'
import { LOGIN_TOKEN_HOURS } from '../model/lifetimes.ts'
import { deleteLoginTokens, insertApiToken } from '../store/api-tokens.ts'
import {
  type ConfirmedLogin,
  insertConfirmedLogin,
  takeConfirmedLogin,
} from '../store/command-line-logins.ts'
import { findSession } from '../store/sessions.ts'
import { lockIdentity } from '../store/users.ts'
import type { LoginLimit } from './login-limit.ts'
import type { SessionEnds } from './sessions/session-ends.ts'
import { readHolder } from './token-administration.ts'
import { formatApiToken, hashApiToken } from './token-authority.ts'

/** How confirming a sign-in of a command line ended. */
export type ConfirmOutcome =
  /** `redirectTo`: the address of the command line, to which the browser takes the code. */
  { ok: true; redirectTo: string } | { ok: false; code: 'command-line-login-invalid' } | AuditFailure

/** How trading a code for a token ended. */
export type ExchangeOutcome =
  | { ok: true; token: string; email: string; expiresAt: Date }
  | { ok: false; code: 'command-line-code-invalid' }
  | { ok: false; code: 'token-limited'; retryAfterS: number }
  | AuditFailure

/** Sign-ins of a command line: a person confirms one in the browser, and the command line then fetches its token. */
export interface CommandLineLogins {
  /**
   * The user who is signed in in the browser allows the command line on the machine that `login` names to act as that
   * user.
   */
  confirm(by: AuditActor & { sessionId: string }, login: CommandLineLogin): Promise<ConfirmOutcome>
  /**
   * Trade a code, which can be used once, for a token. A text that is no code of this service costs nothing and counts
   * for nobody: many people may have one address.
   */
  exchange(code: string, verifier: string): Promise<ExchangeOutcome>
}

interface Parts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  jwtSecret: string
  /** Counts by the code how often one is tried in vain. */
  limit: LoginLimit
  ends: SessionEnds
}

/** Short, because the command line is waiting for the code when the browser gets it. */
const CODE_LIFETIME_MS = 60_000
const TOKEN_LIFETIME_MS = LOGIN_TOKEN_HOURS * 3_600_000
/**
 * For one person, the most confirmed sign-ins whose token was not fetched yet, and the most login tokens: the oldest
 * are removed.
 */
const OPEN_MAX = 10

const sha256 = (text: string, encoding: 'hex' | 'base64url') =>
  createHash('sha256').update(text).digest(encoding)

/** Sign-ins of command lines over the database. */
export function openCommandLineLogins(parts: Parts): CommandLineLogins {
  const marks = openMarks(parts.jwtSecret)
  return {
    confirm: (by, login) => confirm({ ...parts, marks }, by, login),
    exchange: async (code, verifier) =>
      marks.isMarked(code)
        ? exchange(parts, code, verifier)
        : { ok: false, code: 'command-line-code-invalid' },
  }
}

/** Marks texts as made here, and knows them again. */
interface Marks {
  mark(text: string): string
  isMarked(text: string): boolean
}

function openMarks(secret: string): Marks {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'muster code of a command line', 32))
  const mark = (text: string) => `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  return {
    mark,
    isMarked(text) {
      const made = Buffer.from(mark(text.split('.', 1)[0]!))
      const found = Buffer.from(text)
      return found.length === made.length && timingSafeEqual(found, made)
    },
  }
}

async function confirm(
  { db, clock, random, marks }: Parts & { marks: Marks },
  by: AuditActor & { sessionId: string },
  login: CommandLineLogin,
): Promise<ConfirmOutcome> {
  if (!isCommandLineLogin(login)) return { ok: false, code: 'command-line-login-invalid' }
  const code = marks.mark(Buffer.from(random.bytes(32)).toString('base64url'))
  const createdAt = clock.now()
  const expiresAt = new Date(createdAt.getTime() + CODE_LIFETIME_MS)
  const { challenge, state, port, machine } = login
  // Not recorded in the audit log: a confirmation gives no access yet, and the token that follows is recorded.
  const kept = await db.change(
    'command-line-login.confirm',
    by,
    async (tx) => {
      const own = { codeHash: sha256(code, 'hex'), userId: by.userId, sessionId: by.sessionId }
      await insertConfirmedLogin(tx, { ...own, challenge, machine, createdAt, expiresAt }, OPEN_MAX)
      return { ok: true }
    },
    { waitsForReports: false },
  )
  return kept.ok ? { ok: true, redirectTo: answerAddress(port, { code, state }) } : kept
}

async function exchange(parts: Parts, code: string, verifier: string): Promise<ExchangeOutcome> {
  const begun = parts.limit.begin(code, '')
  if (!begun.ok) return { ok: false, code: 'token-limited', retryAfterS: begun.retryAfterS }
  let isGuess = false
  try {
    // The code is deleted even where the verifier is wrong: whoever brings a wrong verifier has stolen the code.
    // That is why this transaction stands whatever becomes of the next one, which makes the token.
    const login = await parts.db.transaction('command-line-login.take', (tx) =>
      takeConfirmedLogin(tx, sha256(code, 'hex')),
    )
    isGuess =
      login === undefined ||
      login.expiresAt <= parts.clock.now() ||
      sha256(verifier, 'base64url') !== login.challenge
    if (login === undefined || isGuess) return { ok: false, code: 'command-line-code-invalid' }
    return await makeToken(parts, login)
  } finally {
    if (isGuess) begun.attempt.fail()
    else begun.attempt.cancel()
  }
}

function makeToken(
  { db, clock, random, ends }: Parts,
  { userId, sessionId, email, machine }: ConfirmedLogin,
): Promise<ExchangeOutcome> {
  const secret = formatApiToken(random.bytes(32))
  return db.change<ExchangeOutcome>(
    'command-line-login.exchange',
    // The code that was traded is the credential.
    { userId, email, askAgain: null },
    async (tx) => {
      await lockIdentity(tx)
      const now = clock.now()
      const holder = await readHolder(tx, userId)
      // A new password ends the sessions and tokens that there are. The code was taken in a transaction of its own, so
      // that may have happened in between.
      const session = await findSession(tx, sessionId, now)
      if (!holder || !session) return { ok: false, code: 'command-line-code-invalid' }
      const ended = await deleteLoginTokens(tx, userId, now, OPEN_MAX - 1)
      tx.afterCommit(() => ends.announce(ended))
      const id = uuidv7(now, random)
      const expiresAt = new Date(now.getTime() + TOKEN_LIFETIME_MS)
      const name = `muster login (${machine})`
      const permissions = [...holder.permissions].sort()
      const token = { id, userId, name, permissions, createdAt: now, expiresAt, isLogin: true }
      const maker = { madeById: userId, madeBy: email }
      const { providerSession } = session
      await insertApiToken(tx, { ...token, ...maker, hash: hashApiToken(secret), providerSession })
      await tx.record({
        action: 'token.create',
        resource: 'token',
        resourceId: id,
        detail: JSON.stringify({ name, holder: holder.name, permissions, expires_at: expiresAt }),
      })
      return { ok: true, token: secret, email, expiresAt }
    },
    { sink: 'before-commit', waitsForReports: false },
  )
}
