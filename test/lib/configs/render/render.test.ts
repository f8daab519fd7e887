import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Rendering, renderVersion, type VariableValues } from '../../../../lib/configs/render/render.ts'
import {
  type DeclaredVariable,
  findDeclarationFault,
  findTextFault,
  type VariableType,
} from '../../../../lib/configs/render/variables.ts'
import { parseConfig } from '../../../../lib/configs/yaml/parse.ts'

const variable = (
  name: string,
  type: VariableType = 'string',
  more: Partial<DeclaredVariable> = {},
): DeclaredVariable => ({
  name,
  type,
  isRequired: false,
  pattern: null,
  fallback: null,
  description: '',
  ...more,
})

const DECLARED = [
  variable('region'),
  variable('port', 'integer'),
  variable('ratio', 'number'),
  variable('on', 'boolean'),
  variable('wait', 'duration'),
]

const render = (text: string, values: VariableValues = {}, declared = DECLARED): Rendering =>
  renderVersion(text, declared, values)

function textOf(rendering: Rendering): string {
  if (!rendering.ok) throw new Error(`${rendering.problem.code}: ${rendering.problem.fault.reason}`)
  return rendering.text
}

describe('a placeholder', () => {
  it.each<[string, VariableValues, string]>([
    // A variable that is a whole plain value keeps its type: it is written so that it is read as that type.
    ['a: ${muster:port}', { port: '4317' }, 'a: 4317'],
    ['a: ${muster:ratio} # as asked', { ratio: '0.25' }, 'a: 0.25 # as asked'],
    ['a: ${muster:on}', { on: 'true' }, 'a: true'],
    ['a: ${muster:wait}', { wait: '1m30s' }, 'a: 1m30s'],
    ['a: ${muster:region}', { region: 'eu' }, 'a: eu'],
    ['a: ${muster:region}', { region: 'true' }, 'a: "true"'],
    ['a: ${muster:region}', { region: '4317' }, 'a: "4317"'],
    ['a: ${muster:region}', { region: '' }, 'a: ""'],
    ['a: ${muster:region}', { region: 'a: b # c' }, 'a: "a: b # c"'],
    ['- ${muster:port}', { port: '1' }, '- 1'],
    // A variable between quotes becomes a string.
    ['a: "${muster:port}"', { port: '4317' }, 'a: "4317"'],
    ["a: '${muster:region}'", { region: "it's" }, "a: 'it''s'"],
    ['a: "${muster:region}"', { region: 'say "x\\y"' }, 'a: "say \\"x\\\\y\\""'],
    ['a: ["${muster:region}", b]', { region: 'x, y]' }, 'a: ["x, y]", b]'],
    // A variable inside a longer text or a block becomes its characters.
    ['a: 0.0.0.0:${muster:port}', { port: '4317' }, 'a: 0.0.0.0:4317'],
    ['a: ${muster:port}${muster:port}', { port: '1' }, 'a: "11"'],
    ['a: x ${muster:region}', { region: '#1' }, 'a: "x #1"'],
    [
      'a: |\n  x=${muster:region}\n\n  # ${muster:port}\n',
      { region: '"q"', port: '1' },
      'a: |\n  x="q"\n\n  # 1\n',
    ],
    ['a: >-\n  x ${muster:region}\n  y\n', { region: 'z' }, 'a: >-\n  x z\n  y\n'],
    ['a: "x\n  ${muster:region}"', { region: '"z"' }, 'a: "x\n  \\"z\\""'],
    // Nested variables are filled in from the innermost, also inside references that the collector expands.
    ['a: ${env:${muster:region}_KEY}', { region: 'EU' }, 'a: ${env:EU_KEY}'],
    ['a: ${muster:region:-${muster:wait}}', { wait: '5s' }, 'a: 5s'],
    ['a: ${muster:region:-${env:REGION:-eu}}', {}, 'a: ${env:REGION:-eu}'],
    ['a: ${muster:port:-${env:PORT}}', {}, 'a: ${env:PORT}'],
    ['a: ${muster:port:-4317}', {}, 'a: 4317'],
    ['a: ${muster:port:-4317}', { port: '1' }, 'a: 1'],
    ['a: ${muster:region:-}', {}, 'a: ""'],
    // A dollar in a value is doubled, so that the collector takes no value for a reference.
    ['a: ${muster:region}', { region: '${env:HOME}' }, 'a: $${env:HOME}'],
    ['a: x${muster:region}', { region: '$1' }, 'a: x$$1'],
    // In a comment a variable is left as it is, and an escaped one is none.
    ['# ${muster:nothing}\na: b # ${muster:', {}, '# ${muster:nothing}\na: b # ${muster:'],
    ['a: | # ${muster:nothing}\n  ${muster:region}\n', { region: 'x' }, 'a: | # ${muster:nothing}\n  x\n'],
    ['a: $${muster:region}', { region: 'x' }, 'a: $${muster:region}'],
    ['a: $$${muster:region}', { region: 'x' }, 'a: $$x'],
    // A variable in an anchored node is filled in once.
    ['a: &x ${muster:port}\nb: *x', { port: '1' }, 'a: &x 1\nb: *x'],
    ['a: &x {k: "${muster:region}"}\nb:\n  <<: *x', { region: 'v' }, 'a: &x {k: "v"}\nb:\n  <<: *x'],
    ['a: !!str ${muster:port}', { port: '1' }, 'a: !!str "1"'],
  ])('%j with %j becomes %j', (text, values, expected) => {
    const rendered = textOf(render(text.startsWith('-') ? `l:\n${text}` : text, values))
    expect(rendered).toBe(text.startsWith('-') ? `l:\n${expected}` : expected)
  })

  it.each<[string, VariableValues, string, string]>([
    ['${muster:region}: a', { region: 'x' }, 'template_invalid', 'a variable cannot stand in a key'],
    ['a: ${muster:nothing}', {}, 'template_invalid', 'variable "nothing" is not declared'],
    ['a: ${muster:}', {}, 'template_invalid', 'a ${muster:…} has no name of a variable'],
    ['a: ${muster:region', {}, 'template_invalid', '${muster:region is followed by neither } nor :-'],
    ['a: ${muster:region:-x', {}, 'template_invalid', 'a ${muster:…} is not closed'],
    [
      'a: ${muster:port:-x}',
      {},
      'template_invalid',
      'default of variable "port" must be a whole number, such as 4317',
    ],
    ['a: ${muster:region}', {}, 'variable_missing', 'variable "region" has no value'],
    [
      'a: ${muster:port}',
      { port: '010' },
      'variable_invalid',
      'variable "port" must be a whole number, such as 4317',
    ],
    ['a: x${muster:on}', { on: 'yes' }, 'variable_invalid', 'variable "on" must be true or false'],
    [
      'a: ${muster:region}',
      { region: 'a\nb' },
      'variable_invalid',
      'variable "region" must be one line without control characters',
    ],
    [
      'a: ${muster:region}',
      { region: 'x'.repeat(1025) },
      'variable_invalid',
      'variable "region" has more than 1024 characters',
    ],
    [
      'a: |\n  ${muster:region}\n  b\n',
      { region: '  x' },
      'render_mismatch',
      'the rendered text does not read as the values that were put in',
    ],
    ['a: [b', {}, 'template_invalid', 'invalid YAML: a bracket is not closed'],
    ['# nothing', {}, 'template_invalid', 'configuration is empty'],
  ])('%j with %j is refused: %s', (text, values, code, reason) => {
    expect(render(text, values)).toMatchObject({ ok: false, problem: { code, fault: { reason } } })
  })

  it('names the variable and the line, and never the value', () => {
    expect(render('a: b\nc: ${muster:port}', { port: 'hunter2' })).toEqual({
      ok: false,
      problem: {
        code: 'variable_invalid',
        variable: 'port',
        line: 2,
        fault: {
          why: 'variable_not_integer',
          name: 'port',
          reason: 'variable "port" must be a whole number, such as 4317',
        },
      },
    })
  })

  it('says which variables a text holds', () => {
    const rendered = render('a: ${muster:port}\nb: ${muster:region:-${muster:wait}}', {
      port: '1',
      wait: '1s',
    })
    expect(rendered).toMatchObject({ ok: true, variables: ['port', 'region', 'wait'] })
  })

  it('with a required variable does not take a default from the text', () => {
    const declared = [variable('region', 'string', { isRequired: true })]
    expect(render('a: ${muster:region:-x}', { region: 'y' }, declared)).toMatchObject({
      problem: { code: 'template_invalid' },
    })
  })

  it('takes the declared default last, and its pattern always', () => {
    const declared = [variable('region', 'string', { fallback: 'us', pattern: '[a-z]{2}(-[0-9])?' })]
    expect(textOf(render('a: ${muster:region}', {}, declared))).toBe('a: us')
    expect(textOf(render('a: ${muster:region:-eu}', {}, declared))).toBe('a: eu')
    expect(textOf(render('a: ${muster:region}', { region: 'ap-1' }, declared))).toBe('a: ap-1')
    expect(render('a: ${muster:region}', { region: 'apx' }, declared)).toMatchObject({
      problem: {
        code: 'variable_invalid',
        fault: { reason: 'variable "region" must match [a-z]{2}(-[0-9])?' },
      },
    })
  })
})

