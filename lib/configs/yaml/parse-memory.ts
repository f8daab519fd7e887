import { type ParseResult, parseConfig } from './parse.ts'

/** Reads a config: `parseConfig`, or a reader that `rememberConfigs` makes of it. */
export type ReadConfig = (text: string) => ParseResult

/** What is remembered in all, in UTF-16 units: a text takes up to 200 times its length in nodes. */
const REMEMBERED_LENGTH_MAX = 450_000

/**
 * A reader that remembers the last texts it read. Whoever edits a config has each draft validated, judged and compared,
 * against the same base each time: most of that time would go into reading the same texts. Whoever gets a
 * remembered config must not change it.
 */
export function rememberConfigs(read: ReadConfig = parseConfig): ReadConfig {
  // The longest unused comes first.
  const kept = new Map<string, ParseResult>()
  let keptLength = 0
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) {
      kept.delete(text)
      kept.set(text, known)
      return known
    }
    const result = read(text)
    if (text.length > REMEMBERED_LENGTH_MAX) return result
    kept.set(text, result)
    keptLength += text.length
    for (const oldest of kept.keys()) {
      if (keptLength <= REMEMBERED_LENGTH_MAX) break
      kept.delete(oldest)
      keptLength -= oldest.length
    }
    return result
  }
}
