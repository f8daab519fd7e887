import { setTimeout as sleep } from 'node:timers/promises'
import type { JWTVerifyGetKey } from 'jose'
import * as client from 'openid-client'
import type { Clock } from '../../clock.ts'
import { type Claims, type ExternalIdentity, readIdentity } from './claims.ts'
import { checkLogoutToken, type LogoutToken, type TellInvalid } from './logout-token.ts'
import { KeysUnavailable, openPublishedKeys } from './published-keys.ts'
import { isForManyTenants, MANY_TENANTS, type OidcSettings } from './settings.ts'

/** What the browser keeps of a sign-in while it is at the provider. */
export interface Flow {
  state: string
  nonce: string
  verifier: string
}

/** How a sign-in ended when the browser came back. */
export type FinishOutcome =
  | { ok: true; identity: ExternalIdentity; issuer: string }
  /** `provider-refused`: the provider answered with an error, or with something that is not valid. */
  | {
      ok: false
      code: 'provider-away' | 'provider-refused' | 'sign-in-cancelled' | 'groups-overage'
      cause: unknown
    }

/** Sends a request to the provider, directly or through a proxy; redirects are not followed. */
export type IssuerFetch = (url: string, init: RequestInit) => Promise<Response>

/** The identity provider, which is asked only when somebody signs in or it sends a logout token. */
export interface Provider {
  /** The address at the provider to send the browser to. */
  begin(
    flow: Flow,
  ): Promise<
    | { ok: true; url: string }
    | { ok: false; code: 'provider-away' | 'provider-refused' | 'sign-in-cancelled'; cause: unknown }
  >
  /** The person who came back; `query` is the query of the callback, unchanged. */
  finish(query: string, flow: Flow): Promise<FinishOutcome>
  /** Whose sessions a logout token ends; null where it is not valid, and `tell` is told why. */
  readLogout(token: string, tell: LogoutTellers): Promise<LogoutToken | null | 'provider-away'>
}

/** Are told why a logout token ended nothing. */
export interface LogoutTellers {
  invalid: TellInvalid
  away(error: unknown): void
}

const TIMEOUT_S = 5
/** How far the provider's clock may be from ours. */
export const CLOCK_TOLERANCE_S = 60
/**
 * How long the metadata of the provider is used before it is fetched again. Keys are fetched sooner when a signature
 * names an unknown one.
 */
const DISCOVERED_MS = 3_600_000

interface Parts {
  settings: OidcSettings
  clock: Clock
  fetch: IssuerFetch
  wait(ms: number): Promise<void>
}

interface Discovered {
  metadata: client.ServerMetadata
  keys: JWTVerifyGetKey
  atMs: number
}

const waitHere: Parts['wait'] = (ms) => sleep(ms, undefined, { ref: false })

const AUTHENTICATIONS = {
  basic: client.ClientSecretBasic,
  post: client.ClientSecretPost,
  none: () => client.None(),
} as const

/** The settings let http pass for loopback only. */
const isLocal = ({ issuer }: OidcSettings) => new URL(issuer).protocol === 'http:'

const authenticationOf = ({ clientAuth, clientSecret }: OidcSettings) =>
  AUTHENTICATIONS[clientAuth](clientSecret)

/** Fetch the metadata of a provider, with a lookup of its keys. */
async function askProvider({ settings, clock, fetch, wait }: Parts): Promise<Discovered> {
  const config = await client.discovery(
    new URL(settings.issuer),
    settings.clientId,
    undefined,
    authenticationOf(settings),
    {
      timeout: TIMEOUT_S,
      execute: isLocal(settings) ? [client.allowInsecureRequests] : [],
      [client.customFetch]: (url, init) => fetch(url, init as RequestInit),
    },
  )
  const metadata = config.serverMetadata()
  if (isForManyTenants(metadata.issuer))
    throw new Error(`Cannot sign in with ${metadata.issuer}: ${MANY_TENANTS}`)
  const timeoutMs = TIMEOUT_S * 1_000
  const keys = openPublishedKeys(new URL(metadata.jwks_uri ?? ''), { clock, timeoutMs, fetch, wait })
  return { metadata, keys, atMs: clock.monotonicMs() }
}

/**
 * The metadata of the provider, fetched where it is missing or too old; callers that come meanwhile wait for the same
 * request.
 */
