import { isIP } from 'node:net'

/**
 * Split `host:port`, `:port` or `[v6]:port`; an absent host, '', means every address. Brackets may stand around any host, for
 * whoever does not know which kind it is. Null for any other text.
 */
export function parseListenAddress(address: string): { host: string; port: number } | null {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(address)
  if (match === null) return null
  const port = Number(match[3])
  return port > 65_535 ? null : { host: match[1] ?? match[2] ?? '', port }
}

/** `host:port`, with brackets around an address of IPv6 and no other host. */
export const formatAddress = ({ host, port }: { host: string; port: number }): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** Whether a host is this machine itself, by its name and without a lookup; an address of IPv6 may be in brackets. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}
