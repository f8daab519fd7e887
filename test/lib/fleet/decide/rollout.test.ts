import { describe, expect, it } from 'vitest'
import {
  decideStage,
  describeHalt,
  dwellEndsAt,
  type StageFacts,
} from '../../../../lib/fleet/decide/rollout.ts'
import type { StagePlan } from '../../../../lib/store/rollouts.ts'

const PLAN: StagePlan = { count: 2, dwellMs: 10_000, gates: [] }
const decide = (facts: Partial<StageFacts>) =>
  decideStage({
    isLast: false,
    plan: PLAN,
    members: 2,
    memberUids: ['a', 'b'],
    applied: 0,
    silentUids: [],
    living: 2,
    failedUids: [],
    unhealthyUids: [],
    driftedUids: [],
    convergedForMs: null,
    isUnpromoted: false,
    isAwaiting: false,
    ...facts,
  })

describe('a stage', () => {
  it('waits for its members, is watched, and goes on', () => {
    expect(decide({ applied: 1 })).toEqual({ kind: 'wait' })
    expect(decide({ applied: 1, silentUids: ['b'] })).toEqual({ kind: 'converged' })
    expect(decide({ applied: 2, convergedForMs: 9_999 })).toEqual({ kind: 'wait' })
    expect(decide({ applied: 2, convergedForMs: 10_000 })).toEqual({ kind: 'advance' })
  })

  it('takes no step while agents are on their way, but is halted by its gates', () => {
    expect(decide({ isAwaiting: true, applied: 2 })).toEqual({ kind: 'wait' })
    expect(decide({ isAwaiting: true, applied: 2, convergedForMs: 10_000 })).toEqual({ kind: 'wait' })
    const plan: StagePlan = { ...PLAN, gates: ['no_failure'] }
    expect(decide({ isAwaiting: true, plan, failedUids: ['a'] })).toMatchObject({ kind: 'halt' })
  })

  it('halts when nobody is left in it, also one that had applied', () => {
    const halt = { kind: 'halt', gate: 'no_member', value: 2, limit: 0, instanceUids: ['a', 'b'] }
    expect(decide({ living: 0 })).toEqual(halt)
    expect(decide({ living: 0, applied: 2, convergedForMs: 10_000 })).toEqual(halt)
  })

  it('halts when none of its members said what became of the config', () => {
    expect(decide({ silentUids: ['a', 'b'] })).toMatchObject({ kind: 'halt', gate: 'no_answer', value: 2 })
  })

  it('says in one sentence why it halted', () => {
    const halt = { limit: 0, stage: 0, instanceUids: ['a'], value: 1 } as const
    expect(describeHalt({ ...halt, gate: 'no_member' })).toBe(
      'Stage 1 halted: its one member is not connected any more: a',
    )
    expect(describeHalt({ ...halt, gate: 'no_answer', value: 5, instanceUids: ['a', 'b', 'c'] })).toBe(
      'Stage 1 halted: none of its 5 members said what became of the config: a, b, c and 2 more',
    )
  })

  it('is watched for as long as was asked, without the time that it was halted', () => {
    const progress = { targetCount: 2, startedAt: '', convergedAt: '2026-07-01T08:00:00.000Z', endedAt: null }
    expect(dwellEndsAt(PLAN, { ...progress, convergedAt: null })).toBeNull()
    expect(dwellEndsAt(PLAN, progress)?.toISOString()).toBe('2026-07-01T08:00:10.000Z')
    const resumed = { ...progress, dwelledMs: 4_000, resumedAt: '2026-07-01T09:00:00.000Z' }
    expect(dwellEndsAt(PLAN, resumed)?.toISOString()).toBe('2026-07-01T09:00:06.000Z')
  })
})
