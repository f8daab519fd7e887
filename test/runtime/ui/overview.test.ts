import { describe, expect, test } from 'vitest'
import { parseSearch } from '../../../lib/model/workload-search.ts'
import { statusOf } from '../../../lib/model/workload-states.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { FleetSummary } from '../../../lib/wire/fleet-summary.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { language } from '../../../runtime/ui/i18n/define.ts'
import { describeFleet, listSome } from '../../../runtime/ui/i18n/overview.ts'
import { toStretches } from '../../../runtime/ui/logic/bars.ts'
import {
  countedSince,
  isMade,
  judgeFleet,
  toDrawn,
  toHealthBars,
  toHealthLines,
  toneOf,
  windowOf,
} from '../../../runtime/ui/logic/overview.ts'
import { matchesSearch } from '../../../runtime/ui/logic/search.ts'
import { FLEET_FILTERS, groupWorkloads, sortWorkloads } from '../../../runtime/ui/logic/workloads.ts'

const workload = (status: WorkloadRecord['status'], more: Partial<WorkloadRecord> = {}) =>
  ({
    id: 'a',
    type: 'collector',
    status,
    version: '0.149.0',
    version_outdated: false,
    connected_instance_count: status === 'disconnected' ? 0 : 1,
    ...more,
  }) as WorkloadRecord
const change = (kind: ChangeRecord['kind'], outcome: ChangeRecord['outcome']): ChangeRecord => ({
  kind,
  outcome,
  id: kind,
  at: '2026-07-01T08:00:00.000Z',
  who: 'a@b.c',
  is_break_glass: false,
})
/** The numbers of a fleet, as the server counts them. */
const numbers = (
  [all, troubled, loud]: readonly [number, number, number],
  alerts: Partial<FleetSummary['alerts']> = {},
): FleetSummary => ({
  counts: {
    all,
    connected: all - troubled,
    degraded: troubled,
    all_unhealthy: 0,
    disconnected: 0,
    leaving: 0,
  },
  troubled_count: troubled,
  loud_count: loud,
  of_config_count: 0,
  worst: [],
  versions: { count: 0, first: [] },
  alerts: { open_count: 0, over_count: 0, critical_count: 0, pressing: [], ...alerts },
})

