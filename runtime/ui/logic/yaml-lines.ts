import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { isNestedTooDeeply } from '../../../lib/configs/yaml/tokens.ts'

/** The steps of a path such as `service.pipelines.traces.exporters[0]`. */
function splitPath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map((match) =>
    match[1] === undefined ? (match[2] ?? '') : Number(match[1]),
  )
}

/** What a config path points at, or the nearest thing around it, and where that begins. */
interface Found {
  node: unknown
  offset: number
  /** It is what the path points at. */
  isThere: boolean
}

function findAt(contents: unknown, path: string): Found {
  let offset = 0
  let node = contents
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
  return { node, offset, isThere: steps.length === 0 }
}

const parse = (text: string, lineCounter?: LineCounter) =>
  parseDocument(text, { ...(lineCounter ? { lineCounter } : {}), logLevel: 'silent', strict: false })

/** The line, from 1, of what a config path points at, or of the nearest thing around it. */
export function lineOfPath(text: string, path: string): number {
  if (isNestedTooDeeply(text)) return 1
  const lineCounter = new LineCounter()
  const { contents } = parse(text, lineCounter)
  return lineCounter.linePos(findAt(contents, path).offset).line
}

/** So much of a value is shown beside its path. */
const VALUE_MAX = 120

/** The value at a config path on one line, as far as there is room; null where there is nothing. */
export function valueAt(text: string, path: string): string | null {
  if (isNestedTooDeeply(text)) return null
  const document = parse(text)
  const { node, isThere } = findAt(document.contents, path)
  if (!isThere) return null
  const shown = isScalar(node)
    ? String(node.value)
    : JSON.stringify(isNode(node) ? node.toJS(document) : null)
  return shown.length > VALUE_MAX ? `${shown.slice(0, VALUE_MAX)}…` : shown
}

/**
 * The line, from 1, of a part of a config that is about one of these texts, such as the host that it cannot reach; else
 * the part's first. Null where the config has no such part.
 */
export function faultLine(text: string, path: string, about: readonly string[]): number | null {
  if (isNestedTooDeeply(text) || !findAt(parse(text).contents, path).isThere) return null
  const { first, lines } = linesOfPath(text, path)
  const at = lines.findIndex((line) => about.some((word) => line.includes(word)))
  return first + Math.max(0, at)
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
