import { checkCaller, type FleetKeys, type OwnerName, proveCaller } from '../../lib/cluster/proofs.ts'
import type { ProxyPolicy } from '../proxies.ts'

/** Names the member that sends a request, with its proof for the owner that it asks. */
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
  keys: FleetKeys
  /** Whether members reach each other over TLS. */
  isOverTls: boolean
  /** As the owner that others ask; null while it is none. */
  owned(): OwnerName | null
  /** By the clock of the database. */
  now(): Date
}

/** The headers of a client's request as another process is to get it. */
export function toForwardedHeaders(
  headers: Iterable<readonly [string, string]>,
  client: ReturnType<ProxyPolicy['clientOf']>,
  self: Self,
  owner: OwnerName,
): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of headers)
    if (!NOT_PASSED_ON.has(name) && !name.startsWith('x-muster-')) passed[name] = value
  return {
    ...passed,
    ...provingHeaders(self, owner),
    [CLIENT]: client.remoteAddress,
    [IS_SECURE]: client.isSecure ? '1' : '0',
  }
}

/** The headers that prove a member to this owner, for what it asks in its own name. */
export const provingHeaders = ({ keys, memberId, now }: Self, owner: OwnerName): Record<string, string> => ({
  [MEMBER]: proveCaller(keys, memberId, owner, now()),
})

/** The headers with which a member opens a link of this version to this owner. */
export const linkHeaders = (self: Self, owner: OwnerName, version: number): Record<string, string> => ({
  ...provingHeaders(self, owner),
  [LINK_VERSION]: String(version),
})

/** The version of the link that a member opens; NaN where it names none. */
export const linkVersionOf = (header: (name: string) => string): number => {
  const named = header(LINK_VERSION) || '1'
  return /^[1-9]\d{0,5}$/.test(named) ? Number(named) : Number.NaN
}

/** The member that sent a request to this process as the owner; null without a valid proof. */
export function memberOf(header: (name: string) => string, { keys, owned, now }: Self): string | null {
  const owner = owned()
  return owner === null ? null : checkCaller(keys, header(MEMBER), owner, now())
}

/** The header tells a member that the member itself was refused, and not the client whose request it passed on. */
export const NOT_A_MEMBER = {
  accept: false,
  status: 401,
  body: 'members of this fleet only\n',
  headers: { [REFUSED]: 'member', Connection: 'close' },
} as const

/** How a process says that it is not the owner. */
export const NOT_THE_OWNER = 421
export const NOT_OWNED = {
  accept: false,
  status: NOT_THE_OWNER,
  body: 'another process decides\n',
  headers: { Connection: 'close' },
} as const

/** Reads a request's client from what the member that passes the request on says. */
export const membersAsProxies: ProxyPolicy = {
  clientOf: (_peer, header) => ({ remoteAddress: header(CLIENT), isSecure: header(IS_SECURE) === '1' }),
  isTrusted: () => true,
}
