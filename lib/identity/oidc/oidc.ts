import type { AuditedDatabase } from '../../audit/database.ts'
import type { Clock } from '../../clock.ts'
import type { Random } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { deleteProviderSessions } from '../../store/external-users.ts'
import type { SessionEnds } from '../sessions/session-ends.ts'
import type { Tokens } from '../sessions/tokens.ts'
import { type Flow, type IssuerFetch, openProvider } from './provider.ts'
import { openSeal } from './seal.ts'
import type { OidcSettings } from './settings.ts'
import { signInExternally } from './sign-in.ts'

/** What a browser is told when it came back and is not signed in. */
export interface Refusal {
  code:
    | 'provider-away'
    | 'provider-refused'
    | 'sign-in-cancelled'
    | 'sign-in-lost'
    | 'groups-overage'
    | 'no-group'
    | 'link-requested'
    | 'audit-unavailable'
  /** Of `no-group`: what came. */
  groups?: readonly string[]
}

export type CallbackOutcome =
  | { ok: true; token: string; expiresAt: Date; next: string }
  | { ok: false; refusal: Refusal }

/** Sign-in with an identity provider. Texts that browsers keep are sealed: only muster reads and writes them. */
export interface Oidc {
  settings: OidcSettings
  /** Where to send the browser, and what it keeps meanwhile. */
  begin(next: string): Promise<{ ok: true; url: string; kept: string } | { ok: false; refusal: Refusal }>
  /** The browser came back with `query`, and with what it kept. */
  finish(query: string, kept: string): Promise<CallbackOutcome>
  /** Write down for the browser why it is not signed in. */
  sealRefusal(refusal: Refusal): Promise<string>
  /** Why the browser that keeps this is not signed in; null when nothing is known. */
  openRefusal(sealed: string): Promise<Refusal | null>
  /** End what the provider says has ended. */
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
  fetchFromIssuer: IssuerFetch
}

/** How long somebody may be at the provider. */
export const FLOW_LIFETIME_S = 900
export const REFUSAL_LIFETIME_S = 300
/** Groups that fit a cookie; the page says how many more there are by showing the last one cut. */
const REFUSAL_GROUPS_CHARS = 1_500

/** Sign-in with the provider of the settings; nothing is asked yet. */
export function openOidc(parts: Parts): Oidc {
  const { settings, random, log } = parts
  const provider = openProvider(settings, parts.clock, parts.fetchFromIssuer)
  const seal = openSeal(parts.jwtSecret, parts.clock)
  const unguessable = () => Buffer.from(random.bytes(32)).toString('base64url')

  async function finish(query: string, kept: string): Promise<CallbackOutcome> {
    const flow = (await seal.open(kept, 'flow')) as (Flow & { next: string }) | null
    if (flow === null || new URLSearchParams(query).get('state') !== flow.state)
      return { ok: false, refusal: { code: 'sign-in-lost' } }
    const found = await provider.finish(query, flow)
    if (!found.ok) {
      log.warn({ err: found.cause, code: found.code }, 'sign-in with the identity provider failed')
      return { ok: false, refusal: { code: found.code } }
    }
    const signedIn = await signInExternally(parts, found.issuer, found.identity)
    if (signedIn.ok) return { ...signedIn, next: flow.next }
    const groups = signedIn.code === 'no-group' ? { groups: cut(signedIn.groups) } : {}
    return { ok: false, refusal: { code: signedIn.code, ...groups } }
  }

  return {
    settings,
    async begin(next) {
      const flow = { state: unguessable(), nonce: unguessable(), verifier: unguessable() }
      const begun = await provider.begin(flow)
      if (!begun.ok) {
        log.warn({ err: begun.cause, code: begun.code }, 'the identity provider could not be asked')
        return { ok: false, refusal: { code: begun.code } }
      }
      return { ok: true, url: begun.url, kept: await seal.close({ ...flow, next }, 'flow', FLOW_LIFETIME_S) }
    },
    finish,
    sealRefusal: (refusal) => seal.close({ ...refusal }, 'refusal', REFUSAL_LIFETIME_S),
    openRefusal: async (sealed) => (await seal.open(sealed, 'refusal')) as Refusal | null,
    async logOut(logoutToken) {
      const token = await provider.readLogout(logoutToken)
      if (token === 'provider-away') return 'provider-away'
      if (token === null) return 'refused'
      const ended = await deleteProviderSessions(parts.db, token)
      parts.ends.announce(ended)
      return 'ended'
    },
  }
}

/** As many of the groups as fit. */
function cut(groups: readonly string[]): string[] {
  let room = REFUSAL_GROUPS_CHARS
  return groups.filter((group) => {
    room -= group.length + 3
    return room >= 0
  })
}
