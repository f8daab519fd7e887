import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROBLEMS, type ProblemCode, type WireCode, wireCodeOf } from '../../../runtime/problems.ts'
import { describeAction } from '../../../runtime/ui/i18n/audit-actions.ts'
import { describeCause } from '../../../runtime/ui/i18n/causes.ts'
import { changeTexts } from '../../../runtime/ui/i18n/change.ts'
import { language } from '../../../runtime/ui/i18n/define.ts'
import { discountTexts } from '../../../runtime/ui/i18n/discounts.ts'
import { libraryTexts } from '../../../runtime/ui/i18n/library.ts'
import { problemTexts, sayProblem } from '../../../runtime/ui/i18n/problems.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** Every distinct text that the pattern's first group captures in the source files under `folder`. */
function collect(folder: string, pattern: RegExp, files = /\.ts$/): string[] {
  const found = new Set<string>()
  for (const entry of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (!files.test(basename(entry))) continue
    const text = readFileSync(join(ROOT, folder, entry), 'utf8')
    for (const match of text.matchAll(pattern)) found.add(match[1] ?? '')
  }
  return [...found].sort()
}

beforeAll(() => {
  language.value = 'fr'
})
afterAll(() => {
  language.value = 'en'
})

/** The API speaks English and sends a code beside it; a code that the UI does not know stays English in French. */
describe('French', () => {
  test('has a sentence for every refusal, in which the same details stand', () => {
    const placesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()
    const { en, fr } = problemTexts
    for (const key of Object.keys(PROBLEMS) as ProblemCode[]) {
      const code = (wireCodeOf(key) ?? key.replaceAll('-', '_')) as WireCode
      expect(fr[code], code).toMatch(/\p{L}/u)
      expect(fr[code], code).not.toBe(en[code])
      expect(placesIn(fr[code]), code).toEqual(placesIn(en[code]))
      expect(placesIn(PROBLEMS[key].error), code).toEqual(expect.arrayContaining(placesIn(fr[code])))
    }
  })

  test('has a sentence for every finding of the checks', () => {
    const structure = /\b(?:error|one)\(\s*'([a-z_]+)'/g
    const codes = [
      ...collect('lib/configs', structure, /^(structure|pipeline-structure|validate)\.ts$/),
      ...['check', 'diff', 'policy'].flatMap((room) =>
        collect(`lib/configs/${room}`, /\bcode: '([a-z_]+)'/g),
      ),
    ].filter((code) => !/_(ok|passed|checked)$/.test(code))
    expect(codes.length).toBeGreaterThan(25)
    expect(codes.filter((code) => changeTexts.fr.finding[code] === undefined)).toEqual([])
  })

  test('has a sentence for every rule of the policies', () => {
    const rules = collect('lib/configs', /'(community\.[a-z_.]+)'/g)
    expect(rules.length).toBeGreaterThan(5)
    expect(rules.filter((rule) => changeTexts.fr.rule[rule] === undefined)).toEqual([])
  })

  test('has a title for every cause of a failure', () => {
    const causes = collect('lib/redact', /\brule\(\s*'([a-z_]+)'/g, /^agent-error\.ts$/)
    const ours = collect('lib/fleet', /\bcause: '([a-z_]+)',\s*title/g)
    expect(causes.length + ours.length).toBeGreaterThan(15)
    expect([...causes, ...ours].filter((cause) => describeCause(cause, undefined) === cause)).toEqual([])
  })

  test('has words for every reason why an approval does not count', () => {
    const reasons = collect('lib/changes', /^ {2}\| '([a-z]+(?:-[a-z]+)*)'/gm, /^judge-approvals\.ts$/)
    expect(reasons.length).toBeGreaterThan(5)
    const unsaid = reasons.filter((reason) => discountTexts.fr[reason.replaceAll('-', '_')] === undefined)
    expect(unsaid).toEqual([])
    expect(sayProblem('approval_needs_another', { reason: 'author' })).toContain('vous l’avez demandé')
    expect(sayProblem('approval_needs_another', { reason: '0_of_1' })).toContain('0 of 1')
  })

  test('has a sentence for every warning of the migration assistant', () => {
    const codes = collect('lib/configs/migrate', /\bwarn\(\s*'([a-z_]+)'/g)
    expect(codes.length).toBeGreaterThan(5)
    expect(codes.filter((code) => libraryTexts.fr.warning[code] === undefined)).toEqual([])
  })

  test('has words for every action of the audit log', () => {
    const actions = ['lib', 'functions'].flatMap((folder) =>
      collect(folder, /\baction: '([a-z_]+\.[a-z_.]+)'/g),
    )
    expect(actions.length).toBeGreaterThan(15)
    expect(actions.filter((action) => describeAction(action) === action)).toEqual([])
  })
})