function openDiscovery(parts: Parts): () => Promise<Discovered> {
  const { clock } = parts
  let discovered: Discovered | null = null
  let asking: Promise<Discovered> | null = null
  return async () => {
    if (discovered !== null && clock.monotonicMs() - discovered.atMs < DISCOVERED_MS) return discovered
    asking ??= askProvider(parts).finally(() => {
      asking = null
    })
    discovered = await asking
    return discovered
  }
}

/** A configuration for one sign-in. It remembers no keys: they are needed once, and as they are now. */
function configure(
  settings: OidcSettings,
  metadata: client.ServerMetadata,
  fetch: IssuerFetch,
): client.Configuration {
  const config = new client.Configuration(
    metadata,
    settings.clientId,
    { [client.clockTolerance]: CLOCK_TOLERANCE_S },
    authenticationOf(settings),
  )
  config.timeout = TIMEOUT_S
  config[client.customFetch] = (url, init) => fetch(url, init as RequestInit)
  // Check the signature of the ID token, although it comes straight from the provider over TLS.
  client.enableNonRepudiationChecks(config)
  if (isLocal(settings)) client.allowInsecureRequests(config)
  return config
}

/** Exchange the code in `callback` for an ID token, and fetch UserInfo where the provider has it. */
async function fetchClaims(config: client.Configuration, callback: URL, flow: Flow, clock: Clock) {
  const tokens = await client.authorizationCodeGrant(config, callback, {
    pkceCodeVerifier: flow.verifier,
    expectedState: flow.state,
    expectedNonce: flow.nonce,
    idTokenExpected: true,
  })
  const idToken = tokens.claims()!
  if (idToken.iat > clock.now().getTime() / 1_000 + CLOCK_TOLERANCE_S)
    throw new Error(`Cannot accept the ID token: its "iat" ${idToken.iat} is in the future`)
  const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined
  const userInfo: Claims = hasUserInfo
    ? await client.fetchUserInfo(config, tokens.access_token, idToken.sub)
    : {}
  return { idToken, userInfo }
}

/** A provider that was not asked anything yet. */
export function openProvider(
  settings: OidcSettings,
  clock: Clock,
  fetch: IssuerFetch,
  wait: Parts['wait'] = waitHere,
): Provider {
  const redirectUri = settings.callbackUrl
  const discover = openDiscovery({ settings, clock, fetch, wait })
  return {
    async begin(flow) {
      try {
        const config = configure(settings, (await discover()).metadata, fetch)
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: settings.scopes,
          state: flow.state,
          nonce: flow.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
          code_challenge_method: 'S256',
        })
        return { ok: true, url: url.href }
      } catch (cause) {
        return { ok: false, code: codeOf(cause), cause }
      }
    },
    async finish(query, flow) {
      try {
        const config = configure(settings, (await discover()).metadata, fetch)
        const callback = new URL(`${redirectUri}?${query}`)
        const { idToken, userInfo } = await fetchClaims(config, callback, flow, clock)
        const read = readIdentity(idToken, userInfo, settings.groupsClaim)
        if (!read.ok) return read
        return { ok: true, identity: read.identity, issuer: idToken.iss }
      } catch (cause) {
        return { ok: false, code: codeOf(cause), cause }
      }
    },
    readLogout: (token, tell) => readLogout({ settings, clock }, discover, token, tell),
  }
}

async function readLogout(
  { settings, clock }: Pick<Parts, 'settings' | 'clock'>,
  discover: () => Promise<Discovered>,
  token: string,
  tell: LogoutTellers,
): Promise<LogoutToken | null | 'provider-away'> {
  let found: Discovered
  try {
    found = await discover()
  } catch (error) {
    tell.away(error)
    return 'provider-away'
  }
  const { issuer } = found.metadata
  const expected = { issuer, audience: settings.clientId, now: clock.now(), toleranceS: CLOCK_TOLERANCE_S }
  try {
    return await checkLogoutToken(token, found.keys, expected, tell.invalid)
  } catch (error) {
    if (!(error instanceof KeysUnavailable)) throw error
    tell.away(error)
    return 'provider-away'
  }
}

/** Whether a call got no answer, or an error of the server (5xx). */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'TimeoutError' || error.message === 'fetch failed') return true
  if (error instanceof client.ClientError && error.code === 'OAUTH_TIMEOUT') return true
  const { cause } = error
  if (cause instanceof Response) return cause.status >= 500
  return cause instanceof Error && cause !== error && isUnanswered(cause)
}

function codeOf(error: unknown): 'provider-away' | 'provider-refused' | 'sign-in-cancelled' {
  if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied')
    return 'sign-in-cancelled'
  return isUnanswered(error) ? 'provider-away' : 'provider-refused'
}
