import { isAlias, isMap, isScalar, isSeq, type LineCounter, type ParsedNode } from 'yaml'

/** A place in a text: line and column, both from 1. */
export interface Place {
  line: number
  column: number
}

/**
 * Where a path such as `service.pipelines.traces.receivers[0]` stands; where its nearest parent does when the path
 * itself is not in the text, null when not even that is. Keys may hold dots.
 */
export function placeOfPath(contents: ParsedNode | null, lines: LineCounter, path: string): Place | null {
  let node: unknown = contents
  let rest = path
  let offset: number | null = null
  while (rest !== '') {
    const step = isMap(node)
      ? stepIntoMap(node.items, rest)
      : isSeq(node)
        ? stepIntoList(node.items, rest)
        : null
    if (step === null) break
    offset = step.offset ?? offset
    node = step.node
    rest = rest.slice(step.length).replace(/^\./, '')
    if (isAlias(node)) break
  }
  if (offset === null) return null
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

interface Step {
  node: unknown
  offset: number | null
  length: number
}

function stepIntoMap(items: ReadonlyArray<{ key: unknown; value: unknown }>, path: string): Step | null {
  let found: Step | null = null
  for (const { key, value } of items) {
    if (!isScalar(key)) continue
    const name = String(key.value ?? '')
    const after = path[name.length]
    const isHere = path.startsWith(name) && (after === undefined || after === '.' || after === '[')
    // `a.b` may be a key of its own: the longest one that fits counts.
    if (isHere && name.length > (found?.length ?? -1))
      found = { node: value, offset: key.range?.[0] ?? null, length: name.length }
  }
  return found
}

function stepIntoList(items: readonly unknown[], path: string): Step | null {
  const match = /^\[(\d+)\]/.exec(path)
  const node = match ? items[Number(match[1])] : undefined
  if (node === undefined || node === null) return null
  return { node, offset: (node as ParsedNode).range?.[0] ?? null, length: match![0].length }
}
