const URL_SCHEME = /^postgres(ql)?:\/\//i
const PAIR = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))\s*/gy

const URL_HOSTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is
const SESSION_ATTRS = /([?&])target_session_attrs=([^&#]*)&?/i

/** Where a connection string leads. */
export interface Servers {
  /** One URL a server that `pg` understands, in the order in which they are named. */
  urls: readonly string[]
  /** Only a server that takes writes will do (`target_session_attrs=read-write` or `primary`). */
  mustTakeWrites: boolean
}

/**
 * The servers of a connection string. Both of libpq's forms are read (a URL, or `host=… user=…`), several hosts stand
 * separated by commas, and `sslmode` and `target_session_attrs` mean what they mean to libpq. Throws when it is
 * neither form, or asks for a server that cannot be written to.
 */
export function readServers(dsn: string): Servers {
  const text = dsn.trim()
  const texts = URL_SCHEME.test(text) ? splitUrl(text) : splitPairs(readPairs(text))
  const found = texts.map(takeSessionAttrs)
  const attrs = found[0]!.attrs
  if (!['', 'any', 'read-write', 'primary'].includes(attrs))
    throw new Error(`DB_DSN: target_session_attrs must be read-write, primary or any, found "${attrs}"`)
  return {
    urls: found.map(({ url }) => withLibpqSslModes(url)),
    mustTakeWrites: attrs === 'read-write' || attrs === 'primary',
  }
}

function splitUrl(text: string): string[] {
  const [, before = '', hosts = '', after = ''] = URL_HOSTS.exec(text) ?? []
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** One list of ports serves all hosts: one for each, or one for all. */
function splitPairs({ host = '', port = '', ...rest }: Record<string, string>): string[] {
  const hosts = host.split(',')
  const ports = port.split(',')
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new Error(`DB_DSN names ${hosts.length} hosts and ${ports.length} ports`)
  return hosts.map((one, index) => pairsToUrl({ ...rest, host: one, port: ports[index] ?? ports[0] ?? '' }))
}

/** Take `target_session_attrs` out of a URL: `pg` does not know the parameter. */
function takeSessionAttrs(url: string): { url: string; attrs: string } {
  const attrs = SESSION_ATTRS.exec(url)?.[2] ?? ''
  return { url: url.replace(SESSION_ATTRS, '$1').replace(/[?&]$/, ''), attrs: attrs.toLowerCase() }
}

function pairsToUrl(pairs: Record<string, string>): string {
  const { host = '', port, user, password, dbname, ...rest } = pairs
  const query = new URLSearchParams(rest)
  // A directory is a Unix socket, which a URL can only carry as a parameter.
  if (host.startsWith('/')) query.set('host', host)
  const login = user
    ? `${encodeURIComponent(user)}${password ? `:${encodeURIComponent(password)}` : ''}@`
    : ''
  const place = host.startsWith('/') ? '' : `${host || 'localhost'}${port ? `:${port}` : ''}`
  if (host.startsWith('/') && port) query.set('port', port)
  const search = query.size > 0 ? `?${query}` : ''
  return `postgres://${login}${place}/${encodeURIComponent(dbname ?? user ?? '')}${search}`
}

function readPairs(text: string): Record<string, string> {
  const pairs: Record<string, string> = {}
  let end = 0
  PAIR.lastIndex = 0
  for (let match = PAIR.exec(text); match; match = PAIR.exec(text)) {
    pairs[match[1]!] = (match[2] ?? match[3] ?? '').replace(/\\(.)/g, '$1')
    end = PAIR.lastIndex
    if (end >= text.length) break
  }
  // The text itself may hold a password, so it is not repeated.
  if (end < text.length || end === 0)
    throw new Error('DB_DSN is neither a postgres:// URL nor key=value pairs')
  return pairs
}

// Without this, `pg` reads `require` as `verify-full` and refuses the self-signed servers that libpq accepts.
function withLibpqSslModes(url: string): string {
  const isAsked = /[?&]sslmode=/.test(url) && !/[?&]uselibpqcompat=/.test(url)
  return isAsked ? `${url}&uselibpqcompat=true` : url
}
