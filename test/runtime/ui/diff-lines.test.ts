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

it('a diff writes out signs that turn or hide what stands beside them', () => {
  const after = 'endpoint: safe.example.com # \u202e \u2066moc.live\u2069\u200b\n'
  const { text } = unifiedDiff('', after, { before: 'as it is', after: 'planned' }, 10_000)
  expect(linesOfDiff(text)).toContain(
    '+endpoint: safe.example.com # \\u{202e} \\u{2066}moc.live\\u{2069}\\u{200b}',
  )
})
