import { expect, test } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { groupAlerts } from '../../../runtime/ui/logic/alerts.ts'

const alert = (id: string, rule: string, workload: string, more: object = {}) =>
  ({ id, rule, workload_id: workload, severity: 'warning', ...more }) as AlertRecord

const workloads = new Map(
  [
    ['a', 'eu-1'],
    ['b', 'eu-1'],
    ['c', 'us-1'],
    ['d', ''],
    ['e', ''],
  ].map(([id = '', cluster = '']) => [
    id,
    { id, labels: {}, fingerprint_keys: cluster === '' ? {} : { cluster } } as unknown as WorkloadRecord,
  ]),
)

const groupsOf = (alerts: readonly AlertRecord[]) => {
  const { groups, others } = groupAlerts(alerts, workloads)
  return {
    groups: groups.map(({ rule, common, alerts: own }) => [rule, common, own.map(({ id }) => id).join('')]),
    others: others.map(({ id }) => id).join(''),
  }
}

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
