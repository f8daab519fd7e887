/** A pattern that a whole text has to match. */
export interface Pattern {
  matches(text: string): boolean
}

/** Longest pattern, in UTF-16 units. */
export const PATTERN_LENGTH_MAX = 256
const STATES_MAX = 2_000
const REPEATS_MAX = 256

/** Thrown while a pattern is read; `readPattern` turns it into an error text. */
class BadPattern extends Error {}

type Test = (character: string) => boolean

type Node =
  | { kind: 'set'; test: Test }
  | { kind: 'sequence'; parts: readonly Node[] }
  | { kind: 'choice'; options: readonly Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number }

/** One step of a match: a character to meet, or, without `test`, ways to go on. */
interface State {
  test: Test | null
  next: number[]
}

/**
 * Read a pattern: the common part of regular expressions (classes, groups, choices, counts; no look-around, no
 * back-references). A match takes time in proportion to pattern and text, whatever they are, so that anybody may
 * write one. `^` at its start and `$` at its end are allowed and change nothing.
 */
export function readPattern(source: string): { ok: true; pattern: Pattern } | { ok: false; error: string } {
  if (source.length > PATTERN_LENGTH_MAX)
    return { ok: false, error: `pattern is longer than ${PATTERN_LENGTH_MAX} characters` }
  try {
    const states: State[] = [{ test: null, next: [] }]
    const start = compile(states, new Reader(source.replace(/^\^/, '')).read(), 0)
    return { ok: true, pattern: { matches: (text) => run(states, start, text) } }
  } catch (error) {
    if (error instanceof BadPattern) return { ok: false, error: error.message }
    throw error
  }
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  d: /^\d$/,
  D: /^\D$/u,
  w: /^\w$/,
  W: /^\W$/u,
  s: /^\s$/,
  S: /^\S$/u,
}

class Reader {
  readonly #characters: readonly string[]
  #at = 0

  constructor(source: string) {
    this.#characters = [...source]
  }

  read(): Node {
    const node = this.#choice()
    if (this.#at < this.#characters.length) throw new BadPattern('pattern has a ) that closes nothing')
    return node
  }

  get #next(): string | undefined {
    return this.#characters[this.#at]
  }

  #take(character: string): boolean {
    if (this.#next !== character) return false
    this.#at++
    return true
  }

