import { readReadmeBlock } from '../../support/readme-blocks.ts'

/**
 * The block of YAML or settings in the README that follows `<!-- snippet: name -->`, with each key of `replacements` replaced.
 * Throws when the snippet or a text to replace is not there, so that the README cannot drift from the tests.
 */
export function readSnippet(name: string, replacements: Readonly<Record<string, string>> = {}): string {
  let snippet = readReadmeBlock('snippet', name)
  for (const [from, to] of Object.entries(replacements)) {
    if (!snippet.includes(from)) throw new Error(`Snippet "${name}" of README.md does not say "${from}"`)
    snippet = snippet.replaceAll(from, to)
  }
  return snippet
}
