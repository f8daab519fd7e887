/** Items turned into text before others get their turn. */
const CHUNK = 200

/** The JSON of `{...head, [key]: items}`, piece by piece, for objects whose one large part is an array. */
export async function* streamLastArray(
  head: object,
  key: string,
  items: readonly unknown[],
): AsyncIterable<string> {
  const start = JSON.stringify(head).slice(0, -1)
  yield `${start}${start === '{' ? '' : ','}${JSON.stringify(key)}:[`
  for (let i = 0; i < items.length; i += CHUNK) {
    if (i > 0) await new Promise((resolve) => setImmediate(resolve))
    const chunk = items.slice(i, i + CHUNK).map((item) => JSON.stringify(item))
    yield `${i > 0 ? ',' : ''}${chunk.join(',')}`
  }
  yield ']}\n'
}