  #choice(): Node {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return options.length === 1 ? options[0]! : { kind: 'choice', options }
  }

  #sequence(): Node {
    const parts: Node[] = []
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') {
      if (this.#next === '$' && this.#at === this.#characters.length - 1) this.#at++
      else parts.push(this.#repeated(this.#atom()))
    }
    return { kind: 'sequence', parts }
  }

  #repeated(node: Node): Node {
    const rest = this.#characters.slice(this.#at, this.#at + 12).join('')
    const found = /^(?:[?*+]|\{(\d{1,3})(?:(,)(\d{0,3}))?\})/.exec(rest)
    if (found === null) {
      if (this.#next === '{') throw new BadPattern('pattern has a { that is no count; write \\{')
      return node
    }
    this.#at += found[0].length
    const [sign, from, comma, to] = found
    const min = from === undefined ? (sign === '+' ? 1 : 0) : Number(from)
    const isOpen = sign === '*' || sign === '+' || (comma !== undefined && to === '')
    const max = isOpen ? Number.POSITIVE_INFINITY : sign === '?' ? 1 : Number(to || from)
    if (min > REPEATS_MAX || (Number.isFinite(max) && max > REPEATS_MAX) || max < min)
      throw new BadPattern(`pattern has a count that is not within 0 and ${REPEATS_MAX}`)
    if (/^[?*+{]$/.test(this.#next ?? '')) throw new BadPattern('pattern has two counts in a row')
    return { kind: 'repeat', node, min, max }
  }

  #atom(): Node {
    const character = this.#characters[this.#at++]!
    if (character === '(') return this.#group()
    if (character === '[') return { kind: 'set', test: this.#set() }
    if (character === '.') return { kind: 'set', test: () => true }
    if (character === '\\') return { kind: 'set', test: this.#escaped() }
    if (/[?*+{^$]/.test(character))
      throw new BadPattern(`pattern has a ${character} where nothing can be counted; write \\${character}`)
    return { kind: 'set', test: (other) => other === character }
  }

  #group(): Node {
    if (this.#take('?') && !this.#take(':')) throw new BadPattern('pattern has a group of an unknown kind')
    const node = this.#choice()
    if (!this.#take(')')) throw new BadPattern('pattern has a ( that is not closed')
    return node
  }

  #escaped(): Test {
    const character = this.#characters[this.#at++]
    if (character === undefined) throw new BadPattern('pattern ends with a backslash')
    const known = CLASSES[character]
    if (known !== undefined) return (other) => known.test(other)
    if (/[A-Za-z0-9]/.test(character)) throw new BadPattern(`pattern has the unknown escape \\${character}`)
    return (other) => other === character
  }

  #set(): Test {
    const isNegated = this.#take('^')
    const tests: Test[] = []
    while (!this.#take(']')) {
      const from = this.#characters[this.#at++]
      if (from === undefined) throw new BadPattern('pattern has a [ that is not closed')
      if (from === '\\') tests.push(this.#escaped())
      else if (this.#next === '-' && ![undefined, ']'].includes(this.#characters[this.#at + 1]))
        tests.push(this.#range(from))
      else tests.push((other) => other === from)
    }
    return (character) => tests.some((test) => test(character)) !== isNegated
  }

  #range(from: string): Test {
    this.#at++
    const to = this.#characters[this.#at++]!
    const [low, high] = [from.codePointAt(0)!, to.codePointAt(0)!]
    if (to === '\\' || high < low) throw new BadPattern(`pattern has the range ${from}-${to}`)
    return (other) => other.codePointAt(0)! >= low && other.codePointAt(0)! <= high
  }
}

function add(states: State[], state: State): number {
  if (states.length >= STATES_MAX) throw new BadPattern('pattern has too many counted parts')
  states.push(state)
  return states.length - 1
}

/** Add the states of a node that goes on with `next`; answers the state in which the node begins. */
function compile(states: State[], node: Node, next: number): number {
  switch (node.kind) {
    case 'set':
      return add(states, { test: node.test, next: [next] })
    case 'sequence':
      return node.parts.reduceRight((after, part) => compile(states, part, after), next)
    case 'choice':
      return add(states, { test: null, next: node.options.map((option) => compile(states, option, next)) })
    case 'repeat': {
      let start = next
      if (node.max === Number.POSITIVE_INFINITY) {
        start = add(states, { test: null, next: [next] })
        states[start]!.next.unshift(compile(states, node.node, start))
      } else {
        for (let optional = node.max - node.min; optional > 0; optional--)
          start = add(states, { test: null, next: [compile(states, node.node, start), next] })
      }
      for (let wanted = node.min; wanted > 0; wanted--) start = compile(states, node.node, start)
      return start
    }
  }
}

/** Match a text by following all states at once, a character at a time. State 0 is the end. */
function run(states: readonly State[], start: number, text: string): boolean {
  let active = reach(states, [start])
  for (const character of text) {
    const next: number[] = []
    for (const at of active) {
      const { test, next: after } = states[at]!
      if (test?.(character)) next.push(...after)
    }
    if (next.length === 0) return false
    active = reach(states, next)
  }
  return active.has(0)
}

/** Everything that is reached from some states without a character. */
function reach(states: readonly State[], from: readonly number[]): Set<number> {
  const reached = new Set<number>()
  const pending = [...from]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (reached.has(at)) continue
    reached.add(at)
    if (states[at]!.test === null) pending.push(...states[at]!.next)
  }
  return reached
}
