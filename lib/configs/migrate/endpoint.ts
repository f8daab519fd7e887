import { findCredentials, isSecretKey } from '../redact/redact.ts'
import type { Redaction } from './secrets.ts'

/** What stands for a secret part of an endpoint. */
export const ENDPOINT_PLACEHOLDER = '${REDACTED_SECRET}'

/** An endpoint without its secrets; `text` is null when what was given is no endpoint. */
export interface CleanEndpoint {
  text: string | null
  redactions: Redaction[]
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}

/** Replace the values of secret names in `a=1&token=x`. */
function cleanPairs(pairs: string, path: string, redactions: Redaction[]): string {
  return pairs
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=')
      const name = decodeName(equals < 0 ? pair : pair.slice(0, equals))
      if (equals < 0 || !isSecretKey(name)) return pair
      const reason = 'the value of a secret query parameter is not copied'
      redactions.push({ path: `${path}.query.${name}`, placeholder: ENDPOINT_PLACEHOLDER, reason })
      return `${pair.slice(0, equals)}=${ENDPOINT_PLACEHOLDER}`
    })
    .join('&')
}

/**
 * An endpoint (URL, or host and port) without credentials: userinfo is removed, secret query values are
 * replaced; path, other parameters and fragment stay. `path` says where it came from.
 */
export function cleanEndpoint(raw: string, path: string): CleanEndpoint {
  const text = raw.trim()
  if (text === '' || /[\s\u0000-\u001f\u007f"'`<>\\^{|}]/.test(text)) return { text: null, redactions: [] }
  const redactions: Redaction[] = []
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? ''
  const credentials = findCredentials(text, scheme.length)
  if (credentials !== null) {
    const reason = 'credentials in an endpoint are not copied'
    redactions.push({ path: `${path}.userinfo`, placeholder: ENDPOINT_PLACEHOLDER, reason })
    // Nobody can say where such an endpoint leads.
    if (!credentials.isCertain) return { text: null, redactions }
  }
  const place = text.slice(credentials === null ? scheme.length : credentials.end + 1)
  const [, host, rest] = /^([^/?#]*)(.*)$/s.exec(place)!
  if (host === '') return { text: null, redactions }
  const [, route, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest!)!
  const cleanQuery = query === undefined ? '' : `?${cleanPairs(query.slice(1), path, redactions)}`
  const cleanFragment = fragment === undefined ? '' : `#${cleanPairs(fragment.slice(1), path, redactions)}`
  return { text: `${scheme}${host}${route}${cleanQuery}${cleanFragment}`, redactions }
}
