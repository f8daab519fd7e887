import { checkMember, proveMember } from '../../lib/cluster/member-key.ts'
import type { ProxyPolicy } from '../proxies.ts'

/** Names the member that sends a request, with its proof. */
const MEMBER = 'x-muster-member'
/** The version that a front is to speak on the link that it opens; builds that know of no other send none. */
const LINK_VERSION = 'x-muster-link-version'
/** On a reply: the caller did not prove to be a member. */
export const REFUSED = 'x-muster-refused'
/** On a request that a member passes on: the client's address, and whether the client came over TLS. */
const CLIENT = 'x-muster-client'
const IS_SECURE = 'x-muster-secure'

/** Headers of one connection only (RFC 9110, 7.6.1), and those that are written anew when a request is passed on. */
const NOT_PASSED_ON = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'expect', 'content-length'],
  // The member has judged these already, and sends the client's address in a header of its own.
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-proto'],
  ...['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-extensions', 'sec-websocket-protocol'],
])

/** This process, as it proves itself to others. */
export interface Self {
  memberId: string
  key: Uint8Array
  now(): Date
}

/** The headers of a client's request as another process is to get it. */
export function toForwardedHeaders(
  headers: Iterable<readonly [string, string]>,
  client: ReturnType<ProxyPolicy['clientOf']>,
  self: Self,
): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of headers)
    if (!NOT_PASSED_ON.has(name) && !name.startsWith('x-muster-')) passed[name] = value
  return {
    ...passed,
    ...provingHeaders(self),
    [CLIENT]: client.remoteAddress,
    [IS_SECURE]: client.isSecure ? '1' : '0',
  }
}

/** The headers that prove a member, for what it asks in its own name. */
export const provingHeaders = ({ key, memberId, now }: Self): Record<string, string> => ({
  [MEMBER]: proveMember(key, memberId, now()),
})

/** The headers with which a member opens a link of this version. */
export const linkHeaders = (self: Self, version: number): Record<string, string> => ({
  ...provingHeaders(self),
  [LINK_VERSION]: String(version),
})

/** The version of the link that a member opens; NaN where it names none. */
export const linkVersionOf = (header: (name: string) => string): number => {
  const named = header(LINK_VERSION) || '1'
  return /^[1-9]\d{0,5}$/.test(named) ? Number(named) : Number.NaN
}

/** The member that sent a request; null without a valid proof. */
export const memberOf = (header: (name: string) => string, { key, now }: Self): string | null =>
  checkMember(key, header(MEMBER), now())

/** Reads a request's client from what the member that passes the request on says. */
export const membersAsProxies: ProxyPolicy = {
  clientOf: (_peer, header) => ({ remoteAddress: header(CLIENT), isSecure: header(IS_SECURE) === '1' }),
}
