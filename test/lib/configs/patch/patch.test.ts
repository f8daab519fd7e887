import { describe, expect, it } from 'vitest'
import { type ConfigPatch, type Patching, patchConfig } from '../../../../lib/configs/patch/patch.ts'

function textOf(patching: Patching): string {
  if (!patching.ok) throw new Error(`${patching.problem.code}: ${patching.problem.message}`)
  return patching.text
}

const BASE = `# the edge
receivers:
  otlp: # from apps
    protocols: {grpc: {endpoint: "0.0.0.0:4317"}} # plain
exporters:
  # to the core
  otlp/core:
    endpoint: core:4317 # by name
    sending_queue:
      storage: file_storage
extensions:
  file_storage: {directory: /var/lib}
service:
  extensions: [file_storage]
  pipelines:
    traces: # all of them
      receivers: [otlp]
      exporters:
        - otlp/core # the only one
    logs:
      receivers: [otlp]
      exporters: [otlp/core, debug]
`

const change = (patch: ConfigPatch, base = BASE) => textOf(patchConfig(base, patch))

/** The lines that a patch removes and adds. */
function linesOf(patch: ConfigPatch, base = BASE): { out: string[]; in: string[] } {
  const [before, after] = [base.split('\n'), change(patch, base).split('\n')]
  return {
    out: before.filter((line) => !after.includes(line)),
    in: after.filter((line) => !before.includes(line)),
  }
}

describe('a patch', () => {
  it('merges mappings, replaces lists and single values, and takes null for a value', () => {
    const merge = {
      exporters: { 'otlp/core': { endpoint: 'core-2:4317', compression: null } },
      processors: { batch: {}, attributes: { actions: [{ key: 'a', value: '1' }] } },
      service: { extensions: ['file_storage', 'health_check'] },
    }
    expect(linesOf({ merge })).toEqual({
      out: ['    endpoint: core:4317 # by name', '  extensions: [file_storage]'],
      in: [
        '    endpoint: core-2:4317 # by name',
        '    compression: null',
        '  extensions: [file_storage, health_check]',
        'processors:',
        '  batch: {}',
        '  attributes:',
        '    actions:',
        '      - key: a',
        '        value: "1"',
      ],
    })
  })

  it('gives a value to a key that has none, and leaves the comments behind it where they are', () => {
    const text = 'receivers:\n  nop: # takes nothing\n\n# what is\n# sent\nexporters:\n  nop:\n'
    const expected = (value: string) => text.replace('nop: # takes nothing\n', value)
    expect(change({ merge: { receivers: { nop: 'a # b' } } }, text)).toBe(
      expected('nop: "a # b" # takes nothing\n'),
    )
    expect(change({ merge: { receivers: { nop: { a: 1 } } } }, text)).toBe(
      expected('nop: # takes nothing\n    a: 1\n'),
    )
  })

  it('removes what is there, and does not fit where it is not', () => {
    expect(linesOf({ remove: [['exporters', 'otlp/core', 'sending_queue']] })).toEqual({
      out: ['    sending_queue:', '      storage: file_storage'],
      in: [],
    })
    expect(linesOf({ remove: [['receivers', 'otlp', 'protocols', 'grpc']] }).in).toEqual([
      '    protocols: {} # plain',
    ])
    expect(patchConfig(BASE, { remove: [['exporters', 'kafka']] })).toMatchObject({
      problem: { code: 'patch_does_not_fit', message: 'exporters::kafka is not there' },
    })
  })

  it('fits only what is expected', () => {
    const expected = (expectation: object) => patchConfig(BASE, { expect: [expectation as never] }).ok
    expect(expected({ path: ['exporters', 'otlp/core', 'endpoint'], value: 'core:4317' })).toBe(true)
    expect(expected({ path: ['exporters', 'otlp/core', 'endpoint'], value: 'other' })).toBe(false)
    expect(expected({ path: ['processors'], exists: false })).toBe(true)
    expect(expected({ path: ['toString'], exists: true })).toBe(false)
  })

  it('renames an exporter where it is defined and in its pipelines', () => {
    const rename_component = [{ category: 'exporters', from: 'otlp/core', to: 'otlp/hub' } as const]
    expect(linesOf({ rename_component })).toEqual({
      out: ['  otlp/core:', '        - otlp/core # the only one', '      exporters: [otlp/core, debug]'],
      in: ['  otlp/hub:', '        - otlp/hub # the only one', '      exporters: [otlp/hub, debug]'],
    })
    expect(patchConfig(BASE, { rename_component: [{ category: 'exporters', from: 'no', to: 'x' }] }).ok).toBe(
      false,
    )
  })

  it('renames a connector at both of its ends', () => {
    const base =
      'connectors: {spanmetrics: {}}\nservice: {pipelines: {traces: {receivers: [otlp], exporters: [spanmetrics]}, metrics: {receivers: [spanmetrics], exporters: [debug]}}}\n'
    expect(
      change({ rename_component: [{ category: 'connectors', from: 'spanmetrics', to: 'count' }] }, base),
    ).toBe(base.replaceAll('spanmetrics', 'count'))
  })

  it('renames an extension where it is started and where it stores, and names the other places', () => {
    const base = `${BASE}# end\n`.replace('endpoint: core:4317', 'endpoint: file_storage')
    const outcome = patchConfig(base, {
      rename_component: [{ category: 'extensions', from: 'file_storage', to: 'file_storage/a' }],
    })
    expect(textOf(outcome)).toBe(
      base
        .replace('storage: file_storage', 'storage: file_storage/a')
        .replace('  file_storage: {', '  file_storage/a: {')
        .replace('[file_storage]', '[file_storage/a]'),
    )
    expect(outcome).toMatchObject({ otherMatches: ['exporters::otlp/core::endpoint'] })
  })

  it('adds to pipelines by globs, next to another, once', () => {
    const pipeline = [
      { pipelines: ['*'], role: 'processors', add: 'batch' },
      { pipelines: ['logs', 'metrics*'], role: 'exporters', add: 'kafka', before: 'debug' },
      { pipelines: ['traces'], role: 'exporters', add: 'kafka', after: 'otlp/core' },
    ] as const
    expect(linesOf({ pipeline })).toEqual({
      out: ['      exporters: [otlp/core, debug]'],
      in: [
        '        - kafka',
        '      processors:',
        '        - batch',
        '      exporters: [otlp/core, kafka, debug]',
        '      processors:',
        '        - batch',
      ],
    })
    expect(change({ pipeline: [{ pipelines: ['*'], role: 'receivers', add: 'otlp' }] })).toBe(BASE)
    expect(patchConfig(BASE, { pipeline: [{ pipelines: ['x'], role: 'receivers', add: 'a' }] }).ok).toBe(
      false,
    )
  })

  it('takes out of pipelines', () => {
    expect(linesOf({ pipeline: [{ pipelines: ['logs'], role: 'exporters', remove: 'otlp/core' }] })).toEqual({
      out: ['      exporters: [otlp/core, debug]'],
      in: ['      exporters: [debug]'],
    })
    expect(
      linesOf({ pipeline: [{ pipelines: ['traces'], role: 'exporters', remove: 'otlp/core' }] }),
    ).toEqual({
      out: ['      exporters:', '        - otlp/core # the only one'],
      in: ['      exporters: [] # the only one'],
    })
  })

  it('refuses a second document, and what is no config', () => {
    expect(patchConfig(`${BASE}---\na: 1\n`, { merge: {} })).toMatchObject({
      problem: { code: 'patch_base_invalid', message: 'the config holds a second document' },
    })
    expect(patchConfig(`---\n${BASE}...\n# nothing\n`, { merge: { a: 1 } }).ok).toBe(true)
    expect(patchConfig('a: [', { merge: {} })).toMatchObject({ problem: { code: 'patch_base_invalid' } })
  })

  it('leaves a text as it is that says so already', () => {
    expect(change({ merge: { service: { extensions: ['file_storage'] } } })).toBe(BASE)
  })
})

