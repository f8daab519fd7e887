import { describe, expect, it } from 'vitest'
import { Leaving, type Look, type Other } from '../../../runtime/fronts/leaving.ts'

const MINUTE = 60_000

/** The row of another process that follows the owner of this epoch, or nobody. */
const follows = (id: string, linkedEpoch: number | null): Other => ({
  id,
  linkedEpoch,
  ownedEpoch: null,
  isSpokenWith: true,
})
/** The row of another process that owns this epoch, and has a link to itself. */
const owns = (id: string, epoch: number): Other => ({ ...follows(id, epoch), ownedEpoch: epoch })

/** What the process `a` sees: it owns this epoch, or nothing, and has a link to the owner of that one. */
function look(ownedEpoch: number | null, others: readonly Other[], linkedEpoch = ownedEpoch): Look {
  const memberIds = ['a', 'b', 'c', 'd']
  return { ownedEpoch, linkedEpoch, others, memberIds, isUnreached: false }
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
    expect(leaving.yields(true, MINUTE)).toBe(true)
    const again = look(3, [follows('b', null), follows('c', null)])
    leaving.causeNow(again, MINUTE)
    expect(leaving.causeNow(again, 5 * MINUTE)).toBeNull()
    expect(leaving.yields(true, 11 * MINUTE)).toBe(false)
    expect(leaving.causeNow(again, 11 * MINUTE)).toBe('unfollowed')
  })

  it('stays where one other was linked: it cannot be told whose fault it is', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(1, [follows('b', 1)]), 0)
    leaving.causeNow(look(1, [follows('b', null)]), 1_000)
    expect(leaving.causeNow(look(1, [follows('b', null)]), MINUTE)).toBeNull()
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

  it('leaves a free lock to others where these had links and it never had one', () => {
    const leaving = new Leaving('a')
    expect(leaving.yields(false, 0)).toBe(false)
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1)], null), 0)
    expect(leaving.yields(false, 0)).toBe(true)
    expect(leaving.yields(true, 0)).toBe(false)
    // The owner that has just gone is none of them, and nor is one that is not heard any more.
    leaving.causeNow(look(null, [owns('b', 1)], null), 1_000)
    expect(leaving.yields(false, 1_000)).toBe(false)
  })

  it('leaves no free lock to those that were tried: the sound one would come last', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1)], 1), 0)
    leaving.causeNow(look(null, [owns('b', 1), follows('c', null)], null), 5_000)
    leaving.causeNow(look(null, [follows('b', null), owns('c', 2)], null), 20_000)
    leaving.causeNow(look(null, [follows('b', null), owns('c', 2)], null), 21_000)
    leaving.causeNow(look(null, [follows('b', null), owns('d', 3), follows('c', null)], null), 40_000)
    expect(leaving.yields(false, 41_000)).toBe(false)
  })

  it('leaves a free lock to one that only claimed and failed, and does not take it for the owner that has gone', () => {
    const leaving = new Leaving('a')
    leaving.causeNow(look(null, [owns('b', 1), follows('c', 1)], 1), 0)
    leaving.causeNow(look(null, [owns('b', 1), follows('c', null)], null), 5_000)
    leaving.causeNow(look(2, [follows('b', null), follows('c', null)]), 20_000)
    leaving.left('unfollowed', 30_000)
    leaving.causeNow(look(null, [follows('b', null), { ...owns('c', 3), linkedEpoch: null }], null), 31_000)
    expect(leaving.yields(true, 31_000)).toBe(true)
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
    leaving.causeNow(look(null, [{ ...owns('c', 2), linkedEpoch: null }], null), 5_000)
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

  it('leaves at once, and where it owns again once more after a minute', () => {
    const leaving = new Leaving('a')
    expect(leaving.causeNow(unreached, 0)).toBe('unreached')
    leaving.left('unreached', 0)
    expect(leaving.causeNow(unreached, MINUTE - 1)).toBeNull()
    expect(leaving.causeNow(unreached, MINUTE)).toBe('unreached')
  })

  it('leaves at once also where it left lately because nobody followed it', () => {
    const leaving = followed()
    leaving.left('unfollowed', 0)
    expect(leaving.causeNow(unreached, 1_000)).toBe('unreached')
  })
})
