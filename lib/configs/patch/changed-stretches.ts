import { isSameValue } from '../yaml/equal.ts'
import { plainKeyAt } from '../yaml/plain.ts'
import { type ConfigObject, isObject } from '../yaml/value.ts'

/** Whole lines of a text that are a mapping by themselves, and what they are to say. */
export interface Stretch {
  start: number
  end: number
  target: ConfigObject
}

/** One key of a mapping that is written line by line, with the lines of its value and all up to the next key. */
interface Line {
  key: string
  start: number
  end: number
  column: number
  /** Where the lines below the key begin; null where its value stands beside it. */
  below: number | null
}

/**
 * The smallest stretches of a text which hold all in which it differs from `target`, first to last: one entry of a mapping
 * each. Null where the text's own keys differ. Only of a text that `readPlainConfig` reads, which says `value`: there a
 * line that holds no comment begins a key or an entry of a list, and nothing outside of a stretch bears on it.
 */
export function findChangedStretches(
  text: string,
  value: ConfigObject,
  target: ConfigObject,
): Stretch[] | null {
  if (!haveSameKeys(value, target)) return null
  const found: Stretch[] = []
  collect({ text, start: 0, end: text.length, value, target }, found)
  return found
}

function collect(
  { text, start, end, value, target }: Stretch & { text: string; value: ConfigObject },
  found: Stretch[],
): void {
  for (const line of linesOf(text, start, end)) {
    const before = value[line.key]
    const after = target[line.key]
    if (isSameValue(before, after)) continue
    const isInside = line.below !== null && isObject(before) && isObject(after) && haveSameKeys(before, after)
    if (isInside) collect({ text, start: line.below!, end: line.end, value: before, target: after }, found)
    else
      found.push({
        start: line.start,
        end: line.end,
        target: { [line.key]: after! },
      })
  }
}

/** By how much such a text indents: the column of the first key inside the first key that has lines of its own. */
export function indentationOf(text: string, value: ConfigObject): number {
  for (const { key, end, below } of linesOf(text, 0, text.length)) {
    if (below === null || !isObject(value[key])) continue
    const column = linesOf(text, below, end)[0]?.column ?? 0
    if (column > 0 && column <= 8) return column
  }
  return 2
}

const haveSameKeys = (a: ConfigObject, b: ConfigObject): boolean => {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key))
}

/** The keys of a mapping that is written on these lines. */
function linesOf(text: string, start: number, end: number): Line[] {
  const lines: Line[] = []
  let column = -1
  for (let at = start; at < end; ) {
    const lineEnd = text.indexOf('\n', at)
    const next = lineEnd === -1 ? text.length : lineEnd + 1
    let first = at
    while (text[first] === ' ') first++
    const key = plainKeyAt(text, first)
    if (key !== null && column === -1) column = first - at
    if (key !== null && first - at === column) {
      const last = lines.at(-1)
      if (last !== undefined) last.end = at
      lines.push({ key: key.name, start: at, end, column, below: key.isLineOver ? next : null })
    }
    at = next
  }
  return lines
}
