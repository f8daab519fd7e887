import { describe, expect, it } from 'vitest'
import { Leaving, type Look, type Other } from '../../../runtime/fronts/leaving.ts'

const MINUTE = 60_000

const other = (id: string, linkedEpoch: number | null, said: Partial<Other> = {}): Other => ({
  id,
  linkedEpoch,
  ownedEpoch: null,
  isSpokenWith: true,
  ...said,
})
const look = (epoch: number | null, others: readonly Other[], isUnreached = false): Look => ({
  epoch,
  others,
  isUnreached,
})

/** An owner of epoch 1 that two others follow, at time 0. */
function followed(): Leaving {
  const leaving = new Leaving()
  expect(leaving.causeNow(look(1, [other('b', 1), other('c', 1)]), 0)).toBeNull()
  return leaving
}

const NOBODY = look(1, [other('b', null), other('c', null)])

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
    leaving.causeNow(look(1, [other('b', 1), other('c', null)]), 9_000)
    expect(leaving.causeNow(NOBODY, 10_000)).toBeNull()
    expect(leaving.causeNow(NOBODY, 19_999)).toBeNull()
    expect(leaving.causeNow(NOBODY, 20_000)).toBe('unfollowed')
  })

  it('stays for ten minutes where it owns again, and leaves a free lock to others for as long, linked or not', () => {
    const leaving = followed()
    leaving.causeNow(NOBODY, 0)
    leaving.left('unfollowed', 10_000)
    leaving.causeNow(look(null, [other('b', null, { ownedEpoch: 2 }), other('c', 2)]), 11_000)
    expect(leaving.yields(12_000)).toBe(true)
    const alone = look(3, [other('c', null), other('d', 2)])
    leaving.causeNow(alone, MINUTE)
    expect(leaving.causeNow(alone, 10 * MINUTE)).toBeNull()
    expect(leaving.causeNow(look(3, [other('c', null), other('d', null)]), 10 * MINUTE + 10_000)).toBe(
      'unfollowed',
    )
    expect(leaving.yields(10 * MINUTE + 10_000)).toBe(false)
  })

  it('stays where one other was linked: it cannot be told whose fault it is', () => {
    const leaving = new Leaving()
    leaving.causeNow(look(1, [other('b', 1)]), 0)
    leaving.causeNow(look(1, [other('b', null)]), 1_000)
    expect(leaving.causeNow(look(1, [other('b', null)]), MINUTE)).toBeNull()
  })

  it('counts nobody that speaks no version of its links', () => {
    const leaving = followed()
    const foreign = look(1, [other('b', null, { isSpokenWith: false }), other('c', null)])
    leaving.causeNow(foreign, 1_000)
    expect(leaving.causeNow(foreign, MINUTE)).toBeNull()
  })
})

describe('an owner that nobody has followed yet', () => {
  it('stays for newcomers that never had a link to anybody', () => {
    const leaving = new Leaving()
    leaving.causeNow(NOBODY, 0)
    expect(leaving.causeNow(NOBODY, 10 * MINUTE)).toBeNull()
  })

  it('leaves where the others followed the one before, which is gone', () => {
    const leaving = new Leaving()
    leaving.causeNow(look(null, [other('a', 1, { ownedEpoch: 1 }), other('b', 1), other('c', 1)]), 0)
    const alone = look(2, [other('b', null), other('c', null)])
    leaving.causeNow(alone, 1_000)
    expect(leaving.causeNow(alone, 11_000)).toBe('unfollowed')
  })

  it('stays for ten minutes where the one before still runs: none reaches another one, and one hand-over is enough', () => {
    const leaving = new Leaving()
    leaving.causeNow(look(null, [other('a', 1, { ownedEpoch: 1 }), other('c', 1)]), 0)
    const alone = look(2, [other('a', null), other('c', null)])
    // The one before had a link to itself, which does not make it a follower of anybody.
    leaving.causeNow(look(null, [other('a', 2), other('c', 1)]), 500)
    leaving.causeNow(alone, 1_000)
    expect(leaving.causeNow(alone, 11_000)).toBeNull()
    expect(leaving.causeNow(alone, 9 * MINUTE)).toBeNull()
    expect(leaving.causeNow(alone, 10 * MINUTE + 1_000)).toBe('unfollowed')
  })
})

describe('an owner that no process reaches', () => {
  const unreached = look(1, [other('b', null)], true)

  it('leaves at once, and where it owns again once more after a minute', () => {
    const leaving = new Leaving()
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
