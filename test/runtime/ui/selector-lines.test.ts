import { expect, it } from 'vitest'
import { readSelectorLines, selectorLines } from '../../../runtime/ui/logic/selector-lines.ts'

it('conditions are read as Kubernetes writes them, and written the same', () => {
  const text =
    'muster/env=prod\nidentity/host.name in (web-*, db-?)\nmuster/tier notin (core)\nmuster/site\n!muster/kept'
  const read = readSelectorLines(`\n ${text}\n`)
  expect(read).toEqual({
    ok: true,
    conditions: {
      match_labels: { 'muster/env': 'prod' },
      match_expressions: [
        { key: 'identity/host.name', operator: 'In', values: ['web-*', 'db-?'] },
        { key: 'muster/tier', operator: 'NotIn', values: ['core'] },
        { key: 'muster/site', operator: 'Exists' },
        { key: 'muster/kept', operator: 'DoesNotExist' },
      ],
    },
  })
  expect(read.ok && selectorLines(read.conditions).join('\n')).toBe(text)
})

it.each(['a b', 'a in ()', 'a=', '=b', 'a!=b', 'a in (b', '!'])('%j is no condition', (line) => {
  expect(readSelectorLines(`muster/env=prod\n${line}`)).toEqual({ ok: false, line })
})

it('a key with two values is no condition that could be met', () => {
  expect(readSelectorLines('a=b\na=c')).toEqual({ ok: false, line: 'a=c' })
})