describe('a secret', () => {
  it.each(['Bearer abcdef123', 'https://u:p@host/', 'ghp_0123456789abcdefghijklmnop', 'password=x1'])(
    '%j is refused as a value, with the way to say it by reference',
    (value) => {
      const fault = findTextFault('region', value)?.reason
      expect(fault).toContain('${env:NAME}')
      expect(fault).not.toContain(value)
      expect(render('a: ${muster:region}', { region: value })).toMatchObject({
        problem: { code: 'variable_invalid', fault: { reason: fault } },
      })
    },
  )

  it.each([
    'password: ${muster:region}',
    'headers:\n  authorization: x ${muster:region}',
    'api:\n  key: ${muster:region}',
  ])('cannot come from a variable: %j', (text) => {
    expect(render(text, { region: 'harmless' })).toMatchObject({
      problem: {
        code: 'template_invalid',
        variable: 'region',
        fault: { reason: expect.stringContaining('${env:') },
      },
    })
  })

  it.each([
    'password: ${env:${muster:region}_PASSWORD}',
    'headers:\n  X-Scope-OrgID: ${muster:region}',
    'token_url: https://${muster:region}/',
    'bearertokenauth/a:\n  filename: /etc/${muster:region}',
  ])('is not what a variable stands for here: %j', (text) => {
    expect(render(text, { region: 'harmless' })).toMatchObject({ ok: true })
  })
})

