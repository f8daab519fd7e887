/** Whether a pattern has wildcards. */
export const isGlob = (pattern: string): boolean => /[*?]/.test(pattern)

/** Whether a whole text fits a pattern in which `*` is any run of characters and `?` any one. Takes bounded time. */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0
  let inPattern = 0
  // Where the last `*` stands, and up to where in the text it matches; only the last one ever needs to match more.
  let star = -1
  let eaten = 0
  while (at < text.length) {
    const character = pattern[inPattern]
    if (character === '*') {
      star = inPattern++
      eaten = at
    } else if (character === '?' || character === text[at]) {
      inPattern++
      at++
    } else if (star !== -1) {
      inPattern = star + 1
      at = ++eaten
    } else return false
  }
  while (pattern[inPattern] === '*') inPattern++
  return inPattern === pattern.length
}
