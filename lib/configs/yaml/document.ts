import { Composer, type CST, type Document, LineCounter, type ParsedNode } from 'yaml'
import { indentContinuations } from './reindent.ts'
import { findForbiddenTab } from './tabs.ts'
import { NestedTooDeeply, readTokens } from './tokens.ts'

/** Why a text is not YAML. The message never quotes the text. */
export interface SyntaxProblem {
  message: string
  /** Offset in UTF-16 units. */
  offset: number
}

/** The first document of a text as nodes of the `yaml` package, or why there is none. */
export type YamlDocument =
  | {
      ok: true
      contents: ParsedNode | null
      lines: LineCounter
      /** What the nodes' ranges refer to: the text, or one that means the same and is indented more strictly. */
      source: string
      /** Whether more text follows the document, other than comments; it is not read. */
      hasMore: boolean
    }
  | { ok: false; problem: SyntaxProblem; lines: LineCounter }

const MESSAGES: Readonly<Record<string, string>> = {
  ALIAS_PROPS: 'an alias has an anchor or a tag',
  BAD_ALIAS: 'unknown anchor or bad alias',
  BAD_COLLECTION_TYPE: 'a tag does not fit its value',
  BAD_DIRECTIVE: 'bad directive',
  BAD_DQ_ESCAPE: 'bad escape in a double-quoted text',
  BAD_INDENT: 'wrong indentation',
  BAD_PROP_ORDER: 'an anchor or a tag in the wrong place',
  BAD_SCALAR_START: 'a text starts with a reserved character; quote it',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping or list starts where only a text can stand',
  BLOCK_IN_FLOW: 'a block value inside brackets',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a colon, comma, quote, bracket or blank is missing',
  MULTILINE_IMPLICIT_KEY: 'a key spans several lines, or its colon is missing',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_TAGS: 'a value has two tags',
  TAB_AS_INDENT: 'a tab is used for indentation',
  UNEXPECTED_TOKEN: 'unexpected text',
}

/** Findings of the `yaml` package about texts that the collector's parser reads without complaint. */
const TOLERATED = new Set(['TAG_RESOLVE_FAILED', 'NON_STRING_KEY', 'DUPLICATE_KEY', 'MULTIPLE_DOCS'])
const COMMENT_SPACING = 'Comments must be separated'