describe('declared variables', () => {
  it.each<[Partial<DeclaredVariable>[], string | null]>([
    [[{}], null],
    [[{ name: 'a-b' }], 'a variable needs a name of at most 64 letters, digits and underscores'],
    [[{}, {}], 'variable "x" is declared twice'],
    [[{ pattern: '(' }], 'variable "x": pattern has a ( that is not closed'],
    [[{ pattern: 'a{256}' }], null],
    [
      [{ pattern: 'a{256}b{50}' }],
      'variable "x": pattern takes more than 300 steps once its counts are written out',
    ],
    [[{ fallback: 'y', isRequired: true }], 'variable "x" is required, so its default never counts'],
    [[{ description: 'a\nb' }], 'variable "x" needs a description of one line, at most 1024 characters'],
  ])('%j: %s', (variables, fault) => {
    const found = findDeclarationFault(variables.map((more) => ({ ...variable('x'), ...more })))
    expect(found?.reason ?? null).toBe(fault)
  })
})

describe('a value that stands in many places', () => {
  it('is held to its pattern once', () => {
    const checksOf = (places: number) => {
      let reads = 0
      const watched = Object.defineProperty(variable('region'), 'pattern', {
        enumerable: true,
        get() {
          reads++
          return '[a-z]+'
        },
      })
      const text = Array.from({ length: places }, (_, n) => `a${n}: x-\${muster:region}`).join('\n')
      expect(render(text, { region: 'eu' }, [watched])).toMatchObject({ ok: true })
      return reads
    }
    expect(checksOf(200)).toBe(checksOf(1))
  })
})

