/** A unified diff; `truncated` where it was cut. */
export interface UnifiedDiff {
  text: string
  truncated: boolean
}

/** Some lines of a unified diff, in their order, and how many come after them. */
export interface DiffLines {
  text: string
  linesLeft: number
}

/** One line of an edit script. */
interface Edit {
  kind: ' ' | '-' | '+'
  text: string
}

const CONTEXT = 3
/** Past this many differing lines the middle is shown as replaced, which is right but not minimal. */
const EDITS_MAX = 250

/**
 * The difference of two texts as a unified diff with three lines of context; '' when they are the same.
 * `truncated` tells that it was cut at `charactersMax`.
 */
export function unifiedDiff(
  before: string,
  after: string,
  labels: { before: string; after: string },
  charactersMax: number,
): UnifiedDiff {
  const edits = editLines(toLines(before), toLines(after))
  if (edits.every((edit) => edit.kind === ' ')) return { text: '', truncated: false }
  const text = [`--- ${labels.before}`, `+++ ${labels.after}`, ...toHunks(edits)].join('\n')
  if (text.length < charactersMax) return { text: `${text}\n`, truncated: false }
  const cut = text.slice(0, charactersMax)
  return { text: cut.slice(0, cut.lastIndexOf('\n') + 1), truncated: true }
}

/**
 * The lines of the difference of two texts from a line on (from 0), as many as fit into `charactersMax` and one at
 * least: so that nobody has to decide about a change of which he cannot see the end.
 */
export function diffLines(
  before: string,
  after: string,
  labels: { before: string; after: string },
  { from, charactersMax }: { from: number; charactersMax: number },
): DiffLines {
  const edits = editLines(toLines(before), toLines(after))
  if (edits.every((edit) => edit.kind === ' ')) return { text: '', linesLeft: 0 }
  // The line that says that a last line has no line break is one of its own here, as it is for whoever counts lines.
  const lines = [`--- ${labels.before}`, `+++ ${labels.after}`, ...toHunks(edits)].join('\n').split('\n')
  let text = ''
  let at = from
  for (; at < lines.length; at++) {
    const line = `${lines[at]!}\n`
    if (text !== '' && text.length + line.length > charactersMax) break
    text += line
  }
  return { text, linesLeft: Math.max(0, lines.length - at) }
}

/** A last line without a line break is another line than one with it. */
function toLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines[lines.length - 1] += '\n\\ No newline at end of file'
  return lines
}

function editLines(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const room = Math.min(before.length, after.length) - start
  while (end < room && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const same = (lines: readonly string[]): Edit[] => lines.map((text) => ({ kind: ' ', text }))
  return [
    ...same(before.slice(0, start)),
    ...editMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ]
}

/** Myers' shortest edit script, walked back through the furthest points of each round. */
function editMiddle(before: readonly string[], after: readonly string[]): Edit[] {
  const rounds = findRounds(before, after)
  if (rounds === null)
    return [
      ...before.map((text): Edit => ({ kind: '-', text })),
      ...after.map((text): Edit => ({ kind: '+', text })),
    ]
  const edits: Edit[] = []
  let x = before.length
  let y = after.length
  for (let d = rounds.length - 1; d > 0; d--) {
    const reached = rounds[d - 1]!
    const k = x - y
    const isInsert = k === -d || (k !== d && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1))
    const fromK = isInsert ? k + 1 : k - 1
    const fromX = reached.get(fromK)!
    const fromY = fromX - fromK
    while (x > fromX && y > fromY && x > 0 && y > 0 && before[x - 1] === after[y - 1]) {
      edits.push({ kind: ' ', text: before[--x]! })
      y--
    }
    if (isInsert) edits.push({ kind: '+', text: after[--y]! })
    else edits.push({ kind: '-', text: before[--x]! })
  }
  while (x > 0) {
    edits.push({ kind: ' ', text: before[--x]! })
    y--
  }
  return edits.reverse()
}

/** For each number of edits the furthest point on each diagonal; null when too many are needed. */
function findRounds(before: readonly string[], after: readonly string[]): Map<number, number>[] | null {
  const rounds: Map<number, number>[] = []
  let last = new Map([[1, 0]])
  for (let d = 0; d <= Math.min(before.length + after.length, EDITS_MAX); d++) {
    const reached = new Map<number, number>()
    for (let k = -d; k <= d; k += 2) {
      const down = last.get(k + 1) ?? -1
      const right = last.get(k - 1) ?? -1
      let x = k === -d || (k !== d && right < down) ? down : right + 1
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++
      reached.set(k, x)
      if (x >= before.length && x - k >= after.length) return [...rounds, reached]
    }
    rounds.push(reached)
    last = reached
  }
  return null
}

function toHunks(edits: readonly Edit[]): string[] {
  const out: string[] = []
  let index = 0
  let beforeLine = 1
  let afterLine = 1
  while (index < edits.length) {
    if (edits[index]!.kind === ' ') {
      index++
      beforeLine++
      afterLine++
      continue
    }
    const start = Math.max(0, index - CONTEXT)
    const lead = index - start
    const end = endOfHunk(edits, index)
    const hunk = edits.slice(start, end)
    const removed = hunk.filter((edit) => edit.kind !== '+').length
    const added = hunk.filter((edit) => edit.kind !== '-').length
    out.push(`@@ -${range(beforeLine - lead, removed)} +${range(afterLine - lead, added)} @@`)
    for (const edit of hunk) out.push(edit.kind + edit.text)
    beforeLine += removed - lead
    afterLine += added - lead
    index = end
  }
  return out
}

/** A hunk goes on while the next change is near enough for the contexts to touch. */
function endOfHunk(edits: readonly Edit[], from: number): number {
  let end = from
  let quiet = 0
  for (let i = from; i < edits.length && quiet <= 2 * CONTEXT; i++) {
    if (edits[i]!.kind === ' ') quiet++
    else {
      quiet = 0
      end = i + 1
    }
  }
  return Math.min(edits.length, end + CONTEXT)
}

const range = (line: number, count: number) => (count === 0 ? `${line - 1},0` : `${line},${count}`)
