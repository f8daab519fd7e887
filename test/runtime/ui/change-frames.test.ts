import { describe, expect, it } from 'vitest'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { touchesChanges } from '../../../runtime/ui/logic/change-frames.ts'

const SINCE = '2026-11-29T02:00:00.000Z'
const sick = (pushId: string, more: Partial<WorkloadTrouble> = {}): WorkloadTrouble => ({
  kind: 'unhealthy',
  since: SINCE,
  count: 3,
  total: 3,
  under_push: {
    push_id: pushId,
    config_hash: 'h',
    submitted_at: SINCE,
    pushed_by: 'a@b.c',
    instance_count: 3,
  },
  ...more,
})
const update = (id: string, trouble: WorkloadTrouble | null): HubFrame =>
  ({ type: 'workload_update', workload: { id, trouble } }) as HubFrame
const push = (id: string, workloadId: string, trouble?: WorkloadTrouble): ChangeRecord => ({
  kind: 'push',
  outcome: 'succeeded',
  id,
  at: SINCE,
  who: 'a@b.c',
  is_break_glass: false,
  workload_id: workloadId,
  ...(trouble === undefined ? {} : { unhealthy_since: trouble }),
})

describe('a list of changes is read again by an update of a workload', () => {
  const rows = [push('p2', 'w1'), push('p1', 'w1', sick('p1')), push('p3', 'w2')]

  it.each<[string, HubFrame]>([
    ['that fell ill since a push that is listed', update('w2', sick('p3'))],
    ['that is well again', update('w1', null)],
    ['that has another trouble now', update('w1', { kind: 'disconnected', since: SINCE })],
    ['that has more unhealthy instances now', update('w1', sick('p1', { total: 4, count: 4 }))],
    ['that is unhealthy since another push', update('w1', sick('p2'))],
  ])('%s', (_, frame) => {
    expect(touchesChanges(frame, rows)).toBe(true)
  })

  it.each<[string, HubFrame]>([
    ['that is as it is listed', update('w1', sick('p1', { error_message: 'told to editors alone' }))],
    [
      'that is unhealthy without a push',
      update('w2', { kind: 'unhealthy', since: SINCE, count: 1, total: 1 }),
    ],
    ['that is unhealthy since a push that is not listed', update('w2', sick('p0'))],
    ['that has nothing in it', update('w9', sick('p9'))],
  ])('but not by one %s', (_, frame) => {
    expect(touchesChanges(frame, rows)).toBe(false)
  })
})