/** A document end before any document. */
const STRAY_END = /^\ufeff?(?:[ \t]*(?:#[^\n]*)?\r?\n)*\.\.\.(?=\s|$)/

// What the collector's reader refuses: control characters but tab and line ends, non-characters, lone surrogates.
const UNREADABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff\p{Cs}]/u

/**
 * What ends a line, and with it a comment, for the collector's reader and not for the `yaml` package: a carriage return
 * alone, NEL, LS and PS. And a byte order mark where a line begins, which the collector's reader skips.
 */
const OTHER_LINE_END = /\r(?!\n)|[\u0085\u2028\u2029]|(?<=\n)\ufeff/

/**
 * The first document of a text as nodes, with every scalar a text. What follows it is not read, as the collector does
 * not read it either: neither text after `---`, nor root keys less indented than the first. With `keepTokens` each
 * node knows the tokens that it was made of.
 */
export function readFirstDocument(text: string, { keepTokens = false } = {}): YamlDocument {
  const lines = new LineCounter()
  const fail = (message: string, offset: number): YamlDocument => ({
    ok: false,
    problem: { message, offset },
    lines,
  })
  const unreadable = text.search(UNREADABLE)
  if (unreadable !== -1) {
    countLines(text, lines)
    return fail('a character that YAML does not allow', unreadable)
  }
  const lineEnd = text.search(OTHER_LINE_END)
  if (lineEnd !== -1) {
    countLines(text, lines)
    return fail('a line that ends with another character than a line feed', lineEnd)
  }
  try {
    const { head, document, problem } = composeFirst(text, keepTokens)
    countLines(text, lines)
    const tab = findForbiddenTab(head)
    if (tab !== null) return fail('a tab where only blanks may stand', tab)
    const hasMore = hasTextBehind(text, head)
    if (problem === null)
      return { ok: true, contents: document?.contents ?? null, lines, source: text, hasMore }
    // The package is stricter about the indentation of quoted texts and brackets than the collector.
    const indented = indentContinuations(text)
    const again = indented === text ? null : composeFirst(indented, keepTokens)
    if (again !== null && again.problem === null) {
      const indentedLines = new LineCounter()
      countLines(indented, indentedLines)
      const contents = again.document?.contents ?? null
      return { ok: true, contents, lines: indentedLines, source: indented, hasMore }
    }
    return fail(problem.message, problem.offset)
  } catch (error) {
    if (error instanceof NestedTooDeeply) return fail(error.message, error.offset)
    throw error
  }
}

/** Whether anything but comments and the marks of documents stands behind the first one. */
const hasTextBehind = (text: string, head: string): boolean =>
  !/^(?:[ \t]*(?:#[^\n]*|---[ \t]*|\.\.\.[ \t]*)?(?:\r?\n|$))*$/.test(text.slice(head.length))

interface Composed {
  /** The text of the first document. */
  head: string
  document: Document.Parsed | null
  /** The first thing that the collector's parser would not read. */
  problem: SyntaxProblem | null
}

function composeFirst(text: string, keepTokens: boolean): Composed {
  const first = firstTokens(text)
  const head = text.slice(0, first.end)
  const tokens = first.end === text.length ? first.tokens : [...readTokens(head)]
  const composer = new Composer({
    schema: 'failsafe',
    uniqueKeys: false,
    prettyErrors: false,
    strict: false,
    keepSourceTokens: keepTokens,
  })
  for (const document of composer.compose(tokens, true, head.length)) {
    const problem = first.problem ?? firstProblem(document, tokens)
    return { head: head.slice(0, document.range[2]), document, problem }
  }
  return { head, document: null, problem: first.problem }
}

function firstProblem(document: Document.Parsed, tokens: readonly CST.Token[]): SyntaxProblem | null {
  for (const error of document.errors) {
    if (TOLERATED.has(error.code) || error.message.startsWith(COMMENT_SPACING)) continue
    const at = error.pos[0]
    const opened = openedBefore(tokens, at)
    // The package says of a bracket that is never closed that what comes next is indented too little.
    const isBracket = opened !== null && error.code === 'BAD_INDENT' && error.message.startsWith('Flow ')
    const message = isBracket ? 'a bracket is not closed' : (MESSAGES[error.code] ?? 'not YAML')
    return { message, offset: opened ?? at }
  }
  return null
}

/**
 * The tokens of the first document, and where it ends for libyaml: at the first token behind a root value
 * that cannot go on.
 */
function firstTokens(text: string): { tokens: CST.Token[]; end: number; problem: SyntaxProblem | null } {
  const tokens: CST.Token[] = []
  const end = STRAY_END.exec(text)?.[0].length
  if (end !== undefined)
    return { tokens, end: text.length, problem: { message: MESSAGES['UNEXPECTED_TOKEN']!, offset: end } }
  let document: CST.Document | null = null
  for (const token of readTokens(text)) {
    // Text that cannot follow the first document is in the `end` of its token, or in an error token behind it.
    const behind = token.type === 'document' ? (token.end ?? []) : [token]
    const next = behind.find(({ type }) => type !== 'space' && type !== 'comment' && type !== 'newline')
    if (document !== null && next !== undefined && next.type !== 'error') break
    tokens.push(token)
    if (token.type === 'document') document = token
    if (document !== null && next !== undefined)
      return { tokens, ...endOfDocument(text, document, next.offset) }
  }
  return { tokens, end: text.length, problem: null }
}

/** Where a document ends that more text follows, from `offset` on; with a problem when it cannot stand there. */
function endOfDocument(
  text: string,
  document: CST.Document,
  offset: number,
): { end: number; problem: SyntaxProblem | null } {
  // Only text to the left of a document's keys or entries ends it; any other, such as a bracket too many, is wrong.
  if (columnOf(text, offset) >= blockIndent(document))
    return { end: text.length, problem: { message: MESSAGES['UNEXPECTED_TOKEN']!, offset } }
  // The collector's parser reads the next token before it ends the document, so there must at least be a token.
  const isReadable = startsWithToken(text.slice(offset))
  return { end: offset, problem: isReadable ? null : { message: MESSAGES['BAD_SCALAR_START']!, offset } }
}

/** The column of an offset, from 0. */
export const columnOf = (text: string, offset: number): number =>
  offset - (text.lastIndexOf('\n', offset - 1) + 1)

/** The column of a document's keys or entries; infinite for a root value of another kind. */
function blockIndent({ value }: CST.Document): number {
  return value?.type === 'block-map' || value?.type === 'block-seq' ? value.indent : Number.POSITIVE_INFINITY
}

/**
 * Where the quoted text or the bracket began that a problem at `at` leaves open: the collector names that place, and
 * it is there that something is missing. Null when none is open.
 */
function openedBefore(tokens: readonly CST.Token[], at: number): number | null {
  let opened: number | null = null
  const pending: (CST.Token | null | undefined)[] = [...tokens]
  for (let token = pending.pop(); token !== undefined; token = pending.pop()) {
    if (token === null) continue
    if (token.type === 'document') pending.push(token.value ?? null)
    else if (token.type === 'single-quoted-scalar' || token.type === 'double-quoted-scalar') {
      const [quote, { source, offset }] = [token.source[0]!, token]
      const isOpen = source.length === 1 || !source.endsWith(quote)
      if (isOpen && at >= offset && at <= offset + source.length) opened = Math.max(opened ?? 0, offset)
    } else if ('items' in token) {
      if (token.type === 'flow-collection' && isLeftOpen(token) && token.offset <= at)
        opened = Math.max(opened ?? 0, token.offset)
      for (const { key, value } of token.items) pending.push(key ?? null, value ?? null)
    }
  }
  return opened
}

const isLeftOpen = ({ end }: CST.FlowCollection): boolean =>
  !end.some(({ type }) => type === 'flow-seq-end' || type === 'flow-map-end')

/** Whether a text begins with a token that the collector's parser can scan; it scans what follows a document. */
function startsWithToken(rest: string): boolean {
  const line = rest.split('\n', 1)[0]!
  if (/^[@`%\t]/.test(line)) return false
  if (/^[>|]/.test(line)) return /^[>|][-+\d]*[ \t]*(?:#.*)?\r?$/.test(line)
  if (/^["']/.test(line)) return rest.indexOf(line[0]!, 1) !== -1
  return /^[[\]{}&*!?,-]/.test(line) || isPlainOrKey(rest)
}

/** A text without quotes may go on over lines, but is no key then. */
function isPlainOrKey(rest: string): boolean {
  let at = 0
  for (let isFirst = true; at < rest.length; isFirst = false) {
    const next = rest.indexOf('\n', at)
    const line = rest.slice(at, next === -1 ? rest.length : next)
    if (!isFirst && /^(?:---|\.\.\.)(?:\s|$)/.test(line)) return true
    const mark = /:(?=\s|$)|(?:^|\s)#/.exec(line)
    if (mark) return isFirst || mark[0] !== ':'
    if (next === -1) return true
    at = next + 1
  }
  return true
}

function countLines(text: string, lines: LineCounter): void {
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
}