describe('is it us?', () => {
  const well = numbers([2, 0, 0])
  const sick = numbers([3, 2, 2], { open_count: 1, critical_count: 1 })
  const judge = (...of: Parameters<typeof judgeFleet>) => {
    const verdict = judgeFleet(...of)
    const { state, cause } = describeFleet(verdict)
    return [toneOf(verdict), state, cause]
  }

  test('is red only while something is wrong: not for an alert whose cause has gone', () => {
    const cured = numbers([2, 0, 0], { open_count: 2, over_count: 2 })
    expect(judge(cured, [], false)).toEqual([
      'ok',
      'All 2 workloads are connected and healthy. 2 alerts close shortly: what caused them is over.',
      'No config was changed in the last 24 hours.',
    ])
    expect(judge(cured, [change('push', 'failed'), change('push', 'succeeded')], false)).toEqual([
      'ok',
      expect.stringContaining('All 2 workloads are connected and healthy.'),
      '2 changes in the last 24 hours, 1 of them failed or stands still.',
    ])
  })

  test('counts what failed in part, and a campaign that is done and failed on some; of more, those that were read', () => {
    const campaign = { ...change('campaign', 'succeeded'), failed_count: 3 }
    const made = [campaign, change('push', 'in_part'), change('push', 'succeeded')]
    expect(judge(well, made, false)[2]).toBe(
      '3 changes in the last 24 hours, 2 of them failed or stand still.',
    )
    expect(judge(well, made, true)[2]).toBe(
      '3+ changes in the last 24 hours, 2 of the newest 3 failed or stand still.',
    )
  })

  test('says that instances are unhealthy since a change that was applied: none failed, and yet it is us', () => {
    const broke = {
      ...change('push', 'succeeded'),
      unhealthy_since: { kind: 'unhealthy', count: 4, total: 4 },
    } as ChangeRecord
    expect(judge(sick, [broke, change('push', 'succeeded')], false)[2]).toBe(
      '2 changes in the last 24 hours, none of them failed; since 1 of them instances are unhealthy.',
    )
    expect(judge(sick, [broke, broke, change('push', 'open')], true)[2]).toBe(
      '3+ changes in the last 24 hours, none of the newest 3 failed; 1 has not ended yet; since 2 of them instances are unhealthy.',
    )
  })

  test('is as red as the worst that stands: drift is work to do, a warning alone a warning', () => {
    const tone = (of: FleetSummary) => judge(of, [], false)[0]
    expect(tone(numbers([2, 0, 0], { open_count: 1 }))).toBe('warn')
    expect(tone(numbers([2, 1, 0]))).toBe('warn')
    expect(tone(numbers([2, 1, 1]))).toBe('bad')
    expect(tone(numbers([2, 0, 0], { open_count: 1, critical_count: 1 }))).toBe('bad')
  })

  test('nothing is wrong, and nothing was done', () => {
    expect(judge(well, [], false)).toEqual([
      'ok',
      'All 2 workloads are connected and healthy.',
      'No config was changed in the last 24 hours.',
    ])
  })

  test('a request and a campaign that has not started are not listed among what was changed', () => {
    const all = [
      change('request', 'open'),
      { ...change('campaign', 'open'), campaign_status: 'draft' as const },
      change('push', 'succeeded'),
    ]
    expect(all.map(isMade)).toEqual([false, false, true])
  })

  test('something is wrong, and nobody did anything: a request alone is nothing', () => {
    expect(judge(sick, [change('request', 'open')], false)).toEqual([
      'bad',
      'Something is wrong with 2 of 3 workloads. 1 alert is open.',
      'No config was changed in the last 24 hours: the cause is likely elsewhere.',
    ])
  })

  test('what was changed today is well, and it is us all the same where the trouble comes from an older config', () => {
    const cause = (count: number, ...of: ChangeRecord[]) =>
      judge({ ...sick, of_config_count: count }, of, false)[2]
    expect(cause(1, change('push', 'succeeded'))).toBe(
      '1 change in the last 24 hours, none of them failed. The trouble of 1 of these workloads comes from a config that was pushed before.',
    )
    // Where one of today failed, that is the place to look.
    expect(cause(1, change('push', 'failed'))).not.toContain('pushed before')
    expect(cause(0, change('push', 'succeeded'))).not.toContain('pushed before')
    language.value = 'fr'
    expect(cause(2, change('push', 'succeeded'))).toContain(
      'Pour 2 de ces workloads, le problème vient d’une config poussée avant.',
    )
    language.value = 'en'
  })

  test('nobody did anything today, and it is us all the same where the trouble comes from a config', () => {
    const ours = (count: number) => judge({ ...sick, of_config_count: count }, [], false)[2]
    expect(ours(1)).toBe(
      'No config was changed in the last 24 hours, but the trouble of 1 of these workloads comes from its config.',
    )
    expect(ours(2)).toBe(
      'No config was changed in the last 24 hours, but the trouble of 2 of these workloads comes from their configs.',
    )
    language.value = 'fr'
    expect(ours(2)).toBe(
      'Aucune config n’a changé ces dernières 24 heures, mais pour 2 de ces workloads, le problème vient de la config.',
    )
    language.value = 'en'
    // An alert about no workload that something is wrong with, such as a halted campaign's, is nobody else's doing.
    expect(judge(numbers([2, 0, 0], { open_count: 1 }), [], false)[2]).toBe(
      'No config was changed in the last 24 hours.',
    )
  })

  test('changes that failed or halted are named, also where all is well again', () => {
    const changes = [
      change('push', 'failed'),
      change('rollout', 'halted'),
      change('auto_rollback', 'succeeded'),
    ]
    expect(judge(well, changes, false)).toEqual([
      'warn',
      'All 2 workloads are connected and healthy.',
      '3 changes in the last 24 hours, 2 of them failed or stand still.',
    ])
  })

  test('of changes that nobody read it says nothing: neither that none failed, nor that there are none', () => {
    expect(judge(well, [change('push', 'succeeded')], true)[2]).toBe(
      '1+ changes in the last 24 hours, none of the newest 1 failed.',
    )
    expect(judge(sick, null, false)).toEqual([
      'bad',
      'Something is wrong with 2 of 3 workloads. 1 alert is open.',
      'Whether somebody changed a config could not be read.',
    ])
  })

  test('a campaign that has not started changed nothing', () => {
    const of = (status: ChangeRecord['campaign_status']) => ({
      ...change('campaign', 'open'),
      campaign_status: status,
    })
    expect(judge(sick, [of('draft'), of('requested'), of('withdrawn')], false)[2]).toBe(
      'No config was changed in the last 24 hours: the cause is likely elsewhere.',
    )
    expect(judge(well, [of('draft'), of('running')], false)[2]).toBe(
      '1 change in the last 24 hours, none of them failed; 1 has not ended yet.',
    )
  })
})

