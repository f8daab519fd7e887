import { expect, test } from 'vitest'
import { findStillThere, lineOfFault, pickTouched } from '../../../runtime/ui/logic/still-there.ts'

const about = (error_parameters: Record<string, string>, cause = 'connection_failed') => ({
  cause,
  error_parameters,
})
const DRAFT = `receivers:
  otlp: {protocols: {grpc: {endpoint: "0.0.0.0:4318"}}}
exporters:
  # It was dead:4317.
  otlp: {endpoint: "otel:4317"}
`

test('of a port that was in use nothing is said: a draft may name it for what is at the other end', () => {
  expect(findStillThere(about({ port: '4317' }, 'port_in_use'), DRAFT)).toBeNull()
  expect(
    findStillThere(about({ port: '4317', component_type: 'otlp' }, 'component_unknown'), DRAFT),
  ).toBeNull()
})

test('a host is there where a value names it, and not where only a comment does', () => {
  const dead = { about: { address: 'dead:4317' } }
  expect(findStillThere(about({ address: 'dead:4317' }), DRAFT)).toEqual({ ...dead, isThere: false })
  const isBack = DRAFT.replace('otel:4317', 'dead:4317')
  expect(findStillThere(about({ address: 'dead:4317' }), isBack)).toEqual({ ...dead, isThere: true })
  const behind = DRAFT.replace('{endpoint: "otel:4317"}', '{endpoint: "otel:4317"}  # was dead:4317')
  expect(findStillThere(about({ address: 'dead:4317' }), behind)).toBeNull()
})

test('a component that this collector lacks is there by its name, one that was set wrongly may be mended', () => {
  const otlp = { component_type: 'otlp' }
  expect(findStillThere(about(otlp, 'component_unknown'), DRAFT)).toEqual({ about: otlp, isThere: true })
  expect(findStillThere(about(otlp, 'component_settings_invalid'), DRAFT)).toBeNull()
  expect(findStillThere(about(otlp, 'component_undefined'), DRAFT)).toBeNull()
  const kafka = { component_type: 'kafka' }
  expect(findStillThere(about(kafka, 'component_undefined'), DRAFT)).toEqual({
    about: kafka,
    isThere: false,
  })
})

test('of what fails those are named that a change does something to, else those that it leaves, and none that is not known', () => {
  const [changed, left, unknown] = [
    { component: 'a', is_changed: true },
    { component: 'b', is_changed: false },
    { component: 'c' },
  ]
  expect(pickTouched([changed, left, unknown])).toEqual({ names: ['a'], isChanged: true })
  expect(pickTouched([left, unknown])).toEqual({ names: ['b'], isChanged: false })
  expect(pickTouched([unknown])).toEqual({ names: [], isChanged: false })
})

test('the line that an error is about is the one it names, or the first that names what it is about', () => {
  expect(lineOfFault(about({ yaml_line: '3' }), DRAFT)).toBe(3)
  expect(lineOfFault(about({ address: 'otel:4317' }), DRAFT)).toBe(5)
  // A comment is not what fails.
  expect(lineOfFault(about({ address: 'dead:4317' }), DRAFT)).toBeNull()
  expect(lineOfFault(about({ port: '4318' }, 'port_in_use'), DRAFT)).toBe(2)
  expect(lineOfFault(undefined, DRAFT)).toBeNull()
})
