/** Items turned into text before others get their turn. */
const CHUNK = 200

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The JSON of an object with long arrays in it, piece by piece, so that nobody waits for all of it. */
export async function* streamObject(object: object): AsyncIterable<string> {
  let separator = '{'
  for (const [key, value] of Object.entries(object)) {
    yield `${separator}${JSON.stringify(key)}:`
    separator = ','
    if (!Array.isArray(value)) {
      yield JSON.stringify(value)
      continue
    }
    yield '['
    for (let i = 0; i < value.length; i += CHUNK) {
      if (i > 0) await nextTurn()
      const items = value.slice(i, i + CHUNK).map((item) => JSON.stringify(item))
      yield `${i > 0 ? ',' : ''}${items.join(',')}`
    }
    yield ']'
  }
  yield separator === '{' ? '{}\n' : '}\n'
}
