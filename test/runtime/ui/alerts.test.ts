import { expect, test } from 'vitest'
import { aboutOf as errorOf } from '../../../lib/model/alert-about.ts'
import { type Common, groupAlerts } from '../../../lib/model/alert-groups.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import {
  describeAlert,
  describeAlertGroup,
  describeNext,
  describeWhere,
} from '../../../runtime/ui/i18n/alerts.ts'
import { language } from '../../../runtime/ui/i18n/define.ts'
import { bandAlerts, pressingFirst } from '../../../runtime/ui/logic/alerts.ts'

const alert = (id: string, rule: string, workload: string, more: object = {}) =>
  ({
    id,
    rule,
    workload_id: workload,
    severity: 'warning',
    ...(workload === '' ? {} : { about: aboutOf(workload) }),
    ...more,
  }) as AlertRecord

const PLACES: Readonly<Record<string, string>> = { a: 'eu-1', b: 'eu-1', c: 'us-1', d: '', e: '' }
const aboutOf = (workload: string, environment = '') => ({
  name: workload,
  place: '',
  environment,
  cluster: PLACES[workload] ?? '',
  is_production: environment.startsWith('prod'),
})

const toText = (common: Common) =>
  common.kind === 'config'
    ? common.hash
    : common.kind === 'cause'
      ? common.cause
      : common.kind === 'cluster'
        ? common.name
        : ''

const groupsOf = (alerts: readonly AlertRecord[]) => {
  const { groups, others } = groupAlerts(alerts)
  return {
    groups: groups.map(({ rule, common, alerts: own }) => [
      rule,
      toText(common),
      own.map(({ id }) => id).join(''),
    ]),
    others: others.map(({ id }) => id).join(''),
  }
}

test('what is critical and open stands first, then all else that is open, and what was resolved last', () => {
  const critical = { severity: 'critical' }
  const came = [
    alert('1', 'campaign_failures', 'a'),
    alert('2', 'workload_down', 'b', { ...critical, resolved_at: '2026-01-01T00:00:00Z' }),
    alert('3', 'workload_unhealthy', 'c', critical),
    alert('4', 'config_drift', 'd'),
    alert('5', 'workload_down', 'e', critical),
  ]
  expect(pressingFirst(came).map(({ id }) => id)).toEqual(['3', '5', '1', '4', '2'])
})

test('of what is equally bad production stands first, then what waits for a decision, and old versions last', () => {
  const critical = { severity: 'critical' }
  const production = { about: aboutOf('p', 'production') }
  const came = [
    alert('1', 'version_outdated', 'p', production),
    alert('2', 'config_drift', 'a'),
    alert('3', 'config_drift', 'p', production),
    alert('4', 'campaign_halted', ''),
    alert('5', 'workload_down', 'b', critical),
    alert('6', 'workload_unhealthy', 'p', { ...critical, ...production }),
  ]
  expect(pressingFirst(came).map(({ id }) => id)).toEqual(['6', '5', '4', '3', '2', '1'])
})

test('the same config that failed, one cluster that is lost, and one recommendation are one cause each', () => {
  const hash = { details: { config_hash: 'abcdef0123' } }
  expect(
    groupsOf([
      alert('1', 'push_failed', 'a', hash),
      alert('2', 'workload_down', 'a'),
      alert('3', 'push_failed', 'c', hash),
      alert('4', 'workload_down', 'b'),
      alert('5', 'version_outdated', 'c'),
      alert('6', 'version_outdated', 'd'),
    ]),
  ).toEqual({
    groups: [
      ['push_failed', 'abcdef0', '13'],
      ['workload_down', 'eu-1', '24'],
      ['version_outdated', '', '56'],
    ],
    others: '',
  })
})

