/**
 * How long a piece of an answer is at least, in bytes or characters: whoever sends it has other work done between two, and
 * takes the next one when it is due.
 */
export const PIECE_BYTES = 65_536

/** A JSON array, piece by piece, so that other work goes on meanwhile. */
export async function* streamArray(items: Iterable<unknown>): AsyncIterable<string> {
  yield* arrayPieces(items)
  yield '\n'
}

/**
 * The JSON of an object with long lists in it, also below other objects, piece by piece. A list may be an array, or a
 * generator whose items are made when they are due.
 */
export async function* streamObject(object: object): AsyncIterable<string> {
  yield* objectPieces(object)
  yield '\n'
}

async function* objectPieces(object: object): AsyncIterable<string> {
  let separator = '{'
  for (const [key, value] of Object.entries(object)) {
    // JSON leaves undefined fields out.
    if (value === undefined) continue
    yield `${separator}${JSON.stringify(key)}:`
    separator = ','
    if (isList(value)) yield* arrayPieces(value)
    else if (typeof value === 'object' && value !== null && hasList(value)) yield* objectPieces(value)
    else yield JSON.stringify(value)
  }
  yield separator === '{' ? '{}' : '}'
}

const isList = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value

const hasList = (object: object) => Object.values(object).some(isList)

const arrayPieces = (items: Iterable<unknown>): AsyncIterable<string> =>
  joinPieces(
    (function* () {
      for (const item of items) yield JSON.stringify(item)
    })(),
  )

/** A JSON array of these texts, each the JSON of one item, in pieces. */
export async function* joinPieces(texts: Iterable<string> | AsyncIterable<string>): AsyncIterable<string> {
  let piece = '['
  let isFirst = true
  for await (const text of texts) {
    if (piece.length >= PIECE_BYTES) {
      yield piece
      piece = ''
    }
    piece += (isFirst ? '' : ',') + text
    isFirst = false
  }
  yield `${piece}]`
}
