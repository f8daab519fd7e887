import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FaultCode, FaultPlace } from '../../../lib/model/faults.ts'
import { STATUS_TIMEOUT_TEXT } from '../../../lib/wire/values.ts'
import { PROBLEMS, type ProblemCode, type WireCode, wireCodeOf } from '../../../runtime/problems.ts'
import { describeAction } from '../../../runtime/ui/i18n/audit-actions.ts'
import { describeCause, describeMessage } from '../../../runtime/ui/i18n/causes.ts'
import { changeTexts } from '../../../runtime/ui/i18n/change.ts'
import { changeFeedTexts } from '../../../runtime/ui/i18n/change-feed.ts'
import { findingTexts } from '../../../runtime/ui/i18n/check-findings.ts'
import { language, say, setBlanks } from '../../../runtime/ui/i18n/define.ts'
import { discountTexts } from '../../../runtime/ui/i18n/discounts.ts'
import { faultTexts } from '../../../runtime/ui/i18n/faults.ts'
import { sayFinding } from '../../../runtime/ui/i18n/findings.ts'
import { formatAgo, tick } from '../../../runtime/ui/i18n/format.ts'
import { historyTexts } from '../../../runtime/ui/i18n/history.ts'
import { libraryTexts } from '../../../runtime/ui/i18n/library.ts'
import { problemTexts, sayProblem } from '../../../runtime/ui/i18n/problems.ts'
import { pushTexts } from '../../../runtime/ui/i18n/push.ts'
import { describeReason } from '../../../runtime/ui/i18n/reviews.ts'
import { shellTexts } from '../../../runtime/ui/i18n/shell.ts'
import { workloadTexts } from '../../../runtime/ui/i18n/workload.ts'

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
      // The service says a `reason`, which is a code, in an English sentence, its `hint`; pages say it themselves.
      const said = placesIn(PROBLEMS[key].error).map((place) => (place === 'hint' ? 'reason' : place))
      expect(said, code).toEqual(expect.arrayContaining(placesIn(fr[code])))
    }
  })

  test('says workload where the English does, and advises what to do about every rule of the policy', async () => {
    const folder = join(ROOT, 'runtime', 'ui', 'i18n')
    const strays: string[] = []
    const compare = (en: unknown, fr: unknown): void => {
      if (typeof en === 'string' && typeof fr === 'string') {
        if (/workload/i.test(en) && !/collector/i.test(en) && /collecteur/i.test(fr)) strays.push(fr)
      } else if (typeof en === 'object' && en !== null)
        for (const [key, part] of Object.entries(en)) compare(part, (fr as Record<string, unknown>)[key])
    }
    for (const file of readdirSync(folder))
      for (const texts of Object.values(await import(join(folder, file))) as { en?: unknown; fr?: unknown }[])
        if (texts?.en !== undefined && texts.fr !== undefined) compare(texts.en, texts.fr)
    expect(strays).toEqual([])
    const rules = Object.keys(changeTexts.fr.rule).filter((code) => code.startsWith('community.'))
    expect(Object.keys(changeTexts.fr.advice).sort()).toEqual(rules.sort())
  })

  test('counts one and none in the singular, elides before a vowel, and names a month in full', () => {
    const { fr } = historyTexts
    expect(fr.stats(1, 0, 2)).toBe('1 connexion · 0 déconnexion · 2 changements de version')
    expect(pushTexts.fr.counts(1, 2, 0, 0)).toMatch(/^1 appliquée · 2 échouées ·/)
    expect(workloadTexts.fr.pushCounts(2, 1, 0)).toMatch(/^2 appliquées · 1 échouée ·/)
    const { started } = changeFeedTexts.fr
    expect([started('olga@example.com'), started('pavel@example.com')]).toEqual([
      'campagne d’olga@example.com',
      'campagne de pavel@example.com',
    ])
    expect(formatAgo(new Date(tick.value - 5 * 2_592_000_000).toISOString())).toBe('il y a 5 mois')
  })

  test('calls the fleet “parc” wherever it is named', () => {
    const strays = collect('runtime/ui/i18n', /'([^'\n]*\bflottes?\b[^'\n]*)'/g)
    expect(strays).toEqual([])
  })

  test('has a sentence for everything that can be wrong with what was sent, and for its place', () => {
    const { en, fr } = faultTexts
    const placesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    const pairs = [
      ...Object.keys(en.fault).map(
        (why) => [en.fault[why as FaultCode], fr.fault[why as FaultCode]] as const,
      ),
      ...Object.keys(en.place).map((at) => [en.place[at as FaultPlace], fr.place[at as FaultPlace]] as const),
    ]
    expect(pairs.length).toBeGreaterThan(60)
    for (const [english, french] of pairs) {
      expect(french).not.toBe(english)
      // The French sentence says itself what these two fields say in English.
      const own = placesIn(english).filter((name) => name !== 'advice' && name !== 'message')
      expect([...new Set(placesIn(french))].sort(), french).toEqual(own.sort())
    }
    const twice = { why: 'name_twice', within: 'line', line: 3, name: 'vm-1', reason: 'line 3: …' }
    expect(sayProblem('label_rule_invalid', twice)).toContain('ligne 3\u00a0: vm-1 s’y trouve deux fois')
    const secret = { why: 'variable_secret', name: 'key', advice: 'keep it', reason: '…' }
    expect(sayProblem('variables_invalid', secret)).toContain('${env:${muster:key}}')
    expect(sayProblem('variables_invalid', { why: 'of_a_newer_server', reason: 'so' })).toContain('so')
  })

  test('has no blank at which a line may break before a colon or inside of guillemets', () => {
    expect(setBlanks('Cause : un « port » est pris ; lequel ? 10 : 20')).toBe(
      'Cause\u00a0: un «\u00a0port\u00a0» est pris\u00a0; lequel\u00a0? 10\u00a0: 20',
    )
    // The text of a config, or of a search, is no sentence.
    expect(setBlanks('key :value a ?b')).toBe('key :value a ?b')
    const { fr } = problemTexts
    expect(Object.values(fr).filter((text) => / [:;?!»]( |$)/.test(text))).toEqual([])
    expect(say(shellTexts).palette.fleet('dégradés')).toBe('Parc\u00a0: dégradés')
  })

  test('says by itself that an instance said nothing', () => {
    expect(describeMessage({ error_message: STATUS_TIMEOUT_TEXT, error_cause: 'apply_timeout' })).toBe(
      'Aucun état OpAMP après 30 s',
    )
    expect(describeMessage({ error_message: 'bind: address in use' })).toBe('bind: address in use')
  })

  test('is not given English by a refusal: a reason is a code, or a fault that has one', () => {
    const prose =
      /(?:refuse|problem)\(\s*'[a-z-]+',\s*\{\s*(?:[a-z_]+: [^,{}]*, )*reason:\s*(['`][^'`]* [^'`]*['`])/g
    expect(['lib', 'functions'].flatMap((folder) => collect(folder, prose))).toEqual([])
    const words = /(?:refuse|problem)\([^()]*reason: (?:message|fault|describe\w+)/g
    expect(['lib', 'functions'].flatMap((folder) => collect(folder, words))).toEqual([])
  })

  test('says in the dialog of a rollback what stands in its way', () => {
    const found = { message: 'in English', path: '' }
    const codes = ['workload_archived', 'workload_not_collector', 'remote_config_unsupported']
    for (const code of [...codes, 'workload_not_connected'])
      expect(sayFinding({ ...found, code, source: 'remote_config' })).toBe(sayProblem(code, {}))
    const installed = { ...found, code: 'component_not_installed', source: 'capabilities' }
    expect(sayFinding(installed)).toBe(findingTexts.fr['component_not_installed'])
    expect(sayFinding({ ...found, code: 'of_a_newer_server', source: 'yaml' })).toBe('in English')
  })

  test('does not read the server’s own sentences from a page: these go by way of their codes', () => {
    const raw = /[^$=](\{\w+(?:\.\w+)*\.message\})/g
    const listed = /(blocking_reasons\.join)/g
    for (const pattern of [raw, listed])
      for (const folder of ['pages', 'parts'])
        expect(collect(`runtime/ui/${folder}`, pattern, /\.tsx$/)).toEqual([])
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
    expect(codes.filter((code) => findingTexts.fr[code] === undefined)).toEqual([])
  })

  test('has a sentence for every rule of the policies', () => {
    const rules = collect('lib/configs', /'(community\.[a-z_.]+)'/g)
    expect(rules.length).toBeGreaterThan(5)
    expect(rules.filter((rule) => changeTexts.fr.rule[rule] === undefined)).toEqual([])
  })

  test('has a title for every cause of a failure', () => {
    const causes = collect('lib/configs/redact', /\brule\(\s*'([a-z_]+)'/g, /^agent-error\.ts$/)
    const ours = collect('lib/fleet', /\bcause: '([a-z_]+)',\s*title/g)
    expect(causes.length + ours.length).toBeGreaterThan(15)
    expect([...causes, ...ours].filter((cause) => describeCause(cause, undefined) === cause)).toEqual([])
  })

  test('has words for every reason why an approval does not count', () => {
    const reasons = collect('lib/changes', /^ {2}\| '([a-z]+(?:-[a-z]+)*)'/gm, /^judge-approvals\.ts$/)
    expect(reasons.length).toBeGreaterThan(5)
    const unsaid = reasons.filter((reason) => !Object.hasOwn(discountTexts.fr, reason.replaceAll('-', '_')))
    expect(unsaid).toEqual([])
    expect(describeReason({ kind: 'labels', reason: 'unlabelled → other' })).toBe(
      'Aucun environnement → Un autre environnement',
    )
    expect(describeReason({ kind: 'rollback', reason: 'other things' })).toBe('other things')
    expect(sayProblem('approval_needs_another', { reason: 'author' })).toContain('vous l’avez demandé')
    expect(sayProblem('approval_needs_another', { reason: '0_of_1' })).toContain('0 of 1')
    const shaped = { reason: 'shaped_by_author', who: 'ann@example.com' }
    expect(sayProblem('approval_needs_another', shaped)).toContain('créé ou modifié par ann@example.com, ')
    expect(sayProblem('review_needs_another', { reason: 'shaped_an_author' })).toContain(
      'le compte de l’un de ses auteurs, ',
    )
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
