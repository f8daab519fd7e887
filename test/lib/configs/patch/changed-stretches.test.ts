import { describe, expect, it } from 'vitest'
import { findChangedStretches, indentationOf } from '../../../../lib/configs/patch/changed-stretches.ts'
import { patchConfig } from '../../../../lib/configs/patch/patch.ts'
import { readPlainConfig } from '../../../../lib/configs/yaml/plain.ts'
import type { ConfigObject } from '../../../../lib/configs/yaml/value.ts'

const TEXT = `# A gateway.
receivers:
  otlp:
    protocols:
      grpc: {}
    # Of all hosts.
  "host metrics": # each minute
    scrapers:
    - cpu
    - name: disk

exporters:
  debug: {}
  otlp:
    endpoint: a:4317
    # Half a minute.
    timeout: 30s
service:
  pipelines: {}
`

const VALUE = readPlainConfig(TEXT)!
/** The text's stretches that differ once some sections are others. */
const changed = (sections: ConfigObject) =>
  findChangedStretches(TEXT, VALUE, { ...VALUE, ...sections })?.map(({ start, end }) =>
    TEXT.slice(start, end),
  )

describe('what differs of a text', () => {
  it('is one entry of a mapping, however deep, with all lines up to the next key', () => {
    expect(changed({ exporters: { debug: {}, otlp: { endpoint: 'b:4317', timeout: '30s' } } })).toEqual([
      '    endpoint: a:4317\n    # Half a minute.\n',
    ])
    expect(
      changed({ receivers: { otlp: { protocols: {} }, 'host metrics': { scrapers: ['cpu'] } } }),
    ).toEqual([
      '    protocols:\n      grpc: {}\n    # Of all hosts.\n',
      '    scrapers:\n    - cpu\n    - name: disk\n\n',
    ])
  })

  it('is the mapping that gets a key or loses one, with its own key', () => {
    expect(changed({ exporters: { debug: {}, otlp: { endpoint: 'a:4317' } } })).toEqual([
      '  otlp:\n    endpoint: a:4317\n    # Half a minute.\n    timeout: 30s\n',
    ])
    expect(changed({ exporters: { debug: { verbosity: 'basic' }, otlp: {} } })).toEqual([
      '  debug: {}\n',
      '  otlp:\n    endpoint: a:4317\n    # Half a minute.\n    timeout: 30s\n',
    ])
  })

  it('is nothing where nothing does, and no stretch where the keys of the text do', () => {
    expect(changed({})).toEqual([])
    expect(changed({ extensions: {} })).toBeUndefined()
  })
})

it('a text indents as its first key does that has lines of its own', () => {
  const of = (text: string) => indentationOf(text, readPlainConfig(text)!)
  expect([of(TEXT), of('a: {}\nb:\n- 1\nc:\n    d: 1\n'), of('a: 1\n')]).toEqual([2, 4, 2])
})

it('a change gives the same text whether only stretches of it are edited or, for an anchor in it, all', () => {
  const merge = {
    exporters: { debug: { verbosity: 'basic' }, otlp: { timeout: '5s', tls: { insecure: true } } },
  }
  const patch = { merge, remove: [['receivers', 'otlp', 'protocols', 'grpc']] }
  const last = 'last: &anchor 1\n'
  const whole = patchConfig(TEXT + last, patch)
  const inPart = patchConfig(TEXT, patch)
  if (!whole.ok || !inPart.ok) throw new Error('the patch was refused')
  expect(inPart.text + last).toBe(whole.text)
  expect(inPart.text).toContain('    # Half a minute.\n    timeout: 5s\n    tls:\n      insecure: true\n')
})
