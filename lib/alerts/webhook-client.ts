import { lookup } from 'node:dns/promises'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { DIRECT, type ProxySettings, proxyFor } from '../outbound/proxy.ts'
import { openTunnel, TunnelFailure } from '../outbound/tunnel.ts'
import { type AddressVerdict, judgeAddress } from './address-policy.ts'
import { checkWebhookUrl, type WebhookTarget, type WebhookUrlRefusal } from './webhook-url.ts'

/** How long the whole call may take, name lookup and redirects included. */
export const WEBHOOK_TIMEOUT_MS = 10_000
/** Redirects followed at most. */
export const WEBHOOK_HOPS_MAX = 5
const RESPONSE_HEADER_BYTES_MAX = 16_384

/** What a webhook call needs of the network; tests pass their own resolver, trust store and policy. */
export interface WebhookNetwork {
  /** Every address of a host name, as literals; throws when the name does not resolve. */
  resolve(host: string): Promise<readonly string[]>
  judgeAddress(address: string): AddressVerdict
  /** Certificates in PEM that are trusted instead of the system's; null for the system's. */
  trustedCertificates: string | null
  timeoutMs: number
  /**
   * Proxies for outgoing calls. Names are resolved and addresses judged here all the same, and the proxy is asked to
   * connect to the address that was judged: it gets no name that it could resolve to another one.
   */
  proxies: ProxySettings
}

/** The machine's own resolver and trust store under the full address policy. */
export const systemWebhookNetwork: WebhookNetwork = {
  resolve: async (host) =>
    (await lookup(host, { all: true, order: 'verbatim' })).map((entry) => entry.address),
  judgeAddress,
  trustedCertificates: null,
  timeoutMs: WEBHOOK_TIMEOUT_MS,
  proxies: DIRECT,
}

/** How one call ended. Nothing here holds the URL: its path may be a secret. */
export type WebhookOutcome =
  | { ok: true; status: number; hops: number }
  | { ok: false; code: 'refused'; reason: WebhookUrlRefusal; hop: number }
  | { ok: false; code: 'name-not-resolved'; hop: number }
  | { ok: false; code: 'too-many-redirects' }
  | { ok: false; code: 'redirect-not-followed'; status: number; hop: number }
  | { ok: false; code: 'error-status'; status: number; hop: number }
  | { ok: false; code: 'timed-out' }
  | { ok: false; code: 'connection-failed'; cause: string; hop: number }

type LookupOptions = { all?: boolean }
type LookupDone = (
  error: null,
  found: string | { address: string; family: number }[],
  family?: number,
) => void
type Failure = Exclude<WebhookOutcome, { ok: true }>

/** The first address of the target, once every one of its addresses passed the policy. */
async function pinAddress(
  target: WebhookTarget,
  hop: number,
  network: WebhookNetwork,
): Promise<{ ok: true; address: string } | Failure> {
  if (target.isLiteralAddress) return { ok: true, address: target.host }
  let addresses: readonly string[]
  try {
    addresses = await network.resolve(target.host)
  } catch {
    return { ok: false, code: 'name-not-resolved', hop }
  }
  for (const address of addresses) {
    const verdict = network.judgeAddress(address)
    if (!verdict.ok) return { ok: false, code: 'refused', reason: verdict.code, hop }
  }
  const [first] = addresses
  return first === undefined ? { ok: false, code: 'name-not-resolved', hop } : { ok: true, address: first }
}

const portOf = ({ url }: WebhookTarget) => (url.port === '' ? 443 : Number(url.port))

/** How the request gets its connection: to the pinned address, or over a tunnel that already leads there. */
function connectionOf(
  target: WebhookTarget,
  address: string,
  tunnel: Socket | null,
  network: WebhookNetwork,
) {
  const servername = target.isLiteralAddress ? '' : target.host
  if (tunnel !== null) {
    const trusted = network.trustedCertificates === null ? {} : { ca: network.trustedCertificates }
    const options = { socket: tunnel, host: target.host, servername, ALPNProtocols: ['http/1.1'], ...trusted }
    return { createConnection: () => connectTls(options) }
  }
  const family = isIP(address)
  return {
    // An agent of its own: no connection is kept, and a proxy that Node itself would use is not used.
    agent: new Agent({ keepAlive: false, maxCachedSessions: 0 }),
    lookup: (_host: string, options: LookupOptions, done: LookupDone) => {
      if (options.all) done(null, [{ address, family }])
      else done(null, address, family)
    },
    servername,
  }
}

