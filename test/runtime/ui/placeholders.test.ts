import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { BUILT_IN_TEMPLATES } from '../../../lib/configs/templates/built-in.ts'
import { unfilledPlaceholders } from '../../../lib/configs/templates/placeholders.ts'
import { fillPlaceholders, listPlaceholders, suggestFor } from '../../../runtime/ui/logic/placeholders.ts'

it.each(BUILT_IN_TEMPLATES)(
  '$id is filled in by its fields, with secrets left to the environment',
  ({ content }) => {
    const names = listPlaceholders(content)
    expect(names.length).toBeGreaterThan(0)
    const filled = fillPlaceholders(
      content,
      new Map(
        names.map((name) => [name, suggestFor(name) || (name === 'TLS_INSECURE' ? 'false' : 'a: #b "c"')]),
      ),
    )
    expect(listPlaceholders(filled)).toEqual([])
    expect(unfilledPlaceholders(filled)).toEqual([])
    const attributes = (
      parse(filled) as { processors: { resource: { attributes: Array<{ value: string }> } } }
    ).processors.resource.attributes
    expect(attributes[0]?.value).toBe('a: #b "c"')
    for (const secret of filled.match(/(?:password|Authorization): .*/g) ?? [])
      expect(secret).toMatch(/\$\{env:/)
  },
)

it('fills in what it is given only, also inside of a text', () => {
  const text = 'a: https://${HOST}/x\nb: ${OTHER}\nc: ${env:HOST}\nd: $${HOST}\n'
  expect(fillPlaceholders(text, new Map([['HOST', 'h']]))).toBe(
    'a: https://h/x\nb: ${OTHER}\nc: ${env:HOST}\nd: $${HOST}\n',
  )
})
