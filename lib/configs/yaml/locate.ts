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

type Items = ReadonlyArray<{ key: unknown; value: unknown }>

/** The keys of each mapping in which a place was sought: one check may ask for thousands of places in one mapping. */
const indexes = new WeakMap<Items, Map<string, Items[number]>>()

function indexOf(items: Items): Map<string, Items[number]> {
  const known = indexes.get(items)
  if (known !== undefined) return known
  const made = new Map<string, Items[number]>()
  for (const item of items) {
    if (!isScalar(item.key)) continue
    const name = String(item.key.value ?? '')
    if (!made.has(name)) made.set(name, item)
  }
  indexes.set(items, made)
  return made
}

/** Most beginnings of a path that are tried as a key; nobody writes keys with so many dots. */
const TRIES_MAX = 100

function stepIntoMap(items: Items, path: string): Step | null {
  const index = indexOf(items)
  let end = path.length
  // `a.b` may be a key of its own: the longest one that fits counts.
  for (let tries = 0; end >= 0 && tries < TRIES_MAX; tries++) {
    const item = index.get(path.slice(0, end))
    if (item !== undefined && isScalar(item.key))
      return { node: item.value, offset: item.key.range?.[0] ?? null, length: end }
    end = end === 0 ? -1 : Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1))
  }
  return null
}

function stepIntoList(items: readonly unknown[], path: string): Step | null {
  const match = /^\[(\d+)\]/.exec(path)
  const node = match ? items[Number(match[1])] : undefined
  if (node === undefined || node === null) return null
  return { node, offset: (node as ParsedNode).range?.[0] ?? null, length: match![0].length }
}