test('workloads that are unhealthy for one cause are one, wherever they are; that two drift in one cluster is nothing', () => {
  const port = { details: { cause: 'port_in_use', cause_title: 'Port in use' } }
  const hash = (of: string) => ({ details: { config_hash: of } })
  expect(
    groupsOf([
      alert('1', 'workload_unhealthy', 'a', port),
      alert('2', 'config_drift', 'a', hash('abcdef0123')),
      alert('3', 'workload_unhealthy', 'c', port),
      alert('4', 'config_drift', 'b', hash('1234567890')),
      alert('5', 'workload_unhealthy', 'd', port),
    ]),
  ).toEqual({ groups: [['workload_unhealthy', 'port_in_use', '135']], others: '24' })
})

test('what is critical stands above a group of warnings, whether or not it is grouped itself', () => {
  const critical = { severity: 'critical' }
  const bandsOf = (alerts: readonly AlertRecord[]) =>
    bandAlerts(alerts).map(({ groups, others }) => [
      groups.map(({ alerts: own }) => own.map(({ id }) => id).join('')).join(' '),
      others.map(({ id }) => id).join(''),
    ])
  const lost = [alert('1', 'workload_down', 'a', critical), alert('2', 'workload_down', 'b', critical)]
  const old = [alert('3', 'version_outdated', 'a'), alert('4', 'version_outdated', 'b')]
  const lone = [alert('5', 'campaign_failures', 'c'), alert('6', 'push_failed', 'd', critical)]
  expect(bandsOf([...old, ...lone, ...lost])).toEqual([
    ['12', '6'],
    ['34', '5'],
  ])
  // One table does where no group of warnings would stand above what is critical.
  expect(bandsOf([...lone, ...lost])).toEqual([['12', '65']])
})

/** Hosts without a cluster that went down one after the other, `gapMs` apart. */
const lostAt = (start: string, count: number, gapMs: number, environments = ['prod', 'staging']) =>
  Array.from({ length: count }, (_, at) => {
    const moment = new Date(Date.parse(start) + at * gapMs).toISOString()
    const about = { ...aboutOf(`host-${at}`, environments[at % environments.length]), lost_at: moment }
    // It is noticed later than it happened.
    const firedAt = new Date(Date.parse(moment) + 90_000).toISOString()
    return alert(`${start}-${at}`, 'workload_down', `host-${at}`, {
      severity: 'critical',
      fired_at: firedAt,
      about,
    })
  })

test('many that went down within the same minutes are one, with where they run; what else is critical stands above', () => {
  const lost = lostAt('2026-07-01T08:00:05.000Z', 90, 1_000)
  const alone = lostAt('2026-07-01T03:00:00.000Z', 2, 1_000)
  const other = alert('x', 'push_failed', 'c', { severity: 'critical', fired_at: '2026-07-01T07:00:00.000Z' })
  const bands = bandAlerts([...lost, ...alone, other])
  expect(bands.map(({ kind, groups, others }) => [kind, groups.length, others.map(({ id }) => id)])).toEqual([
    ['critical', 0, ['x']],
    ['outage', 1, []],
    [
      'lost',
      0,
      alone
        .map(({ id }) => id)
        .reverse()
        .sort(),
    ],
  ])
  const [group] = bands[1]!.groups
  expect(group!.common).toEqual({
    kind: 'outage',
    outage: {
      count: 90,
      since: '2026-07-01T08:00:05.000Z',
      environments: [
        { name: 'prod', count: 45 },
        { name: 'staging', count: 45 },
      ],
      cluster: '',
    },
  })
  expect(describeAlertGroup('workload_down', group!.common)).toMatch(/^90 workloads went down at /)
  expect(group!.common.kind === 'outage' && describeWhere(group!.common.outage)).toBe('prod 45, staging 45')
  language.value = 'fr'
  expect(describeAlertGroup('workload_down', group!.common)).toMatch(/^90 workloads ont disparu à /)
  language.value = 'en'
})

