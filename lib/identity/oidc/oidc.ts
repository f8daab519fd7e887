import type { AuditedDatabase } from '../../audit/database.ts'
import type { Clock } from '../../clock.ts'
import type { Random } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { deleteProviderLoginTokens } from '../../store/api-tokens.ts'
import { deleteProviderSessions, noteEndedAtProvider } from '../../store/external-users.ts'
import { findGroups } from '../../store/groups.ts'
import { lockIdentity } from '../../store/users.ts'
import type { SessionEnds } from '../sessions/session-ends.ts'
import type { Tokens } from '../sessions/tokens.ts'
import { openEndedFlows } from './ended-flows.ts'
import { failureLog } from './failure-log.ts'
import type { Flow, IssuerFetch, LogoutTellers, Provider } from './provider.ts'
import { openSaidRefusals } from './said-refusals.ts'
import { openSeal } from './seal.ts'
import type { OidcSettings } from './settings.ts'
import { type SignInOutcome, signInExternally } from './sign-in.ts'

/** Why a browser that came back from the provider is not signed in. */
export interface Refusal {
  code:
    | 'provider-away'
    | 'provider-refused'
    | 'sign-in-cancelled'
    | 'sign-in-lost'
    | 'groups-overage'
    | 'no-group'
    | 'link-requested'
    | 'name-taken'
    | 'audit-unavailable'
    /** Too many callbacks are asked about at once, of the sender or of all. */
    | 'login-limited'
  /** With `no-group`: the groups that the provider sent, as many as fit the cookie. */
  groups?: readonly string[]
  /** With `no-group`: the map gives some of them groups, and muster has none of these. */
  isMappedToMissing?: boolean
}

/** How a sign-in ended when the browser came back; `next` is the page that it wanted to see. */
export type CallbackOutcome =
  | { ok: true; token: string; expiresAt: Date; next: string }
  | { ok: false; refusal: Refusal }

/** A browser that came back: the query of its address, what it kept, and the peer's address after trusted proxies. */
export interface Callback {
  query: string
  kept: string
  address: string
  /** Have this run when the browser has left before there is an answer. */
  onGone?: OnGone
}

/** Has something run when whoever asked has left before there is an answer. */
export type OnGone = (run: () => void) => void

/** Sign-in with an identity provider. Texts that browsers keep are sealed: only muster can read and write them. */
export interface Oidc {
  settings: OidcSettings
  /** `url` is where to send the browser, `kept` what the browser keeps until it comes back. */
  begin(next: string): Promise<{ ok: true; url: string; kept: string } | { ok: false; refusal: Refusal }>
  /** The browser came back. It does so once: what it kept is of no use any more, whatever came of it. */
  finish(callback: Callback): Promise<CallbackOutcome>
  /** Log, at a start, each group that the map names and muster does not have. */
  noteMissingGroups(): Promise<void>
  /** Seal a refusal, for a cookie of the browser. */
  sealRefusal(refusal: Refusal): Promise<string>
  /** The refusal in a sealed text; null when it is not sealed by muster or too old. */
  openRefusal(sealed: string): Promise<Refusal | null>
  /** End the sessions that a logout token of the provider names, and the command lines that were signed in in them. */
  logOut(logoutToken: string): Promise<'ended' | 'refused' | 'provider-away'>
}

interface Parts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  log: Log
  tokens: Tokens
  ends: SessionEnds
  jwtSecret: string
  settings: OidcSettings
  /** E-mails of administrators that the settings name. */
  keptAdministrators: readonly string[]
  /** Asks the provider about a callback from an address, unless it is asked about too many already. */
  limitExchange(
    address: string,
    exchange: () => Promise<CallbackOutcome>,
    onGone?: OnGone,
  ): Promise<CallbackOutcome>
  fetchFromIssuer: IssuerFetch
}

/** A flow as a browser keeps it. */
type BegunFlow = Flow & { next: string; begunMs?: number }

const LOST: CallbackOutcome = { ok: false, refusal: { code: 'sign-in-lost' } }

/** How long a sign-in may take at the provider. */
export const FLOW_LIFETIME_S = 900
/** How long a browser keeps why it was not signed in. */
export const REFUSAL_LIFETIME_S = 300
/** Bytes of group names in a refusal: sealed they are a third more, and a browser keeps 4,096 of a cookie. */
const REFUSAL_GROUPS_BYTES = 2_400

const unguessable = (random: Random): string => Buffer.from(random.bytes(32)).toString('base64url')

/** The provider of the settings. What speaks to it is loaded when somebody signs in: a start need not wait for that. */
function lazyProvider({ settings, clock, fetchFromIssuer }: Parts): () => Promise<Provider> {
  let opened: Promise<Provider> | null = null
  return () =>
    (opened ??= import('./provider.ts').then(({ openProvider }) =>
      openProvider(settings, clock, fetchFromIssuer),
    ))
}

const GROUP_MISSING = 'the group map names a group that muster does not have, and gives nobody anything by it'

/** Log each group that the map names and muster does not have. */
async function noteMissingGroups({ db, log, settings }: Parts): Promise<void> {
  const mapped = [...new Set([...(settings.groupMap?.values() ?? [])].flat())]
  const found = new Set((await findGroups(db, mapped)).map(({ name }) => name))
  for (const name of mapped)
    if (!found.has(name)) log.warn({ err: name, code: 'group-missing' }, GROUP_MISSING)
}

