import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { isNestedTooDeeply } from '../../../lib/configs/yaml/tokens.ts'

/** The steps of a path such as `service.pipelines.traces.exporters[0]`. */
function splitPath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map((match) =>
    match[1] === undefined ? (match[2] ?? '') : Number(match[1]),
  )
}

/** The line, from 1, of what a config path points at, or of the nearest thing around it. */
export function lineOfPath(text: string, path: string): number {
  if (isNestedTooDeeply(text)) return 1
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, logLevel: 'silent', strict: false })
  let offset = 0
  let node: unknown = document.contents
  let steps = splitPath(path)
  while (steps.length > 0) {
    if (isMap(node)) {
      const { items } = node
      // A key may hold dots itself (`otlp/eu.west`): the longest that fits wins.
      let taken = 0
      for (let count = steps.length; count > 0 && taken === 0; count--) {
        const key = steps.slice(0, count).join('.')
        const pair = items.find((item) => isScalar(item.key) && String(item.key.value) === key)
        if (pair && isScalar(pair.key)) {
          offset = pair.key.range?.[0] ?? offset
          node = pair.value
          taken = count
        }
      }
      if (taken === 0) break
      steps = steps.slice(taken)
    } else if (isSeq(node) && typeof steps[0] === 'number') {
      const item = node.items[steps[0]] as { range?: [number, number, number] } | undefined
      if (item === undefined) break
      offset = item.range?.[0] ?? offset
      node = item
      steps = steps.slice(1)
    } else break
  }
  return lineCounter.linePos(offset).line
}

/** The lines of a text that a config path points at, with the number of the first, from 1. */
export function linesOfPath(text: string, path: string): { first: number; lines: string[] } {
  const first = lineOfPath(text, path)
  const all = text.split('\n')
  const indentOf = (line: string) => /^\s*/.exec(line)?.[0].length ?? 0
  const top = indentOf(all[first - 1] ?? '')
  let end = first
  while (end < all.length && (all[end]?.trim() === '' || indentOf(all[end] ?? '') > top)) end++
  return { first, lines: all.slice(first - 1, end).map((line) => line.slice(top)) }
}
