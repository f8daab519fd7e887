import { describe, expect, it } from 'vitest'
import { type Following, Leaving } from '../../../runtime/fronts/leaving.ts'

const FOLLOWED: Following = { isFollowed: true, others: 2, isUnreached: false }
const ALONE: Following = { ...FOLLOWED, isFollowed: false }

describe('an owner that two others do not follow', () => {
  it('leaves the fleet once that has lasted for ten seconds without a break', () => {
    const leaving = new Leaving()
    expect(leaving.causeNow(ALONE, 0)).toBeNull()
    expect(leaving.causeNow(ALONE, 9_000)).toBeNull()
    expect(leaving.causeNow(FOLLOWED, 9_500)).toBeNull()
    expect(leaving.causeNow(ALONE, 10_000)).toBeNull()
    expect(leaving.causeNow(ALONE, 20_000)).toBe('unfollowed')
  })

  it('stays for ten minutes where it owns again: it may be that none reaches another one', () => {
    const leaving = new Leaving()
    leaving.causeNow(ALONE, 0)
    expect(leaving.causeNow(ALONE, 10_000)).toBe('unfollowed')
    leaving.left('unfollowed', 10_000)
    expect(leaving.causeNow(ALONE, 20_000)).toBeNull()
    expect(leaving.causeNow(ALONE, 609_999)).toBeNull()
    expect(leaving.causeNow(ALONE, 610_000)).toBe('unfollowed')
  })

  it('leaves the lock to the others until it has a link to the next owner', () => {
    const leaving = new Leaving()
    leaving.left('unfollowed', 0)
    expect(leaving.waitsForNext).toBe(true)
    leaving.linked()
    expect(leaving.waitsForNext).toBe(false)
  })

  it('stays where there is one other only: it cannot be told whose fault it is', () => {
    const leaving = new Leaving()
    leaving.causeNow({ ...ALONE, others: 1 }, 0)
    expect(leaving.causeNow({ ...ALONE, others: 1 }, 60_000)).toBeNull()
  })
})

describe('an owner that no process reaches', () => {
  it('leaves at once, and where it owns again once more after a minute', () => {
    const leaving = new Leaving()
    const unreached = { ...ALONE, others: 1, isUnreached: true }
    expect(leaving.causeNow(unreached, 0)).toBe('unreached')
    leaving.left('unreached', 0)
    expect(leaving.causeNow(unreached, 59_999)).toBeNull()
    expect(leaving.causeNow(unreached, 60_000)).toBe('unreached')
  })
})