describe('anchors and merge keys', () => {
  const SHARED = `a: &x
  k: 1 # one
  l: [1, 2]
b: *x
c:
  <<: *x
  m: 3 # three
`

  it.each<[string, ConfigPatch, string]>([
    [
      'an alias on the way is written out',
      { merge: { b: { k: 2 } } },
      SHARED.replace('b: *x', 'b:\n  k: 2\n  l:\n    - 1\n    - 2'),
    ],
    [
      'a merge key on the way is written out',
      { merge: { c: { k: 2 } } },
      SHARED.replace('<<: *x', 'k: 2\n  l:\n    - 1\n    - 2'),
    ],
    [
      'who else uses an anchor keeps his value',
      { merge: { a: { k: 2 } } },
      SHARED.replace('k: 1', 'k: 2')
        .replace('b: *x', 'b:\n  k: 1\n  l:\n    - 1\n    - 2')
        .replace('<<: *x', 'k: 1\n  l:\n    - 1\n    - 2'),
    ],
    [
      'also when the anchor goes',
      { remove: [['a']] },
      'b:\n  k: 1\n  l:\n    - 1\n    - 2\nc:\n  k: 1\n  l:\n    - 1\n    - 2\n  m: 3 # three\n',
    ],
    [
      'what a merge key brings can be removed',
      { remove: [['c', 'k']] },
      SHARED.replace('<<: *x', 'l:\n    - 1\n    - 2'),
    ],
    ['and what is not in the way stays', { merge: { c: { m: 4 } } }, SHARED.replace('m: 3', 'm: 4')],
  ])('%s', (_, patch, expected) => {
    expect(change(patch, SHARED)).toBe(expected)
  })
})