test('some of many are listed with how many more there are, with one “and”', () => {
  expect(listSome(['a', 'b'], 21)).toBe('a, b and 21 more')
  expect(listSome(['a', 'b'], 0)).toBe('a and b')
  language.value = 'fr'
  expect(listSome(['a', 'b'], 21)).toBe('a, b et 21 autres')
  language.value = 'en'
})

describe('the numbers of the overview', () => {
  test('count one without a connected instance as leaving, in the counters and the search alike', () => {
    const gone = { connected_instance_count: 0 }
    const all = [
      workload('connected'),
      workload('connected', { ...gone, trouble: { kind: 'push_failed' } }),
      workload('degraded', gone),
      workload('disconnected'),
    ]
    const passing = (id: keyof typeof FLEET_FILTERS) => all.filter(FLEET_FILTERS[id]).length
    expect([passing('connected'), passing('degraded'), passing('disconnected'), passing('leaving')]).toEqual([
      1, 0, 1, 2,
    ])
    const found = (text: string) => all.filter((one) => matchesSearch(one, parseSearch(text))).length
    expect([found('status:degraded'), found('status:leaving')]).toEqual([0, 2])
    expect(all.map(statusOf)).toEqual(['connected', 'leaving', 'leaving', 'disconnected'])
  })

  test('count and find those that are shown as all unhealthy, which are degraded too', () => {
    const trouble = { kind: 'unhealthy', count: 3, total: 3 } as const
    const all = [
      workload('connected'),
      workload('degraded', { trouble: { kind: 'some_unhealthy', count: 1, total: 3 } }),
      workload('degraded', { trouble }),
    ]
    const passing = (id: keyof typeof FLEET_FILTERS) => all.filter(FLEET_FILTERS[id]).length
    expect([passing('degraded'), passing('all_unhealthy')]).toEqual([2, 1])
    const found = (text: string) => all.filter((one) => matchesSearch(one, parseSearch(text))).length
    expect(
      ['all unhealthy', '"all unhealthy"', 'status:unhealthy', 'status:"all unhealthy"'].map(found),
    ).toEqual([1, 1, 1, 1])
    expect(['degraded', 'status:degraded', 'status:connected'].map(found)).toEqual([2, 2, 1])
    language.value = 'fr'
    expect(['tout en défaut', 'all unhealthy'].map(found)).toEqual([1, 1])
    language.value = 'en'
  })

  test('count those that something is wrong with as the sentence does: neither what is only old nor what is archived', () => {
    const trouble = { kind: 'push_failed' } as const
    const all = [
      workload('connected'),
      workload('degraded', { trouble }),
      workload('disconnected', { trouble: { kind: 'disconnected' } }),
      workload('connected', { trouble: { kind: 'outdated' } }),
      workload('disconnected', { trouble, archived_at: '2026-07-01T08:00:00.000Z' }),
    ]
    expect(all.map(FLEET_FILTERS.wrong)).toEqual([false, true, true, false, false])
  })

  test('are lines with gaps in small, and no line where nothing was ever counted', () => {
    const start = (at: number) => new Date(Date.UTC(2026, 6, 1, 8, 5 * at)).toISOString()
    const health = { window: '1h', bucket_seconds: 300, since: start(0) } as const
    expect(toHealthLines({ ...health, buckets: [] })).toBe(null)
    const counts = { connected: 3, degraded: 0, all_unhealthy: 0, disconnected: 1, leaving: 0 }
    const lines = toHealthLines({
      ...health,
      buckets: [0, 1, 4].map((at) => ({ start: start(at), ...counts })),
    })
    expect(lines?.degraded.slice(0, 6)).toEqual([0, 0, null, null, 0, null])
    expect(lines?.disconnected).toHaveLength(12)
    expect(toStretches(lines?.connected ?? [])).toEqual([
      { first: 0, values: [3, 3] },
      { first: 4, values: [3] },
    ])
  })

  test('draw a gap where nothing was counted', () => {
    const start = (minutes: number) => new Date(Date.UTC(2026, 6, 1, 8, minutes)).toISOString()
    const bars = toHealthBars({
      window: '1h',
      bucket_seconds: 300,
      since: start(0),
      buckets: [
        { start: start(0), connected: 3, degraded: 0, all_unhealthy: 0, disconnected: 0, leaving: 0 },
        { start: start(55), connected: 2, degraded: 1, all_unhealthy: 0, disconnected: 1, leaving: 4 },
      ],
    })
    expect(bars.times).toHaveLength(12)
    expect(bars.connected).toEqual([3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2])
    expect(bars.disconnected.at(-1)).toBe(1)
    expect(bars.leaving.at(-1)).toBe(4)
    const empty = { window: '1h' as const, bucket_seconds: 300, since: start(0), buckets: [] }
    expect(toHealthBars(empty).times).toEqual([])
  })

  test('draw what is not well alone where it is a small part at every time, so that the axis counts it', () => {
    const bars = (unwell: number) => ({
      times: [0, 1],
      connected: [45, 1_538],
      degraded: [0, 9],
      all_unhealthy: [0, 8],
      disconnected: [unwell, 0],
      leaving: [0, 0],
    })
    const { values, isUnwellAlone } = toDrawn(bars(1))
    expect(isUnwellAlone).toBe(true)
    // Each is drawn once, and what is said of them stays what was counted.
    expect(values).toEqual({
      connected: [0, 0],
      degraded: [0, 1],
      all_unhealthy: [0, 8],
      disconnected: [1, 0],
      leaving: [0, 0],
    })
    expect(toDrawn(bars(12))).toMatchObject({ isUnwellAlone: false, values: { connected: [45, 1_538] } })
    const well = { ...bars(0), degraded: [0, 0], all_unhealthy: [0, 0] }
    expect(toDrawn(well)).toMatchObject({ isUnwellAlone: false, values: { connected: [45, 1_538] } })
  })
})

