import { CST, Lexer } from 'yaml'

/**
 * Where a tab stands that the collector's parser refuses and the `yaml` package does not; null when nowhere.
 * The rules are those of libyaml: in block context a tab may separate tokens, but may not open a line or
 * follow `-` or `?`; only text that goes on (a plain scalar, further comment lines) swallows it.
 */
export function findForbiddenTab(text: string): number | null {
  if (!text.includes('\t')) return null
  const scan = new TabScan()
  for (const lexeme of new Lexer().lex(text)) {
    const problem = scan.step(lexeme)
    if (problem !== null) return problem
  }
  return null
}

const CONTENT = new Set([
  'alias',
  'single-quoted-scalar',
  'double-quoted-scalar',
  'flow-map-end',
  'flow-seq-end',
])

class TabScan {
  #offset = 0
  #lineStart = 0
  #flowLevel = 0
  /** Columns of the open block collections; what libyaml calls the indentation levels. */
  readonly #indents = [-1]
  /** Whether a new key could start here, which is when a tab is not white space. */
  #keyAllowed = true
  /** Whether the last content is a plain scalar, which may still go on. */
  #isPlainOpen = false
  #hasBreakSincePlain = false
  #isFirstOnLine = true
  /** Column of the node that a following `:` would make a key; null when there is none. */
  #keyColumn: number | null = null
  #isScalarNext = false
  #header: string | null = null
  /** A tab behind a comment: fine when another comment follows, a problem otherwise. */
  #pendingTab: number | null = null
  #isCommentOpen = false

  step(lexeme: string): number | null {
    const type = CST.tokenType(lexeme)
    if (type === 'doc-mode' || type === 'flow-error-end') return null
    if (type === 'scalar') {
      this.#isScalarNext = true
      return null
    }
    const problem = this.#isScalarNext ? this.#scalar(lexeme) : this.#token(type, lexeme)
    this.#isScalarNext = false
    this.#advance(lexeme)
    return problem
  }

  #advance(lexeme: string): void {
    const lastBreak = lexeme.lastIndexOf('\n')
    if (lastBreak !== -1) this.#lineStart = this.#offset + lastBreak + 1
    this.#offset += lexeme.length
  }

  get #indent(): number {
    return this.#indents.at(-1)!
  }

  #token(type: string | null, lexeme: string): number | null {
    if (type === 'newline') return this.#newline()
    if (type === 'space') return this.#space(lexeme)
    if (type === 'comment') {
      // A comment right behind a token is that token's; one on its own line swallows the blanks after it.
      this.#isCommentOpen = this.#isFirstOnLine
      this.#isPlainOpen = false
      this.#pendingTab = null
      return null
    }
    if (type === 'byte-order-mark' || type === 'directive-line') return null
    const pending = this.#content()
    this.#structure(type, lexeme)
    return pending
  }

  #newline(): null {
    this.#hasBreakSincePlain = true
    this.#isFirstOnLine = true
    if (this.#flowLevel === 0) {
      this.#keyAllowed = true
      this.#keyColumn = null
    }
    return null
  }

  #space(lexeme: string): number | null {
    const tab = lexeme.indexOf('\t')
    if (tab === -1) return null
    const at = this.#offset + tab
    const column = at - this.#lineStart
    if (this.#isPlainOpen) {
      return this.#hasBreakSincePlain && column <= this.#indent ? at : null
    }
    if (this.#flowLevel > 0 || !this.#keyAllowed) return null
    if (!this.#isCommentOpen) return at
    this.#pendingTab ??= at
    return null
  }

  /** Content begins: levels deeper than its column are closed, and a tab that waited for a comment is wrong. */
  #content(): number | null {
    const column = this.#offset - this.#lineStart
    if (this.#flowLevel === 0 && this.#isFirstOnLine) {
      while (this.#indent > column) this.#indents.pop()
    }
    const pending = this.#pendingTab
    this.#pendingTab = null
    this.#isCommentOpen = false
    this.#isPlainOpen = false
    this.#isFirstOnLine = false
    return pending
  }

  #structure(type: string | null, lexeme: string): void {
    const column = this.#offset - this.#lineStart
    if (type === 'flow-map-start' || type === 'flow-seq-start') {
      this.#keyColumn ??= column
      this.#flowLevel++
    } else if (type === 'flow-map-end' || type === 'flow-seq-end') {
      this.#flowLevel = Math.max(0, this.#flowLevel - 1)
      this.#keyAllowed = false
    } else if (type === 'block-scalar-header') {
      this.#header = lexeme
    } else if (this.#flowLevel > 0) {
      return
    } else if (type === 'seq-item-ind' || type === 'explicit-key-ind') {
      if (column > this.#indent) this.#indents.push(column)
      this.#keyAllowed = true
      this.#keyColumn = null
    } else if (type === 'map-value-ind') {
      const keyColumn = this.#keyColumn
      if (keyColumn !== null && keyColumn > this.#indent) this.#indents.push(keyColumn)
      this.#keyAllowed = keyColumn === null
      this.#keyColumn = null
    } else {
      this.#keyColumn ??= column
      this.#keyAllowed = false
      if (type === 'doc-start') {
        this.#keyColumn = null
        this.#indents.length = 1
      } else if (!CONTENT.has(type ?? '') && type !== 'anchor' && type !== 'tag') this.#keyColumn = null
    }
  }

  #scalar(lexeme: string): number | null {
    if (this.#header !== null) return this.#blockScalar(lexeme, this.#header)
    // An absent value is an empty scalar token; it is no content.
    if (lexeme === '') return null
    const pending = this.#content()
    if (this.#flowLevel === 0) {
      this.#keyColumn ??= this.#offset - this.#lineStart
      this.#keyAllowed = false
    }
    this.#isPlainOpen = true
    this.#hasBreakSincePlain = false
    return pending
  }

  #blockScalar(lexeme: string, header: string): number | null {
    this.#header = null
    this.#keyAllowed = true
    this.#keyColumn = null
    this.#isFirstOnLine = true
    const explicit = /\d/.exec(header)
    let indent = explicit ? Math.max(this.#indent, 0) + Number(explicit[0]) : 0
    let widest = 0
    let at = this.#offset
    for (const line of lexeme.split('\n')) {
      const limit = indent === 0 ? line.length : Math.min(indent, line.length)
      let column = 0
      while (column < limit && line[column] === ' ') column++
      if (line[column] === '\t' && (indent === 0 || column < indent)) return at + column
      widest = Math.max(widest, column)
      const isBlank = column === line.length || line[column] === '\r'
      if (indent === 0 && !isBlank) indent = Math.max(widest, this.#indent + 1, 1)
      at += line.length + 1
    }
    return null
  }
}
