import { resolvePlainScalar } from './scalar.ts'
import { type ConfigObject, type ConfigValue, emptyObject } from './value.ts'

/*
 * Most configs are written in a small part of YAML: mappings and lists by indentation, and values on one line. What is
 * written so is read here in a tenth of the time that the `yaml` package takes to make nodes of it. Whatever is not
 * plainly of that part is left to the package, also every text that is wrong in some way: here nothing is ever refused.
 */

/** A character outside the usual ones, such as a tab or an unusual blank: a text with one is left to the package. */
const UNCOMMON = /[^\x20-\x7e\n\u00a1-\u1fff\u2010-\u2027\u2030-\u2fff\u3001-\ud7ff]/
/** Marks of documents, and directives. */
export const DOCUMENT_MARK = /^(?:---|\.\.\.|%)/m
/** A key on its line, with the colon and the blanks behind it. */
const KEY = /(?:([A-Za-z0-9_./][A-Za-z0-9_./-]{0,199})|"([^"\\\n]{0,200})"|'([^'\n]{0,200})'):(?: +|$)/my
const QUOTED = /"([^"\\\n]*)"|'([^'\n]*)'/y
/** What may stand behind a value. */
const REST = / *(?: #[^\n]*)?$/my
const FLOW_VALUE = /"([^"\\\n]*)"|'([^'\n]*)'|([A-Za-z0-9_./$](?:[A-Za-z0-9_./:-]*[A-Za-z0-9_./-])?)/y
const FLOW_KEY = /([A-Za-z0-9_./][A-Za-z0-9_./-]{0,199}): +/y
const FLOW_COMMA = / *, */y
const PLAIN_START = /[A-Za-z0-9_./$~+(]|-[A-Za-z0-9.]/y
/** Deeper than any config is; what is deeper is the package's to refuse. */
const DEPTH_MAX = 60

/** The text is not plainly of the part of YAML that is read here. */
class NotPlain extends Error {}

/** The value of a text that is written plainly; null when it is not, which says nothing else about it. */
export function readPlainConfig(text: string): ConfigObject | null {
  if (UNCOMMON.test(text) || DOCUMENT_MARK.test(text)) return null
  try {
    return new PlainReader(text).read()
  } catch (error) {
    if (error instanceof NotPlain) return null
    throw error
  }
}

/**
 * The key that begins at an offset of a plainly written text, and whether its value stands below it and not beside it;
 * null where none begins there.
 */
export function plainKeyAt(text: string, at: number): { name: string; isLineOver: boolean } | null {
  KEY.lastIndex = at
  const key = KEY.exec(text)
  if (key === null) return null
  return { name: nameOf(key), isLineOver: isLineOverAt(text, at + key[0].length) }
}

const nameOf = (key: RegExpExecArray): string => key[1] ?? key[2] ?? key[3]!

/** Whether nothing but a comment is left of the line; there are blanks before what comes next. */
function isLineOverAt(text: string, at: number): boolean {
  const next = text[at]
  return next === undefined || next === '\n' || next === '#'
}

class PlainReader {
  readonly #text: string
  /** Where what is read next begins. */
  #at = 0
  /** Its column; -1 at the end of the text. */
  #column = -1

  constructor(text: string) {
    this.#text = text
  }

  read(): ConfigObject {
    this.#toNextLine(0)
    const root = this.#mapping(0, 0)
    // Not plain: a text of comments only, one whose first key is indented, or one that goes on with something else.
    if (!this.#isAtEnd() || Object.keys(root).length === 0) throw new NotPlain()
    return root
  }

  #isAtEnd(): boolean {
    return this.#column === -1
  }

  /** Go to the first line from `from` on that holds more than a comment. */
  #toNextLine(from: number): void {
    const text = this.#text
    for (let start = from; start < text.length; ) {
      let at = start
      while (text[at] === ' ') at++
      if (at < text.length && text[at] !== '\n' && text[at] !== '#') {
        this.#at = at
        this.#column = at - start
        return
      }
      const end = text.indexOf('\n', at)
      start = end === -1 ? text.length : end + 1
    }
    this.#column = -1
  }

  /** Match here and go behind what was matched. */
  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match !== null) this.#at += match[0].length
    return match
  }

  #isEntry(): boolean {
    const next = this.#text[this.#at + 1]
    return this.#text[this.#at] === '-' && (next === ' ' || next === '\n' || next === undefined)
  }

  #mapping(column: number, depth: number): ConfigObject {
    if (depth > DEPTH_MAX) throw new NotPlain()
    const object = emptyObject()
    while (this.#column === column && !this.#isEntry()) {
      const key = this.#take(KEY)
      if (key === null) throw new NotPlain()
      const name = nameOf(key)
      if (name === '<<' || Object.hasOwn(object, name)) throw new NotPlain()
      object[name] = this.#isLineOver() ? this.#below(column, true, depth) : this.#onLine(column)
    }
    if (this.#column > column) throw new NotPlain()
    return object
  }

  #list(column: number, depth: number): ConfigValue[] {
    if (depth > DEPTH_MAX) throw new NotPlain()
    const list: ConfigValue[] = []
    while (this.#column === column && this.#isEntry()) {
      const dash = this.#at++
      this.#skipBlanks()
      list.push(this.#isLineOver() ? this.#below(column, false, depth) : this.#entry(column, dash, depth))
    }
    if (this.#column > column) throw new NotPlain()
    return list
  }

  /** What stands behind a dash: the first key of a mapping, another dash, or a value. */
  #entry(column: number, dash: number, depth: number): ConfigValue {
    const inner = column + this.#at - dash
    if (this.#isEntry()) {
      this.#column = inner
      return this.#list(inner, depth + 1)
    }
    KEY.lastIndex = this.#at
    if (!KEY.test(this.#text)) return this.#onLine(column)
    this.#column = inner
    return this.#mapping(inner, depth + 1)
  }

  #isLineOver(): boolean {
    return isLineOverAt(this.#text, this.#at)
  }

  /** The value of a key or a dash that stands on the lines below it; null when there is none. */
  #below(column: number, isOfKey: boolean, depth: number): ConfigValue {
    this.#nextLine()
    const isEntry = !this.#isAtEnd() && this.#isEntry()
    if (this.#column > column)
      return isEntry ? this.#list(this.#column, depth + 1) : this.#mapping(this.#column, depth + 1)
    // A list may stand as far left as its key.
    return isOfKey && isEntry && this.#column === column ? this.#list(column, depth + 1) : null
  }

  /** A value that ends with its line. */
  #onLine(column: number): ConfigValue {
    const value = this.#scalarOrFlow()
    if (this.#take(REST) === null) throw new NotPlain()
    this.#nextLine()
    // An indented line below may be the rest of the value.
    if (this.#column > column) throw new NotPlain()
    return value
  }

  #nextLine(): void {
    const end = this.#text.indexOf('\n', this.#at)
    if (end === -1) this.#column = -1
    else this.#toNextLine(end + 1)
  }

  #scalarOrFlow(): ConfigValue {
    const first = this.#text[this.#at]
    if (first === '"' || first === "'") {
      const quoted = this.#take(QUOTED)
      if (quoted === null) throw new NotPlain()
      return quoted[1] ?? quoted[2]!
    }
    return first === '[' || first === '{' ? this.#flow(0) : this.#plain()
  }

  /** `[a, b]` or `{a: b}` on one line. */
  #flow(depth: number): ConfigValue {
    if (depth > DEPTH_MAX) throw new NotPlain()
    const isList = this.#text[this.#at++] === '['
    const list: ConfigValue[] = []
    const object = emptyObject()
    const end = isList ? ']' : '}'
    this.#skipBlanks()
    if (this.#text[this.#at] !== end)
      do {
        if (isList) list.push(this.#flowValue(depth))
        else object[this.#flowKey(object)] = this.#flowValue(depth)
      } while (this.#take(FLOW_COMMA) !== null)
    this.#skipBlanks()
    if (this.#text[this.#at++] !== end) throw new NotPlain()
    return isList ? list : object
  }

  #flowKey(object: ConfigObject): string {
    const key = this.#take(FLOW_KEY)
    if (key === null || key[1] === '<<' || Object.hasOwn(object, key[1]!)) throw new NotPlain()
    return key[1]!
  }

  #flowValue(depth: number): ConfigValue {
    const first = this.#text[this.#at]
    if (first === '[' || first === '{') return this.#flow(depth + 1)
    const value = this.#take(FLOW_VALUE)
    if (value === null) throw new NotPlain()
    return value[1] ?? value[2] ?? resolvePlainScalar(value[3]!)
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === ' ') this.#at++
  }

  #plain(): ConfigValue {
    const start = this.#at
    if (this.#take(PLAIN_START) === null) throw new NotPlain()
    const lineEnd = this.#text.indexOf('\n', start)
    const line = this.#text.slice(start, lineEnd === -1 ? undefined : lineEnd)
    const comment = line.indexOf(' #')
    const source = withoutBlanksBehind(comment === -1 ? line : line.slice(0, comment))
    // With a colon it is a key, and a key cannot stand behind another one.
    if (source.includes(': ') || source.endsWith(':')) throw new NotPlain()
    this.#at = start + source.length
    return resolvePlainScalar(source)
  }
}

/** A text without the spaces at its end; `trimEnd` would take more than what YAML calls a blank. */
function withoutBlanksBehind(text: string): string {
  let end = text.length
  while (text[end - 1] === ' ') end--
  return text.slice(0, end)
}