test('no group of warnings stands above what is critical, and of what is equally bad the newest stands first', () => {
  const critical = { severity: 'critical' }
  const outage = lostAt('2026-07-01T08:00:05.000Z', 20, 1_000)
  const calm = lostAt('2026-07-01T09:00:05.000Z', 20, 1_000, ['staging']).map((one) => ({
    ...one,
    rule: 'workload_unhealthy' as const,
    severity: 'warning' as const,
  }))
  const later = lostAt('2026-07-01T10:00:05.000Z', 15, 1_000)
  const alone = alert('alone', 'workload_down', 'c', { ...critical, fired_at: '2026-07-01T02:00:00.000Z' })
  const old = [alert('3', 'version_outdated', 'a'), alert('4', 'version_outdated', 'b')]
  const bands = bandAlerts([...later, ...calm, ...old, ...outage, alone])
  expect(
    bands.map(({ groups, others }) => [groups.map(({ alerts: own }) => own.length), others.length]),
  ).toEqual([
    [[15, 20], 0],
    [[], 1],
    [[20, 2], 0],
  ])
})

test('nine are told one by one, and what goes down one by one for hours is no outage', () => {
  for (const alerts of [
    lostAt('2026-07-01T08:00:00.000Z', 9, 100),
    lostAt('2026-07-01T08:00:00.000Z', 40, 60_000 * 2),
  ])
    expect(groupAlerts(alerts).groups).toEqual([])
})

test('six thousand are grouped without comparing each with each', () => {
  const alerts = lostAt('2026-07-01T08:00:00.000Z', 6_000, 1)
  let reads = 0
  for (const one of alerts) {
    const { about } = one
    const read = () => {
      reads++
      return about
    }
    Object.defineProperty(one, 'about', { get: read })
  }
  expect(bandAlerts(alerts)).toHaveLength(1)
  // Each is read some times, and some times more to sort them.
  expect(reads).toBeGreaterThan(6_000)
  expect(reads).toBeLessThan(6_000 * 50)
})

test('an alert of a campaign calls its workloads as the pages do, where they are known', () => {
  const details = {
    failed: 3,
    total: 9,
    workloads: 'store (store-31), store (store-32)',
    workload_ids: 'a,b',
  }
  const say = (callById: (id: string) => string | undefined) =>
    describeAlert(alert('1', 'campaign_failures', '', { details }), undefined, callById)
  expect(say((id) => `store-${id} · store`)).toContain('store-a · store, store-b · store and 1 more.')
  expect(say(() => undefined)).toContain('store (store-31), store (store-32) and 1 more.')
})

test('a lone alert, one of a workload in no known cluster, and one that was resolved stay by themselves', () => {
  expect(
    groupsOf([
      alert('1', 'workload_down', 'a'),
      alert('2', 'workload_down', 'c'),
      alert('3', 'workload_down', 'd'),
      alert('4', 'workload_down', 'e'),
      alert('5', 'workload_down', 'gone'),
      alert('6', 'version_outdated', 'a'),
      alert('7', 'version_outdated', 'b', { resolved_at: '2026-07-01T08:00:00.000Z' }),
      alert('8', 'rollout_halted', 'a'),
      alert('9', 'rollout_halted', 'b'),
    ]),
  ).toEqual({ groups: [], others: '123456789' })
})

test('an alert about a halted rollout says that all are healthy again, and what can be done', () => {
  const details = { rollout_id: 'r', config_hash: 'abc', gate: 'health', value: 2, limit: 0, stage: 1 }
  const say = (more: object) =>
    describeAlert(alert('1', 'rollout_halted', 'a', { details: { ...details, ...more } }))
  expect(say({})).toBe('It stopped by itself in stage 1 and waits for somebody to decide.')
  expect(say({ recovered: 3 })).toMatch(
    /decide\. All 3 live instances are healthy again: continue the rollout, or roll it back\.$/,
  )
  language.value = 'fr'
  expect(say({ recovered: 1 })).toMatch(/Sa seule instance active est de nouveau saine\s: poursuivez/)
  language.value = 'en'
})

