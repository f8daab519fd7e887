import { checkMember, proveMember } from '../../lib/cluster/member-key.ts'
import type { ProxyPolicy } from '../proxies.ts'

/** Which member speaks, proven. */
const MEMBER = 'x-muster-member'
/** Of an answer: a member was refused that did not prove to be one. */
export const REFUSED = 'x-muster-refused'
/** Whose request it passes on, and whether that came over TLS. */
const CLIENT = 'x-muster-client'
const IS_SECURE = 'x-muster-secure'

/** Of one connection and no further (RFC 9110, 7.6.1), or written anew by whoever passes a request on. */
const NOT_PASSED_ON = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'expect', 'content-length'],
  // What they say has been judged: the client's address goes along by itself.
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-proto'],
  ...['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-extensions', 'sec-websocket-protocol'],
])

/** Who passes requests on. */
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

/** The member whose request this is; null when it is nobody's. */
export const memberOf = (header: (name: string) => string, { key, now }: Self): string | null =>
  checkMember(key, header(MEMBER), now())

/** Of a member's request: whom it passes on. */
export const membersAsProxies: ProxyPolicy = {
  clientOf: (_peer, header) => ({ remoteAddress: header(CLIENT), isSecure: header(IS_SECURE) === '1' }),
}
