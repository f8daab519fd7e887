/** A regular expression as a tree. Syntax that no source file of this repository uses throws. */
export type RegexNode =
  | { kind: 'character'; source: string; matches(character: string): boolean }
  | { kind: 'sequence'; parts: readonly RegexNode[] }
  | { kind: 'choice'; options: readonly RegexNode[] }
  | { kind: 'repeat'; node: RegexNode; min: number; max: number; isGreedy: boolean }
  | { kind: 'look'; node: RegexNode; isAhead: boolean; isNegative: boolean }
  | { kind: 'assert'; what: 'start' | 'end' | 'boundary' | 'no-boundary' }

/** Read a pattern and its flags into a tree. */
export function parseRegex({ source, flags }: RegExp): RegexNode {
  const reader = new Reader(source, flags)
  const node = reader.choice()
  if (reader.at < source.length) throw new Error(`Cannot read /${source}/ from ${reader.at}`)
  return node
}

class Reader {
  at = 0
  readonly #source: string
  readonly #flags: string

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags
  }

  choice(): RegexNode {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return options.length === 1 ? options[0]! : { kind: 'choice', options }
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = []
    while (this.at < this.#source.length && !'|)'.includes(this.#source[this.at]!))
      parts.push(this.#quantified(this.#atom()))
    return { kind: 'sequence', parts }
  }

  #quantified(node: RegexNode): RegexNode {
    const found = /^(?:([*+?])|\{(\d+)(,(\d*))?\})(\??)/.exec(this.#source.slice(this.at))
    if (found === null) return node
    this.at += found[0].length
    const [, sign, from, comma, to, lazy] = found
    const isGreedy = lazy === ''
    if (sign !== undefined)
      return {
        kind: 'repeat',
        node,
        min: sign === '+' ? 1 : 0,
        max: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
        isGreedy,
      }
    const max = comma === undefined ? Number(from) : to === '' ? Number.POSITIVE_INFINITY : Number(to)
    return { kind: 'repeat', node, min: Number(from), max, isGreedy }
  }

  #atom(): RegexNode {
    if (this.#take('^')) return { kind: 'assert', what: 'start' }
    if (this.#take('$')) return { kind: 'assert', what: 'end' }
    if (this.#take('\\b')) return { kind: 'assert', what: 'boundary' }
    if (this.#take('\\B')) return { kind: 'assert', what: 'no-boundary' }
    if (this.#take('(')) return this.#group()
    const rest = this.#source.slice(this.at)
    const found =
      /^(?:\[(?:\\.|[^\]\\])*\]|\\p\{[^}]*\}|\\P\{[^}]*\}|\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[^1-9kc]|[^\\])/su.exec(
        rest,
      )
    if (found === null) throw new Error(`Cannot read /${this.#source}/ from ${this.at}`)
    this.at += found[0].length
    return toCharacter(found[0], this.#flags)
  }

  #group(): RegexNode {
    const isAhead = this.#take('?=') ? 'positive' : this.#take('?!') ? 'negative' : null
    const isBehind = this.#take('?<=') ? 'positive' : this.#take('?<!') ? 'negative' : null
    if (isAhead === null && isBehind === null && !this.#take('?:')) {
      const name = /^\?<\w+>/.exec(this.#source.slice(this.at))
      if (name !== null) this.at += name[0].length
      else if (this.#source[this.at] === '?') throw new Error(`Cannot read the group of /${this.#source}/`)
    }
    const node = this.choice()
    if (!this.#take(')')) throw new Error(`A group of /${this.#source}/ is not closed`)
    const look = isAhead ?? isBehind
    return look === null
      ? node
      : { kind: 'look', node, isAhead: isAhead !== null, isNegative: look === 'negative' }
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }
}

/** A node that matches one character; the pattern's own source decides which. */
function toCharacter(source: string, flags: string): RegexNode {
  const one = new RegExp(`^(?:${source})$`, flags.replace(/[gym]/g, ''))
  const known = new Map<string, boolean>()
  const matches = (character: string) => {
    const before = known.get(character)
    if (before !== undefined) return before
    const does = one.test(character)
    known.set(character, does)
    return does
  }
  return { kind: 'character', source, matches }
}
