import { describe, expect, it } from 'vitest'
import type { DriftItem } from '../../../lib/wire/drift.ts'
import type { HubFrame, WorkloadUpdate } from '../../../lib/wire/hub.ts'
import { touchesDrift } from '../../../runtime/ui/logic/drift.ts'

const item = {
  workload_id: 'w1',
  version: '0.149.0',
  expected_config_hash: 'h',
  drift_status: 'in_sync',
  accepts_remote_config: true,
  has_version_outdated_alert: false,
} as DriftItem
const items = new Map<string, DriftItem>([
  ['w1', item],
  ['w2', { ...item, workload_id: 'w2', drift_reasons: ['altered'] }],
])
const update = (id: string, more: Partial<WorkloadUpdate['workload']> = {}): HubFrame =>
  ({
    type: 'workload_update',
    workload: {
      id,
      type: 'collector',
      version: '0.149.0',
      version_outdated: false,
      active_config_hash: 'h',
      accepts_remote_config: true,
      drifted_instance_count: 0,
      altered_instance_count: null,
      archived_at: null,
      ...more,
    },
  }) as HubFrame

describe('the list of drift is read again', () => {
  it.each<[string, HubFrame]>([
    ['once a config was changed on its host', update('w1', { altered_instance_count: 1 })],
    ['once that is as it was', update('w2')],
    ['once another version is recommended', update('w1', { version_outdated: true })],
    ['once a collector runs another version', update('w1', { version: '0.150.0' })],
    ['once another config is active', update('w1', { active_config_hash: 'i' })],
    ['once an instance drifts', update('w1', { drifted_instance_count: 2 })],
    ['for a collector that is new', update('w3')],
    ['for one that is archived', update('w1', { archived_at: '2026-07-01T08:00:00.000Z' })],
    ['for one that is removed', { type: 'workload_removed', workload_id: 'w1', reason: 'deleted' }],
  ])('%s', (_, frame) => {
    expect(touchesDrift(frame, items)).toBe(true)
  })

  it.each<[string, HubFrame]>([
    ['is as it is listed', update('w1', { open_alert_count: 4 })],
    ['is changed on its host as it is listed', update('w2', { altered_instance_count: 3 })],
    ['is no collector', update('w4', { type: 'sdk' })],
    ['was not listed and is removed', { type: 'workload_removed', workload_id: 'w9', reason: 'deleted' }],
  ])('but not for one that %s', (_, frame) => {
    expect(touchesDrift(frame, items)).toBe(false)
  })

  it('not for a version that is recent enough again before its alert has closed, which is told by that', () => {
    const old = new Map([
      ['w1', { ...item, drift_reasons: ['version_outdated'], has_version_outdated_alert: true }],
    ])
    expect(touchesDrift(update('w1'), old)).toBe(false)
  })
})
