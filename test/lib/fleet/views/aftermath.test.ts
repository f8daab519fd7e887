import { expect, it } from 'vitest'
import { judgeAftermath } from '../../../../lib/fleet/views/aftermath.ts'
import type { Push } from '../../../../lib/store/pushes.ts'

const failed = { seq: 4, hash: 'bad' }
const workloadAt = (pushSeq: number) => ({
  pushSeq,
  live: { runningCount: (hash: string) => (hash === 'bad' ? 2 : 7) },
  active: null,
  rollout: null,
  takenBack: null,
})
const answer = {
  hash: 'good',
  pushId: 'p5',
  pushedBy: 'auto-rollback',
  kind: 'auto-rollback',
  status: 'pending',
  phase: 'applying',
  error: null,
  counts: { target: 4, applying: 4, applied: 0, failed: 0, straggler: 0, gone: 0, joined: 0 },
} as unknown as Push

it('without an answer there was nowhere to go, or another push came first; who runs it still is counted', () => {
  expect(judgeAftermath(workloadAt(4), failed, null)).toEqual({ kind: 'nowhere_to_go', running_count: 2 })
  expect(judgeAftermath(workloadAt(5), failed, null)).toEqual({ kind: 'overtaken', running_count: 2 })
})

it('with an answer it goes back, has gone back, or could not, and says which push that was', () => {
  const kindOf = (change: object) =>
    judgeAftermath(workloadAt(5), failed, { ...answer, ...change } as Push).kind
  expect(judgeAftermath(workloadAt(5), failed, answer)).toEqual({
    kind: 'going_back',
    config_hash: 'good',
    push_id: 'p5',
    pushed_by: 'auto-rollback',
    target_count: 4,
    applied_count: 0,
    failed_count: 0,
    no_status_count: 0,
    running_count: 2,
  })
  expect(kindOf({ status: 'applied', phase: 'applied' })).toBe('went_back')
  expect(kindOf({ status: 'failed', phase: 'failed' })).toBe('rollback_failed')
  const half = { ...answer.counts, applying: 0, applied: 2, failed: 2 }
  expect(kindOf({ status: 'applied', phase: 'applied', counts: half })).toBe('went_back_in_part')
  expect(kindOf({ status: 'failed', phase: 'failed', counts: half })).toBe('went_back_in_part')
  expect(kindOf({ phase: 'superseded' })).toBe('overtaken')
  expect(kindOf({ phase: 'aborted' })).toBe('overtaken')
  // The rollback was applied before the next push superseded it, so the workload did go back.
  expect(kindOf({ status: 'applied', phase: 'superseded' })).toBe('went_back')
})
