import { isIP } from 'node:net'

/** Why an address is not one of the public internet's. */
export type AddressRange =
  | 'benchmark'
  | 'carrier-grade-nat'
  | 'documentation'
  | 'link-local'
  | 'loopback'
  | 'metadata-service'
  | 'multicast'
  | 'private'
  | 'reserved'
  | 'translation'
  | 'unspecified'

/** Why the policy refuses an address; `not-an-address` also covers anything it cannot read. */
export type AddressRefusal = AddressRange | 'not-an-address' | 'zone-id'

/** What the policy says about one address. */
export type AddressVerdict = { ok: true } | { ok: false; code: AddressRefusal }

/** IPv4 special-purpose ranges (RFC 6890 and its registry); the first match names the reason. */
const IPV4_BLOCKED: readonly (readonly [string, number, AddressRange])[] = [
  // Metadata services of clouds, also those inside a range below, so that they get this reason: Azure, Alibaba, Oracle,
  // then the link-local ones of AWS and others.
  ['168.63.129.16', 32, 'metadata-service'],
  ['100.100.100.200', 32, 'metadata-service'],
  ['192.0.0.192', 32, 'metadata-service'],
  ['169.254.169.254', 32, 'metadata-service'],
  ['169.254.170.2', 32, 'metadata-service'],
  ['0.0.0.0', 8, 'unspecified'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'carrier-grade-nat'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.88.99.0', 24, 'translation'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'benchmark'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
]

/** IPv6 special-purpose ranges; what is not listed still has to lie in 2000::/3, the global unicast space. */
const IPV6_BLOCKED: readonly (readonly [string, number, AddressRange])[] = [
  ['fd00:ec2::254', 128, 'metadata-service'],
  ['::', 128, 'unspecified'],
  ['::1', 128, 'loopback'],
  // Forms that carry an IPv4 address somebody else unpacks: IPv4-compatible, NAT64, Teredo, 6to4.
  ['::', 96, 'translation'],
  ['64:ff9b::', 96, 'translation'],
  ['64:ff9b:1::', 48, 'translation'],
  ['2001::', 32, 'translation'],
  ['2002::', 16, 'translation'],
  ['100::', 64, 'reserved'],
  ['2001:2::', 48, 'benchmark'],
  ['2001:db8::', 32, 'documentation'],
  ['2001::', 23, 'reserved'],
  ['3fff::', 20, 'documentation'],
  ['5f00::', 16, 'reserved'],
  ['fc00::', 7, 'private'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'private'],
  ['ff00::', 8, 'multicast'],
]

function ipv4Bytes(text: string): Uint8Array {
  return Uint8Array.from(text.split('.'), Number)
}

function groupBytes(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (group.includes('.')) return [...ipv4Bytes(group)]
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

/** The 16 bytes of an IPv6 address that `isIP` has accepted. */
function ipv6Bytes(text: string): Uint8Array {
  const [head, tail] = text.split('::')
  const left = groupBytes(head!)
  const right = tail === undefined ? [] : groupBytes(tail)
  const gap = new Array<number>(16 - left.length - right.length).fill(0)
  return Uint8Array.from([...left, ...gap, ...right])
}

function hasPrefix(address: Uint8Array, prefix: Uint8Array, bits: number): boolean {
  for (let bit = 0; bit < bits; bit++) {
    const mask = 0x80 >> (bit & 7)
    if ((address[bit >> 3]! & mask) !== (prefix[bit >> 3]! & mask)) return false
  }
  return true
}

function judgeIpv4(address: Uint8Array): AddressVerdict {
  const hit = IPV4_BLOCKED.find(([prefix, bits]) => hasPrefix(address, ipv4Bytes(prefix), bits))
  return hit ? { ok: false, code: hit[2] } : { ok: true }
}

function judgeIpv6(address: Uint8Array): AddressVerdict {
  if (hasPrefix(address, ipv6Bytes('::ffff:0:0'), 96)) return judgeIpv4(address.subarray(12))
  const hit = IPV6_BLOCKED.find(([prefix, bits]) => hasPrefix(address, ipv6Bytes(prefix), bits))
  if (hit) return { ok: false, code: hit[2] }
  const isGlobalUnicast = hasPrefix(address, ipv6Bytes('2000::'), 3)
  return isGlobalUnicast ? { ok: true } : { ok: false, code: 'reserved' }
}

/** Whether a webhook may connect to this literal address; IPv4-mapped IPv6 counts as the IPv4 address. */
export function judgeAddress(text: string): AddressVerdict {
  if (text.includes('%')) return { ok: false, code: 'zone-id' }
  const family = isIP(text)
  if (family === 4) return judgeIpv4(ipv4Bytes(text))
  if (family === 6) return judgeIpv6(ipv6Bytes(text))
  return { ok: false, code: 'not-an-address' }
}
