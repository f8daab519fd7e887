import { configHash } from '../../model/config-hash.ts'
import { unifiedDiff } from './unified-diff.ts'

/** Diffs are compared up to this length, in UTF-16 units. */
const COMPARED_LENGTH_MAX = 1_000_000
const LABELS = { before: '', after: '' }

/**
 * A key of how a text changes: equal for two changes that take and give the same lines, wherever in the text they
 * stand, with names of variables in place of their values.
 */
export function changeKey(before: string, after: string, values: Readonly<Record<string, string>>): string {
  const lines = changedLines(unifiedDiff(before, after, LABELS, COMPARED_LENGTH_MAX).text)
  return configHash(withoutValues(lines, values)).slice(0, 32)
}

/** The removed and added lines of a diff, without hunk headers and context. */
const changedLines = (diff: string): string =>
  diff
    .split('\n')
    .slice(2)
    .filter((line) => line.startsWith('-') || line.startsWith('+'))
    .join('\n')

/**
 * A diff with the names of variables where their values stand, so that workloads that differ by these alone are one
 * group.
 */
function withoutValues(diff: string, values: Readonly<Record<string, string>>): string {
  // The longest first, since one value may be part of another. A single character is left as it is: it would be found
  // everywhere in the text.
  const known = Object.entries(values)
    .filter(([, value]) => value.length > 1)
    .sort(([, a], [, b]) => b.length - a.length)
  return known.reduce((text, [name, value]) => text.replaceAll(value, () => `\${muster:${name}}`), diff)
}
