import { readFileSync } from 'node:fs'

const README = new URL('../../README.md', import.meta.url)

/**
 * The fenced block of the README that follows `<!-- kind: name -->`, without the indentation that it has in a list.
 * Throws when there is none, so that the README cannot drift from the tests.
 */
export function readReadmeBlock(kind: 'commands' | 'snippet', name: string): string {
  const text = readFileSync(README, 'utf8')
  const language = kind === 'commands' ? 'sh' : '(?:yaml|ini)'
  const found = new RegExp(
    `^( *)<!-- ${kind}: ${name} -->\\s*\`\`\`${language}\\n([\\s\\S]*?)\`\`\``,
    'm',
  ).exec(text)
  if (found === null) throw new Error(`README.md has no ${kind} "${name}"`)
  const [, indent = '', block = ''] = found
  return block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}
