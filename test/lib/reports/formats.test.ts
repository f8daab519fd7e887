import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodePack } from '../../../lib/reports/canonical.ts'
import { CSV_COLUMNS, csvCell } from '../../../lib/reports/csv.ts'
import { codeSpan, escapeMarkdown } from '../../../lib/reports/markdown.ts'
import { assemblePack, type PackTarget } from '../../../lib/reports/pack.ts'
import { renderPack } from '../../../lib/reports/render.ts'
import { sortedFacts, visibleText } from '../../../lib/reports/text-values.ts'
import type { Material } from '../../../lib/store/report-material.ts'
import type { EvidencePack, ReportFormat } from '../../../lib/wire/reports.ts'
import { REPORT_INCLUDES } from '../../../lib/wire/values.ts'
import { readPdfText } from '../../support/pdf-text.ts'
import { pushRow, reportFrame, reportMaterial, reportRequest } from '../../support/report-material.ts'

const FORMATS: readonly ReportFormat[] = ['markdown', 'csv', 'pdf']

/** The pack as it goes over the wire. */
function makePack(
  material: Material,
  target: PackTarget = 'json',
  request = reportFrame().request,
): EvidencePack {
  const { frame, sections } = assemblePack(reportFrame({ target, request }), material)
  return JSON.parse(Buffer.concat(encodePack(frame, sections)).toString('utf8')) as EvidencePack
}

const bytesOf = (pack: EvidencePack, format: ReportFormat) => Buffer.concat(renderPack(pack, format))
/** The text of a document as people read it; for PDF with line breaks between its pieces. */
const textOf = (pack: EvidencePack, format: ReportFormat) =>
  format === 'pdf' ? readPdfText(bytesOf(pack, format)).join('\n') : bytesOf(pack, format).toString('utf8')

/** The cells of CSV text (RFC 4180). */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\n)/g)) {
    rows.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'))
    if (end === '\n') rows.push([])
  }
  return rows.slice(0, -1)
}

const KNOWN_BYTES = {
  markdown: 'b636a75f6fd893e13dd512ce041fecfd2175fc79abdc4fc541cddae8af59cd76',
  csv: '528ef58ed49d1bcc61975d3715113ca8aeb071ad0d806f5a66896865182ab6c0',
  pdf: 'ad4be58c5853079b12bb967975f3502d26d23e6aafd5924212bd7a9ae0d5f065',
} as const

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const withName = (name: string): Material => {
  const material = reportMaterial({ workloads: 1, pushes: 3, events: 1 })
  material.workloads[0]!.displayName = name
  return material
}

it.each(['markdown', 'pdf'] as const)(
  'begins in %s with who asked for and approved what, and what runs',
  (format) => {
    const pack = makePack(reportMaterial({ workloads: 3, pushes: 4, events: 1 }), format)
    const plans = pack.sections.find(({ id }) => id === 'config_plan')!.items
    const text = textOf(pack, format).replace(/[\s\\]+/g, ' ')
    const short = text.slice(text.lastIndexOf('In short', text.indexOf('asked for by')))
    const { requested_by: asked, requested_at: at, approved_by: by } = plans[0]!.facts
    expect(short).toContain(`${plans.length} by ${asked}`)
    expect(short).toContain(`asked for by ${asked} at ${at}, approved by ${by} at `)
    expect(short).toMatch(/Runs now:? .{0,80} runs [0-9a-f]{12} since /)
    expect(short.indexOf('Runs now')).toBeLessThan(short.indexOf(plans[0]!.id))
  },
)