/** Open the request on the pinned address; the name still decides the Host header and the certificate. */
function open(
  target: WebhookTarget,
  address: string,
  tunnel: Socket | null,
  body: Uint8Array,
  network: WebhookNetwork,
): ClientRequest {
  return request({
    method: 'POST',
    hostname: target.host,
    port: portOf(target),
    path: `${target.url.pathname}${target.url.search}`,
    ...connectionOf(target, address, tunnel, network),
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': body.byteLength,
      'User-Agent': 'muster',
      Connection: 'close',
    },
    ...(network.trustedCertificates === null ? {} : { ca: network.trustedCertificates }),
  })
}

/** Status and `Location` of one hop; the body is never read, the connection is cut after the headers. */
function exchange(
  sent: ClientRequest,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<{ ok: true; status: number; location: string | null } | { ok: false; cause: string }> {
  return new Promise((resolve) => {
    const abort = () => sent.destroy(new Error('aborted'))
    const settle = (answer: Awaited<ReturnType<typeof exchange>>) => {
      signal.removeEventListener('abort', abort)
      resolve(answer)
      sent.destroy()
    }
    sent.on('response', (response: IncomingMessage) => {
      response.on('error', () => {})
      settle({ ok: true, status: response.statusCode ?? 0, location: response.headers.location ?? null })
    })
    sent.on('error', (error: NodeJS.ErrnoException) => settle({ ok: false, cause: error.code ?? error.name }))
    sent.on('close', () => settle({ ok: false, cause: 'closed' }))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
    sent.end(body)
  })
}

async function callHop(
  target: WebhookTarget,
  hop: number,
  body: Uint8Array,
  network: WebhookNetwork,
  signal: AbortSignal,
): Promise<{ ok: true; status: number; location: string | null } | Failure> {
  const pinned = await pinAddress(target, hop, network)
  if (!pinned.ok) return pinned
  if (signal.aborted) return { ok: false, code: 'timed-out' }
  const proxy = proxyFor(network.proxies, target.url)
  let tunnel: Socket | null = null
  try {
    if (proxy !== null)
      tunnel = await openTunnel(proxy, { host: pinned.address, port: portOf(target) }, signal)
  } catch (error) {
    if (!(error instanceof TunnelFailure)) throw error
    return { ok: false, code: 'connection-failed', cause: error.code, hop }
  }
  const answer = await exchange(open(target, pinned.address, tunnel, body, network), body, signal)
  tunnel?.destroy()
  return answer.ok ? answer : { ok: false, code: 'connection-failed', cause: answer.cause, hop }
}

async function followHops(
  url: string,
  body: Uint8Array,
  network: WebhookNetwork,
  signal: AbortSignal,
): Promise<WebhookOutcome> {
  let location = url
  let base: URL | null = null
  for (let hop = 0; hop <= WEBHOOK_HOPS_MAX; hop++) {
    const checked = checkWebhookUrl(location, base, network.judgeAddress)
    if (!checked.ok) return { ok: false, code: 'refused', reason: checked.code, hop }
    const answer = await callHop(checked.target, hop, body, network, signal)
    if (!answer.ok) return answer
    const { status } = answer
    if (status >= 200 && status < 300) return { ok: true, status, hops: hop }
    if (status < 300 || status >= 400) return { ok: false, code: 'error-status', status, hop }
    // 301, 302 and 303 would turn the POST into a GET; only 307 and 308 repeat it with its body.
    if ((status !== 307 && status !== 308) || answer.location === null) {
      return { ok: false, code: 'redirect-not-followed', status, hop }
    }
    location = answer.location
    base = checked.target.url
  }
  return { ok: false, code: 'too-many-redirects' }
}

/**
 * POST a JSON body to the alert webhook. Of every hop the URL is checked and every address of its name judged; the
 * connection goes to the first of them. Never throws; ends after `network.timeoutMs`, or when `stop` is aborted.
 */
export async function postWebhook(
  url: string,
  body: Uint8Array,
  network: WebhookNetwork,
  stop: AbortSignal,
): Promise<WebhookOutcome> {
  const ended = new AbortController()
  const end = () => ended.abort()
  const timer = setTimeout(end, network.timeoutMs)
  stop.addEventListener('abort', end)
  // A name lookup cannot be interrupted, so the clock runs beside the call and not only inside it.
  const late = new Promise<WebhookOutcome>((resolve) => {
    ended.signal.addEventListener('abort', () => resolve({ ok: false, code: 'timed-out' }))
    if (stop.aborted) end()
  })
  try {
    return await Promise.race([late, followHops(url, body, network, ended.signal)])
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', end)
    ended.abort()
  }
}
