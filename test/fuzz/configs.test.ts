import { readdirSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { validateStatically } from '../../lib/configs/check/validate.ts'
import { diffConfigs } from '../../lib/configs/diff/diff.ts'
import { normalForm } from '../../lib/configs/effective/normal-form.ts'
import { previewMigration } from '../../lib/configs/migrate/preview.ts'
import { outlineConfig } from '../../lib/configs/outline.ts'
import { evaluatePolicy } from '../../lib/configs/policy/policy.ts'
import { classifyAgentError } from '../../lib/configs/redact/agent-error.ts'
import { redactText } from '../../lib/configs/redact/redact.ts'
import { parseAnyConfig } from '../../lib/configs/yaml/parse.ts'
import { readPlainConfig } from '../../lib/configs/yaml/plain.ts'
import { MIGRATION_VENDORS } from '../../lib/wire/values.ts'
import { FUZZ_TIMEOUT_MS, fuzz, textOf } from '../support/fuzz.ts'

vi.setConfig({ testTimeout: FUZZ_TIMEOUT_MS })

const FIXTURES = new URL('../fixtures/', import.meta.url)
const readAll = (folder: string) =>
  readdirSync(new URL(folder, FIXTURES))
    .filter((name) => !name.endsWith('.md'))
    .map((name) => readFileSync(new URL(folder + name, FIXTURES)))

const configs = [...readAll('configs/'), readFileSync(new URL('opamp/good.yaml', FIXTURES))]
const WORDS = [
  ...['&a', '*a', '<<: *a', '? ', ': ', '- ', '\n', '  ', '\t', '|\n', '>-\n', '"', "'", '{', '[', ']', '}'],
  ...[
    '!!binary ',
    '!!set',
    '!tag ',
    '---\n',
    '...\n',
    '#',
    '${env:A}',
    '${',
    '%YAML 1.2\n',
    '\ufeff',
    '\u2028',
  ],
  ...[
    '__proto__: ',
    'constructor: ',
    'service:\n  pipelines:\n',
    'receivers: ',
    'null',
    '1e999',
    '.inf',
    '0x',
  ],
]
const now = new Date('2026-07-01T08:00:00.000Z')
const settings = {
  allowed_otlp_endpoints: ['*.example.com'],
  critical_exporters: ['otlp'],
  required_resource_attributes: ['team'],
}

test('no draft breaks validation', () =>
  fuzz({ corpus: configs, words: WORDS, rounds: 250 }, (input) => {
    const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: now }
    expect(validateStatically(textOf(input), about).checks).toHaveLength(4)
  }))

test('no draft breaks the policy, the outline or the normal form', () =>
  fuzz({ corpus: configs, words: WORDS, rounds: 200 }, (input) => {
    const text = textOf(input)
    outlineConfig(text)
    normalForm(text)
    evaluatePolicy({ candidate: text, current: null, isProduction: true, target: {}, settings })
  }))

// Texts that the fast YAML reader reads itself, and texts that it must leave to the full one.
const PLAIN = [
  'a:\n  - b: 1\n    c: [x/1, "y", 2]\n  - - d # e\n    -\n  -   f: {k: 1, l: [m, {}]}\ng/2:\nh: \'i\'\n',
  'receivers:\n  otlp:\n    protocols:\n      grpc:\n        endpoint: ${env:HOST}:4317\nservice:\n  pipelines:\n    traces:\n      receivers: [otlp]\n      processors: []\n      exporters:\n      - debug\n',
].map((text) => Buffer.from(text))
const PLAIN_WORDS = [
  ...[
    ': ',
    ':',
    ' ',
    '  ',
    '\n',
    '\n\n',
    '\n  ',
    '- ',
    '-',
    ' #',
    '#',
    ',',
    ', ',
    '[',
    ']',
    '[]',
    '{}',
    '{',
    '}',
  ],
  ...[
    '"',
    "'",
    "''",
    '""',
    '\\',
    '~',
    'null',
    '1',
    '-1',
    '0x1',
    '.',
    '/',
    '$',
    '+',
    '<<',
    '|',
    '>',
    '*',
    '&',
    '!',
    '?',
    '@',
    '`',
  ],
  ...['a: ', 'a:\n', '- a: ', '- - ', '\r\n', '...', '---', '%', 'é', '\u2028', '\ufeff'],
]

test.each([
  ['configs', configs, WORDS, 300],
  ['plain texts', PLAIN, PLAIN_WORDS, 3_000],
] as const)(
  'whatever the quick reader makes of %s, the full one makes the same',
  (_, corpus, words, rounds) =>
    fuzz({ corpus, words, rounds }, (input) => {
      const text = textOf(input)
      const plain = readPlainConfig(text)
      if (plain === null) return
      const any = parseAnyConfig(text)
      expect(any.ok && JSON.stringify(any.document.root)).toBe(JSON.stringify(plain))
    }),
)

test('no two drafts break the diff, and a draft does not differ from itself', () =>
  fuzz({ corpus: configs, words: WORDS, rounds: 100 }, (input) => {
    const text = textOf(input)
    const base = configs[input.length % configs.length]!.toString('utf8')
    diffConfigs({ baseText: base, targetText: text, workload: null, peers: [] })
    const same = diffConfigs({ baseText: text, targetText: text, workload: null, peers: [] })
    expect(same.components.filter(({ kind }) => kind !== 'unchanged')).toEqual([])
    expect(same.summary.overall_risk).toBe('none')
  }))

test.each(MIGRATION_VENDORS)('no snippet of %s breaks the migration, and its draft is YAML', (vendor) =>
  fuzz({ corpus: readAll('migration/'), words: WORDS, rounds: 100 }, (input) => {
    const result = previewMigration({ vendor, source: textOf(input), labels: {}, otlpEndpoint: '' })
    if (result.draft_yaml !== '') expect(() => parse(result.draft_yaml)).not.toThrow()
  }),
)

test('no error text of an agent breaks the redactor or the classifier', () => {
  const corpus = [
    'cannot start: exporters::otlp: token=abc123 https://user:pw@example.com/x?key=1 mail a@b.example',
    'yaml: line 12: mapping values are not allowed; bind: address already in use 0.0.0.0:4317\nexit status 1',
  ].map((text) => Buffer.from(text))
  const words = [
    'password=',
    'Bearer ',
    '://',
    '@',
    'eyJhbGciOi.',
    '-----BEGIN PRIVATE KEY-----',
    'a@',
    '=',
    '"',
    '${',
  ]
  return fuzz({ corpus, words, rounds: 1_000 }, (input) => {
    const text = textOf(input)
    redactText(text)
    expect(classifyAgentError(text).text.length).toBeLessThanOrEqual(1_001)
  })
})
