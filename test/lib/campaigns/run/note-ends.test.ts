import { describe, expect, it } from 'vitest'
import { endOfFlight } from '../../../../lib/campaigns/run/note-ends.ts'

const MINUTE_MS = 60_000
const forward = { startedMs: 0, isBack: false }
const back = { startedMs: 0, isBack: true }
const FAILED = { state: 'failed', cause: 'crashed', title: 'It exits' } as const

describe('a target that was started', () => {
  it('ends as its push did', () => {
    expect(endOfFlight(forward, { state: 'applied' }, 0)).toEqual({ state: 'applied' })
    expect(endOfFlight(forward, FAILED, 0)).toEqual(FAILED)
    expect(endOfFlight(forward, { state: 'overtaken' }, 0)).toEqual({ state: 'overtaken' })
  })

  it('goes on while its push does, for ten minutes, and has given no answer then', () => {
    expect(endOfFlight(forward, null, 10 * MINUTE_MS)).toBeNull()
    expect(endOfFlight(forward, null, 10 * MINUTE_MS + 1)).toEqual({ state: 'no_answer' })
  })

  it('is waited for longer where its agents poll', () => {
    const slackMs = () => 30 * MINUTE_MS
    expect(endOfFlight(forward, null, 40 * MINUTE_MS, slackMs)).toBeNull()
    expect(endOfFlight(forward, null, 40 * MINUTE_MS + 1, slackMs)).toEqual({ state: 'no_answer' })
  })

  it('ends as its push did, however late that is seen', () => {
    expect(endOfFlight(forward, { state: 'applied' }, 60 * MINUTE_MS)).toEqual({ state: 'applied' })
  })
})

describe('a target that is taken back', () => {
  it('is back where the former config was applied', () => {
    expect(endOfFlight(back, { state: 'applied' }, 0)).toEqual({ state: 'rolled_back' })
  })

  it('has moved on where somebody pushed something else meanwhile', () => {
    expect(endOfFlight(back, { state: 'overtaken' }, 0)).toEqual({ state: 'moved_on' })
  })

  it('could not be taken back where that failed or got no answer, and says why', () => {
    expect(endOfFlight(back, FAILED, 0)).toEqual({ ...FAILED, state: 'rollback_failed' })
    const unanswered = { state: 'rollback_failed', cause: 'no_answer' }
    expect(endOfFlight(back, null, 10 * MINUTE_MS + 1)).toMatchObject(unanswered)
    expect(endOfFlight(back, { state: 'no_answer' }, 0)).toMatchObject(unanswered)
  })
})
