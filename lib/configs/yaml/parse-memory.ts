import { type ParseResult, parseConfig } from './parse.ts'

/** Reads a config: `parseConfig`, or a reader that `rememberConfigs` makes of it. */
export type ReadConfig = (text: string) => ParseResult

/** What is remembered of configs in all, in UTF-16 units: a text takes up to 200 times its length in nodes. */
const CONFIGS_LENGTH_MAX = 450_000

/**
 * A reader that remembers the last configs it read. Whoever edits a config has each draft validated, judged and
 * compared, against the same base each time: most of that time would go into reading the same texts.
 */
export const rememberConfigs = (read: ReadConfig = parseConfig): ReadConfig =>
  rememberTexts(read, CONFIGS_LENGTH_MAX)

/**
 * A reader that remembers the last texts it read, of `lengthMax` UTF-16 units in all. Whoever gets what is remembered
 * must not change it.
 */
export function rememberTexts<Result>(
  read: (text: string) => Result,
  lengthMax: number,
): (text: string) => Result {
  // The longest unused comes first.
  const kept = new Map<string, Result>()
  let keptLength = 0
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) {
      kept.delete(text)
      kept.set(text, known)
      return known
    }
    const result = read(text)
    if (text.length > lengthMax) return result
    kept.set(text, result)
    keptLength += text.length
    for (const oldest of kept.keys()) {
      if (keptLength <= lengthMax) break
      kept.delete(oldest)
      keptLength -= oldest.length
    }
    return result
  }
}
