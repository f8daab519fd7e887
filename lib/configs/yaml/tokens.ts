import { type CST, Lexer, Parser } from 'yaml'

/**
 * Deeper than any config is nested, and a fraction of what the stack holds. Functions that walk nodes are recursive,
 * and a JavaScript engine that runs out of stack while it compiles a regular expression ends the whole process.
 */
export const NESTING_MAX = 200

/** Thrown for a text that is nested deeper than `NESTING_MAX`. */
export class NestedTooDeeply extends Error {
  override readonly name = 'NestedTooDeeply'
  /** Offset in UTF-16 units. */
  readonly offset: number
  constructor(offset: number) {
    super('values are nested too deeply')
    this.offset = offset
  }
}

/** The tokens of a text, as the parser of the `yaml` package makes them. Throws `NestedTooDeeply`. */
export function* readTokens(text: string): Generator<CST.Token, void> {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > NESTING_MAX) throw new NestedTooDeeply(parser.offset)
  }
  yield* parser.end()
}

/** Whether a text is nested so deeply that nodes must not be built of it. */
export function isNestedTooDeeply(text: string): boolean {
  try {
    for (const _ of readTokens(text));
    return false
  } catch (error) {
    if (error instanceof NestedTooDeeply) return true
    throw error
  }
}
