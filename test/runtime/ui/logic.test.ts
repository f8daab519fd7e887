import { describe, expect, test } from 'vitest'
import { sayError } from '../../../lib/model/error-words.ts'
import { toneOfTrouble, troubleRank, troublesOf } from '../../../lib/model/troubles.ts'
import { CODES, matchesTerms, parseSearch } from '../../../lib/model/workload-search.ts'
import { configStateOf, deadEndOf, shownStatusOf } from '../../../lib/model/workload-states.ts'
import type { ApprovalTally } from '../../../lib/wire/approvals.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RolloutRecord } from '../../../lib/wire/rollouts.ts'
import type { WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { WorkloadRecord, WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { describeDetailField, describeOwnDetail } from '../../../runtime/ui/i18n/audit.ts'
import { findActions } from '../../../runtime/ui/i18n/audit-actions.ts'
import { describeError, describeWhy } from '../../../runtime/ui/i18n/causes.ts'
import { changeTexts } from '../../../runtime/ui/i18n/change.ts'
import { language, say } from '../../../runtime/ui/i18n/define.ts'
import { formatListed } from '../../../runtime/ui/i18n/format.ts'
import { historyTexts } from '../../../runtime/ui/i18n/history.ts'
import { describeTripped, rolloutTexts } from '../../../runtime/ui/i18n/rollout.ts'
import { describeReason, describeTrouble } from '../../../runtime/ui/i18n/trouble.ts'
import { mineFirst } from '../../../runtime/ui/logic/approval-order.ts'
import { commentOf, readDetail } from '../../../runtime/ui/logic/audit-detail.ts'
import { readCapabilities } from '../../../runtime/ui/logic/capabilities.ts'
import { suggest } from '../../../runtime/ui/logic/completion.ts'
import { diagnose, toneOf } from '../../../runtime/ui/logic/diagnosis.ts'
import { tellingReasons } from '../../../runtime/ui/logic/drift.ts'
import { aheadMs, countFailing, listComponents, listRepeating } from '../../../runtime/ui/logic/health.ts'
import { judgeHelp } from '../../../runtime/ui/logic/helped.ts'
import {
  countValues,
  groupOdd,
  isAbout,
  listChoices,
  matchesInstance,
  nameInstances,
  sortInstances,
} from '../../../runtime/ui/logic/instances.ts'
import { readLabelLines } from '../../../runtime/ui/logic/label-lines.ts'
import { joinPage } from '../../../runtime/ui/logic/pages.ts'
import { rollBackPath, stateOf } from '../../../runtime/ui/logic/pushes.ts'
import { listStageShares, valueSinceHalt } from '../../../runtime/ui/logic/rollouts.ts'
import { matchesSearch, suggestSearch } from '../../../runtime/ui/logic/search.ts'
import { listStageSizes, readShares, toStageRequests } from '../../../runtime/ui/logic/stages.ts'
import { countFired, readSince } from '../../../runtime/ui/logic/timeline.ts'
import {
  FLEET_FILTERS,
  groupValueOf,
  identityOf,
  labelsBesideIdentity,
  sortWorkloads,
  tellingFirst,
} from '../../../runtime/ui/logic/workloads.ts'
import { faultLine, lineOfPath, valueAt } from '../../../runtime/ui/logic/yaml-lines.ts'
import { describeHeterogeneity } from '../../../runtime/ui/parts/instance-words.ts'

const workload = (change: Partial<WorkloadRecord> = {}): WorkloadRecord => ({
  id: 'a1',
  fingerprint_source: 'k8s',
  fingerprint_keys: { namespace: 'shop' },
  display_name: 'checkout',
  type: 'collector',
  version: '0.149.0',
  status: 'connected',
  last_seen_at: '2026-07-01T08:00:00.000Z',
  labels: { env: 'prod', 'muster/team': 'payments' },
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

test('what is wrong is found by its words, its address and its codes, in the language of the page', () => {
  const row = workload({
    trouble: {
      kind: 'some_unhealthy',
      count: 3,
      total: 16,
      component: 'exporter:kafka/eu',
      error_cause: 'connection_failed',
      error_title: 'A destination cannot be reached',
      error_parameters: { address: '10.3.0.17:4317' },
    },
  })
  const finds = (text: string, of = row) => matchesSearch(of, parseSearch(text))
  for (const text of ['10.3.0.17', '4317', 'kafka', 'unhealthy', 'why:unhealthy', '"cannot be reached"'])
    expect(finds(text), text).toBe(true)
  for (const text of ['halted', 'why:halted', '10.3.0.18', 'name:kafka'])
    expect(finds(text), text).toBe(false)
  const inUse = { error_cause: 'port_in_use', error_title: 'A port is already in use' }
  const failed = workload({ trouble: { kind: 'push_failed', ...inUse, error_parameters: { port: '4317' } } })
  for (const text of ['failed', '"port in use"', 'port in use', '4317', 'why:failed'])
    expect(finds(text, failed), text).toBe(true)
  const halted = workload({ trouble: { kind: 'rollout_halted' } })
  expect(finds('halted', halted)).toBe(true)
  language.value = 'fr'
  for (const text of ['arrêté', 'halted']) expect(finds(text, halted), text).toBe(true)
  language.value = 'en'
})

test('one that drifted is found by that also where something worse is the matter, in the language of the page', () => {
  const row = workload({ drifted_instance_count: 2, trouble: { kind: 'push_failed' } })
  const finds = (text: string, of = row) => matchesSearch(of, parseSearch(text))
  for (const text of ['drift', 'drifted', 'why:drift']) {
    expect(finds(text), text).toBe(true)
    expect(matchesTerms(row, parseSearch(text), CODES), text).toBe(true)
    expect(finds(text, workload({ trouble: { kind: 'push_failed' } })), text).toBe(false)
  }
  language.value = 'fr'
  expect(finds('écart')).toBe(true)
  language.value = 'en'
})

test('what an error is about is said in one order, however it was stored', () => {
  const about = (error_parameters: Record<string, string>) =>
    describeError({ error_cause: 'port_in_use', error_title: 'A port is in use', error_parameters })
  expect(about({ port: '4317', exit_code: '1' })).toBe('A port is in use (port 4317, exit code 1)')
  expect(about({ exit_code: '1', port: '4317' })).toBe('A port is in use (port 4317, exit code 1)')
  const told = (error_parameters: Record<string, string>) =>
    sayError('A port is in use', { error_parameters })
  expect(told({ exit_code: '1', port: '4317' })).toBe('A port is in use, port 4317, exit code 1')
})

test('an error about a component begins with its name, which is what tells one from the other where it is cut', () => {
  const of = (error_cause: string, error_parameters?: Record<string, string>) =>
    describeError({ error_cause, error_title: 'The title', ...(error_parameters && { error_parameters }) })
  const limiter = { component_type: 'memory_limiter', exit_code: '1' }
  expect(of('component_unknown', limiter)).toBe('memory_limiter is not part of this collector')
  expect(of('component_undefined', { component_type: 'batch' })).toBe('batch is used but not defined')
  expect(of('component_settings_invalid', { component_type: 'batch' })).toBe('batch has wrong settings')
  // Where it is not known, and for causes that are not its own.
  expect(of('component_unknown', { exit_code: '1' })).toBe('The title (exit code 1)')
  expect(of('collector_validation', limiter)).toBe('The title (component memory_limiter, exit code 1)')
  language.value = 'fr'
  expect(of('component_unknown', limiter)).toBe('memory_limiter ne fait pas partie de ce collecteur')
  language.value = 'en'
})

test('environment and cluster are those that operators set, in the form in which the service sends them', () => {
  const labels = { env: 'dev', 'k8s.cluster.name': 'us-1', 'muster/env': 'prod', 'muster/cluster': 'eu-1' }
  const row = workload({ labels })
  expect([groupValueOf(row, 'environment'), groupValueOf(row, 'cluster')]).toEqual(['prod', 'eu-1'])
  expect(matchesSearch(row, parseSearch('env:prod cluster:eu-1'))).toBe(true)
})

test.each<[string, string | null]>([
  ['en', 'env:'],
  ['name:"a b" -en', '-env:'],
  ['name:"a b', null],
  ['name:"a b" ', 'status:'],
  ['', 'status:'],
])('goes on with the last word of the search %o', (text, first) => {
  const [found] = suggestSearch([workload()], text)
  expect(found?.word ?? null).toBe(first)
})

test('versions sort as versions, and equal rows by name', () => {
  const rows = [
    workload({ id: '1', version: '0.149.0', display_name: 'b' }),
    workload({ id: '2', version: '0.98.0', display_name: 'c' }),
    workload({ id: '3', version: '0.149.0', display_name: 'a' }),
  ]
  expect(sortWorkloads(rows, 'version', false).map(({ id }) => id)).toEqual(['2', '3', '1'])
})

test('hosts of one name stand in the order of their hosts', () => {
  const host = (id: string, name: string) =>
    workload({ id, display_name: 'store', fingerprint_keys: { 'host.name': name } })
  const rows = [host('1', 'store-14'), host('2', 'store-2'), host('3', 'store-1')]
  expect(sortWorkloads(rows, 'name', false).map(({ id }) => id)).toEqual(['3', '2', '1'])
})

test('the worst is where nothing works, then in production, then on most instances; and it looks like it', () => {
  const row = (change: Partial<WorkloadRecord>) => workload({ labels: {}, ...change })
  const prod = { 'deployment.environment': 'production' }
  const trouble = (kind: WorkloadTrouble['kind'], more: Partial<WorkloadTrouble> = {}) =>
    ({ trouble: { kind, ...more } }) as Partial<WorkloadRecord>
  const all = {
    onePod: row({ ...trouble('disconnected'), status: 'disconnected', connected_instance_count: 0 }),
    seventy: row({
      ...trouble('push_failed', { unhealthy_count: 70, instance_count: 70 }),
      status: 'degraded',
      connected_instance_count: 70,
    }),
    payments: row({
      ...trouble('unhealthy', { count: 3, total: 3 }),
      status: 'degraded',
      connected_instance_count: 3,
      labels: prod,
    }),
    few: row({ ...trouble('some_unhealthy', { count: 2, total: 9 }), status: 'degraded' }),
    many: row({ ...trouble('some_unhealthy', { count: 8, total: 9 }), status: 'degraded' }),
    drifts: row({ ...trouble('drifted', { count: 9, total: 9 }), labels: prod }),
    old: row(trouble('outdated')),
    well: row({}),
  }
  const order = Object.keys(all).sort(
    (a, b) => troubleRank(all[a as keyof typeof all]) - troubleRank(all[b as keyof typeof all]),
  )
  expect(order).toEqual(['payments', 'seventy', 'onePod', 'many', 'few', 'drifts', 'old', 'well'])
  expect([all.seventy, all.payments].map(shownStatusOf)).toEqual(['all_unhealthy', 'all_unhealthy'])
  expect([all.few, all.onePod, all.well].map(shownStatusOf)).toEqual([
    'degraded',
    'disconnected',
    'connected',
  ])
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

describe('how loudly unhealthy instances are told', () => {
  test('is the same on the page of the workload and in lists', () => {
    const page = toneOf({ kind: 'unhealthy', count: 2, total: 2, first: 'a' })
    expect(page).toBe(toneOfTrouble({ kind: 'unhealthy', count: 2, total: 2 }))
    expect(page).toBe('bad')
  })
})

describe('why a workload is unwell', () => {
  const trouble = (error_parameters: Record<string, string>) =>
    ({
      kind: 'unhealthy',
      component: 'exporter:otlp/eu',
      error_cause: 'connection_failed',
      error_title: 'A backend cannot be reached',
      error_parameters,
    }) as const

  test('begins with the host where it is known, and else with the part that complains', () => {
    expect(describeReason(trouble({}))).toBe('exporter otlp/eu: A backend cannot be reached')
    expect(describeReason(trouble({ unknown_host: 'a.b' }))).toBe('no such host a.b · exporter otlp/eu')
    expect(describeReason(trouble({ address: '10.0.0.1:4317' }))).toBe(
      'cannot reach 10.0.0.1:4317 · exporter otlp/eu',
    )
  })

  test('names a host that is not reached in the words of every other page, whoever tells of it', () => {
    const said = (of: Record<string, string>) => [describeReason(trouble(of)), describeWhy(trouble(of))]
    expect(said({ unknown_host: 'a.b' })).toEqual(['no such host a.b · exporter otlp/eu', 'No such host a.b'])
    expect(said({ address: '10.0.0.1:4317' })[1]).toBe('Cannot reach 10.0.0.1:4317')
    language.value = 'fr'
    expect(said({ unknown_host: 'a.b' })[1]).toBe('Hôte introuvable\u00a0: a.b')
    expect(said({ address: '10.0.0.1:4317' })[1]).toBe('10.0.0.1:4317 injoignable')
    language.value = 'en'
    // Of another failure the host is not the whole.
    const late = { error_cause: 'apply_timeout', error_title: 'Config apply timed out' }
    expect(describeWhy({ ...late, error_parameters: { unknown_host: 'a.b' } })).toBe(
      'Config apply timed out (no such host a.b)',
    )
  })

  test('has a blank before its colon in French', () => {
    language.value = 'fr'
    expect(describeReason(trouble({}))).toBe('exporteur otlp/eu\u00a0: Une destination est injoignable')
    language.value = 'en'
  })

  test('is the push that failed; how many are unhealthy stands beside it', () => {
    const failed = { kind: 'push_failed', unhealthy_count: 12, instance_count: 24 } as const
    expect(describeTrouble(failed)).toBe('config failed, no way back · 12 of 24 unhealthy')
  })
})

describe('what stands on a page twice', () => {
  test('is the error of an exporter in a second pipeline, said once; another exporter says its own', () => {
    const failing = (last_error: string) => ({ healthy: false, last_error })
    const pipeline = (...parts: [string, { healthy: boolean; last_error: string }][]) => ({
      healthy: false,
      components: Object.fromEntries(parts),
    })
    const first = failing('no such host')
    const second = failing('no such host')
    const other = failing('no such host')
    const tree = {
      healthy: false,
      components: {
        'pipeline:metrics': pipeline(['exporter:otlp', first]),
        'pipeline:traces': pipeline(['exporter:otlp', second], ['exporter:kafka', other]),
      },
    }
    expect([...listRepeating(tree)]).toEqual([second])
    expect(listRepeating(tree).has(second)).toBe(true)
  })

  test('are labels that the identity of a workload says, and no others', () => {
    const of = workload({
      fingerprint_keys: { cluster: 'eu', name: 'gateway' },
      labels: { 'k8s.cluster.name': 'eu', 'k8s.deployment.name': 'gateway', 'os.type': 'eu', team: 'eu' },
    })
    expect(labelsBesideIdentity(of)).toEqual([
      ['os.type', 'eu'],
      ['team', 'eu'],
    ])
  })
})

describe('a push that nobody has answered', () => {
  const push = {
    status: 'pending',
    phase: 'sent',
    target_count: 3,
    applied_count: 0,
    failed_count: 0,
    no_status_count: 3,
  } as RevisionRecord
  test('is not said to be under way, and is called by one word everywhere', () => {
    const of = (change: Partial<RevisionRecord>) => {
      const row = workload({ current_config_push: { ...push, ...change }, active_config_hash: 'ab' })
      return [diagnose(row, null, []).kind, stateOf({ ...push, ...change })]
    }
    expect(of({})).toEqual(['silent', 'no_status'])
    expect(of({ no_status_count: 2 })).toEqual(['applying', 'sent'])
    expect(of({ status: 'applied', phase: 'applied' })).toEqual(['fine', 'applied'])
    expect(of({ phase: 'superseded' })).toEqual(['fine', 'superseded'])
    // That an operator took it back on purpose is another thing than that it failed.
    const failed = { ...push, status: 'failed', phase: 'failed' } as const
    expect([failed, { ...failed, error_cause: 'rolled_back' }].map(stateOf)).toEqual([
      'failed',
      'rolled_back',
    ])
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

describe('the stages of a rollout', () => {
  test('are growing shares under all; one that is none is a fault, not left out', () => {
    expect(readShares('50, 10; 10 %')).toEqual([10, 50])
    for (const text of ['', 'ten', '10, x', '0', '100', '-5']) expect(readShares(text)).toBe(null)
  })

  test('end with everybody, and say whom they reach', () => {
    const stages = toStageRequests([10, 50], 60, ['health'], 8)
    expect(stages.map(({ percentage }) => percentage)).toEqual([10, 50, 100])
    expect(stages.every((stage) => stage.dwell_seconds === 60 && stage.gates?.[0] === 'health')).toBe(true)
    expect(listStageSizes(stages, 8)).toEqual([1, 4, 8])
    // A stage that reaches nobody new is waited for and watches nothing: none is asked for.
    const ofTwo = toStageRequests([10, 50], 60, ['health'], 2)
    expect(ofTwo.map(({ percentage }) => percentage)).toEqual([10, 100])
    expect(listStageSizes(ofTwo, 2)).toEqual([1, 2])
    expect(toStageRequests([50, 90], 60, [], 3).map(({ percentage }) => percentage)).toEqual([50, 100])
    expect(say(changeTexts).stagePreview(listStageSizes(ofTwo, 2), 2)).toBe('1, then 2 of 2 instances.')
  })

  test('say of a halt what its gate measures now, where that is another value', () => {
    const halted = (now: number, status = 'halted') =>
      ({
        status,
        halt: { gate: 'health', value: 1, limit: 0, stage: 0, instance_uids: [] },
        stages: [{ gates: [{ name: 'health', value: now, limit: 0, passed: now === 0 }] }],
      }) as unknown as RolloutRecord
    expect(valueSinceHalt(halted(2))).toBe(2)
    expect(valueSinceHalt(halted(1))).toBeNull()
    expect(valueSinceHalt(halted(2, 'aborted'))).toBeNull()
    const { halted: say } = rolloutTexts.en
    const over = describeTripped({ gate: 'health', value: 1, limit: 0, of: 2 })
    expect(say(...over, 1, 'pod-1', 2)).toBe(
      'Halted in stage 1: 1 of 2 instances became unhealthy (pod-1); none is allowed. Now it is 2.',
    )
  })

  test('each stand alone in the bar, though the record counts them with those before', () => {
    const stage = (
      index: number,
      status: 'done' | 'running' | 'waiting',
      targets: number,
      applied: number,
    ) => ({
      index,
      status,
      percentage: [25, 50, 100][index],
      target_count: targets,
      dwell_seconds: 0,
      gates: [],
      counts: { pending: 0, applying: targets - applied, applied, failed: 0 },
    })
    const rollout = {
      stages: [stage(0, 'done', 2, 2), stage(1, 'running', 4, 3), stage(2, 'waiting', 0, 0)],
      targets: [{ stage: 0, status: 'applied', unhealthy: true }],
    } as unknown as RolloutRecord
    const shares = listStageShares(rollout, 8)
    // One that runs the config and is unhealthy with it is not shown as done.
    expect(shares.map(({ size, added, applied, unhealthy }) => [size, added, applied, unhealthy])).toEqual([
      [2, 2, 1, 1],
      [4, 2, 1, 0],
      [8, 4, 0, 0],
    ])
  })
})

test('a halted rollout is said before an unhealthy instance, one under way after it', () => {
  const push = {
    status: 'pending',
    phase: 'applying',
    rollout_id: 'canary_1',
    applied_count: 2,
    target_count: 2,
  }
  const trouble = { kind: 'some_unhealthy', count: 1, total: 8 } as const
  const pushed = { current_config_push: push as unknown as RevisionRecord }
  const row = workload({ ...pushed, trouble })
  const sick = { summary: { connected_count: 8 }, instances: [{ instance_uid: 'u', healthy: false }] }
  const topology = sick as unknown as WorkloadTopology
  const halted = { status: 'halted' } as RolloutRecord
  expect(diagnose(row, topology, [], halted).kind).toBe('rollout_halted')
  expect(diagnose(row, topology, [], { ...halted, status: 'running' }).kind).toBe('unhealthy')
  expect(diagnose(workload(pushed), null, [], null).kind).toBe('rollout')
})

test('a workload whose push goes out in stages is rolled back at these, any other in its history', () => {
  const push = { status: 'pending', phase: 'applying', rollout_id: 'r1' } as RevisionRecord
  const of = (change: Partial<RevisionRecord>) =>
    rollBackPath(workload({ current_config_push: { ...push, ...change } }))
  expect(of({})).toBe('/workloads/a1/rollouts/r1?rollback=1')
  expect(of({ phase: 'aborted' })).toBe('/workloads/a1/history?rollback=1')
  expect(of({ status: 'failed', phase: 'failed' })).toBe('/workloads/a1/history?rollback=1')
  expect(rollBackPath(workload())).toBe('/workloads/a1/history?rollback=1')
})

test('a rollout that waits for an operator is not one that is applied, and one that was aborted is over', () => {
  const stateWith = (push: Partial<RevisionRecord>) => {
    const current = { status: 'pending', phase: 'applying', rollout_id: 'canary_1', target_count: 2, ...push }
    const row = workload({ current_config_push: current as RevisionRecord, active_config_hash: 'a' })
    return [configStateOf(row), FLEET_FILTERS.applying(row)]
  }
  expect(stateWith({ rollout_status: 'running' })).toEqual(['applying', true])
  expect(stateWith({ rollout_status: 'halted' })).toEqual(['halted', false])
  expect(stateWith({ rollout_status: 'aborted', phase: 'aborted' })).toEqual(['in_sync', false])
})

test('what ails unhealthy instances is counted by pipeline and component', () => {
  const ok = { healthy: true }
  const tree = (exporter: { healthy: boolean }) => ({
    healthy: false,
    components: {
      'pipeline:traces': {
        healthy: false,
        components: { 'receiver:otlp': ok, 'exporter:otlphttp/eu': exporter },
      },
      extensions: { healthy: false, components: { 'extension:opamp': { healthy: false } } },
    },
  })
  expect(countFailing([tree({ healthy: false }), tree(ok), tree({ healthy: false })])).toEqual(
    new Map([['traces exporter:otlphttp/eu', 2]]),
  )
})

test('each failing component is named once, whatever pipelines it fails in', () => {
  const failing = new Map([
    ['traces exporter:otlp', 1],
    ['metrics exporter:otlphttp/eu', 2],
    ['traces/2 exporter:otlphttp/eu', 2],
  ])
  expect(listComponents(failing)).toEqual(['exporter otlphttp/eu', 'exporter otlp'])
})

test('values are counted, the most common first', () => {
  const instances = ['b', 'a', 'b', undefined].map((version) => ({ version })) as unknown as LiveInstance[]
  expect(countValues(instances, ({ version }) => version)).toEqual([
    { value: 'b', count: 2 },
    { value: 'a', count: 1 },
  ])
})

describe('a line of time that is read page by page', () => {
  const id = (row: string) => row

  test('goes on with an older page, and begins anew with what came meanwhile', () => {
    const newest = { rows: ['e', 'd'], next: '/3', outside: [4] }
    const known = joinPage(newest, false, { rows: ['c', 'b'], next: '/5', outside: [2] }, id)
    expect(known).toEqual({ rows: ['e', 'd', 'c', 'b'], next: '/5', outside: [4, 2] })
    // How many are not shown is counted again for the page that was read again, and kept for the others.
    expect(joinPage(known, true, { rows: ['f', 'e'], next: '/2', outside: [5] }, id)).toEqual({
      rows: ['f', 'e', 'd', 'c', 'b'],
      next: '/5',
      outside: [5, 2],
    })
    // The new page shares no row with the known ones, so rows between them are missing: start from the new page.
    const apart = { rows: ['z', 'y'], next: '/2', outside: [1] }
    expect(joinPage(known, true, apart, id)).toEqual(apart)
  })

  test('is whole as far back as the list that was read least far', () => {
    const whole = { hasOlder: false, oldest: '2026-07-01T08:00:00.000Z' }
    const events = { hasOlder: true, oldest: '2026-07-01T10:00:00.000Z' }
    const alerts = { hasOlder: true, oldest: '2026-07-01T09:00:00.000Z' }
    expect(readSince([whole, events, alerts])).toBe(events.oldest)
    expect(readSince([whole, { hasOlder: false, oldest: undefined }])).toBeNull()
  })
})

describe('an event of the audit log', () => {
  test.each([
    [
      'alert.resolve',
      '{"rule":"workload_down","reason":"","n":2}',
      [
        ['rule', 'workload_down'],
        ['n', 2],
      ],
    ],
    [
      'config.approval.request',
      'apr_1:eu:west',
      [
        ['approval_id', 'apr_1'],
        ['target_group', 'eu:west'],
      ],
    ],
    ['config.approval.request', 'apr_1:', [['approval_id', 'apr_1']]],
    ['config.approval.reject', 'apr_1', [['approval_id', 'apr_1']]],
    [
      'config.approval.push',
      `apr_1:${'a'.repeat(64)}`,
      [
        ['approval_id', 'apr_1'],
        ['config_hash', 'a'.repeat(64)],
      ],
    ],
    [
      'config.approval.break_glass_push',
      `apr_1:down since 12:04: see INC-7:${'a'.repeat(64)}`,
      [
        ['approval_id', 'apr_1'],
        ['break_glass_reason', 'down since 12:04: see INC-7'],
        ['config_hash', 'a'.repeat(64)],
      ],
    ],
    ['config.label', 'v1 = the first', [['label', 'v1 = the first']]],
    [
      'report.export',
      'format=csv workloads=3',
      [
        ['format', 'csv'],
        ['workloads', '3'],
      ],
    ],
    ['config.create', '{"name":"cut…', [['detail', '{"name":"cut…']]],
    ['fleet_config.create', '{"name":"a","managed":null}', [['name', 'a']]],
    // None of something is not worth a word.
    [
      'campaign.start',
      '{"workload_count":38,"waiting_count":38,"started_count":0,"applied_count":0}',
      [
        ['workload_count', 38],
        ['waiting_count', 38],
      ],
    ],
    // Without one it is the whole fleet that is frozen, and that is to be told.
    [
      'freeze.set',
      '{"selector":null,"reason":"Friday"}',
      [
        ['selector', null],
        ['reason', 'Friday'],
      ],
    ],
    ['user.update', '', []],
  ])('%s with %j is fields', (action, detail, fields) => {
    expect(readDetail({ action, detail })).toEqual(fields)
  })

  test('says what was said with it: with a step of a request, or in its detail', () => {
    const step = { action: 'config.approval.approve', detail: 'apr_1' }
    expect(commentOf({ ...step, comment: 'looks right' })).toBe('looks right')
    expect(commentOf(step)).toBe('')
    expect(commentOf({ action: 'campaign.start', detail: '{"wave":0,"comment":"go"}' })).toBe('go')
  })

  test('names roles and what Git told in words', () => {
    expect(describeDetailField('commit_authors')).toBe('the commit names')
    expect(describeOwnDetail('groups', ['administrator', 'On call'])).toBe('administrator, On call')
    language.value = 'fr'
    expect(describeOwnDetail('groups', ['administrator', 'On call'])).toBe('administrateur, On call')
    expect(describeDetailField('commit_author')).toBe('écrit par')
    language.value = 'en'
  })

  test('is found by what its action is called in either language, or by its code', () => {
    expect(findActions('push')).toEqual(
      expect.arrayContaining(['config.approval.push', 'config.approval.break_glass_push']),
    )
    expect(findActions('Poussée')).toContain('config.approval.push')
    expect(findActions('auth.login.failure')).toEqual(['auth.login.failure'])
    expect(findActions('nothing like it')).toEqual([])
  })
})

describe('many instances', () => {
  const many = Array.from({ length: 1_406 }, (_, n) => ({
    instance_uid: `u${n}`,
    pod_name: `gateway-${n}`,
    version: n === 700 ? '0.98.0' : '0.149.0',
    connected_at: '2026-07-01T08:00:00.000Z',
    last_message_at: '2026-07-01T08:00:00.000Z',
    healthy: n !== 900,
    accepts_remote_config: true,
    effective_matches: 'unknown' as const,
  })) satisfies LiveInstance[]
  const summary = { version_diversity: ['0.98.0', '0.149.0'] } as unknown as WorkloadTopology['summary']
  const sorted = (sort: Parameters<typeof sortInstances>[2]['sort'], isDescending = false) =>
    sortInstances(many, summary, { sort, isDescending }, ({ pod_name: pod }) => pod ?? '').map(
      ({ pod_name: pod }) => pod,
    )

  test('say what they answered, in numbers, and not that they are still at it', () => {
    const differ = {
      remote_config_status_counts: {
        capable: 60,
        no_status: 45,
        sent: 0,
        applying: 0,
        applied: 0,
        failed: 15,
      },
      heterogeneity_reasons: ['mixed_remote_config_statuses', 'failed_remote_config'],
      version_diversity: [],
    } as unknown as WorkloadTopology['summary']
    expect(describeHeterogeneity(many, differ)).toEqual([
      'The last config from here: no word yet on 45 and failed on 15.',
    ])
  })

  test('that stand out for the same are told of together, and no fact twice', () => {
    const failed = { status: 'failed', config_hash: 'b', updated_at: '' } as const
    const odd = many.slice(0, 4).map((one, at) => ({
      ...one,
      assigned_config_hash: 'a',
      ...(at < 3
        ? { effective_matches: false, remote_config_status: failed }
        : { effective_config_hash: 'c' }),
    })) as LiveInstance[]
    const groups = groupOdd(
      odd,
      summary,
      (oddity, { effective_config_hash: hash }) => `${oddity} ${hash ?? ''}`,
      ({ fault }) => fault?.error_cause ?? '',
    )
    expect(groups.map(({ about, instances }) => [about, instances.length])).toEqual([
      [['failed '], 3],
      [['other_config c'], 1],
    ])
  })

  test('that stand out for the same but have other causes are told of apart, each with its own', () => {
    const sick = many.slice(0, 3).map((one, at) => ({
      ...one,
      healthy: false,
      fault: { error_cause: at === 0 ? 'port_in_use' : 'backend_unreachable' },
    })) as LiveInstance[]
    const groups = groupOdd(
      sick,
      summary,
      (oddity) => oddity,
      ({ fault }) => fault?.error_cause ?? '',
    )
    expect(groups.map(({ why, instances }) => [why, instances.length])).toEqual([
      ['port_in_use', 1],
      ['backend_unreachable', 2],
    ])
  })

  test('that stand out get the cause of the workload’s trouble where it can only be about them', () => {
    const sick = { oddities: ['unhealthy'] } as const
    const other = { oddities: ['other_config'] } as const
    const failed = { oddities: ['failed', 'unhealthy'] } as const
    expect(isAbout({ kind: 'some_unhealthy' }, sick, [sick, other, failed])).toBe(true)
    expect(isAbout({ kind: 'some_unhealthy' }, other, [sick, other])).toBe(false)
    expect(isAbout({ kind: 'drifted' }, other, [other])).toBe(true)
    // Two kinds of unhealthy ones may have two causes; one that failed says its own.
    expect(isAbout({ kind: 'unhealthy' }, sick, [sick, { oddities: ['unhealthy', 'old_version'] }])).toBe(
      false,
    )
    expect(isAbout({ kind: 'unhealthy' }, failed, [failed])).toBe(false)
    expect(isAbout(undefined, sick, [sick])).toBe(false)
  })

  test('are found by a part of a text and the beginning of a state, all words of a search', () => {
    const words = {
      texts: ['gateway-17', undefined, '0.149.0'],
      states: ['unhealthy', 'en défaut', 'failed'],
    }
    for (const search of ['way-17', '0.149 fail', 'UNHEALTHY', 'en'])
      expect(matchesInstance(words, search), search).toBe(true)
    for (const search of ['healthy', 'way-17 applied', '0.98'])
      expect(matchesInstance(words, search), search).toBe(false)
  })

  test('are called by their pod, else by their host, and told apart where two have one', () => {
    const rows = [
      { instance_uid: 'b48955f620f070a7', pod_name: 'gateway-0' },
      { instance_uid: 'c1c1c1c1c1c1c1c1' },
    ]
    const onHost = { fingerprint_keys: { 'host.name': 'store-18' } }
    const called = (some: typeof rows, workload: Parameters<typeof nameInstances>[1]) =>
      some.map(({ instance_uid: uid }) => nameInstances(some, workload)(uid))
    expect(called(rows, onHost)).toEqual(['gateway-0', 'store-18'])
    expect(called(rows, {})).toEqual(['gateway-0', 'c1c1c1c1c1c1c1c1'])
    expect(called([...rows, { instance_uid: 'd2d2d2d2d2d2d2d2' }], onHost)).toEqual([
      'gateway-0',
      'store-18 · c1c1c1c1',
      'store-18 · d2d2d2d2',
    ])
    // One that has left is in no row.
    expect(nameInstances(rows.slice(0, 1), onHost)('e3e3e3e3')).toBe('store-18')
  })

  test('are sorted by any column, both ways, numbers as numbers; by themselves the odd ones come first', () => {
    expect(sorted('odd').slice(0, 2)).toEqual(['gateway-900', 'gateway-700'])
    expect(sorted('instance').slice(0, 3)).toEqual(['gateway-0', 'gateway-1', 'gateway-2'])
    expect(sorted('instance', true)[0]).toBe('gateway-1405')
    expect(sorted('version').slice(0, 2)).toEqual(['gateway-700', 'gateway-0'])
    expect(sorted('health')[0]).toBe('gateway-900')
  })

  test('can all be chosen, by searching where there are too many; the one that is looked at stays', () => {
    const last = many.at(-1)!
    expect(listChoices(many, null)).not.toContain(last)
    expect(listChoices(many, null, ({ pod_name: pod }) => pod === 'gateway-1405')).toEqual([last])
    expect(listChoices(many, 'u3', () => false)).toEqual([many[3]])
  })
})

test('a chart of what happened counts the alerts that began in each of its stretches', () => {
  const at = (minute: number) => new Date(minute * 60_000).toISOString()
  const alerts = [at(0), at(9), at(10), at(31)].map((fired_at) => ({ fired_at }))
  const starts = [at(0), at(10), at(20)]
  expect(countFired(alerts, { starts, bucketSeconds: 600 })).toEqual([2, 1, 0])
  expect(countFired([], { starts, bucketSeconds: 600 })).toEqual([0, 0, 0])
})

test('what broke after a push says so in a few words, of those that the service counted', () => {
  const under_push = {
    push_id: 'p',
    config_hash: 'f3361750aaaaaaaa',
    submitted_at: '2026-01-01T00:00:00.000Z',
    pushed_by: 'admin',
    instance_count: 1,
  }
  const trouble = { kind: 'unhealthy', count: 1, total: 2, under_push } as const
  expect(describeTrouble(trouble)).toBe('1 of 2 unhealthy since push f336175')
  expect(describeTrouble({ ...trouble, count: 2 })).toBe('2 of 2 unhealthy, 1 since push f336175')
  const row = { ...workload({}), trouble } as never
  const sick = { healthy: false, instance_uid: 'a' }
  const summary = { connected_count: 2, version_diversity: [] }
  const topology = (...instances: object[]) => ({ summary, instances }) as never
  const said = { kind: 'unhealthy', count: 1, total: 2, push: under_push }
  expect(diagnose(row, topology(sick), [])).toMatchObject(said)
  // What was read of the instances a moment later, or not yet, changes nothing of it.
  expect(diagnose(row, topology(sick, { ...sick, instance_uid: 'b' }), [])).toMatchObject(said)
  expect(diagnose(row, null, [])).toMatchObject(said)
  expect(diagnose(workload({}), topology(sick), [])).not.toMatchObject({ kind: 'unhealthy' })
})

test('of why a workload drifted only what tells it from others is said, unless there is nothing else', () => {
  const all = [
    'drifted',
    'heterogeneous_effective_config',
    'config_drift_alert',
    'group_heterogeneous_config',
  ]
  expect(tellingReasons(all)).toEqual(['heterogeneous_effective_config'])
  expect(tellingReasons(['drifted', 'config_drift_alert'])).toEqual(['drifted'])
  expect(tellingReasons([])).toEqual([])
})

test('of workloads of one name the host comes first that tells them apart; a cluster and namespace never hide a name', () => {
  expect(tellingFirst('store-collector', 'store-01', true)).toEqual(['store-01', 'store-collector'])
  expect(tellingFirst('otel-gateway', 'eu-1/shop', true)).toEqual(['otel-gateway', 'eu-1/shop'])
  expect(tellingFirst('till', 'till-01', false)).toEqual(['till', 'till-01'])
})

test('what failed with nothing to go back to is what nobody is to run, also where drift is listed', () => {
  const last_push = { config_hash: 'ab', aftermath: { kind: 'nowhere_to_go' } } as RevisionRecord
  expect(deadEndOf({ current_config_push: last_push })).toBe('ab')
  expect(deadEndOf({ current_config_push: last_push, active_config_hash: 'cd' })).toBeNull()
  expect(deadEndOf({ current_config_push: {} })).toBeNull()
})

test('all is not well while an instance reports to run something else than it says that it applied', () => {
  const instance = (more: object) => ({
    instance_uid: 'a',
    healthy: true,
    assigned_config_hash: 'ab',
    effective_config_hash: 'ab',
    remote_config_status: { status: 'applied' },
    ...more,
  })
  const paths = ['exporters.otlphttp/eu.endpoint']
  const topology = {
    instances: [
      instance({ effective_matches: true }),
      instance({ effective_matches: false, effective_mismatch_paths: paths }),
    ],
    summary: {
      connected_count: 2,
      version_diversity: [],
      heterogeneity_reasons: [],
      remote_config_status_counts: {},
    },
  } as unknown as WorkloadTopology
  const row = workload({ active_config_hash: 'ab' })
  expect(diagnose(row, topology, [])).toEqual({ kind: 'differs', count: 1, total: 2, paths })
  expect(describeHeterogeneity(topology.instances, topology.summary)).toEqual([
    '1 reports to run something else than what is assigned.',
  ])
})

test('what identifies a workload begins with its name, in whatever order the service says it', () => {
  const keys = { cluster: 'eu', 'os.type': 'linux', namespace: 'shop', name: 'gw', kind: 'deployment' }
  expect(identityOf({ fingerprint_keys: keys }).map(([key]) => key)).toEqual([
    'name',
    'kind',
    'namespace',
    'cluster',
    'os.type',
  ])
})

test('a list that was read in part does not say how many there are as if it were all', () => {
  expect([7, 199, 200].map(formatListed)).toEqual(['7', '199', '200+'])
})

test('events of a workload are counted as events, and a step of a request is told with what was said', () => {
  expect(say(historyTexts).stats(8, 0, 1)).toBe('8 connects · 0 disconnects · 1 version change')
  const { audit } = say(historyTexts).event
  expect(audit('Change approved', 'eve@example.com', 'fine')).toBe(
    'Change approved by eve@example.com: “fine”',
  )
  expect(audit('Change approved', 'eve@example.com', '')).toBe('Change approved by eve@example.com')
})

describe('a place in a config', () => {
  const text = [
    'exporters:',
    '  otlphttp/eu:',
    '    endpoint: https://telemetry.exmaple.com:4318',
    '    headers: { a: 1 }',
    '    retry: [1, 2]',
    'service: {}',
  ].join('\n')
  const path = 'exporters.otlphttp/eu'

  test('has its value on one line, or none', () => {
    expect(valueAt(text, `${path}.endpoint`)).toBe('https://telemetry.exmaple.com:4318')
    expect(valueAt(text, `${path}.headers`)).toBe('{"a":1}')
    expect(valueAt(text, `${path}.retry[1]`)).toBe('2')
    expect(valueAt(text, `${path}.timeout`)).toBeNull()
    expect(valueAt('a: [', 'b')).toBeNull()
  })

  test('is the line that a complaint is about, else its first; none where the config has no such part', () => {
    expect(faultLine(text, path, ['telemetry.exmaple.com'])).toBe(3)
    expect(faultLine(text, path, ['10.0.0.1'])).toBe(2)
    expect(faultLine(text, 'exporters.otlp', ['telemetry.exmaple.com'])).toBeNull()
  })
})

test('a clock is ahead where a report is from later than now, and never behind: what it tells of may be as old', () => {
  const now = Date.parse('2026-11-29T13:00:00Z')
  const at = (updated_at: string) => ({ healthy: true, updated_at })
  expect(aheadMs({ ...at('2026-06-01T00:00:00Z') }, now)).toBe(0)
  expect(aheadMs({ ...at('2026-11-29T13:00:30Z') }, now)).toBe(0)
  expect(
    aheadMs({ ...at('2026-11-29T12:00:00Z'), components: { a: at('2026-11-29T13:10:00.250Z') } }, now),
  ).toBe(600_000)
  expect(aheadMs(undefined, now)).toBe(0)
})

test('of requests those stand first that wait for the reader, and those last that wait for nobody', () => {
  const request = (id: string, own: ApprovalTally['own'], isStuck = false) => ({
    id,
    tally: { given: 0, discounted: 0, needed: 1, own },
    ...(isStuck ? { nobody_can_approve: true as const } : {}),
  })
  const sorted = mineFirst([
    request('1', 'author', true),
    request('2', 'author'),
    request('3', 'counts'),
    request('4', 'no_right'),
    request('5', 'counts'),
  ])
  expect(sorted.map(({ id }) => id)).toEqual(['3', '5', '2', '4', '1'])
})

test('a kind of trouble is searched for by its name', () => {
  const of = (kind: WorkloadTrouble['kind']) =>
    ({
      id: kind,
      labels: {},
      fingerprint_keys: {},
      display_name: 'x',
      trouble: { kind },
    }) as unknown as WorkloadRecord
  const found = (text: string) =>
    (['push_failed', 'some_unhealthy', 'unhealthy', 'disconnected'] as const).filter((kind) =>
      matchesTerms(of(kind), parseSearch(text), CODES),
    )
  expect(found('trouble:push_failed')).toEqual(['push_failed'])
  expect(found('trouble:unhealthy -trouble:some_unhealthy')).toEqual(['unhealthy'])
})

test('the chips of what is wrong and the counters say one number: what drifted counts also where something worse is said', () => {
  const of = (id: string, more: Partial<WorkloadRecord>) =>
    ({
      id,
      status: 'connected',
      connected_instance_count: 1,
      drifted_instance_count: 0,
      labels: {},
      fingerprint_keys: {},
      ...more,
    }) as unknown as WorkloadRecord
  const fleet = [
    of('plain', { drifted_instance_count: 1, trouble: { kind: 'drifted' } }),
    of('worse', { drifted_instance_count: 2, trouble: { kind: 'unhealthy' } }),
    of('changed', { altered_instance_count: 1, trouble: { kind: 'altered' } }),
    of('gone', { connected_instance_count: 0, trouble: { kind: 'push_failed' } }),
  ]
  for (const filter of ['drifted', 'leaving'] as const) {
    const counted = fleet.filter(FLEET_FILTERS[filter]).map(({ id }) => id)
    expect(counted.length).toBeGreaterThan(0)
    const chip = fleet.filter((one) => troublesOf(one).includes(filter)).map(({ id }) => id)
    expect(chip).toEqual(counted)
    // The chip leads to as many as it says.
    const found = fleet.filter((one) => matchesTerms(one, parseSearch(`trouble:${filter}`), CODES))
    expect(found.map(({ id }) => id)).toEqual(counted)
  }
})

test('a push is told to have helped, or not, where instances were unhealthy as it was made', () => {
  const push = { push_id: 'p', status: 'applied' as const, submitted_at: '2026-07-01T08:10:00.000Z' }
  const workload = (trouble?: WorkloadTrouble) =>
    ({
      current_config_push: push,
      connected_instance_count: 2,
      ...(trouble && { trouble }),
    }) as unknown as WorkloadRecord
  const fired = { rule: 'workload_unhealthy' as const, fired_at: '2026-07-01T08:00:00.000Z' }
  const sick: WorkloadTrouble = { kind: 'unhealthy', count: 2, total: 2 }
  expect(judgeHelp(push, workload(sick), [fired])).toEqual({ kind: 'still', count: 2, total: 2 })
  // The alert ends a moment later than its cause.
  expect(judgeHelp(push, workload(), [fired])).toEqual({ kind: 'healthy', total: 2, since: undefined })
  const resolved = { ...fired, resolved_at: '2026-07-01T08:11:00.000Z' }
  expect(judgeHelp(push, workload(), [resolved])).toEqual({
    kind: 'healthy',
    total: 2,
    since: resolved.resolved_at,
  })
  // All were healthy, and are not since: by the push, as the service says, or by whatever else.
  const cause = {
    push_id: push.push_id,
    config_hash: 'c',
    submitted_at: push.submitted_at,
    pushed_by: 'ann',
    instance_count: 1,
  }
  expect(judgeHelp(push, workload({ ...sick, under_push: cause }), [])).toEqual({
    kind: 'since',
    count: 1,
    total: 2,
  })
  expect(judgeHelp(push, workload(sick), [])).toEqual({ kind: 'unhealthy', count: 2, total: 2 })
  // Nothing was wrong, or it was over before, or something else was pushed since.
  expect(judgeHelp(push, workload(), [])).toBe(null)
  expect(judgeHelp(push, workload(), [{ ...fired, resolved_at: '2026-07-01T08:05:00.000Z' }])).toBe(null)
  expect(judgeHelp({ ...push, push_id: 'older' }, workload(), [fired])).toBe(null)
  expect(judgeHelp({ ...push, status: 'pending' }, workload(), [fired])).toBe(null)
})
