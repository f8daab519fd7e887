import { array, defaulted, nullable, number, object, optional, string, type } from 'superstruct'
import { describe, expect, test } from 'vitest'
import { CampaignCreateRequest } from '../../lib/wire/campaigns.ts'
import { DiffRequest } from '../../lib/wire/diff.ts'
import { ApiTokenRequest, LoginRequest } from '../../lib/wire/identity.ts'
import { type AnyStruct, boundOf } from '../../lib/wire/structs.ts'
import { checkBody } from '../../runtime/body.ts'
import { type BodySpec, jsonBody } from '../../runtime/define.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'

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

test.each([
  ['{"change":{"kind":"nonsense"},"scope":{}}', 'change.kind: expected one of text, patch, version'],
  ['{"change":{"kind":"version","fleet_config_id":"f"},"scope":{}}', 'change.number: expected number'],
  ['{"change":{"kind":"text","colour":"red"},"scope":{}}', 'change.colour: expected no such field'],
  [
    '{"change":{"kind":"patch","where_unfit":"hunter2"},"scope":{}}',
    'change.where_unfit: expected one of skip, refuse',
  ],
])('%s says which of several things was meant, and what that lacks', (text, detail) => {
  const checked = check(CampaignCreateRequest, text)
  if (checked.ok) throw new Error('it was taken')
  expect(JSON.parse(String(checked.reply.body)).detail).toBe(detail)
})

/** What is made of a text, by what an endpoint would declare. */
function check(struct: unknown, text: string): ReturnType<typeof checkBody> {
  const spec = jsonBody(struct as never, { bytesMax: 4_194_304 })
  return checkBody(spec as BodySpec<unknown>, new TextEncoder().encode(text))
}
/** The code and the field that a text is refused with; null where it is taken. */
function refusalOf(struct: unknown, text: string): { code: string; field?: string; error: string } | null {
  const checked = check(struct, text)
  return checked.ok ? null : JSON.parse(String(checked.reply.body))
}
const many = (count: number, value: string) => Array(count).fill(value).join(',')

describe('what a patch says', () => {
  const patched = (patch: string) =>
    `{"name":"n","scope":{"workload_ids":["w"]},"change":{"kind":"patch","patch":${patch}}}`

  test('arrives as it was sent, with its nulls', () => {
    const patch = {
      merge: { processors: { 'batch/new': null, memory_limiter: { limit: 0.5, list: [null, { a: null }] } } },
      expect: [{ path: ['a'], value: null }],
    }
    expect(check(CampaignCreateRequest, patched(JSON.stringify(patch)))).toMatchObject({
      ok: true,
      body: { change: { patch } },
    })
  })

  test.each(['1e999', '-1e999', '12345678901234567890', '9007199254740993', '1e21'])(
    'is refused where it has the number %s, which would be stored as another one',
    (number) => {
      for (const patch of [
        `{"merge":{"a":{"b":[${number}]}}}`,
        `{"expect":[{"path":["a"],"value":${number}}]}`,
      ])
        expect(refusalOf(CampaignCreateRequest, patched(patch))).toMatchObject({
          code: 'body_number_unsafe',
          field: expect.stringMatching(/^change\.patch\.(merge\.a\.b\.0|expect\.0\.value)$/),
        })
    },
  )
})

describe('a null', () => {
  test('counts as absent in a field that takes none, and stays in one that does', () => {
    const fields = type({ a: optional(string()), b: nullable(string()), c: optional(nullable(string())) })
    expect(check(fields, '{"a":null,"b":null,"c":null}')).toEqual({ ok: true, body: { b: null, c: null } })
  })

  test('and a field that is unknown are refused by an object', () => {
    const fields = object({ a: optional(string()), b: optional(nullable(string())) })
    expect(check(fields, '{"b":null}')).toEqual({ ok: true, body: { b: null } })
    expect(refusalOf(fields, '{"a":null}')).toMatchObject({ code: 'invalid_body' })
    expect(refusalOf(fields, '{"c":1}')).toMatchObject({ error: 'the field "c" is unknown' })
  })
})

describe('a body of few bytes and many values', () => {
  test.each([
    ['peers', DiffRequest, `{"base_yaml":"a: 1","context":{"fleet_peers":[${many(600_000, '{}')}]}}`],
    ['permissions', ApiTokenRequest, `{"permissions":[${many(300_000, '""')}]}`],
    [
      'unknown fields',
      ApiTokenRequest,
      `{${Array.from({ length: 90_000 }, (_, i) => `"x${i}":1`).join(',')}}`,
    ],
    ['unknown values', LoginRequest, `{"x":[${many(90_000, '[]')}]}`],
  ])('is refused before its schema looks at it: %s', (_, struct, text) => {
    expect(refusalOf(struct, text)).toMatchObject({ code: 'body_values_too_many' })
  })

  test('is refused where one list or dictionary is longer than its schema takes', () => {
    const labels = Array.from({ length: 1_001 }, (_, i) => `"k${i}":"v"`).join(',')
    expect(refusalOf(DiffRequest, `{"context":{"labels":{${labels}}}}`)).toMatchObject({
      code: 'body_list_too_long',
      field: 'context.labels',
    })
    expect(refusalOf(ApiTokenRequest, `{"permissions":[${many(1_001, '""')}]}`)).toMatchObject({
      code: 'body_list_too_long',
      field: 'permissions',
    })
  })

  test('is not expected by any endpoint: each list and dictionary of a request says how many it takes', () => {
    const unbounded: string[] = []
    const look = (struct: AnyStruct, path: string) => {
      const isMany = struct.type === 'array' || struct.type === 'record'
      if (isMany && boundOf(struct) === null) unbounded.push(path)
      const parts = isMany
        ? { 0: struct.schema }
        : ['type', 'object', 'union'].includes(struct.type)
          ? struct.schema
          : {}
      for (const [name, part] of Object.entries(parts as Record<string, AnyStruct>))
        look(part, `${path}.${name}`)
    }
    for (const { id, definition } of loadFunctions(FUNCTIONS).http) {
      const body = definition.body as BodySpec<unknown>
      if (body.kind === 'json') look(body.struct as AnyStruct, id)
      if (body.kind === 'text' && body.json !== undefined) look(body.json, id)
    }
    expect(unbounded).toEqual([])
  })
})

describe('what is no text in the place of one', () => {
  test.each([
    ['an object that becomes none', '{"email":{"toString":0,"valueOf":0},"password":"x"}', 'invalid_body'],
    ['a list', '{"email":["a"],"password":"x"}', 'invalid_body'],
    ['a deep list', `{"email":${'['.repeat(3_900)}${']'.repeat(3_900)}}`, 'body_too_deep'],
    ['deep objects', `{"email":${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}}`, 'body_too_deep'],
  ])('is refused: %s', (_, text, code) => {
    expect(refusalOf(LoginRequest, text)).toMatchObject({ code })
  })

  test('in a long list is named by its place', () => {
    const refused = check(ApiTokenRequest, '{"permissions":["a",1]}')
    expect(JSON.parse(String(!refused.ok && refused.reply.body))).toMatchObject({
      code: 'invalid_body',
      detail: 'permissions.1: expected string',
    })
  })
})
