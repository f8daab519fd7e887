import { parseRegex, type RegexNode } from './parse.ts'

/** A family of texts of any length: `head`, then `unit` repeated, then `tail`. */
export interface Attack {
  head: string
  unit: string
  tail: string
}

/** How many beginnings are tried for each pattern; a pattern of many alternatives has more than are worth trying. */
const HEADS_MAX = 24

/**
 * Texts on which a pattern may backtrack for long: a beginning that leads to one of its repetitions, then a character
 * or that beginning again and again, then something that does not match.
 */
export function* attacksOn(regex: RegExp): Generator<Attack> {
  const tree = parseRegex(regex)
  const characters = alphabetOf(tree)
  const outsider = characters.at(-1)!
  const heads = [...new Set(['', outsider, ...beginningsOf(tree)])].slice(0, HEADS_MAX)
  for (const head of heads)
    for (const character of characters)
      for (const tail of ['', '\n', outsider]) {
        yield { head, unit: character, tail }
        if (head === '') continue
        yield { head: '', unit: head + character, tail }
        yield { head: '', unit: character + head, tail }
        yield { head, unit: head + character, tail }
      }
}

/** One text of an attack, about `length` characters long. */
export function attackText({ head, unit, tail }: Attack, length: number): string {
  return head + unit.repeat(Math.ceil(length / unit.length)) + tail
}

/**
 * One character of each kind that the pattern's classes and repetitions tell apart; the one that the fewest of them
 * match comes last.
 */
function alphabetOf(tree: RegexNode): string[] {
  const tests: ((character: string) => boolean)[] = []
  visit(tree, (outer) => {
    if (outer.kind === 'character' && outer.source.length > 1) tests.push(outer.matches)
    if (outer.kind !== 'repeat' || outer.max === 1) return
    visit(outer.node, (node) => {
      if (node.kind === 'character' && node.source.length === 1) tests.push(node.matches)
    })
  })
  const kinds = new Map<string, { character: string; liked: number }>()
  for (let code = 0; code < 128; code++) note(String.fromCharCode(code))
  for (const character of ['é', '\u2028', '\u200b', '\ufeff', '€']) note(character)
  function note(character: string) {
    const likes = tests.map((test) => test(character))
    const key = likes.map(Number).join('') + (/\w/.test(character) ? 'w' : '')
    // Of a kind prefer the printable `a` or `!`: people read the failures.
    if (!kinds.has(key) || character === 'a' || character === '!')
      kinds.set(key, { character, liked: likes.filter(Boolean).length })
  }
  return [...kinds.values()].sort((a, b) => b.liked - a.liked).map(({ character }) => character)
}

function visit(node: RegexNode, take: (node: RegexNode) => void): void {
  take(node)
  if (node.kind === 'sequence') for (const part of node.parts) visit(part, take)
  if (node.kind === 'choice') for (const option of node.options) visit(option, take)
  if (node.kind === 'repeat' || node.kind === 'look') visit(node.node, take)
}

/**
 * Texts that match the pattern from its start up to just before or just after each of its repetitions, or to its end.
 */
function beginningsOf(tree: RegexNode): string[] {
  const found: string[] = []
  const walk = (node: RegexNode, befores: readonly string[]): string[] => {
    switch (node.kind) {
      case 'character':
        return befores.map((before) => before + witness(node.matches))
      case 'sequence': {
        let texts = [...befores]
        for (const part of node.parts) texts = walk(part, texts)
        return texts
      }
      case 'choice':
        return node.options.flatMap((option) => walk(option, befores)).slice(0, HEADS_MAX)
      case 'repeat': {
        found.push(...befores)
        let texts = [...befores]
        // A repetition that may match nothing is followed once all the same: what is inside may be slow.
        for (let i = 0; i < Math.max(1, Math.min(node.min, 64)); i++) texts = walk(node.node, texts)
        found.push(...texts)
        return node.min === 0 ? [...new Set([...texts, ...befores])].slice(0, HEADS_MAX) : texts
      }
      default:
        return [...befores]
    }
  }
  found.push(...walk(tree, ['']))
  return found
}

function witness(matches: (character: string) => boolean): string {
  for (const preferred of 'aA0 ') if (matches(preferred)) return preferred
  for (let code = 33; code < 65_536; code++)
    if (matches(String.fromCharCode(code))) return String.fromCharCode(code)
  return matches('\n') ? '\n' : '\t'
}