describe('a grouped fleet', () => {
  const inGroup = (team: string, name: string, trouble?: WorkloadRecord['trouble']) =>
    workload('connected', { id: name, display_name: name, labels: { team }, ...(trouble && { trouble }) })
  const all = [
    inGroup('atlas', 'a', { kind: 'drifted', count: 1, total: 2 }),
    inGroup('atlas', 'b'),
    inGroup('beta', 'c'),
    inGroup('zeta', 'd', { kind: 'disconnected' }),
    inGroup('beta 10', 'e'),
  ]
  const grouped = (isWorstFirst: boolean) =>
    groupWorkloads(sortWorkloads(all, isWorstFirst ? 'why' : 'name', false), 'label:team', isWorstFirst).map(
      ({ value, members, wrongCount }) => [value, members.length, wrongCount],
    )

  test('has the group of the worst workload first, with how many of each something is wrong with', () => {
    expect(grouped(true)).toEqual([
      ['zeta', 1, 1],
      ['atlas', 2, 1],
      ['beta', 1, 0],
      ['beta 10', 1, 0],
    ])
  })

  test('has the group first in which most are in trouble, wherever the worst one of all is', () => {
    const fleet = [
      inGroup('few', 'a', { kind: 'disconnected' }),
      ...Array.from({ length: 9 }, (_, at) => inGroup('few', `well-${at}`)),
      ...Array.from({ length: 5 }, (_, at) => inGroup('many', `b-${at}`, { kind: 'leaving' })),
      inGroup('half', 'c', { kind: 'leaving' }),
      inGroup('half', 'd'),
    ]
    expect(
      groupWorkloads(sortWorkloads(fleet, 'why', false), 'label:team', true).map(({ value }) => value),
    ).toEqual(['many', 'half', 'few'])
  })

  test('stands by the names of its groups where its rows are sorted otherwise', () => {
    expect(grouped(false).map(([value]) => value)).toEqual(['atlas', 'beta', 'beta 10', 'zeta'])
  })
})

describe('what was counted of a service that is young', () => {
  const bucket = (start: string) => ({
    start,
    connected: 1,
    degraded: 0,
    all_unhealthy: 0,
    disconnected: 0,
    leaving: 0,
  })
  const health = (...starts: string[]) => ({
    window: '24h' as const,
    bucket_seconds: 1_800,
    since: '2026-06-30T09:00:00.000Z',
    buckets: starts.map(bucket),
  })
  const now = Date.parse('2026-07-01T09:10:00.000Z')

  test('is shown in the shortest window that has all of it', () => {
    expect(windowOf(health('2026-07-01T08:30:00.000Z', '2026-07-01T09:00:00.000Z'), now)).toBe('1h')
    expect(windowOf(health('2026-07-01T05:30:00.000Z'), now)).toBe('6h')
    expect(windowOf(health('2026-06-30T09:00:00.000Z'), now)).toBe('24h')
    expect(windowOf(health(), now)).toBe('24h')
  })

  test('says since when, where that is not the whole window', () => {
    expect(countedSince(health('2026-07-01T08:30:00.000Z'))).toBe('2026-07-01T08:30:00.000Z')
    expect(countedSince(health('2026-06-30T09:00:00.000Z', '2026-07-01T08:30:00.000Z'))).toBeNull()
    expect(countedSince(health())).toBeNull()
  })
})
