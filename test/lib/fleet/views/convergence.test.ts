import { describe, expect, it } from 'vitest'
import {
  convergenceTimes,
  sharedByStragglers,
  toConvergenceTarget,
} from '../../../../lib/fleet/views/convergence.ts'
import type { PushTarget } from '../../../../lib/store/push-targets.ts'

const START = new Date('2026-07-01T08:00:00.000Z')
const later = (ms: number) => new Date(START.getTime() + ms)

function target(uid: string, more: Partial<PushTarget> = {}): PushTarget {
  return {
    instanceUid: uid,
    podName: '',
    isTarget: true,
    isJoiner: false,
    state: 'applied',
    generation: 1,
    offeredAt: START,
    applyingAt: null,
    endedAt: null,
    error: null,
    hadFailedBefore: false,
    wasUnsent: false,
    losses: 0,
    updatedAt: START,
    ...more,
  }
}

const applied = (uid: string, ms: number, more: Partial<PushTarget> = {}) =>
  target(uid, { endedAt: later(ms), ...more })

describe('the times of a push', () => {
  it('name when each share had applied, joiners apart', () => {
    const targets = Array.from({ length: 100 }, (_, n) => applied(`${n}`, (n + 1) * 10))
    targets.push(applied('late joiner', 99_000, { isJoiner: true }))
    expect(convergenceTimes(targets)).toEqual({ p50: 500, p90: 900, p99: 990, p100: 1_000 })
  })

  it('are null for the shares that were not reached, one failure being enough for the last', () => {
    const targets = [applied('a', 10), applied('b', 20), target('c', { state: 'failed', endedAt: later(5) })]
    expect(convergenceTimes(targets)).toEqual({ p50: 20, p90: null, p99: null, p100: null })
    expect(convergenceTimes([])).toEqual({ p50: null, p90: null, p99: null, p100: null })
  })

  it('are counted from the start of its own stage for each, and not from that of the push', () => {
    const second = { offeredAt: later(600_000) }
    const targets = [applied('a', 2_000), applied('b', 603_000, second)]
    expect(convergenceTimes(targets)).toEqual({ p50: 2_000, p90: 3_000, p99: 3_000, p100: 3_000 })
    expect(toConvergenceTarget(targets[1]!, () => null, later(700_000), { withTexts: false })).toMatchObject({
      duration_ms: 3_000,
    })
  })

  it('never are negative when the clock was set back', () => {
    expect(convergenceTimes([applied('a', -5_000)])).toMatchObject({ p100: 0 })
  })
})

describe('what stragglers share', () => {
  const targets = [
    target('s1', { state: 'straggler' }),
    target('s2', { state: 'offered' }),
    applied('a1', 10),
    applied('a2', 10),
    applied('a3', 10),
  ]
  const zone = (uid: string) =>
    new Map([
      ['zone', uid.startsWith('s') ? 'b' : 'a'],
      ['team', 'core'],
    ])

  it('is what nearly all of them carry and the others do not', () => {
    expect(sharedByStragglers(targets, zone, later(60_000))).toEqual([{ key: 'zone', value: 'b', count: 2 }])
  })

  it('is nothing while they have time left, when there is one, or when everybody is late', () => {
    expect(sharedByStragglers(targets, zone, later(1_000))).toEqual([])
    expect(sharedByStragglers(targets.slice(1), zone, later(60_000))).toEqual([])
    expect(sharedByStragglers(targets.slice(0, 2), zone, later(60_000))).toEqual([])
    expect(sharedByStragglers(targets, () => null, later(60_000))).toEqual([])
  })
})
