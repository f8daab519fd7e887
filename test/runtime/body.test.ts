import { array, defaulted, number, string, type } from 'superstruct'
import { expect, test } from 'vitest'
import { checkBody } from '../../runtime/body.ts'
import { type BodySpec, jsonBody } from '../../runtime/define.ts'

const spec = jsonBody(
  type({ name: string(), tags: defaulted(array(string()), () => []), rule: type({ hours: number() }) }),
)
/** What is answered to a body that is refused. */
const refuse = (text: string): { error: string; detail?: string } => {
  const checked = checkBody(spec as BodySpec<unknown>, new TextEncoder().encode(text))
  if (checked.ok) throw new Error('it was taken')
  return JSON.parse(String(checked.reply.body))
}

test.each([
  ['{"rule":{"hours":1}}', 'the field "name" is missing'],
  ['{"name":null,"rule":{"hours":1}}', 'the field "name" is missing'],
  ['{"name":"a","rule":{}}', 'the field "rule.hours" is missing'],
  ['{"name":"a"}', 'the field "rule" is missing'],
  ['{}', 'the field "name" is missing'],
  ['{', 'invalid JSON'],
  ['[]', 'invalid JSON'],
  ['"name"', 'invalid JSON'],
  ['{"name":1,"rule":{"hours":1}}', 'invalid JSON'],
])('%s is refused with: %s', (text, error) => {
  expect(refuse(text).error).toBe(error)
})

test('a field of the wrong kind is named beside the refusal, without its value', () => {
  const { detail } = refuse('{"name":{"password":"hunter2"},"rule":{"hours":1}}')
  expect(detail).toContain('name: expected')
  expect(detail).not.toContain('hunter2')
})
