import { isIP } from 'node:net'
import { parseUrl } from '../model/parse-url.ts'
import { type AddressRefusal, type AddressVerdict, judgeAddress } from './address-policy.ts'

/** Why a webhook URL is refused before any connection is made. */
export type WebhookUrlRefusal =
  | AddressRefusal
  | 'has-userinfo'
  | 'invalid-url'
  | 'local-name'
  | 'missing-host'
  | 'not-https'

/** A URL that passed; `host` is the bare name or address, without brackets or a trailing dot. */
export interface WebhookTarget {
  url: URL
  host: string
  isLiteralAddress: boolean
}

/** Name spaces that never lead to the public internet (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`). */
const LOCAL_SUFFIXES = ['localhost', 'local', 'localdomain', 'internal', 'home.arpa'] as const

/** The part between `//` and the path as it was written: the URL parser hides empty userinfo and hosts. */
function writtenAuthority(text: string): string | null {
  return /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i.exec(text)?.[1] ?? null
}

function isLocalName(host: string): boolean {
  if (!host.includes('.')) return true
  return LOCAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
}

function parse(text: string, base: URL | null): URL | null {
  // The URL parser silently drops tabs and line breaks and reads a backslash as a slash; refuse such a text.
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return null
  return parseUrl(text, base?.href)
}

/**
 * Check a webhook URL, or the `Location` of a redirect against its `base`, by the policy of the alert
 * webhook: HTTPS to an external host. Names pass here and are judged by their addresses at connect time.
 */
export function checkWebhookUrl(
  text: string,
  base: URL | null = null,
  judge: (address: string) => AddressVerdict = judgeAddress,
): { ok: true; target: WebhookTarget } | { ok: false; code: WebhookUrlRefusal } {
  const authority = writtenAuthority(text)
  if (base === null && authority === '') return { ok: false, code: 'missing-host' }
  if (authority?.includes('[') && authority.includes('%')) return { ok: false, code: 'zone-id' }
  const url = parse(text, base)
  if (url === null) return { ok: false, code: 'invalid-url' }
  if (url.protocol !== 'https:') return { ok: false, code: 'not-https' }
  if (base === null && authority === null) return { ok: false, code: 'missing-host' }
  if (url.username !== '' || url.password !== '' || authority?.includes('@')) {
    return { ok: false, code: 'has-userinfo' }
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (isIP(host) !== 0) {
    const verdict = judge(host)
    return verdict.ok ? { ok: true, target: { url, host, isLiteralAddress: true } } : verdict
  }
  if (host === '' || host.split('.').includes('')) return { ok: false, code: 'missing-host' }
  if (isLocalName(host)) return { ok: false, code: 'local-name' }
  return { ok: true, target: { url, host, isLiteralAddress: false } }
}
