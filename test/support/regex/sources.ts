import { readdirSync, readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'

/** A regular expression literal of a source file. */
export interface FoundRegex {
  file: string
  regex: RegExp
}

/** The regular expressions in the sources of some folders. */
export interface FoundRegexes {
  literals: FoundRegex[]
  /** Places that make one at run time, as `file: code`. */
  made: string[]
}

interface AstNode {
  type: string
  start: number
  end: number
  regex?: { pattern: string; flags: string }
  callee?: { type: string; name?: string }
}

/** Find every regular expression with the TypeScript parser. `folders` end with a slash. */
export function findRegexes(root: URL, folders: readonly string[]): FoundRegexes {
  const found: FoundRegexes = { literals: [], made: [] }
  for (const folder of folders) {
    for (const name of readdirSync(new URL(folder, root), { recursive: true }) as string[]) {
      if (/\.tsx?$/.test(name))
        findIn(`${folder}${name}`, readFileSync(new URL(folder + name, root), 'utf8'), found)
    }
  }
  return found
}

function findIn(file: string, source: string, found: FoundRegexes): void {
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node)) {
      for (const entry of node) walk(entry)
      return
    }
    const { type, start, end, regex, callee } = node as AstNode
    if (type === 'Literal' && regex !== undefined) {
      found.literals.push({ file, regex: new RegExp(regex.pattern, regex.flags) })
      return
    }
    if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp')
      found.made.push(`${file}: ${source.slice(start, end)}`)
    for (const value of Object.values(node)) walk(value)
  }
  walk(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }))
}
