/** Whether a pattern has wildcards. */
export const isGlob = (pattern: string): boolean => /[*?]/.test(pattern)

const WORD = 32

/**
 * Make a function that says whether a whole text fits a pattern in which `*` is any run of characters and `?` any one.
 * It looks at each character of a text once, whatever the pattern is: all places of the pattern that the text may have
 * come to are the bits of a few words, which one step moves on together.
 */
export function openGlob(pattern: string): (text: string) => boolean {
  const head = /^[^*?]*/.exec(pattern)![0]
  const rest = pattern.slice(head.length)
  if (rest === '') return (text) => text === head
  if (/^\*+$/.test(rest)) return (text) => text.startsWith(head)
  const places = openPlaces(rest)
  return (text) => {
    for (let at = 0; at < head.length; at++)
      if (at >= text.length || text.charCodeAt(at) !== head.charCodeAt(at)) return false
    return places(text, head.length)
  }
}

/** Bit n of the words stands for: the first n characters of the pattern, stars left out, are met. */
function openPlaces(pattern: string): (text: string, from: number) => boolean {
  const words = Math.floor(pattern.replaceAll('*', '').length / WORD) + 1
  // At a star a text may stay where it is, whatever character comes.
  const stays = new Uint32Array(words)
  // Where any one character leads on, and where this one does.
  const any = new Uint32Array(words)
  const byCharacter = new Map<number, Uint32Array>()
  let place = 0
  for (const character of pattern.split('')) {
    if (character === '*') {
      mark(stays, place)
      continue
    }
    place++
    if (character === '?') {
      mark(any, place)
      continue
    }
    const code = character.charCodeAt(0)
    const leads = byCharacter.get(code) ?? new Uint32Array(words)
    mark(leads, place)
    byCharacter.set(code, leads)
  }
  for (const leads of byCharacter.values())
    for (let word = 0; word < words; word++) leads[word]! |= any[word]!
  const [lastWord, lastBit] = [Math.floor(place / WORD), 1 << (place % WORD)]
  return (text, from) => {
    const reached = new Uint32Array(words)
    reached[0] = 1
    for (let at = from; at < text.length; at++) {
      const leads = byCharacter.get(text.charCodeAt(at)) ?? any
      let carry = 0
      let isAnywhere = 0
      for (let word = 0; word < words; word++) {
        const before = reached[word]!
        const after = (((before << 1) | carry) & leads[word]!) | (before & stays[word]!)
        carry = before >>> (WORD - 1)
        reached[word] = after
        isAnywhere |= after
      }
      if (isAnywhere === 0) return false
    }
    return (reached[lastWord]! & lastBit) !== 0
  }
}

const mark = (words: Uint32Array, bit: number): void => {
  words[Math.floor(bit / WORD)]! |= 1 << (bit % WORD)
}
