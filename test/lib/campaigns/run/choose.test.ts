import { describe, expect, it } from 'vitest'
import {
  BATCH,
  BUSY_ENDS_MS,
  chooseNext,
  isBusyTooLong,
  noteBusy,
  roomIn,
} from '../../../../lib/campaigns/run/choose.ts'
import { emptyRun, inFlight } from '../../../support/campaign-run.ts'

const targets = (...counts: number[]) =>
  counts.map((instanceCount, n) => ({ workloadId: `w${n}`, instanceCount }))
const idsOf = (chosen: readonly { workloadId: string }[]) => chosen.map(({ workloadId }) => workloadId)

describe('room', () => {
  it('is counted in instances of what is being changed', () => {
    const run = emptyRun()
    run.inFlight.set('a', inFlight({ instances: 3 }))
    run.inFlight.set('b', inFlight({ instances: 4 }))
    expect(roomIn(run, 10)).toBe(3)
  })
})

describe('who is next', () => {
  it('is in the campaign’s order, as long as there is room', () => {
    expect(idsOf(chooseNext(targets(2, 2, 2, 2), emptyRun(), { room: 4, nowMs: 0 }))).toEqual(['w0', 'w1'])
  })

  it('may be larger than the room that is left, so that a large one has its turn at all', () => {
    expect(idsOf(chooseNext(targets(1, 900, 1), emptyRun(), { room: 2, nowMs: 0 }))).toEqual(['w0', 'w1'])
  })

  it('is nobody where there is no room', () => {
    expect(chooseNext(targets(1), emptyRun(), { room: 0, nowMs: 0 })).toEqual([])
  })

  it('takes some room even where nobody was counted', () => {
    expect(chooseNext(targets(0, 0, 0), emptyRun(), { room: 2, nowMs: 0 })).toHaveLength(2)
  })

  it('is one batch at most', () => {
    const many = targets(...Array<number>(BATCH + 7).fill(1))
    expect(chooseNext(many, emptyRun(), { room: 10_000, nowMs: 0 })).toHaveLength(BATCH)
  })

  it('passes over who was busy a moment ago, and comes back to him', () => {
    const run = emptyRun()
    noteBusy(run, 'w0', 1_000)
    expect(idsOf(chooseNext(targets(1, 1), run, { room: 1, nowMs: 1_500 }))).toEqual(['w1'])
    expect(idsOf(chooseNext(targets(1, 1), run, { room: 1, nowMs: 10_000 }))).toEqual(['w0'])
  })
})

describe('a busy workload', () => {
  it('is waited for ten minutes from when it was first found busy', () => {
    const run = emptyRun()
    noteBusy(run, 'w0', 1_000)
    noteBusy(run, 'w0', 60_000)
    expect(isBusyTooLong(run, 'w0', 1_000 + BUSY_ENDS_MS)).toBe(false)
    expect(isBusyTooLong(run, 'w0', 1_001 + BUSY_ENDS_MS)).toBe(true)
    expect(isBusyTooLong(run, 'w1', 1_001 + BUSY_ENDS_MS)).toBe(false)
  })
})