it.each(['markdown', 'pdf'] as const)(
  'lets nothing that others wrote say in %s who asked for something and approved it, or what runs',
  (format) => {
    const forged =
      ': asked for by user:b at 2026-11-30T10:00:00Z, approved by user:c at 2026-11-30T11:00:00Z ('
    const pack = makePack(reportMaterial({ workloads: 1, pushes: 2, events: 1 }), format)
    const itemsOf = (id: string) => pack.sections.find((section) => section.id === id)!.items
    const [workload, plan, runs] = ['workloads', 'config_plan', 'current_config'].map((id) => itemsOf(id)[0]!)
    const { requested_by: asked, requested_at: at, approved_by: by, approved_at: when } = plan!.facts
    plan!.facts['request_comment'] = `fix")${forged}`
    // What an agent calls itself begins the lines about its workload.
    const called = `web" runs 000000000000 since now: config 0${forged}`
    for (const item of [plan!, runs!]) item.summary = item.summary.replace(workload!.summary, called)
    workload!.summary = called
    const told = textOf(pack, format)
    const text = (format === 'pdf' ? told : told.replace(/\\(.)/g, '$1')).replace(/\s/g, '')
    const line = (words: string) => expect(text).toContain(words.replace(/\s/g, ''))
    const name = `"web\\"${called.slice(4)}"`
    const { status, draft_config_hash: hash } = plan!.facts
    line(
      `${name}: config ${String(hash).slice(0, 12)} ${status}, asked for by ${asked} at ${at}, approved by ${by} at ${when}: "fix\\")${forged}"`,
    )
    line(`${name} runs ${String(runs!.facts['config_hash']).slice(0, 12)} since ${runs!.facts['applied_at']}`)
  },
)

it('names in a PDF who is known, in what it comes to and in the facts', () => {
  const pack = makePack(reportMaterial({ workloads: 1, pushes: 2, events: 1 }), 'pdf')
  const plan = pack.sections.find(({ id }) => id === 'config_plan')!.items[0]!
  const ref = String(plan.facts['requested_by'])
  const people = new Map([[ref.replace('user:', ''), 'ann@example.com']])
  const text = readPdfText(Buffer.concat(renderPack(pack, 'pdf', people)))
    .join('')
    .replace(/\s/g, '')
  expect(text).toContain(`askedforbyann@example.com(${ref})`)
  expect(text).toContain(`requested_byann@example.com(${ref})`)
})

describe('every format', () => {
  it.each(FORMATS)('gives the same bytes for the same pack in %s, whatever the time zone', (format) => {
    // The sections that packs had when these bytes were made.
    const names = REPORT_INCLUDES.filter((name) => name !== 'campaigns')
    const include = Object.fromEntries(names.map((name) => [name, true]))
    const request = reportRequest({ scope: { group_id: 'checkout' }, include })
    const pack = makePack(reportMaterial({ workloads: 3, pushes: 4, events: 3 }), format, request)
    const zone = process.env.TZ
    const first = sha256(bytesOf(pack, format))
    process.env.TZ = 'Pacific/Kiritimati'
    expect(sha256(bytesOf(structuredClone(pack), format))).toBe(first)
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
    // The bytes do not depend on the machine or the version of Node either.
    expect(first).toBe(KNOWN_BYTES[format])
  })

  it.each(FORMATS)('tells every fact of the pack in %s', (format) => {
    const pack = makePack(reportMaterial({ workloads: 4, pushes: 4, events: 3 }), format)
    const clean = (text: string) => text.replace(/[\s\\]/g, '')
    const text = clean(textOf(pack, format))
    for (const section of pack.sections) {
      for (const item of section.items) {
        const told = [item.summary, ...sortedFacts(item.facts).flat(), item.resource]
        if (item.severity !== undefined) told.push(item.severity)
        for (const fact of told) {
          const wanted = format === 'csv' ? fact.replaceAll('"', '""') : fact
          expect(text).toContain(clean(visibleText(wanted)))
        }
      }
    }
  })

  const secret = fc.oneof(
    fc.stringMatching(/^[a-z]{3,8}[0-9]{2,5}$/).map((word) => ({ text: `password=${word}`, secret: word })),
    fc
      .stringMatching(/^[A-Za-z0-9]{12,20}$/)
      .map((word) => ({ text: `Authorization: Bearer ${word}`, secret: word })),
    fc
      .stringMatching(/^[a-z0-9]{6,12}$/)
      .map((word) => ({ text: `${word}@corp-${word}.example`, secret: word })),
    fc
      .stringMatching(/^[a-z0-9]{6,12}$/)
      .map((word) => ({ text: `https://u:p@${word}.internal/x?y=${word}`, secret: word })),
    fc.stringMatching(/^[A-Za-z0-9]{20,30}$/).map((word) => ({ text: `ghp_${word}`, secret: word })),
    fc
      .stringMatching(/^[a-zA-Z0-9_-]{10,16}$/)
      .map((word) => ({ text: `eyJ${word}.${word}.${word}`, secret: word })),
    fc.stringMatching(/^[A-Z]{6,10}$/).map((word) => ({ text: `SECRET_${word}`, secret: `SECRET_${word}` })),
  )
  const around = fc.constantFrom('', ' ', '"', '(', ')', '\n', ', ')

  it('lets no secret, e-mail address or token through in any format', () => {
    fc.assert(
      fc.property(secret, around, around, (hidden, before, after) => {
        const text = `x${before === '' ? ' ' : before}${hidden.text}${after === '' ? ' ' : after}y`
        const material = withName(text)
        const push = pushRow(material.workloads[0]!.id, 9, {
          label: text,
          pushedBy: hidden.text,
          errorTitle: text,
        })
        material.pushes.unshift(push)
        material.plans[0]!.requestComment = text
        material.plans[0]!.breakGlassReason = text
        material.alerts[0]!.message = text
        material.events[0]!.podName = text
        material.workloads[0]!.trustedLabels = { note: text, [text]: 'value', credential: hidden.secret }
        const pack = makePack(material)
        const outputs = [JSON.stringify(pack), ...FORMATS.map((format) => textOf(pack, format))]
        for (const output of outputs) expect(output.replace(/\s/g, '')).not.toContain(hidden.secret)
      }),
      { seed: 11, numRuns: 35 },
    )
  }, 120_000)

  it('marks the items from which something was removed', () => {
    const pack = makePack(withName('root@localhost'))
    expect(pack.sections[0]!.items[0]).toMatchObject({ summary: '[redacted]', redacted: true })
    expect(makePack(withName('plain')).sections.find(({ id }) => id === 'drift')!.items[0]).toMatchObject({
      redacted: false,
    })
  })
})

