/**
 * A text as an address; null where it is none. Not by `URL.canParse`: once it has been asked often, Node 20 answers no for
 * every text with letters such as "ü".
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
