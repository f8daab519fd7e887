import { describe, expect, test } from 'vitest'
import { effectiveMatches } from '../../lib/configs/effective/match.ts'
import { normalForm } from '../../lib/configs/effective/normal-form.ts'
import { previewMigration } from '../../lib/configs/migrate/preview.ts'
import { findUrlSecrets, scanSecretLines } from '../../lib/configs/migrate/secrets.ts'
import { classifyAgentError } from '../../lib/configs/redact/agent-error.ts'
import {
  MASK,
  redactString,
  redactText,
  redactUrl,
  replaceAssigned,
} from '../../lib/configs/redact/redact.ts'
import { parseConfig } from '../../lib/configs/yaml/parse.ts'
import { indentContinuations } from '../../lib/configs/yaml/reindent.ts'
import { isNestedTooDeeply } from '../../lib/configs/yaml/tokens.ts'
import { csvCell } from '../../lib/reports/csv.ts'
import { createRedactor, REMOVED, REPORT_TEXT_MAX } from '../../lib/reports/redaction.ts'

// `expressions.test.ts` tests each regular expression by itself; here the functions that use them are tested, loops
// included.

/** Pieces of text that are repeated to make a long one. */
const PIECES = [
  ...[
    'a',
    ' ',
    '\n',
    '\t',
    '"',
    "'",
    '=',
    ':',
    '@',
    '/',
    '$',
    '${',
    '#',
    '-',
    '.',
    '\\',
    '[',
    '{',
    '%',
    '<',
    '`',
  ],
  ...['a:', 'a=', 'a@', 'a:b@', 'a:=', 'a,b:c', '://', 'http://', 'a.a.', 'aB1-', '"a', "'a", ' #', '\n#'],
  ...['eyJ', '-eyJaaaaa', 'eyJaaaaaa.', 'secret', 'token=', 'token="', "token='", `token=${MASK}`],
  ...[`token: ${MASK}"`, `token=${REMOVED}`, 'bearer ', 'basic ', 'bearer\t', 'authorization:', 'SECRET_'],
  ...['-----BEGIN A-----', '-----BEGIN ', 'sk-', 'ghp_', 'mapping key ', 'scheme ', 'environment variable '],
  ...[
    'rollback ',
    'references receiver "',
    'a: |\n',
    '- [\n',
    'a: "\n',
    '>0 #\t',
    '? ',
    '&a ',
    '*a ',
    '!!a ',
  ],
  ...['[a,\n', '{a: [\n', '"\\\n', 'a: b\n', '${a:${', '$$', '=x;\n', '\u00a0=', ';\t'],
]

const redactor = createRedactor(new Map())

const READERS: Record<string, (text: string) => unknown> = {
  redactText,
  redactString,
  redactUrl: (text) => redactUrl(`https://h/${text}`),
  replaceAssigned: (text) => replaceAssigned(text, REMOVED, true),
  classifyAgentError,
  'a report’s redactor': (text) => redactor.text(text),
  csvCell,
  indentContinuations,
  findUrlSecrets,
  scanSecretLines: (text) => scanSecretLines(text, 'conf'),
}

/** The slower functions, which get shorter texts. */
const PARSERS: Record<string, (text: string) => unknown> = {
  parseConfig,
  normalForm,
  'a value that is compared': (text) => {
    const document = { root: { exporters: { a: { b: text } } } }
    return effectiveMatches(document as never, { root: { exporters: { a: { b: `${text}1` } } } } as never)
  },
  previewMigration: (source) =>
    previewMigration({ vendor: 'fluent_bit', source, labels: {}, otlpEndpoint: '' }),
}

describe('time grows with the text and no faster', () => {
  for (const [name, read] of Object.entries(READERS))
    test(name, () => {
      for (const piece of PIECES) expect(growth(read, piece, 20_000), piece).toBeLessThan(3)
    })
  for (const [name, read] of Object.entries(PARSERS))
    test(name, () => {
      for (const piece of PIECES) expect(growth(read, piece, 8_000), piece).toBeLessThan(3)
    })
})

/**
 * How the processor time for each character grows when the text becomes four times as long: about 1 where the work is
 * linear, 4 where it is quadratic. A time too short to measure counts as linear. A high result is measured again, since
 * a busy machine can cause it.
 */
function growth(read: (text: string) => unknown, piece: string, length: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 5 && least >= 3; attempt++) {
    const long = spent(read, piece, 4 * length)
    if (long < 30_000) return 1
    least = Math.min(least, long / (4 * spent(read, piece, length)))
  }
  return least
}

/** Processor time in µs, of this process only. */
function spent(read: (text: string) => unknown, piece: string, length: number): number {
  const text = `${piece.repeat(Math.ceil(length / piece.length))}!`
  const started = process.cpuUsage()
  read(text)
  const { user, system } = process.cpuUsage(started)
  return user + system
}

describe('memory', () => {
  test('a text of brackets over many lines grows to no more than twice its size and a bit', () => {
    for (const piece of ['[\n', '"\n', '{\n', `${' '.repeat(399)}[\n`, `a: ${' '.repeat(300)}"\nb\n`]) {
      const text = piece.repeat(500_000 / piece.length)
      expect(indentContinuations(text).length, piece).toBeLessThanOrEqual(2 * text.length + 65_536)
    }
  })

  test('of the stack is enough for every text, also where an expression is compiled at its end', () => {
    for (const piece of ['[', '{', '- ', '? ', '{a: ', '[? ', '- - {', '!!x ['])
      for (let length = 1_000; length < 100_000; length *= 1.3) {
        expect(parseConfig(piece.repeat(length / piece.length)).ok, piece).toBe(false)
        expect(isNestedTooDeeply(piece.repeat(length / piece.length)), piece).toBe(true)
      }
  })

  test('a text of a report is cut before it is redacted, at a place that tells nothing', () => {
    const clean = redactor.text(`${'note '.repeat(100_000)}password=hunter2`)
    expect(clean).toHaveLength(REPORT_TEXT_MAX)
    // A secret that lies across the place where the text is cut is removed whole.
    const text = `${'n '.repeat(REPORT_TEXT_MAX / 2 - 5)}password=hunter2hunter2hunter2`
    expect(redactor.text(text)).not.toContain('hunter')
  })
})