/** Generated texts of characters that mean something to YAML, to the collector or to our variables. */
const nasty = (maxLength: number) =>
  fc.string({
    unit: fc.constantFrom(...'ab01 -:#,[]{}&*!|>\'"%@`$~?\\/.=<_é😀'),
    maxLength,
  })

/** The YAML styles in which a scalar can be written. */
const STYLES = ['plain', 'single', 'double', 'literal'] as const

describe('whatever the values and the styles', () => {
  it('a text that can be rendered reads as the tree with the values put in', () => {
    const entry = fc.record({
      style: fc.constantFrom(...STYLES),
      before: fc.constantFrom('', 'x', '0', 'a b ', '/'),
      after: fc.constantFrom('', 'y', '9', ' c', ':4317'),
      value: nasty(8),
    })
    let rendered = 0
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 5 }), (entries) => {
        const declared = entries.map((_, index) => variable(`v${index}`))
        const values = Object.fromEntries(entries.map(({ value }, index) => [`v${index}`, value]))
        const lines = entries.map(({ style, before, after }, index) => {
          const inner = `${before}\${muster:v${index}}${after}`
          if (style === 'single') return `k${index}: '${inner}' # kept`
          if (style === 'double') return `k${index}: "${inner}" # kept`
          return style === 'literal' ? `k${index}: |-\n  ${inner}` : `k${index}: ${inner} # kept`
        })
        const outcome = renderVersion(lines.join('\n'), declared, values)
        if (!outcome.ok) {
          // A value may be invalid by itself. Otherwise only a block scalar may fail, since a block cannot hold every
          // text.
          const isBlock =
            outcome.problem.code === 'render_mismatch' && entries.some((one) => one.style === 'literal')
          expect(
            isBlock || outcome.problem.code === 'variable_invalid',
            JSON.stringify(outcome.problem),
          ).toBe(true)
          return
        }
        rendered++
        const read = parseConfig(outcome.text)
        const expected = Object.fromEntries(
          entries.map(({ before, after, value }, index) => [
            `k${index}`,
            before + value.replaceAll('$', '$$$$') + after,
          ]),
        )
        expect(read.ok && { ...read.document.root }).toEqual(expected)
        expect(outcome.text.match(/# kept/g)?.length ?? 0).toBe(
          entries.filter(({ style }) => style !== 'literal').length,
        )
      }),
      { numRuns: 3_000 },
    )
    expect(rendered).toBeGreaterThan(1_000)
  })

  it('no text and no value makes it throw, and nothing is left unfilled', () => {
    const piece = fc.constantFrom(
      '${muster:a}',
      '${muster:b:-',
      '}',
      '${',
      '$',
      '$$',
      ':-',
      'a',
      ': ',
      '\n',
      '  ',
      '- ',
      '"',
      "'",
      '|',
      '#',
      '{',
      '[',
      ']',
      '&x ',
      '*x',
      '<<: ',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), nasty(6), (pieces, value) => {
        const outcome = renderVersion(pieces.join(''), [variable('a'), variable('b')], { a: value, b: value })
        if (outcome.ok)
          expect(JSON.stringify(parseConfig(outcome.text))).not.toMatch(/[^$](\$\$)*\$\{muster:/)
      }),
      { numRuns: 3_000 },
    )
  })
})
