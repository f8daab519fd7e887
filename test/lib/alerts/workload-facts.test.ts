import { describe, expect, it } from 'vitest'
import { AssignmentTimes } from '../../../lib/alerts/workload-facts.ts'
import type { FollowedPush, Instance } from '../../../lib/fleet/state/model.ts'

describe('since when an instance has had what it is assigned', () => {
  const times = new AssignmentTimes(0)

  /** Since when the alert rules, at this time, count an instance as assigned this push; it connected at 1,000 ms. */
  async function look(
    nowMs: number,
    assigned: string,
    offered: { pushId: string; startedAtMs: number } | null,
  ) {
    const instance = { uid: 'u1', connectedAtMs: 1_000, offer: offered } as Instance
    const sinceMs = times.since(instance, { push: { pushId: assigned } } as FollowedPush, nowMs)
    await times.endLook(nowMs)
    return sinceMs
  }

  it('is its join, then the offer of another push, then the look that finds it back without an offer', async () => {
    const offer = { pushId: 'second', startedAtMs: 70_000 }
    expect(await look(30_000, 'first', null)).toBe(1_000)
    expect(await look(60_000, 'first', null)).toBe(1_000)
    expect(await look(90_000, 'second', offer)).toBe(70_000)
    // A rollout has ended and nothing new is offered: the instance was assigned the first push again at an unknown
    // moment since the last look, so the time of this look counts.
    expect(await look(120_000, 'first', offer)).toBe(120_000)
    expect(await look(150_000, 'first', offer)).toBe(120_000)
  })
})