describe('CSV', () => {
  it('has the columns of version 1, a line for each fact, and LF at every end', () => {
    const pack = makePack(withName('plain'))
    pack.sections = [
      {
        id: 'workloads',
        title: 'Workloads',
        order: 10,
        items: [
          {
            id: 'workload:a',
            resource: 'workload',
            resource_id: 'a',
            observed_at: '2026-07-02T12:00:00.000Z',
            severity: 'warning',
            summary: 'say "hi", all',
            facts: { b: 2, a: ['x', null] },
            content_hash: 'ff',
            redacted: true,
          },
          {
            id: 'workload:b',
            resource: 'workload',
            resource_id: 'b',
            summary: '',
            facts: {},
            redacted: false,
          },
        ],
      },
    ]
    const head = 'workloads,workload:a,workload,a,2026-07-02T12:00:00.000Z,warning,"say ""hi"", all"'
    expect(textOf(pack, 'csv')).toBe(
      [
        'section_id,item_id,resource,resource_id,observed_at,severity,summary,key,value,content_hash,redacted',
        `${head},a,"[""x"",null]",ff,true`,
        `${head},b,2,ff,true`,
        'workloads,workload:b,workload,b,,,,,,,false',
        '',
      ].join('\n'),
    )
  })

  it.each([
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    ' =1',
    '\u00a0=1',
    '\ufeff=1',
    '＝1',
    '|calc',
    '%0',
    'a;=1',
    'a\n=1',
    'a\t+1',
  ])('closes the formula in %j', (text) => {
    const [[cell]] = readCsv(`${csvCell(text)}\n`) as [[string]]
    expect(cell).not.toMatch(/(^|[;\t\r\n])[\s\ufeff]*[=+\-@|%＝]/)
    expect(cell.replaceAll("'", '')).toBe(text)
  })

  it('can be read back, and no cell begins like a formula, whatever the texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 12 }), (name) => {
        const pack = makePack(withName(name.replaceAll('\0', '')))
        const rows = readCsv(textOf(pack, 'csv'))
        expect(rows[0]).toEqual(CSV_COLUMNS)
        for (const row of rows) {
          expect(row).toHaveLength(CSV_COLUMNS.length)
          for (const cell of row) expect(cell).not.toMatch(/^[\s\u0000-\u001f\ufeff]*[=+\-@|%]/)
        }
      }),
      { seed: 3, numRuns: 50 },
    )
  })
})

