import { configHash } from '../../model/config-hash.ts'
import { unifiedDiff } from './unified-diff.ts'

/** Diffs are compared up to this length, in UTF-16 units. */
const COMPARED_LENGTH_MAX = 1_000_000
const LABELS = { before: '', after: '' }

/**
 * A key of how a text changes: equal for two changes that take and give the same lines below the same keys, on whatever
 * lines of the text these stand, with names of variables in place of their values.
 */
export function changeKey(before: string, after: string, values: Readonly<Record<string, string>>): string {
  const { text } = unifiedDiff(before, after, LABELS, COMPARED_LENGTH_MAX)
  return configHash(withoutValues(placeLines(text, before, after), values)).slice(0, 32)
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)/

/** The removed and added lines of a diff, each behind the keys that it stands below. */
function placeLines(diff: string, before: string, after: string): string {
  const sides = { '-': openPlaces(before), '+': openPlaces(after) }
  const at = { '-': 0, '+': 0 }
  const placed: string[] = []
  for (const line of diff.split('\n').slice(2)) {
    const hunk = HUNK.exec(line)
    if (hunk !== null) Object.assign(at, { '-': Number(hunk[1]) - 1, '+': Number(hunk[2]) - 1 })
    else if (line.startsWith('-') || line.startsWith('+')) {
      const side = line[0] as '-' | '+'
      placed.push(`${sides[side](at[side]++)}\n${line}`)
    } else {
      at['-']++
      at['+']++
    }
  }
  return placed.join('\n')
}

/** Make a function that says which keys a line of a YAML text, counted from 0, stands below: by how lines are indented. */
function openPlaces(text: string): (line: number) => string {
  const above: string[] = []
  const open: { depth: number; path: string }[] = []
  for (const line of text.split('\n')) {
    const content = line.trimStart()
    if (content === '' || content.startsWith('#')) {
      above.push(open.at(-1)?.path ?? '')
      continue
    }
    // An entry of a list may be indented as its key is.
    const isEntry = content.startsWith('-')
    const depth = 2 * (line.length - content.length) + (isEntry ? 1 : 0)
    while (open.length > 0 && open.at(-1)!.depth >= depth) open.pop()
    const path = open.at(-1)?.path ?? ''
    above.push(path)
    open.push({
      depth,
      path: `${path}/${isEntry ? '-' : content.slice(0, KEY_LENGTH_MAX).split(':', 1)[0]!}`,
    })
  }
  return (line) => (above[line] ?? '').slice(-PATH_LENGTH_MAX)
}

/** Keys and the places made of them are looked at so far: longer ones are no keys of components. */
const KEY_LENGTH_MAX = 200
const PATH_LENGTH_MAX = 1_000

/**
 * A text or diff with the names of variables where their values stand, so that workloads that differ by these alone are one
 * group.
 */
export function withoutValues(diff: string, values: Readonly<Record<string, string>>): string {
  // The longest first, since one value may be part of another. A single character is left as it is: it would be found
  // everywhere in the text.
  const known = Object.entries(values)
    .filter(([, value]) => value.length > 1)
    .sort(([, a], [, b]) => b.length - a.length)
  if (known.length === 0) return diff
  const byStart = new Map<string, [name: string, value: string][]>()
  for (const one of known) {
    const start = one[1].slice(0, 2)
    byStart.set(start, [...(byStart.get(start) ?? []), one])
  }
  // In one pass: a name that was put in may hold the value of another variable, and must stay as it is.
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < diff.length; at++) {
    const found = byStart.get(diff.slice(at, at + 2))?.find(([, value]) => diff.startsWith(value, at))
    if (found === undefined) continue
    const [name, value] = found
    parts.push(diff.slice(from, at), `\${muster:${name}}`)
    from = at + value.length
    at = from - 1
  }
  return parts.join('') + diff.slice(from)
}
