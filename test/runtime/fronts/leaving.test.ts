import { describe, expect, it } from 'vitest'
import { Leaving, type Look, type Other } from '../../../runtime/fronts/leaving.ts'

const MINUTE = 60_000

/** The row of another process that follows the owner of this epoch, or nobody. */
const follows = (id: string, linkedEpoch: number | null): Other => ({
  id,
  linkedEpoch,
  ownedEpoch: null,
  ownedSince: null,
  isSpokenWith: true,
})
/** The row of another process that has taken the lock and does not decide yet. */
const claims = (id: string, epoch: number): Other => ({ ...follows(id, null), ownedEpoch: epoch })
/** The row of another process that decides in this epoch, and has a link to itself. */
const owns = (id: string, epoch: number): Other => ({
  ...follows(id, epoch),
  ownedEpoch: epoch,
  ownedSince: new Date(0),
})

/** What the process `a` sees: it owns this epoch, or nothing, and has a link to the owner of that one. */
function look(ownedEpoch: number | null, others: readonly Other[], linkedEpoch = ownedEpoch): Look {
  const memberIds = ['a', 'b', 'c', 'd']
  return { ownedEpoch, linkedEpoch, others, memberIds, isUnreached: false, reachedIds: [] }
}

/** An owner of epoch 1 that two others follow, at time 0. */
function followed(): Leaving {
  const leaving = new Leaving('a')
  expect(leaving.causeNow(look(1, [follows('b', 1), follows('c', 1)]), 0)).toBeNull()
  return leaving
}

const NOBODY = look(1, [follows('b', null), follows('c', null)])

describe('an owner that others followed and do not follow any more', () => {
  it('leaves the fleet once that has lasted for ten seconds', () => {
    const leaving = followed()
    expect(leaving.causeNow(NOBODY, 1_000)).toBeNull()
    expect(leaving.causeNow(NOBODY, 10_999)).toBeNull()
    expect(leaving.causeNow(NOBODY, 11_000)).toBe('unfollowed')
  })

  it('stays where others follow it, though it does not reach itself', () => {
    const leaving = followed()
    const cutOffFromItself = { ...look(1, [follows('b', 1), follows('c', null)], null), isUnreached: true }
    expect(leaving.causeNow(cutOffFromItself, 60_000)).toBeNull()
    // One that restarts takes a moment until it follows again.
    expect(leaving.causeNow({ ...NOBODY, isUnreached: true }, 61_000)).toBeNull()
    expect(leaving.causeNow({ ...NOBODY, isUnreached: true }, 70_999)).toBeNull()
    expect(leaving.causeNow({ ...NOBODY, isUnreached: true }, 71_000)).toBe('unreached')
  })

  it('counts the ten seconds anew after one of them had a link', () => {
    const leaving = followed()
    leaving.causeNow(NOBODY, 1_000)
    leaving.causeNow(look(1, [follows('b', 1), follows('c', null)]), 9_000)
    expect(leaving.causeNow(NOBODY, 10_000)).toBeNull()
    expect(leaving.causeNow(NOBODY, 19_999)).toBeNull()
    expect(leaving.causeNow(NOBODY, 20_000)).toBe('unfollowed')
  })

  it('remembers who had a link over a look in which nobody was heard', () => {
    const leaving = followed()
    leaving.causeNow(look(1, []), 1_000)
    leaving.causeNow(NOBODY, 2_000)
    expect(leaving.causeNow(NOBODY, 12_000)).toBe('unfollowed')
  })

  it('leaves a free lock to others for ten minutes, also once it has a link, and stays where it owns again', () => {
    const leaving = followed()
    leaving.causeNow(NOBODY, 0)
    leaving.left('unfollowed', 10_000)
    leaving.causeNow(look(null, [owns('b', 2), follows('c', 2)], 2), 11_000)
    leaving.causeNow(look(null, [owns('b', 2), follows('c', 2)], 2), MINUTE)
    expect(leaving.ownSuit(true, MINUTE)).toBe('poor')
    const again = look(3, [follows('b', null), follows('c', null)])
    leaving.causeNow(again, MINUTE)
    expect(leaving.causeNow(again, 5 * MINUTE)).toBeNull()
    expect(leaving.ownSuit(true, 11 * MINUTE)).toBe('good')
    expect(leaving.causeNow(again, 11 * MINUTE)).toBe('unfollowed')
  })

  it('stays where one other was linked and it does not reach that: it cannot be told whose fault it is', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(1, [follows('b', 1)]), 0)
    leaving.causeNow(look(1, [follows('b', null)]), 1_000)
    expect(leaving.causeNow(look(1, [follows('b', null)]), MINUTE)).toBeNull()
  })

  it('leaves to one other that it reaches: it would follow that', () => {
    const leaving = new Leaving('a')
    const reached = { ...look(1, [follows('b', null)]), reachedIds: ['b'] }
    leaving.causeNow(reached, 0)
    expect(leaving.causeNow(reached, 9_999)).toBeNull()
    expect(leaving.causeNow(reached, 10_000)).toBe('unfollowed')
  })

  it('leaves where one that had a link has none, and a newcomer gets none', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(1, [follows('b', 1)]), 0)
    leaving.causeNow(look(1, [follows('b', null)]), 1_000)
    const both = look(1, [follows('b', null), follows('d', null)])
    leaving.causeNow(both, 20_000)
    // The newcomer gets the time that each has.
    expect(leaving.causeNow(both, 29_999)).toBeNull()
    expect(leaving.causeNow(both, 30_000)).toBe('unfollowed')
  })

  it('leaves less and less often for one that does not come to own, and for a newcomer as for any', () => {
    const leaving = new Leaving('a')
    const minutes: number[] = []
    let epoch = 1
    const pass = (from: number, to: number, others: readonly string[]) => {
      for (let minute = from; minute < to; minute++) {
        const rows = others.map((id) => follows(id, null))
        const cause = leaving.causeNow({ ...look(epoch, rows), reachedIds: others }, minute * MINUTE)
        if (cause === null) continue
        minutes.push(minute)
        leaving.left(cause, minute * MINUTE)
        leaving.causeNow(look(null, [claims('b', epoch + 1)], null), minute * MINUTE + 1_000)
        epoch += 2
      }
    }
    pass(0, 200, ['b'])
    expect(minutes).toEqual([1, 11, 31, 71, 151])
    pass(200, 210, ['b', 'd'])
    expect(minutes.slice(5)).toEqual([201])
  })

  it('leaves again for one that had a link meanwhile, or was followed, as if for the first time', () => {
    for (const isWell of [follows('b', 9), owns('b', 9)]) {
      const leaving = new Leaving('a')
      const reached = { ...look(1, [follows('b', null)]), reachedIds: ['b'] }
      leaving.causeNow(reached, 0)
      expect(leaving.causeNow(reached, 10_000)).toBe('unfollowed')
      leaving.left('unfollowed', 10_000)
      leaving.causeNow({ ...reached, ownedEpoch: 3 }, 30_000)
      expect(leaving.causeNow({ ...reached, ownedEpoch: 3 }, 11 * MINUTE)).toBe('unfollowed')
      leaving.left('unfollowed', 11 * MINUTE)
      leaving.causeNow(look(null, [isWell, follows('c', 9)], 9), 12 * MINUTE)
      leaving.causeNow({ ...reached, ownedEpoch: 11 }, 13 * MINUTE)
      expect(leaving.causeNow({ ...reached, ownedEpoch: 11 }, 22 * MINUTE)).toBe('unfollowed')
    }
  })

  it('counts nobody that speaks no version of its links', () => {
    const leaving = followed()
    const foreign = look(1, [{ ...follows('b', null), isSpokenWith: false }, follows('c', null)])
    leaving.causeNow(foreign, 1_000)
    expect(leaving.causeNow(foreign, MINUTE)).toBeNull()
  })
})