describe('Markdown', () => {
  it('escapes what means something in Markdown and HTML, and keeps lines whole', () => {
    expect(escapeMarkdown('a*b_c`d [x](y) <b> & | # ~\n- www.x')).toBe(
      'a\\*b\\_c\\`d \\[x\\]\\(y\\) \\<b\\> \\& \\| \\# \\~\\\\n- www\\.x',
    )
  })

  it.each([
    ['plain', '`plain`'],
    ['', '`  `'],
    ['a`b', '`` a`b ``'],
    ['``', '``` `` ```'],
    [' x ', '`  x  `'],
    ['a\nb\u202ec', '`a\\nb[U+202E]c`'],
  ])('shows %j as the code span %j', (text, span) => {
    expect(codeSpan(text)).toBe(span)
  })

  it('has the lines it is made of, whatever the texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (name) => {
        const lines = textOf(makePack(withName(name)), 'markdown').split('\n')
        const plain = textOf(makePack(withName('plain')), 'markdown').split('\n')
        expect(lines).toHaveLength(plain.length)
        expect(lines.map((line) => /^(#+ | *- )?/.exec(line)![0])).toEqual(
          plain.map((line) => /^(#+ | *- )?/.exec(line)![0]),
        )
      }),
      { seed: 5, numRuns: 50 },
    )
  })
})

describe('PDF', () => {
  it('embeds Latin, Greek and Cyrillic as searchable text, and shows other signs by their code points', () => {
    const pack = makePack(withName('Ýþřž Ελληνικά Ἀθῆναι Кириллица € 収 😀\u202e'), 'pdf')
    const text = textOf(pack, 'pdf')
    expect(text).toContain('Ýþřž Ελληνικά Ἀθῆναι Кириллица')
    expect(text.replaceAll('\n', '')).toContain('[U+53CE] [U+1F600][U+202E]')
    expect(pack.warnings?.map(({ code }) => code)).toEqual(['pdf_minimal_renderer', 'pdf_glyphs_replaced'])
  })

  it('says nothing of replaced signs where there are none', () => {
    expect(makePack(withName('Ελλάδα'), 'pdf').warnings?.map(({ code }) => code)).toEqual([
      'pdf_minimal_renderer',
    ])
  })

  it('has a title page, contents and numbered pages, and no date but the pack’s own', () => {
    const pack = makePack(reportMaterial({ workloads: 10, pushes: 5, events: 5 }), 'pdf')
    const bytes = bytesOf(pack, 'pdf').toString('latin1')
    const texts = textOf(pack, 'pdf').split('\n')
    const pages = Number(/Page 1 of (\d+)/.exec(texts.join('\n'))![1])
    expect(pages).toBeGreaterThan(5)
    expect(texts.filter((text) => /^Page \d+ of \d+$/.test(text))).toHaveLength(pages)
    expect(texts).toEqual(
      expect.arrayContaining(['Evidence Pack', 'Contents', pack.inputs_hash, pack.report_hash]),
    )
    expect(texts).toContain('Config history (continued)')
    expect(bytes.match(/\/\w*Date \([^)]*\)/g)).toEqual(["/CreationDate (D:20260702120000-00'00')"])
    expect(bytes).toContain(`/ID [ <${pack.report_hash.slice(0, 32).toUpperCase()}>`)
  })

  it('goes on over the pages with an item that is longer than one', () => {
    const material = withName('long')
    material.plans[0]!.requestComment = Array.from({ length: 4_000 }, (_, n) => `word${n}`).join(' ')
    const text = textOf(makePack(material, 'pdf'), 'pdf')
    expect(text).toContain('word0 ')
    expect(text).toContain('word3999')
    // What it comes to has the beginning of it once more.
    expect(new Set(text.match(/word\d+/g))).toHaveLength(4_000)
  })
})
