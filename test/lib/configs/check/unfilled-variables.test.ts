import { expect, it } from 'vitest'
import { validateStatically } from '../../../../lib/configs/check/validate.ts'

const BASE = `receivers: {otlp: {protocols: {grpc: {}}}}
exporters: {debug: {verbosity: VALUE}}
service: {pipelines: {traces: {receivers: [otlp], exporters: [debug]}}}
`

function errorsOf(text: string) {
  const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) }
  return validateStatically(text, about).checks.flatMap(({ messages }) =>
    messages.filter(({ severity }) => severity === 'error').map(({ code, path }) => [code, path]),
  )
}

it.each(['${muster:level}', '${muster:level:-basic}', '${muster:level', 'a${env:${muster:region}_LEVEL}'])(
  'what could be pushed must hold no variable: %s',
  (value) => {
    expect(errorsOf(BASE.replace('VALUE', () => `"${value}"`))).toContainEqual([
      'unfilled_variable',
      'exporters.debug.verbosity',
    ])
  },
)

it('nor may a key be one', () => {
  expect(errorsOf(BASE.replace('verbosity', '"${muster:what}"'))).toEqual([
    ['unfilled_variable', 'exporters.debug.${muster:what}'],
  ])
})

it.each(['$${muster:level}', 'basic" # ${muster:level}'])('which is none: %s', (value) => {
  const text = value.includes('#')
    ? BASE.replace('{verbosity: VALUE}', `{verbosity: "${value}\n }`)
    : BASE.replace('VALUE', () => `"${value}"`)
  expect(errorsOf(text)).toEqual([])
})
