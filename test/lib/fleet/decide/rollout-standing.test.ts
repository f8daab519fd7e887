import { expect, it } from 'vitest'
import { awaitsPromotion, isUnpromoted, shownStatus } from '../../../../lib/fleet/decide/rollout-standing.ts'
import type { StagePlan, StageProgress } from '../../../../lib/store/rollouts.ts'

const canary = { canary: {} } as unknown as StagePlan
const plain = { percentage: 50 } as unknown as StagePlan
const AT = '2026-01-01T00:00:00Z'
const begun: StageProgress = { targetCount: 2, startedAt: AT, convergedAt: null, endedAt: null }
const rollout = {
  status: 'running' as const,
  stages: [canary, plain],
  progress: [{ ...begun, convergedAt: AT }],
  stageIndex: 0,
}

it('a canary waits for an operator from when all chosen run it until it is promoted', () => {
  expect(awaitsPromotion(rollout)).toBe(true)
  expect(awaitsPromotion({ ...rollout, progress: [begun] })).toBe(false)
  expect(awaitsPromotion({ ...rollout, progress: [{ ...begun, convergedAt: AT, promotedAt: AT }] })).toBe(
    false,
  )
  expect(awaitsPromotion({ ...rollout, status: 'halted' })).toBe(false)
})

it('a stage of a share is not held', () => {
  expect(isUnpromoted({ ...rollout, stageIndex: 1 })).toBe(false)
  expect(isUnpromoted({ ...rollout, stages: [plain] })).toBe(false)
})

it('a canary that waits is shown as succeeded, and as promoted once it went to everybody', () => {
  expect(shownStatus(rollout)).toBe('succeeded')
  expect(shownStatus({ ...rollout, progress: [begun] })).toBe('running')
  const ended = { ...rollout, status: 'succeeded' as const, stageIndex: 1 }
  expect(shownStatus(ended)).toBe('promoted')
  expect(shownStatus({ ...ended, stages: [plain, plain] })).toBe('succeeded')
  expect(shownStatus({ ...rollout, status: 'aborted' })).toBe('aborted')
})
