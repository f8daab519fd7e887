import { describe, expect, it } from 'vitest'
import { goneAfterMs, NO_RHYTHM, notePoll } from '../../../../lib/fleet/decide/poll-rhythm.ts'

const times = (count: number, gap: number) => Array.from({ length: count }, () => gap)

/**
 * Follow polls with these gaps in seconds; returns how often the poller counted as gone in between, and after how many
 * seconds it would count as gone now.
 */
function follow(...gaps: number[]): { gone: number; goneAfter: number } {
  let nowMs = 1_000
  let rhythm = notePoll(NO_RHYTHM, nowMs)
  let gone = 0
  for (const gap of gaps) {
    nowMs += gap * 1_000
    if (gap * 1_000 >= goneAfterMs(rhythm)) gone++
    rhythm = notePoll(rhythm, nowMs)
  }
  return { gone, goneAfter: Math.round(goneAfterMs(rhythm) / 1_000) }
}

describe('the rhythm of a poller', () => {
  it('is not known at first: it is gone after 90 s', () => {
    expect(follow()).toEqual({ gone: 0, goneAfter: 90 })
    expect(follow(...times(20, 10))).toEqual({ gone: 0, goneAfter: 90 })
  })

  it.each([30, 60, 300, 600, 900, 1_799])('is learnt from its second poll on, at %i s', (gap) => {
    const { gone, goneAfter } = follow(...times(30, gap))
    expect(gone).toBe(gap < 90 ? 0 : 1)
    expect(goneAfter).toBe(3 * gap)
  })

  it('is not shortened by what it says in between', () => {
    const round = [0.1, 0.1, 2, 0.5, 597.3]
    expect(follow(...round, ...round, ...round)).toMatchObject({ gone: 1 })
    expect(follow(600, 0.1, 0.2, 1, 1, 1, 600, 5, 600).gone).toBe(1)
  })

  it('is not lengthened by one absence', () => {
    expect(follow(...times(10, 30), 7_200)).toEqual({ gone: 1, goneAfter: 90 })
    expect(follow(...times(10, 30), 7_200, ...times(200, 30), 7_200)).toEqual({ gone: 2, goneAfter: 90 })
    expect(follow(...times(10, 600), 50_000, ...times(10, 600))).toEqual({ gone: 2, goneAfter: 1_800 })
  })

  it('is another one when it stays with it', () => {
    expect(follow(...times(10, 30), ...times(20, 600))).toEqual({ gone: 2, goneAfter: 1_800 })
    expect(follow(...times(10, 600), ...times(100, 30))).toEqual({ gone: 1, goneAfter: 90 })
  })

  it('is never so slow that one that died would be taken for alive for hours', () => {
    expect(follow(86_400, 86_400).goneAfter).toBe(5_400)
  })
})
