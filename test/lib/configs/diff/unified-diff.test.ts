import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unifiedDiff } from '../../../../lib/configs/diff/unified-diff.ts'

const diff = (before: string, after: string, max = 100_000) =>
  unifiedDiff(before, after, { before: 'a', after: 'b' }, max)

/** Apply a unified diff as the program `patch` does. */
function apply(before: string, text: string): string {
  if (text === '') return before
  const lines = before === '' ? [] : before.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const out: string[] = []
  let at = 0
  let endsWithBreak = before === '' || before.endsWith('\n')
  let last = ' '
  for (const line of text.split('\n').slice(2, -1)) {
    const header = /^@@ -(\d+)(?:,(\d+))? /.exec(line)
    if (header) {
      const start = Number(header[1]) - (header[2] === '0' ? 0 : 1)
      while (at < start) out.push(lines[at++]!)
    } else if (line.startsWith('\\')) {
      if (last !== '-') endsWithBreak = false
    } else {
      if (line[0] !== '+') expect(line.slice(1)).toBe(lines[at++])
      if (line[0] !== '-') {
        out.push(line.slice(1))
        endsWithBreak = true
      }
      last = line[0]!
    }
  }
  const hasRest = at < lines.length
  while (at < lines.length) out.push(lines[at++]!)
  if (hasRest) endsWithBreak = before.endsWith('\n')
  return out.length === 0 ? '' : out.join('\n') + (endsWithBreak ? '\n' : '')
}

describe('a unified diff', () => {
  it('is empty for the same text', () => {
    expect(diff('a\nb\n', 'a\nb\n')).toEqual({ text: '', truncated: false })
  })

  it('shows only what changed, with three lines around it', () => {
    const before = Array.from({ length: 20 }, (_, n) => `line ${n + 1}\n`).join('')
    expect(diff(before, before.replace('line 10', 'changed')).text).toBe(
      [
        '--- a',
        '+++ b',
        '@@ -7,7 +7,7 @@',
        ...[' line 7', ' line 8', ' line 9', '-line 10', '+changed', ' line 11', ' line 12', ' line 13'],
        '',
      ].join('\n'),
    )
  })

  it('parts changes that are far from each other and joins those that are near', () => {
    const before = Array.from({ length: 40 }, (_, n) => `${n}\n`).join('')
    const far = before.replace('2\n', 'x\n').replace('30\n', 'y\n')
    expect(diff(before, far).text.match(/^@@/gm)).toHaveLength(2)
    const near = before.replace('\n12\n', '\nx\n').replace('\n18\n', '\ny\n')
    expect(diff(before, near).text.match(/^@@/gm)).toHaveLength(1)
  })

  it('says when it was cut', () => {
    const cut = diff('', 'line\n'.repeat(1_000), 200)
    expect(cut.truncated).toBe(true)
    expect(cut.text.length).toBeLessThanOrEqual(200)
    expect(cut.text.endsWith('\n')).toBe(true)
  })

  it('leads from one text to the other, by the fewest lines', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 14 })
      .map((lines) => lines.join('\n') + (lines.length % 2 === 0 && lines.length > 0 ? '\n' : ''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const changed = diff(before, after).text
        expect(apply(before, changed)).toBe(after)
        const edits = changed
          .split('\n')
          .slice(2)
          .filter((line) => /^[-+]/.test(line)).length
        expect(edits).toBe(fewestEdits(before, after))
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  it('stays right and quick when everything differs', () => {
    const before = Array.from({ length: 5_000 }, (_, n) => `old ${n}\n`).join('')
    const after = Array.from({ length: 5_000 }, (_, n) => `new ${n}\n`).join('')
    expect(apply(before, diff(before, after, 1_000_000).text)).toBe(after)
  })
})

/** The least number of changed lines, from a table of longest common subsequences. */
function fewestEdits(before: string, after: string): number {
  const lines = (text: string) => {
    const all = text === '' ? [] : text.split('\n')
    if (all.at(-1) === '') all.pop()
    else if (all.length > 0) all[all.length - 1] += ' without a break'
    return all
  }
  const [a, b] = [lines(before), lines(after)]
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++)
      table[i]![j] =
        a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!)
  return a.length + b.length - 2 * table[a.length]![b.length]!
}
