import { expect, test } from 'vitest'
import { VersionTally } from '../../../../lib/fleet/state/version-tally.ts'
import { lowestFirst, readVersion } from '../../../../lib/model/versions.ts'
import { Dice } from '../../../sim/time/dice.ts'

/** Versions that are no fewer than those that are kept in order, some of which cannot be compared. */
const VERSIONS = [
  ...Array.from({ length: 700 }, (_, n) => `0.${n}.1`),
  ...Array.from({ length: 60 }, (_, n) => `dev-${n}`),
]

function recount(reported: readonly string[]) {
  const counts = new Map<string, number>()
  for (const version of reported) if (version !== '') counts.set(version, (counts.get(version) ?? 0) + 1)
  const inOrder = [...counts.keys()].map(readVersion).sort(lowestFirst)
  const lowest = inOrder.slice(0, 10).map(({ text }) => ({ version: text, instanceCount: counts.get(text)! }))
  return {
    lowest: inOrder[0]?.text ?? '',
    mix: counts.size < 2 ? null : { count: counts.size, lowest },
  }
}

test.each([1, 2, 3, 4])(
  'whoever comes and goes, the lowest versions are those of a recount (seed %i)',
  (seed) => {
    const dice = new Dice(seed)
    const reported = Array.from({ length: 900 }, () => '')
    const tally = new VersionTally()
    const say = (at: number, version: string) => {
      tally.move(reported[at]!, version)
      reported[at] = version
    }
    for (let at = 0; at < reported.length; at++) say(at, dice.pick(VERSIONS))
    for (let step = 0; step < 600; step++) {
      // The lowest go more often than others: those are what is kept in order.
      const lowest = tally.lowest()
      const at = dice.int(2) === 0 ? reported.indexOf(lowest) : dice.int(reported.length)
      say(Math.max(at, 0), dice.int(4) === 0 ? dice.pick(VERSIONS) : '')
      expect({ lowest: tally.lowest(), mix: tally.mix() }, `step ${step}`).toEqual(recount(reported))
    }
  },
)
