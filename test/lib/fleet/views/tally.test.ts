import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../../lib/clock.ts'
import { tallyRecords, VERSIONS_NAMED_MAX } from '../../../../lib/fleet/views/tally.ts'
import type { WorkloadRecord } from '../../../../lib/wire/workloads.ts'

let made = 0
const workload = (status: WorkloadRecord['status'], more: Partial<WorkloadRecord> = {}) =>
  ({
    id: `w${++made}`,
    type: 'collector',
    status,
    version: '0.149.0',
    version_outdated: false,
    connected_instance_count: status === 'disconnected' ? 0 : 1,
    open_alert_count: 0,
    ...more,
  }) as WorkloadRecord
const ARCHIVED = { archived_at: '2026-07-01T08:00:00.000Z' }
const UNHEALTHY = { kind: 'unhealthy', count: 1, total: 1 } as const

describe('the numbers of the fleet', () => {
  it('leave archived workloads out, and count versions of collectors, the newest first', async () => {
    const { counts, versions } = await tallyRecords(
      [
        workload('connected'),
        workload('degraded', { version: '0.131.0', version_outdated: true }),
        workload('connected', { version: '0.131.0', version_outdated: true }),
        workload('connected', { version: '' }),
        workload('disconnected', ARCHIVED),
        workload('connected', { type: 'sdk', version: '2.0.0' }),
      ],
      systemClock,
    )
    expect(counts).toEqual({
      all: 5,
      connected: 4,
      degraded: 1,
      all_unhealthy: 0,
      disconnected: 0,
      leaving: 0,
    })
    expect(versions.first).toEqual([
      { version: '0.149.0', count: 1, mixed_count: 0, is_outdated: false },
      { version: '0.131.0', count: 2, mixed_count: 0, is_outdated: true },
      { version: '', count: 1, mixed_count: 0, is_outdated: false },
    ])
  })

  it('count one without a connected instance as leaving', async () => {
    const gone = { connected_instance_count: 0 }
    const { counts } = await tallyRecords(
      [
        workload('connected'),
        workload('connected', { ...gone, trouble: { kind: 'push_failed' } }),
        workload('degraded', gone),
        workload('disconnected'),
      ],
      systemClock,
    )
    expect(counts).toEqual({
      all: 4,
      connected: 1,
      degraded: 0,
      all_unhealthy: 0,
      disconnected: 1,
      leaving: 2,
    })
  })

  it('count those whose trouble comes from a config: failed, halted, not run, changed on the host, or sick since a push', async () => {
    const since = {
      push_id: 'p',
      config_hash: 'h',
      submitted_at: '2026-07-01T08:00:00.000Z',
      pushed_by: 'a@b.c',
      instance_count: 1,
    }
    const of = (trouble: WorkloadRecord['trouble'], more = {}) =>
      workload('degraded', { trouble: trouble!, ...more })
    const kinds = [
      'push_failed',
      'rollout_halted',
      'rolled_back',
      'some_failed',
      'drifted',
      'altered',
    ] as const
    const ours = [...kinds.map((kind) => of({ kind })), of({ ...UNHEALTHY, under_push: since })]
    const others = (['disconnected', 'unhealthy', 'degraded', 'leaving', 'outdated'] as const).map((kind) =>
      of({ kind }),
    )
    const all = [...ours, ...others, of({ kind: 'push_failed' }, ARCHIVED)]
    expect((await tallyRecords(all, systemClock)).ofConfigCount).toBe(7)
  })

  it('count those of which nothing is healthy among the degraded', async () => {
    const { counts } = await tallyRecords(
      [
        workload('degraded', { trouble: UNHEALTHY }),
        workload('degraded', { trouble: { kind: 'some_unhealthy', count: 1, total: 3 } }),
        workload('degraded', { connected_instance_count: 0, trouble: UNHEALTHY }),
      ],
      systemClock,
    )
    expect(counts).toMatchObject({ degraded: 2, all_unhealthy: 1, leaving: 1 })
  })

  it('list versions newest first, a pre-release behind its release as alerts have it', async () => {
    const listed = ['0.150.0-rc.1', '', '0.98.0', 'nightly', '0.150.0', '0.150.0-rc.2', '0.149.0']
    const { versions } = await tallyRecords(
      listed.map((version) => workload('connected', { version })),
      systemClock,
    )
    expect(versions.first.map(({ version }) => version)).toEqual([
      ...['0.150.0', '0.150.0-rc.2', '0.150.0-rc.1', '0.149.0', '0.98.0', 'nightly', ''],
    ])
  })

  it('name the newest of many versions, in whatever order they come, and count all', async () => {
    const numbers = Array.from({ length: 1_500 }, (_, at) => (at * 7) % 1_500)
    const { versions } = await tallyRecords(
      numbers.map((number) => workload('connected', { version: `0.${number}.0` })),
      systemClock,
    )
    expect(versions.count).toBe(1_500)
    expect(versions.first.map(({ version }) => version)).toEqual(
      Array.from({ length: VERSIONS_NAMED_MAX }, (_, at) => `0.${1_499 - at}.0`),
    )
  })

  it('name the worst first, three at most, and none that is well, archived or only outdated', async () => {
    const away = (name: string) =>
      workload('disconnected', { display_name: name, trouble: { kind: 'disconnected' } })
    const fleet = [
      workload('connected', { display_name: 'old', trouble: { kind: 'outdated' } }),
      workload('degraded', { display_name: 'sick', trouble: UNHEALTHY }),
      away('gone-10'),
      workload('disconnected', { ...ARCHIVED, display_name: 'archived', trouble: { kind: 'disconnected' } }),
      away('gone-1'),
      workload('connected', { display_name: 'off', trouble: { kind: 'drifted', count: 1, total: 2 } }),
      away('gone-2'),
      workload('connected', { display_name: 'well' }),
    ]
    const { worstIds, troubledCount, loudCount } = await tallyRecords(fleet, systemClock)
    const names = new Map(fleet.map(({ id, display_name: name }) => [id, name]))
    expect(worstIds.map((id) => names.get(id))).toEqual(['gone-1', 'gone-2', 'gone-10'])
    expect([troubledCount, loudCount]).toEqual([5, 4])
  })

  it('tell of many that were lost within the same minutes one, before all else, and not those that were lost before', async () => {
    const away = (name: string, env: string, since: string) =>
      workload('disconnected', {
        display_name: name,
        labels: { 'muster/env': env },
        trouble: { kind: 'disconnected', since },
      })
    const lost = Array.from({ length: 40 }, (_, at) =>
      away(`crowd-${at + 10}`, at % 4 === 0 ? 'qa' : 'stage', `2026-07-01T19:26:${at + 10}.000Z`),
    )
    const fleet = [
      workload('degraded', { display_name: 'ledger', trouble: { ...UNHEALTHY, count: 1, total: 9 } }),
      away('alone-1', 'production', '2026-07-01T09:00:00.000Z'),
      away('alone-2', 'production', '2026-07-01T10:00:00.000Z'),
      away('alone-3', 'production', '2026-07-01T11:00:00.000Z'),
      ...lost,
    ]
    const { worstIds, outages } = await tallyRecords(fleet, systemClock)
    const names = new Map(fleet.map(({ id, display_name: name }) => [id, name]))
    expect(worstIds.map((id) => names.get(id))).toEqual(['crowd-10', 'alone-1', 'alone-2'])
    expect([...outages]).toEqual([
      [
        lost[0]!.id,
        {
          count: 40,
          since: '2026-07-01T19:26:10.000Z',
          environments: [
            { name: 'stage', count: 30 },
            { name: 'qa', count: 10 },
          ],
          cluster: '',
        },
      ],
    ])
  })

  it('tell of two outages within minutes of each other as two', async () => {
    const lost = ['26', '28'].flatMap((minute) =>
      Array.from({ length: 20 }, () =>
        workload('disconnected', {
          trouble: { kind: 'disconnected', since: `2026-07-01T19:${minute}:10.000Z` },
        }),
      ),
    )
    const { outages } = await tallyRecords(lost, systemClock)
    expect([...outages.values()].map(({ count }) => count)).toEqual([20, 20])
  })

  it('tell of several in trouble for one reason one, with how many and since when, so that another cause is told too', async () => {
    const sick = (
      name: string,
      host: string,
      minute: number,
      more: Partial<WorkloadRecord['trouble']> = {},
    ) =>
      workload('degraded', {
        display_name: name,
        trouble: {
          ...UNHEALTHY,
          since: `2026-07-01T19:${minute}:00.000Z`,
          error_cause: 'connection_failed',
          error_parameters: { unknown_host: host },
          ...more,
        },
      })
    const fleet = [
      ...Array.from({ length: 8 }, (_, at) => sick(`crowd-${at}`, 'h.example.com', 30 - at)),
      sick('crowd-8', 'h.example.com', 50, { kind: 'some_unhealthy', total: 4 }),
      sick('another-host', 'other.example.com', 40),
      workload('connected', { display_name: 'halted', trouble: { kind: 'rollout_halted' } }),
      // Nobody knows whether these have one cause.
      ...['dull-1', 'dull-2'].map((name) => sick(name, '', 10, { error_cause: 'unknown' })),
    ]
    const { worstIds, alike, troubledCount } = await tallyRecords(fleet, systemClock)
    const names = new Map(fleet.map(({ id, display_name: name }) => [id, name]))
    expect(worstIds.map((id) => names.get(id))).toEqual(['another-host', 'crowd-0', 'dull-1'])
    expect([...alike]).toEqual([[fleet[0]!.id, { count: 9, since: '2026-07-01T19:23:00.000Z' }]])
    expect(troubledCount).toBe(13)
  })

  it('tell whose open alerts have lost their cause, and which names several have', async () => {
    const alerted = { open_alert_count: 1 }
    const fleet = [
      workload('connected', { ...alerted, display_name: 'cured' }),
      workload('degraded', { ...alerted, display_name: 'sick', trouble: UNHEALTHY }),
      workload('connected', { ...alerted, display_name: 'sick', version_outdated: true }),
    ]
    const [cured, sick, old] = fleet.map(({ id }) => id)
    const { calmIds, currentIds, sharedNames } = await tallyRecords(fleet, systemClock)
    expect([...calmIds]).toEqual([cured, old])
    expect([...currentIds]).toEqual([cured, sick])
    expect(sharedNames).toEqual(['sick'])
  })
})
