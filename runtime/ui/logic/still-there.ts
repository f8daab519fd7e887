/** What an error may be about that a config can hold, the most telling first. */
const HELD = ['port', 'component_type', 'unknown_host', 'address'] as const

const isPartOfWord = (sign: string | undefined): boolean => sign !== undefined && /[\w.-]/.test(sign)

/** Whether a config holds a word outside of its comments, and not as a part of a longer one. */
function holdsWord(yaml: string, word: string): boolean {
  return yaml.split('\n').some((line) => {
    if (line.trimStart().startsWith('#')) return false
    for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1))
      if (!isPartOfWord(line[at - 1]) && !isPartOfWord(line[at + word.length])) return true
    return false
  })
}

/** What an error is about, and whether a config holds it still; null where it is about nothing that one could hold. */
export function findStillThere(
  about: Readonly<Record<string, string>> | undefined,
  yaml: string,
): { about: Record<string, string>; isThere: boolean } | null {
  const key = HELD.find((one) => about?.[one] !== undefined)
  const value = key === undefined ? undefined : about?.[key]
  if (key === undefined || value === undefined) return null
  return { about: { [key]: value }, isThere: holdsWord(yaml, value) }
}
