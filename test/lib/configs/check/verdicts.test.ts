import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { ConfigTarget } from '../../../../lib/configs/check/target.ts'
import { validateStatically } from '../../../../lib/configs/check/validate.ts'
import { parseConfig } from '../../../../lib/configs/yaml/parse.ts'
import { CATEGORIES } from '../../../../lib/wire/values.ts'
import { type Judged, readJudgedConfigs, sayIfSkipped } from '../../../support/judged-configs.ts'

const NOBODY = { requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) }

/** The code of the check that a static validation refuses a text with, or that it is valid. */
function verdictOf(text: string): string {
  const failed = validateStatically(text, { ...NOBODY, target: null }).checks.find(
    ({ status }) => status === 'failed',
  )
  return failed?.id ?? 'valid'
}

const own = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'fixtures', 'configs')
const OWN_VERDICTS: Readonly<Record<string, string>> = {
  valid: 'valid',
  structure: 'collector_structure',
  yaml: 'yaml_static',
}

describe('configs of our own, named by what is to be said of them', () => {
  it.each(readdirSync(own).filter((name) => name.endsWith('.yaml')))('%s', (name) => {
    expect(verdictOf(readFileSync(join(own, name), 'utf8'))).toBe(OWN_VERDICTS[name.split('-')[0]!])
  })
})

const others = readJudgedConfigs()
const { judged, folder } = others
sayIfSkipped(others, 'the verdicts on configs of others')
const textOf = ({ file }: Judged) => readFileSync(join(folder, file), 'utf8')
const ofClass = (name: Judged['class']) => judged.filter((one) => one.class === name)

/** Files for which our verdict has to differ from the collector's, each with the reason. */
const NAMED: Readonly<Record<string, { verdict: string; because: string }>> = {}

describe('configs that a collector judged', () => {
  it.skipIf(others.skipped !== null)(`are there, some of each class (${others.skipped ?? folder})`, () => {
    expect(judged.length).toBeGreaterThan(100)
    expect(new Set(judged.map((one) => one.class)).size).toBe(6)
    for (const file of Object.keys(NAMED)) expect(judged.map((one) => one.file)).toContain(file)
  })

  it.each(judged)('$file is $class', (one) => {
    const verdict = verdictOf(textOf(one))
    const named = NAMED[one.file]
    if (named !== undefined) expect(verdict, named.because).toBe(named.verdict)
    else if (one.class === 'structure') expect(verdict).toBe('collector_structure')
    else if (one.class === 'yaml') expect(verdict).toBe('yaml_static')
    // The collector stops at the settings of a component; our checks may find a fault behind that.
    else if (one.class === 'component_config') expect(['valid', 'collector_structure']).toContain(verdict)
    else expect(verdict).toBe('valid')
  })

  it.each(ofClass('yaml').filter(({ error }) => /line \d+/.test(error!)))(
    '$file is wrong at the line that the collector names',
    ({ error, ...one }) => {
      const parsed = parseConfig(textOf({ ...one }))
      const [, line, what] = /line (\d+): (.*)/.exec(error!)!
      // The collector counts lines from 0 where a token does not fit the grammar, and from 1 everywhere else.
      const counted = what!.startsWith('did not find expected') ? 1 : 0
      expect(parsed.ok ? null : parsed.problem.line).toBe(Number(line) + counted)
    },
  )

  it.each(ofClass('unknown_component'))(
    '$file names what the collector does not have, also unused',
    (one) => {
      const text = textOf(one)
      const unknown = [one.error ?? '', ...(one.also ?? [])].flatMap((complaint) => {
        const found = /'(\w+)' (?:unknown type: "([^"]+)"|the (\w+) \w+ has been deprecated)/.exec(complaint)
        return found === null ? [] : [{ category: found[1]!, type: (found[2] ?? found[3])! }]
      })
      expect(unknown.length).toBeGreaterThan(0)
      const findings = missingOf(text, unknown)
      for (const { category, type } of unknown)
        expect(findings).toContainEqual(expect.stringContaining(`${category.slice(0, -1)} type "${type}"`))
    },
  )
})

/** What a validation says of a text whose workload has every component that the text names, except these. */
function missingOf(text: string, unknown: readonly { category: string; type: string }[]): string[] {
  const { required } = validateStatically(text, { ...NOBODY, target: null })
  const components = new Map<string, string[]>(CATEGORIES.map((category) => [category, ['nothing']]))
  for (const { category, type } of required)
    if (!unknown.some((one) => one.category === category && one.type === type))
      components.get(category)!.push(type)
  const target: ConfigTarget = {
    workloadId: 'w',
    displayName: 'w',
    type: 'collector',
    version: '',
    status: 'connected',
    labels: {},
    trustedLabels: {},
    acceptsRemoteConfig: true,
    lastKnownComponents: null,
    activeConfigHash: null,
    failedHashes: new Set(),
    failing: new Map(),
    instances: [{ uid: 'a', podName: '', components, isCapable: true, runsProfiles: false }],
  }
  const { checks } = validateStatically(text, { ...NOBODY, target })
  return (checks.find(({ id }) => id === 'component_availability')?.messages ?? []).map(
    ({ message }) => message,
  )
}
