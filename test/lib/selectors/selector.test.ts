import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesGlob } from '../../../lib/selectors/glob.ts'
import {
  FLEET_CONFIG_RULES,
  FREE_SELECTOR_RULES,
  PUSH_GROUP_RULES,
  readSelector,
} from '../../../lib/selectors/read-selector.ts'
import { isSelected, type SelectableWorkload } from '../../../lib/selectors/selector.ts'
import type { Selector } from '../../../lib/wire/selectors.ts'
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
    expect(isSelected(WORKLOAD, selector)).toBe(expected)
  })
})

describe('a selector as sent', () => {
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
    [{ match_labels: { 'muster/a': '' } }, 'selector has an empty text'],
    [{ match_labels: { 'muster/a': 'b\n' } }, 'selector has a text with control characters'],
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
        expect(matchesGlob(glob, value)).toBe(new RegExp(`^${expression}$`).test(value))
      }),
      { numRuns: 2_000 },
    )
  })
})
