/** A pattern that a whole text has to match. */
export interface Pattern {
  matches(text: string): boolean
  /** How many steps it has once its counts are written out: a character of a text may cost as many. */
  steps: number
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

/** One step of a match: a character to meet, or, without `test`, ways to go on. A set that is counted is one test. */
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
    return { ok: true, pattern: { matches: openStates(states, start), steps: states.length } }
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
      for (let wanted = node.min; wanted > 0; wanted--) {
        const before = states.length
        start = compile(states, node.node, start)
        // What is empty stays so however often it is repeated. Groups of it within groups would be walked without end.
        if (states.length === before) break
      }
      return start
    }
  }
}

/**
 * Make a function that matches a text by following all states at once, a character at a time. State 0 is the end. For
 * each character a state is looked at once, and a test asked once, however many states have it.
 */
function openStates(states: readonly State[], start: number): (text: string) => boolean {
  const tests = [...new Set(states.flatMap(({ test }) => test ?? []))]
  const places = new Map(tests.map((test, place) => [test, place]))
  const testOf = states.map(({ test }) => (test === null ? NO_TEST : places.get(test)!))
  return (text) => {
    // The character, counted from 1, for which a state was reached or a test asked last.
    const reachedAt = new Uint32Array(states.length)
    const askedAt = new Uint32Array(tests.length)
    const isMet = new Uint8Array(tests.length)
    let at = 1
    let active: number[] = []
    const pending = [start]
    const reachPending = () => {
      active = []
      for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
        if (reachedAt[state] === at) continue
        reachedAt[state] = at
        if (testOf[state] === NO_TEST) for (const next of states[state]!.next) pending.push(next)
        else active.push(state)
      }
    }
    const meets = (test: number, character: string): boolean => {
      if (askedAt[test] !== at) {
        askedAt[test] = at
        isMet[test] = tests[test]!(character) ? 1 : 0
      }
      return isMet[test] === 1
    }
    reachPending()
    for (const character of text) {
      at++
      for (const state of active)
        if (meets(testOf[state]!, character)) for (const next of states[state]!.next) pending.push(next)
      if (pending.length === 0) return false
      reachPending()
    }
    return reachedAt[0] === at
  }
}

const NO_TEST = -1