test('an alert of drift says why the config failed, where that is what its workload is in trouble for', () => {
  const drift = alert('1', 'config_drift', 'a', {
    details: { config_hash: 'abcdef0123', overdue: 1, judged: 3, failed: 1, instances: 'pod-a' },
  })
  const trouble = (config_hash: string) => ({
    kind: 'some_failed' as const,
    config_hash,
    error_cause: 'port_in_use',
    error_title: 'A port is already in use',
    error_parameters: { port: '4317' },
  })
  const say = (hash: string) => describeAlert(drift, errorOf(drift, trouble(hash)))
  expect(say('abcdef0123')).toBe(
    'Config abcdef0 is not applied on 1 of 3 instances, 1 failed it. A port is already in use (port 4317). On pod-a.',
  )
  expect(say('another')).not.toContain('port')
})

test('an alert says on whom, why, and what next, the same in both languages', () => {
  const drift = alert('1', 'config_drift', 'a', {
    details: { config_hash: 'abcdef0123', overdue: 2, judged: 3, failed: 1, instances: 'pod-a, pod-b' },
  })
  const sick = alert('2', 'workload_unhealthy', 'a', {
    details: {
      unhealthy: 5,
      total: 6,
      instances: 'pod-a, pod-b, pod-c',
      cause: 'connection_failed',
      cause_title: 'A destination cannot be reached',
    },
  })
  const steps = (one: AlertRecord, ...next_steps: NonNullable<AlertRecord['next_steps']>) =>
    describeNext({ ...one, next_steps })
  const told = [drift, sick].map((one) => [describeAlert(one), describeNext(one)])
  language.value = 'fr'
  const french = [drift, sick].map((one) => [describeAlert(one), describeNext(one)])
  language.value = 'en'
  expect(told).toEqual([
    [
      'Config abcdef0 is not applied on 2 of 3 instances, 1 failed it. On pod-a, pod-b.',
      'Look at the instances that do not run it.',
    ],
    [
      '5 of 6 live instances unhealthy for a minute or longer. A destination cannot be reached. On pod-a, pod-b, pod-c and 2 more.',
      'Look at the failing component.',
    ],
  ])
  expect(french).toEqual([
    [
      'La config abcdef0 n’est pas appliquée sur 2 instances sur 3, dont 1 en échec. Sur pod-a, pod-b.',
      'Voyez les instances qui ne l’exécutent pas.',
    ],
    [
      '5 instances actives sur 6 en défaut depuis une minute au moins. Une destination est injoignable. Sur pod-a, pod-b, pod-c et 2 de plus.',
      'Voyez le composant en défaut.',
    ],
  ])
  // Only what can be done is advised.
  expect(steps(sick, 'push', 'roll_back')).toBe(
    'Look at the failing component. Then correct its config or roll back.',
  )
  expect(steps(sick, 'push')).toBe('Look at the failing component. Then correct its config.')
  expect(steps(drift, 'push')).toBe(
    'Look at the instances that do not run it. Then restart them or propose a change.',
  )
  expect(steps(sick)).toMatch(/not pushed from here/)
})

test('alerts about people say in both languages who, since when and what ends them', () => {
  const at = '2026-07-01T08:00:00.000Z'
  const alerts = [
    alert('1', 'administrator_kept', '', { details: { name: 'ann@example.com' } }),
    alert('2', 'approval_policy_lowered', '', { details: { name: 'ann@example.com', counts_at: at } }),
    alert('2b', 'approval_policy_lowered', '', { details: { name: 'ann@example.com', since: at } }),
    alert('3', 'last_resort_login', '', { details: { name: 'last@example.com', at } }),
  ]
  const ends = {
    en: ['the next sign-in follows them', 'stop it', 'nobody stood against it', 'ends by itself a day later'],
    fr: [
      'la prochaine connexion les suivra',
      'pour l’arrêter',
      'personne ne s’y est opposé',
      'se résout d’elle-même un jour plus tard',
    ],
  }
  for (const [name, texts] of Object.entries(ends)) {
    language.value = name as 'en' | 'fr'
    for (const [i, text] of texts.entries()) expect(describeAlert(alerts[i]!)).toContain(text)
    for (const one of alerts.slice(1, 3)) expect(describeAlert(one)).toContain('ann@example.com')
  }
  language.value = 'en'
})
