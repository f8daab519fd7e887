import { BlockList, isIP } from 'node:net'

/** Who really called, and whether over TLS, given which peers may speak for others. */
export interface ProxyPolicy {
  clientOf(
    peerAddress: string,
    header: (name: string) => string,
  ): { remoteAddress: string; isSecure: boolean }
  /** Whether this peer may speak for others. */
  isTrusted(peerAddress: string): boolean
}

function add(list: BlockList, entry: string): boolean {
  const [address = '', prefix] = entry.split('/')
  const family = isIP(address)
  if (family === 0) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  if (prefix === undefined) list.addAddress(address, type)
  else {
    const bits = Number(prefix)
    if (!Number.isInteger(bits) || bits < 0 || bits > (family === 4 ? 32 : 128)) return false
    list.addSubnet(address, bits, type)
  }
  return true
}

/**
 * Forwarding headers count only from these addresses and CIDR blocks; `onBadEntry` hears of malformed ones. Where browsers
 * are known to come by TLS (`isPublicSecure`), all of them do, whatever a proxy says or nobody trusts it to say.
 */
export function createProxyPolicy(
  trusted: readonly string[],
  onBadEntry: (entry: string) => void = () => {},
  isPublicSecure = false,
): ProxyPolicy {
  const list = new BlockList()
  let hasEntries = false
  for (const entry of trusted)
    if (add(list, entry)) hasEntries = true
    else onBadEntry(entry)
  const isTrusted = (address: string) => {
    // Each look into the list makes a native object, also for every connection of a fleet that comes back at once: an
    // empty list is not looked into.
    if (!hasEntries) return false
    const family = isIP(address)
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
  return {
    isTrusted,
    clientOf(peerAddress, header) {
      if (!isTrusted(peerAddress)) return { remoteAddress: peerAddress, isSecure: isPublicSecure }
      // Each proxy may append a value of its own; the last one is of our peer, which we trust.
      const isSecure =
        isPublicSecure || header('x-forwarded-proto').split(',').at(-1)!.trim().toLowerCase() === 'https'
      // From the right: each trusted hop vouches for the one before it.
      const hops = header('x-forwarded-for')
        .split(',')
        .map((hop) => hop.trim())
        .filter((hop) => hop !== '')
      let remoteAddress = peerAddress
      while (hops.length > 0 && isTrusted(remoteAddress)) {
        const hop = hops.pop()!
        if (isIP(hop) === 0) break
        remoteAddress = hop
      }
      return { remoteAddress, isSecure }
    },
  }
}
