import { describe, expect, test } from 'vitest'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { readCapabilities } from '../../../runtime/ui/logic/capabilities.ts'
import { suggest } from '../../../runtime/ui/logic/completion.ts'
import { diagnose } from '../../../runtime/ui/logic/diagnosis.ts'
import { readLabelLines } from '../../../runtime/ui/logic/label-lines.ts'
import { matchesSearch, parseSearch } from '../../../runtime/ui/logic/search.ts'
import { readShares } from '../../../runtime/ui/logic/stages.ts'
import { sortWorkloads } from '../../../runtime/ui/logic/workloads.ts'
import { lineOfPath } from '../../../runtime/ui/logic/yaml-lines.ts'

const workload = (change: Partial<WorkloadRecord> = {}): WorkloadRecord => ({
  id: 'a1',
  fingerprint_source: 'k8s',
  fingerprint_keys: { namespace: 'shop' },
  display_name: 'checkout',
  type: 'collector',
  version: '0.149.0',
  status: 'connected',
  last_seen_at: '2026-07-01T08:00:00.000Z',
  labels: { env: 'prod', 'muster/selector.team': 'payments' },
  accepts_remote_config: true,
  connected_instance_count: 2,
  drifted_instance_count: 0,
  applying_instance_count: 0,
  open_alert_count: 0,
  waiting_approval_count: 0,
  version_outdated: false,
  ...change,
})

describe('searching the fleet', () => {
  test.each([
    ['check', true],
    ['env:prod', true],
    ['env:staging', false],
    ['team:pay', true],
    ['-env:prod', false],
    ['"check out"', false],
    ['status:connected shop', true],
  ])('%s', (text, isFound) => {
    expect(matchesSearch(workload(), parseSearch(text))).toBe(isFound)
  })
})

test('versions sort as versions, and equal rows by name', () => {
  const rows = [
    workload({ id: '1', version: '0.149.0', display_name: 'b' }),
    workload({ id: '2', version: '0.98.0', display_name: 'c' }),
    workload({ id: '3', version: '0.149.0', display_name: 'a' }),
  ]
  expect(sortWorkloads(rows, 'version', false).map(({ id }) => id)).toEqual(['2', '3', '1'])
})

describe('what is said about a workload', () => {
  test.each([
    [{ archived_at: '2026-07-01T08:00:00.000Z', status: 'disconnected' }, 'archived'],
    [{ status: 'disconnected', drifted_instance_count: 1 }, 'disconnected'],
    [{ drifted_instance_count: 1, waiting_approval_count: 1 }, 'drifted'],
    [{ status: 'degraded' }, 'degraded'],
    [{ waiting_approval_count: 1 }, 'approval'],
    [{ accepts_remote_config: false }, 'read_only'],
    [{ active_config_hash: 'ab' }, 'fine'],
    [{}, 'nothing_assigned'],
  ] as const)('the most urgent of %j is %s', (change, kind) => {
    expect(diagnose(workload(change), null, []).kind).toBe(kind)
  })
})

describe('the capability document', () => {
  const enabled = { id: 'x', state: 'enabled' }
  test('names what is enabled', () => {
    const off = { id: 'y', state: 'disabled', reason_code: 'not_enabled' }
    expect([...readCapabilities({ api_version: 'v1', capabilities: [enabled, off] })]).toEqual(['x'])
  })

  test.each([
    ['none came', null],
    ['another version', { api_version: 'v2', capabilities: [enabled] }],
    ['an id twice', { api_version: 'v1', capabilities: [enabled, enabled] }],
    ['an unknown state', { api_version: 'v1', capabilities: [enabled, { id: 'y', state: 'on' }] }],
    [
      'a reason where none belongs',
      { api_version: 'v1', capabilities: [{ ...enabled, reason_code: 'not_enabled' }] },
    ],
    ['no reason where one belongs', { api_version: 'v1', capabilities: [{ id: 'y', state: 'disabled' }] }],
  ])('counts as nothing when %s', (_what, document) => {
    expect(readCapabilities(document).size).toBe(0)
  })
})

const CONFIG = `receivers:
  otlp:
exporters:
  otlp/eu.west:
    endpoint: x
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters:
        - otlp/eu.west
`

test.each([
  ['service.pipelines.traces.exporters[0]', 11],
  ['exporters.otlp/eu.west.endpoint', 5],
  ['service.pipelines.metrics', 7],
  ['', 1],
])('the path %s is found on line %i', (path, line) => {
  expect(lineOfPath(CONFIG, path)).toBe(line)
})

test('completion offers what this collector has, and in pipelines what is defined', () => {
  const components = { receivers: ['otlp', 'filelog'] }
  const lines = CONFIG.split('\n')
  expect(suggest(['receivers:'], '  fi', components)).toEqual(['otlp', 'filelog'])
  expect(suggest(lines.slice(0, 8), '      receivers: [', components)).toEqual(['otlp'])
  expect(suggest(lines.slice(0, 7), '    tr', components)).toContain('traces')
})

test('label lines are key=value, and the first that is not is named', () => {
  expect(readLabelLines(' env = prod \n\nteam=a=b')).toEqual({
    ok: true,
    labels: { env: 'prod', team: 'a=b' },
  })
  expect(readLabelLines('env=prod\nnonsense')).toEqual({ ok: false, line: 'nonsense' })
})

test('shares grow, stay under all, and nonsense is left out', () => {
  expect(readShares('50, 10; 10 x 100 -5')).toEqual([10, 50])
})