describe('an owner that nobody has followed yet', () => {
  it('stays for newcomers that never had a link to anybody', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(NOBODY, 0)
    expect(leaving.causeNow(NOBODY, 9 * MINUTE)).toBeNull()
  })

  it('leaves where the others followed the one before, which is gone', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('d', 1), follows('b', 1), follows('c', 1)], 1), 0)
    leaving.causeNow(look(2, [follows('b', null), follows('c', null)]), 1_000)
    expect(leaving.causeNow(look(2, [follows('b', null), follows('c', null)]), 11_000)).toBe('unfollowed')
  })

  it('leaves to one that was not tried, though the one before still runs', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1)], 1), 0)
    leaving.causeNow(look(null, [owns('b', 1), follows('c', null)], null), 5_000)
    const unfollowed = look(2, [follows('b', null), follows('c', null)])
    leaving.causeNow(unfollowed, 20_000)
    expect(leaving.causeNow(unfollowed, 30_000)).toBe('unfollowed')
  })

  it('stays where all others were tried, for ten minutes: none reaches another one', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1)], 1), 0)
    leaving.causeNow(look(null, [owns('b', 1), follows('c', null)], null), 5_000)
    leaving.causeNow(look(null, [follows('b', null), owns('c', 2)], null), 20_000)
    const unfollowed = look(3, [follows('b', null), follows('c', null)])
    leaving.causeNow(unfollowed, 40_000)
    expect(leaving.causeNow(unfollowed, MINUTE)).toBeNull()
    expect(leaving.causeNow(unfollowed, 10 * MINUTE)).toBeNull()
    expect(leaving.causeNow(unfollowed, 11 * MINUTE)).toBe('unfollowed')
  })

  it('is better where it had a link than where not, and no good where it has just gone or was tried', () => {
    const leaving = new Leaving('a')
    expect([leaving.ownSuit(false, 0), leaving.ownSuit(true, 0)]).toEqual(['unknown', 'good'])
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1), follows('d', null)], null), 0)
    const suits = (nowMs: number) => ['b', 'c', 'd'].map((id) => leaving.suitOf(id, nowMs))
    // The owner of now is none that a free lock is left to.
    expect(suits(0)).toEqual([null, 'good', 'unknown'])
    leaving.causeNow(look(null, [owns('b', 1), follows('c', null), follows('d', null)], null), 5_000)
    leaving.causeNow(look(null, [follows('b', null), owns('c', 2), follows('d', null)], null), 20_000)
    leaving.causeNow(look(null, [follows('b', null), follows('c', null), owns('d', 3)], null), 40_000)
    expect(suits(40_000)).toEqual(['poor', 'poor', null])
    expect(suits(11 * MINUTE)).toEqual(['good', 'good', null])
  })

  it('takes one that only claimed and failed not for the owner that has gone', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1)], 1), 0)
    leaving.causeNow(look(null, [owns('b', 1), follows('c', null)], null), 5_000)
    leaving.causeNow(look(null, [follows('b', null), claims('c', 3)], null), 31_000)
    expect([leaving.suitOf('b', 31_000), leaving.suitOf('c', 31_000)]).toEqual(['poor', 'good'])
  })

  it.each([
    [
      'as tried one that decided without a link even to itself',
      { ...owns('b', 2), linkedEpoch: null },
      'poor',
    ],
    ['not one that loaded for ten minutes and failed', claims('b', 2), 'good'],
  ])('counts %s', (_, row, suit) => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('d', 1), follows('b', 1), follows('c', 1)], 1), 0)
    for (let second = 1; second <= 600; second++)
      leaving.causeNow(look(null, [row, follows('c', null)], null), second * 1_000)
    leaving.causeNow(look(null, [follows('b', null), owns('c', 3)], null), 601_000)
    expect(leaving.suitOf('b', 601_000)).toBe(suit)
  })

  it('counts as tried also one whose own link was cut before it left', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1)], 1), 0)
    leaving.causeNow(look(null, [owns('b', 1), follows('c', null)], null), 5_000)
    leaving.causeNow(look(null, [{ ...owns('b', 1), linkedEpoch: null }, follows('c', null)], null), 6_000)
    leaving.causeNow(look(null, [follows('b', null), owns('c', 2)], null), 20_000)
    const unfollowed = look(3, [follows('b', null), follows('c', null)])
    leaving.causeNow(unfollowed, 40_000)
    expect(leaving.causeNow(unfollowed, MINUTE)).toBeNull()
  })

  it('does not count one as tried that only claimed and had not begun to decide', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1)], 1), 0)
    leaving.causeNow(look(null, [claims('c', 2)], null), 5_000)
    const unfollowed = look(3, [follows('c', null), follows('b', null)])
    leaving.causeNow(unfollowed, 6_000)
    expect(leaving.causeNow(unfollowed, 16_000)).toBe('unfollowed')
  })

  it('goes by the owners that are heard where epochs go down, as with a database that lacks the last of them', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 7), follows('c', null)], null), 0)
    const others = [follows('b', 3), follows('c', 3)]
    leaving.causeNow(look(3, others), 1_000)
    expect(leaving.causeNow(look(3, others), MINUTE)).toBeNull()
  })
})

