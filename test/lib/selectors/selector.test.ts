import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openGlob } from '../../../lib/selectors/glob.ts'
import {
  FLEET_CONFIG_RULES,
  FREE_SELECTOR_RULES,
  PUSH_GROUP_RULES,
  readSelector,
} from '../../../lib/selectors/read-selector.ts'
import { openSelector, type SelectableWorkload } from '../../../lib/selectors/selector.ts'
import type { Selector, SelectorExpression } from '../../../lib/wire/selectors.ts'
import { sentenceOf } from '../../../runtime/problems.ts'

const WORKLOAD: SelectableWorkload = {
  type: 'collector',
  version: '0.120.0',
  labels: { env: 'agent-says', 'muster/env': 'gold', 'identity/name': 'gold' },
  trustedLabels: { env: 'prod', tier: 'edge' },
  fingerprintKeys: { 'host.name': 'web-17.eu', 'service.name': '' },
  acceptsRemoteConfig: true,
  availableComponents: { receivers: ['otlp'] },
}

describe('a selector', () => {
  it.each<[Selector, boolean]>([
    [{}, true],
    [{ match_labels: { 'muster/env': 'prod' } }, true],
    [{ match_labels: { 'muster/env': 'prod', 'muster/tier': 'edge' } }, true],
    [{ match_labels: { 'muster/env': 'prod', 'muster/tier': 'core' } }, false],
    [{ match_labels: { 'muster/env': 'agent-says' } }, false],
    [{ match_labels: { 'muster/env': 'gold' } }, false],
    [{ match_labels: { 'muster/env': 'pr*' } }, false],
    [{ match_labels: { 'muster/toString': 'x' } }, false],
    [{ match_labels: { env: 'agent-says' } }, true],
    [{ match_labels: { env: 'prod' } }, false],
    [{ match_labels: { 'host.name': 'web-17.eu' } }, true],
    [{ match_labels: { 'host.name': 'web-*' } }, false],
    [{ match_labels: { 'identity/host.name': 'web-17.eu' } }, true],
    [{ match_labels: { 'identity/host.name': 'web-*' } }, true],
    [{ match_labels: { 'identity/host.name': 'db-*' } }, false],
    [{ match_labels: { 'identity/name': 'gold' } }, false],
    [{ match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['db-?', '*.eu'] }] }, true],
    [{ match_expressions: [{ key: 'identity/host.name', operator: 'NotIn', values: ['*.eu'] }] }, false],
    [{ match_expressions: [{ key: 'muster/env', operator: 'NotIn', values: ['dev'] }] }, true],
    [{ match_expressions: [{ key: 'muster/site', operator: 'NotIn', values: ['a'] }] }, true],
    [{ match_expressions: [{ key: 'muster/site', operator: 'Exists' }] }, false],
    [{ match_expressions: [{ key: 'muster/site', operator: 'DoesNotExist' }] }, true],
    [{ match_expressions: [{ key: 'identity/service.name', operator: 'Exists' }] }, false],
    [{ match_expressions: [{ key: 'muster/tier', operator: 'Exists' }], types: ['sdk'] }, false],
    [{ types: ['sdk', 'collector'] }, true],
    [{ types: ['sdk'] }, false],
    [{ versions: ['0.120.0'] }, true],
    [{ versions: ['0.120'] }, false],
    [{ capabilities: ['remote_config'] }, true],
    [{ capabilities: ['push_config', 'report_config', 'otlp'] }, true],
    [{ capabilities: ['otlp', 'kafka'] }, false],
    [{ types: [], versions: [], capabilities: [] }, true],
  ])('%j is met: %s', (selector, expected) => {
    expect(openSelector(selector)(WORKLOAD)).toBe(expected)
  })
})

const hosts = (count: number, name: string): SelectorExpression => ({
  key: 'identity/host.name',
  operator: 'In',
  values: Array.from({ length: count }, (_, at) => `${name}-${at}`),
})

