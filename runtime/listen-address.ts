/** Split `host:port`, `:port` or `[v6]:port`; an absent host, '', means every address. Null for any other text. */
export function parseListenAddress(address: string): { host: string; port: number } | null {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(address)
  if (match === null) return null
  const port = Number(match[3])
  return port > 65_535 ? null : { host: match[1] ?? match[2] ?? '', port }
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/

/** Whether a host is this machine itself, by its name and without a lookup. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)
