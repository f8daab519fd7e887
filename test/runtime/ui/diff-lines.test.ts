import { expect, it } from 'vitest'
import { unifiedDiff } from '../../../lib/configs/diff/unified-diff.ts'
import { linesOfDiff } from '../../../runtime/ui/logic/diff-lines.ts'

it('a diff shows every line that a change takes and gives, also one that looks like a heading', () => {
  const before = '{exporters: {debug: {verbosity:\n-- basic}}}\n'
  const after = '{exporters: {debug: {verbosity:\n++ basic}, otlp/evil: {endpoint: evil.example.com}}}\n'
  const { text } = unifiedDiff(before, after, { before: 'as it is', after: 'planned' }, 10_000)
  expect(linesOfDiff(text)).toEqual([
    '@@ -1,2 +1,2 @@',
    ' {exporters: {debug: {verbosity:',
    '--- basic}}}',
    '+++ basic}, otlp/evil: {endpoint: evil.example.com}}}',
    '',
  ])
})
