import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const README = fileURLToPath(new URL('../../../README.md', import.meta.url))

/**
 * The YAML block of the README that follows `<!-- snippet: name -->`, with each key of `replacements` replaced.
 * Throws when the snippet or a text to replace is not there, so that the README cannot drift from the tests.
 */
export function readSnippet(name: string, replacements: Readonly<Record<string, string>>): string {
  const text = readFileSync(README, 'utf8')
  const found = new RegExp(`<!-- snippet: ${name} -->\\s*\`\`\`yaml\\n([\\s\\S]*?)\`\`\``).exec(text)
  if (found?.[1] === undefined) throw new Error(`README.md has no snippet "${name}"`)
  let snippet = found[1]
  for (const [from, to] of Object.entries(replacements)) {
    if (!snippet.includes(from)) throw new Error(`Snippet "${name}" of README.md does not say "${from}"`)
    snippet = snippet.replaceAll(from, to)
  }
  return snippet
}
