import { describe, expect, test } from 'vitest'
import { createPollStreams } from '../../../lib/opamp/poll-streams.ts'
import { Dice } from '../../sim/time/dice.ts'

/** Which polls are found to come from a second agent; polls are written as `number@source`. */
function tell(...polls: (string | number)[]): string {
  const streams = createPollStreams()
  return polls
    .map((poll) => {
      const [sequenceNum, source = 'a'] = String(poll).split('@')
      return streams.follow(Number(sequenceNum), source).isDuplicate ? 'D' : '.'
    })
    .join('')
}

describe('two agents under one uid', () => {
  test('are told apart by numbers that go on in two rows; the one that came second is the duplicate', () => {
    expect(tell(50, 51, 0, 52, 1, 53, 2, 54, 3, 55)).toBe('......D.D.')
    expect(tell(50, 0, 51, 52, 1, 53, 54, 2, 55, 56, 3)).toMatch(/D$/)
  })

  test('that count alike are told apart by where they are', () => {
    expect(tell('5@a', '5@b', '6@a', '6@b', '7@a', '7@b', '8@a', '8@b')).toMatch(/D\.D$/)
  })

  test('stay apart although one misses a number', () => {
    expect(tell(50, 0, 51, 1, 52, 2, 55, 3, 56, 5, 57, 6)).toMatch(/\.D\.D$/)
  })

  test('are told apart by where they are although one of them starts anew again and again', () => {
    expect(
      tell('50@a', '2@b', '0@b', '0@b', '51@a', '1@b', '2@b', '0@b', '52@a', '1@b', '53@a', '0@b', '54@a'),
    ).toBe(`${'.'.repeat(11)}D.`)
    // The one that came first is the one that starts anew.
    expect(tell('2@b', '50@a', '0@b', '51@a', '1@b', '0@b', '52@a', '0@b', '53@a', '0@b')).toMatch(/D\.$/)
  })

  test('are told apart by where they are although the one that goes on is hardly ahead', () => {
    expect(tell('6@a', '0@b', '7@a', '1@b', '0@b', '1@b', '8@a', '2@b', '9@a', '0@b', '10@a', '1@b')).toMatch(
      /D/,
    )
  })

  test('are told apart although they count alike since one of them has started anew', () => {
    const first = ['2@b', '2@a', '1@b', '1@a', '1@a', '1@b', '1@a', '1@b', '0@a', '0@b']
    const alike = Array.from({ length: 9 }, (_, n) => [`${n + 1}@a`, `${n + 1}@b`]).flat()
    expect(tell(...first, ...alike)).toMatch(/D\.D\.$|\.D\.D$/)
  })

  test('are told apart behind one address although one of them starts anew again and again', () => {
    expect(tell(50, 2, 0, 0, 51, 1, 2, 0, 52, 1, 53, 0, 54)).toBe(`${'.'.repeat(11)}D.`)
    // The one that came first is the one that starts anew.
    expect(tell(1, 50, 1, 2, 51, 1, 2, 52, 1, 2, 53, 1, 2)).toMatch(/^\.{10}D/)
    for (const life of [1, 2, 3, 5])
      for (let seed = 1; seed <= 50; seed++) {
        const dice = new Dice(seed)
        let steady = 50
        let number = 0
        const poll = () => {
          if (dice.chance(0.4)) return steady++
          if (number >= life && dice.chance(0.7)) number = 0
          return number++
        }
        expect(tell(...Array.from({ length: 60 }, poll))).toContain('D')
      }
  })

  test('are one again when the second is gone', () => {
    const alone = Array.from({ length: 120 }, (_, n) => 54 + n)
    expect(tell(50, 0, 51, 1, 52, 2, 53, 3, ...alone, 4, 5)).toMatch(/\.\.$/)
  })
})

describe('one agent', () => {
  const isOne = (...polls: (string | number)[]) => expect(tell(...polls)).not.toContain('D')
  const times = <T>(count: number, polls: T[]): T[] => Array.from({ length: count }, () => polls).flat()

  test('may start anew, again and again', () => {
    isOne(50, 51, 0, 1, 2, 3)
    isOne(...times(40, [0, 1, 2, 3, 4]))
    isOne(...times(40, [1]))
    isOne(0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6)
  })

  test('may say a number again, miss some, and be late with one', () => {
    isOne(1, 1, 2, 2, 2, 3, 7, 8, 20, 21, 1_000, 1_001)
    isOne(5, 7, 6, 8, 9, 10)
  })

  test('may be seen from several places', () => {
    isOne(...Array.from({ length: 60 }, (_, n) => `${n}@${'abc'[n % 3]}`))
    isOne(...Array.from({ length: 60 }, (_, n) => `${n >> 1}@${'ab'[n % 2]}`).slice(0, 4))
  })

  test('may start anew, again and again, while it is seen from several places', () => {
    for (const restarts of [0.1, 0.3, 0.5, 0.7])
      for (let seed = 1; seed <= 100; seed++) {
        const dice = new Dice(seed)
        let number = 0
        const poll = () => {
          number = dice.chance(restarts) ? 0 : number + 1
          return `${number}@${dice.pick(['a', 'b'])}`
        }
        isOne(...Array.from({ length: 100 }, poll))
      }
  })

  test('may start anew, again and again, and miss numbers, at one address', () => {
    for (const restarts of [0.02, 0.1, 0.5])
      for (let seed = 1; seed <= 50; seed++) {
        const dice = new Dice(seed)
        let number = 0
        const poll = () => {
          number = dice.chance(restarts) ? 0 : number + (dice.chance(0.2) ? 2 : 1)
          return number
        }
        isOne(...Array.from({ length: 200 }, poll))
      }
  })

  test('may leave numbers out', () => {
    isOne(...times(50, [0]))
    isOne(...times(50, ['0@a', '0@b']))
  })
})
