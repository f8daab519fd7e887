const URL_SCHEME = /^postgres(ql)?:\/\//i
const PAIR = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))\s*/gy

/**
 * The connection string as a URL that `pg` understands. Both of libpq's forms are read (a URL, or
 * `host=… user=…`), and `sslmode` means what it means to libpq. Throws when it is neither.
 */
export function toConnectionUrl(dsn: string): string {
  const text = dsn.trim()
  if (URL_SCHEME.test(text)) return withLibpqSslModes(text)
  const { host = '', port, user, password, dbname, ...rest } = readPairs(text)
  const query = new URLSearchParams(rest)
  // A directory is a Unix socket, which a URL can only carry as a parameter.
  if (host.startsWith('/')) query.set('host', host)
  const login = user
    ? `${encodeURIComponent(user)}${password ? `:${encodeURIComponent(password)}` : ''}@`
    : ''
  const place = host.startsWith('/') ? '' : `${host || 'localhost'}${port ? `:${port}` : ''}`
  if (host.startsWith('/') && port) query.set('port', port)
  const search = query.size > 0 ? `?${query}` : ''
  return withLibpqSslModes(`postgres://${login}${place}/${encodeURIComponent(dbname ?? user ?? '')}${search}`)
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
