/** Split `host:port`, `:port` or `[v6]:port`; an absent host means every address. */
export function parseListenAddress(address: string): { host: string; port: number } | null {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(address)
  if (match === null) return null
  const port = Number(match[3])
  return port > 65_535 ? null : { host: match[1] ?? match[2] ?? '', port }
}