describe('a selector as sent', () => {
  it('may have fifty globs and five hundred values', () => {
    const plain = Array.from({ length: 9 }, (_, at) => hosts(50, `h${at}`))
    expect(readSelector({ match_expressions: [hosts(50, 'a*'), ...plain] }, FLEET_CONFIG_RULES).ok).toBe(true)
    // What is no identity has no globs: there a star is a star.
    const stars = { ...hosts(50, '*'), key: 'muster/a' }
    expect(readSelector({ match_expressions: [hosts(50, 'a*'), stars] }, FLEET_CONFIG_RULES).ok).toBe(true)
  })

  it('comes back without its empty parts', () => {
    const sent: Selector = { match_labels: { 'muster/env': 'prod' }, match_expressions: [], types: [] }
    expect(readSelector(sent, FLEET_CONFIG_RULES)).toEqual({
      ok: true,
      selector: { match_labels: { 'muster/env': 'prod' } },
    })
  })

  it.each<[Selector, string]>([
    [{ types: [], match_labels: {} }, 'selector has no condition'],
    [
      { match_labels: { env: 'a' } },
      'selector has the key "env", which agents report; here it needs the prefix muster/ or identity/',
    ],
    [
      { match_labels: { 'identity/host': 'a' } },
      'selector has the unknown key "identity/host"; an identity has host.name, service.name, cluster, namespace, kind, name',
    ],
    [{ match_labels: { 'muster/': 'a' } }, 'selector has the key "muster/" without a name behind its prefix'],
    [{ match_labels: { 'muster/a': '' } }, 'selector (muster/a) has an empty text'],
    [{ match_labels: { 'muster/a': 'b\n' } }, 'selector (muster/a) has a text with control characters'],
    [{ match_labels: { 'muster/a\n': 'b' } }, 'selector (muster/a\\n) has a text with control characters'],
    [
      { match_labels: { [`muster/${'a'.repeat(300)}`]: 'b' } },
      `selector (muster/${'a'.repeat(57)}…) has a text of more than 256 characters`,
    ],
    [
      { match_expressions: [{ key: 'muster/a', operator: 'In', values: ['b', ' '] }] },
      'selector (muster/a) has an empty text',
    ],
    [
      { match_expressions: [{ key: 'muster/a', operator: 'In', values: Array(51).fill('b') }] },
      'selector has more than 50 entries in muster/a',
    ],
    [
      { match_expressions: [{ key: 'muster/a', operator: 'In' }] },
      'selector has In without values for "muster/a"',
    ],
    [
      { match_expressions: [{ key: 'muster/a', operator: 'NotIn', values: [] }] },
      'selector has NotIn without values for "muster/a"',
    ],
    [
      { match_expressions: [{ key: 'muster/a', operator: 'Exists', values: ['b'] }] },
      'selector has values for Exists of "muster/a"',
    ],
    [
      { match_expressions: [{ key: 'a', operator: 'Exists' }] },
      'selector has the key "a", which agents report; here it needs the prefix muster/ or identity/',
    ],
    [
      { match_labels: { 'muster/a': 'b' }, types: ['collector'] },
      'selector has types, versions or capabilities, which agents report',
    ],
    [
      { match_expressions: Array(51).fill({ key: 'muster/a', operator: 'Exists' }) },
      'selector has more than 50 entries',
    ],
    [
      { match_expressions: [hosts(26, 'a*'), hosts(25, 'b?')] },
      'selector has more than 50 values with * or ? in it; name a label instead',
    ],
    [
      { match_expressions: Array.from({ length: 11 }, (_, at) => hosts(at < 10 ? 50 : 1, `h${at}`)) },
      'selector has more than 500 values in its expressions; give the workloads a label, and select by that',
    ],
  ])('%j is refused for a fleet config', (sent, error) => {
    const read = readSelector(sent, FLEET_CONFIG_RULES)
    expect(read.ok || sentenceOf(read.code, read.details ?? {})).toBe(error)
  })

  it('may name types for a push group, and what agents report where it only looks', () => {
    const types = { match_labels: { 'muster/a': 'b' }, types: ['collector'] }
    expect(readSelector(types, PUSH_GROUP_RULES).ok).toBe(true)
    expect(readSelector({ match_labels: { env: 'b' } }, PUSH_GROUP_RULES).ok).toBe(false)
    expect(readSelector({ match_labels: { env: 'b' } }, FREE_SELECTOR_RULES).ok).toBe(true)
  })
})

describe('a glob', () => {
  it('matches as the expression does that means the same', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 12 })
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, text, (glob, value) => {
        const expression = glob.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')
        expect(openGlob(glob)(value)).toBe(new RegExp(`^${expression}$`).test(value))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each(['*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', '*a?a?a?a?a?a?a?a?b*', 'a*a*a*a*a*a*a*a*b', '????????*b'])(
    '%s looks at each character of a text a bounded number of times',
    (glob) => {
      const isFit = openGlob(glob)
      const looked = (length: number) => {
        let count = 0
        const text = new Proxy(new String('a'.repeat(length)), {
          get(target, name) {
            if (name === 'charCodeAt')
              return (at: number) => {
                count++
                return target.charCodeAt(at)
              }
            if (typeof name === 'string' && /^\d+$/.test(name)) count++
            const found = Reflect.get(target, name) as unknown
            return typeof found === 'function' ? found.bind(target) : found
          },
        })
        expect(isFit(text as unknown as string)).toBe(false)
        return count
      }
      expect(looked(4_000)).toBeLessThanOrEqual(2 * 4_000)
    },
  )
})

describe('a selector that was read', () => {
  it('is not looked at again for each workload', () => {
    let reads = 0
    const watched = <T extends object>(value: T): T =>
      new Proxy(value, {
        get(target, name) {
          reads++
          const found = Reflect.get(target, name) as unknown
          return typeof found === 'object' && found !== null ? watched(found) : found
        },
      })
    const isMeant = openSelector(
      watched<Selector>({
        match_labels: { 'identity/host.name': 'web-*', 'muster/env': 'prod' },
        match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['db-?', '*.eu'] }],
        types: ['collector'],
      }),
    )
    reads = 0
    expect(isMeant(WORKLOAD)).toBe(true)
    expect(isMeant({ ...WORKLOAD, type: 'sdk' })).toBe(false)
    expect(reads).toBe(0)
  })
})