describe('an owner that no process reaches', () => {
  const unreached: Look = { ...look(1, [follows('b', null)]), isUnreached: true }

  it('leaves once nobody followed it for ten seconds, and where it owns again once more after a minute', () => {
    const leaving = new Leaving('a')
    expect(leaving.causeNow(unreached, 0)).toBeNull()
    expect(leaving.causeNow(unreached, 10_000)).toBe('unreached')
    leaving.left('unreached', 10_000)
    for (const atMs of [20_000, MINUTE + 9_999]) expect(leaving.causeNow(unreached, atMs)).toBeNull()
    expect(leaving.causeNow(unreached, MINUTE + 10_000)).toBe('unreached')
  })

  it('stays where all others were tried: it would own again each minute', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 1)], null), 0)
    leaving.causeNow({ ...look(2, [follows('b', null)]), isUnreached: true }, 5_000)
    expect(leaving.causeNow({ ...look(2, [follows('b', null)]), isUnreached: true }, 20_000)).toBeNull()
    expect(leaving.causeNow({ ...look(2, [follows('b', null)]), isUnreached: true }, 11 * MINUTE)).toBe(
      'unreached',
    )
  })

  it('leaves also where it left lately because nobody followed it', () => {
    const leaving = followed()
    leaving.left('unfollowed', 0)
    leaving.causeNow(unreached, 1_000)
    expect(leaving.causeNow(unreached, 11_000)).toBe('unreached')
  })
})
