/** Comments of a config; a value in quotes that looks like one is taken for one. */
const COMMENTS = /(?:^|\s)#.*$/gm

/** A config without what stands in its comments, as it seems. */
export const withoutComments = (yaml: string): string => yaml.replaceAll(COMMENTS, '')

const PART_OF_WORD = /[\w.-]/

/** Whether a text names a word, and not only as a part of a longer one. */
export function namesWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text[at - 1] ?? '', text[at + word.length] ?? '']
    if (!PART_OF_WORD.test(before) && !PART_OF_WORD.test(after)) return true
  }
  return false
}
