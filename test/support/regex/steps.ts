import { parseRegex, type RegexNode } from './parse.ts'

/** One step of a compiled pattern. */
type Step =
  | { op: 'character'; matches(character: string): boolean }
  /** Continues at `first`, and at `second` when that fails. */
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { op: 'assert'; what: 'start' | 'end' | 'boundary' | 'no-boundary' }
  | { op: 'look'; program: readonly Step[]; isAhead: boolean; isNegative: boolean }
  /** `mark` and `moved` end a loop whose last turn matched no character, as every engine does. */
  | { op: 'mark'; register: number }
  | { op: 'moved'; register: number }
  | { op: 'match' }

/**
 * A pattern that counts the steps of a backtracking engine. Steps stand for time but, unlike it, do not depend on the
 * machine.
 */
export interface CountedRegex {
  /** Steps to find the first match, or with the flags `g` and `y` all of them, at most about `max`. */
  steps(text: string, max: number): number
}

/** Compile a regular expression into one that counts its steps. */
export function countRegex(regex: RegExp): CountedRegex {
  const program = compile(parseRegex(regex))
  const isMultiline = regex.flags.includes('m')
  const isSticky = regex.flags.includes('y')
  const findsAll = isSticky || regex.flags.includes('g')
  return {
    steps(text, max) {
      const characters = regex.flags.includes('u') ? [...text] : text.split('')
      const run = new Run(characters, isMultiline, max)
      for (let at = 0; at <= characters.length && run.steps < max; ) {
        const end = run.match(program, at)
        if (end === null) {
          if (isSticky) break
          at++
        } else if (!findsAll) break
        else at = Math.max(end, at + 1)
      }
      return run.steps
    },
  }
}

function compile(tree: RegexNode): Step[] {
  const program: Step[] = []
  let registers = 0
  const emit = (node: RegexNode): void => {
    switch (node.kind) {
      case 'character':
        program.push({ op: 'character', matches: node.matches })
        return
      case 'assert':
        program.push({ op: 'assert', what: node.what })
        return
      case 'look':
        program.push({
          op: 'look',
          program: compile(node.isAhead ? node.node : singleCharacter(node.node)),
          isAhead: node.isAhead,
          isNegative: node.isNegative,
        })
        return
      case 'sequence':
        for (const part of node.parts) emit(part)
        return
      case 'choice':
        emitChoice(node.options)
        return
      case 'repeat':
        for (let i = 0; i < node.min; i++) emit(node.node)
        if (node.max === Number.POSITIVE_INFINITY) emitLoop(node.node, node.isGreedy)
        else emitOptional(node.node, node.max - node.min, node.isGreedy)
    }
  }
  const split = (isGreedy: boolean, into: number, past: number): Step =>
    isGreedy ? { op: 'split', first: into, second: past } : { op: 'split', first: past, second: into }
  const emitChoice = (options: readonly RegexNode[]) => {
    const ends: number[] = []
    options.forEach((option, i) => {
      const isLast = i === options.length - 1
      const at = program.length
      if (!isLast) program.push({ op: 'match' })
      emit(option)
      if (isLast) return
      ends.push(program.length)
      program.push({ op: 'match' })
      program[at] = { op: 'split', first: at + 1, second: program.length }
    })
    for (const end of ends) program[end] = { op: 'jump', to: program.length }
  }
  const emitLoop = (node: RegexNode, isGreedy: boolean) => {
    const at = program.length
    const register = registers++
    const mayBeEmpty = isNullable(node)
    program.push({ op: 'match' })
    if (mayBeEmpty) program.push({ op: 'mark', register })
    emit(node)
    if (mayBeEmpty) program.push({ op: 'moved', register })
    program.push({ op: 'jump', to: at })
    program[at] = split(isGreedy, at + 1, program.length)
  }
  const emitOptional = (node: RegexNode, times: number, isGreedy: boolean) => {
    const splits: number[] = []
    for (let i = 0; i < times; i++) {
      splits.push(program.length)
      program.push({ op: 'match' })
      emit(node)
    }
    for (const at of splits) program[at] = split(isGreedy, at + 1, program.length)
  }
  emit(tree)
  program.push({ op: 'match' })
  return program
}

function singleCharacter(node: RegexNode): RegexNode {
  const only = node.kind === 'sequence' && node.parts.length === 1 ? node.parts[0]! : node
  if (only.kind !== 'character') throw new Error('Only one character can be looked back at')
  return only
}

function isNullable(node: RegexNode): boolean {
  switch (node.kind) {
    case 'character':
      return false
    case 'sequence':
      return node.parts.every(isNullable)
    case 'choice':
      return node.options.some(isNullable)
    case 'repeat':
      return node.min === 0 || isNullable(node.node)
    default:
      return true
  }
}

const WORD = /^\w$/

class Run {
  steps = 0
  readonly #text: readonly string[]
  readonly #isMultiline: boolean
  readonly #max: number

  constructor(text: readonly string[], isMultiline: boolean, max: number) {
    this.#text = text
    this.#isMultiline = isMultiline
    this.#max = max
  }

  /** The index at which a match that begins at `start` ends, or null. */
  match(program: readonly Step[], start: number): number | null {
    // A stack with two numbers an entry: a step and the character to retry it at; or a register (as -1 - register) and
    // the value to restore.
    const waiting: number[] = [0, start]
    const marks: number[] = []
    while (waiting.length > 0) {
      let at = waiting.pop()!
      let pc = waiting.pop()!
      if (pc < 0) {
        marks[-1 - pc] = at
        continue
      }
      for (;;) {
        if (++this.steps > this.#max) return null
        const step = program[pc]!
        if (step.op === 'match') return at
        if (step.op === 'split') {
          waiting.push(step.second, at)
          pc = step.first
        } else if (step.op === 'jump') pc = step.to
        else if (step.op === 'mark') {
          waiting.push(-1 - step.register, marks[step.register] ?? -1)
          marks[step.register] = at
          pc++
        } else {
          const next = this.#advance(step, at, marks)
          if (next === null) break
          at = next
          pc++
        }
      }
    }
    return null
  }

  /** The index after what a step matches at `at`, or null when it does not match. */
  #advance(
    step: Exclude<Step, { op: 'match' | 'split' | 'jump' | 'mark' }>,
    at: number,
    marks: readonly number[],
  ): number | null {
    const text = this.#text
    if (step.op === 'character') return at < text.length && step.matches(text[at]!) ? at + 1 : null
    if (step.op === 'moved') return marks[step.register] === at ? null : at
    if (step.op === 'look') {
      const from = step.isAhead ? at : at - 1
      const isThere = from >= 0 && this.match(step.program, from) !== null
      return isThere === step.isNegative ? null : at
    }
    if (step.what === 'start') return at === 0 || (this.#isMultiline && text[at - 1] === '\n') ? at : null
    if (step.what === 'end') return at === text.length || (this.#isMultiline && text[at] === '\n') ? at : null
    const isBoundary = WORD.test(text[at - 1] ?? '') !== WORD.test(text[at] ?? '')
    return isBoundary === (step.what === 'boundary') ? at : null
  }
}