/** Logs at sign-ins what the map names and muster does not have: names of the settings, so they are few. */
function missingLog(parts: Parts): (group: string) => void {
  const note = failureLog(parts, GROUP_MISSING)
  return (group) => note('group-missing', group, group)
}

/** Logs why a logout token ended nothing, and that the provider could not be asked about one. */
function tellersOf(parts: Parts, noteAway: ReturnType<typeof failureLog>): LogoutTellers {
  const noteRefused = failureLog(
    parts,
    'a logout token of the identity provider was refused, and ended nothing',
  )
  return {
    invalid: (why) => noteRefused('logout-token-invalid', why, why),
    away: (error) => noteAway('provider-away', error),
  }
}

/** What the browser keeps of a sign-in that was refused. */
function toRefusal(refused: Exclude<SignInOutcome, { ok: true }>): Refusal {
  if (refused.code !== 'no-group') return { code: refused.code }
  const { code, groups, isMappedToMissing = false } = refused
  return { code, groups: cut(groups), isMappedToMissing }
}

/** Sign-in with the provider of the settings; the provider is not asked yet. */
export function openOidc(parts: Parts): Oidc {
  const { settings, random } = parts
  const askable = lazyProvider(parts)
  const seal = openSeal(parts.jwtSecret, parts.clock)
  const flows = openEndedFlows(parts.clock, FLOW_LIFETIME_S * 1_000)
  const said = openSaidRefusals(parts.clock)
  const noteAway = failureLog(parts, 'the identity provider could not be asked')
  const noteFailed = failureLog(parts, 'sign-in with the identity provider failed')
  const noteMissing = missingLog(parts)
  const tellers = tellersOf(parts, noteAway)
  async function finish({ query, kept, address, onGone }: Callback): Promise<CallbackOutcome> {
    const flow = (await seal.open(kept, 'flow')) as BegunFlow | null
    const said = new URL(`${settings.callbackUrl}?${query}`).searchParams
    if (flow === null || said.get('state') !== flow.state) return LOST
    // Where the provider itself says no, or no code came, it is asked nothing: that needs no room and takes none away. Empty
    // ones do not count, as for what reads the callback then.
    const isAsked = Boolean(said.get('code')) && !said.get('error')
    return isAsked ? parts.limitExchange(address, () => exchange(query, flow), onGone) : exchange(query, flow)
  }

  async function exchange(query: string, flow: BegunFlow): Promise<CallbackOutcome> {
    if (!flows.end(flow.state)) return LOST
    const found = await (await askable()).finish(query, flow)
    if (!found.ok) {
      noteFailed(found.code, found.cause)
      return { ok: false, refusal: { code: found.code } }
    }
    // A flow that an older process has begun does not say when: any end that is remembered counts.
    const begunAt = new Date(flow.begunMs ?? 0)
    const signedIn = await signInExternally(
      { ...parts, said, noteMissing },
      found.issuer,
      found.identity,
      begunAt,
    )
    if (signedIn.ok) return { ...signedIn, next: flow.next }
    return { ok: false, refusal: toRefusal(signedIn) }
  }

  return {
    settings,
    async begin(next) {
      const [state, nonce, verifier] = [unguessable(random), unguessable(random), unguessable(random)]
      const flow = { state, nonce, verifier }
      const begun = await (await askable()).begin(flow)
      if (!begun.ok) {
        noteAway(begun.code, begun.cause)
        return { ok: false, refusal: { code: begun.code } }
      }
      const kept = { ...flow, next, begunMs: parts.clock.now().getTime() }
      return { ok: true, url: begun.url, kept: await seal.close(kept, 'flow', FLOW_LIFETIME_S) }
    },
    finish,
    noteMissingGroups: () => noteMissingGroups(parts),
    sealRefusal: (refusal) => seal.close({ ...refusal }, 'refusal', REFUSAL_LIFETIME_S),
    openRefusal: async (sealed) => (await seal.open(sealed, 'refusal')) as Refusal | null,
    logOut: async (logoutToken) => logOut(parts, await askable(), logoutToken, tellers),
  }
}

async function logOut(
  { db, clock, log, ends }: Parts,
  provider: Provider,
  logoutToken: string,
  tellers: LogoutTellers,
): Promise<'ended' | 'refused' | 'provider-away'> {
  const token = await provider.readLogout(logoutToken, tellers)
  if (token === 'provider-away') return 'provider-away'
  if (token === null) return 'refused'
  const ended = await db.transaction('session.close-external', async (tx) => {
    // A sign-in that is under way has committed its session by now, or finds what is noted here.
    await lockIdentity(tx)
    // Whoever has seen a token could otherwise end with it what the person opened since.
    if (!(await noteEndedAtProvider(tx, token, clock.now()))) return null
    return [...(await deleteProviderSessions(tx, token)), ...(await deleteProviderLoginTokens(tx, token))]
  })
  if (ended === null) return 'ended'
  ends.announce(ended)
  log.info({ count: ended.length }, 'the identity provider ended sessions')
  return 'ended'
}

/** The first groups, as many as fit; the others are left out, and so is one that is too long by itself. */
function cut(groups: readonly string[]): string[] {
  let room = REFUSAL_GROUPS_BYTES
  return groups.filter((group) => {
    const bytes = Buffer.byteLength(JSON.stringify(group)) + 1
    if (bytes > room) return false
    room -= bytes
    return true
  })
}
