import { placeOf } from '../../../lib/model/places.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'

const NEAR_MAX = 3
const LENGTH_MAX = 64

/**
 * The names and places of workloads that hold what was asked for, are held in it or differ from it in few characters;
 * the nearest first.
 */
export function nearOnes(named: string, all: readonly WorkloadRecord[]): string[] {
  const asked = named.toLowerCase()
  const names = all.flatMap((one) => [one.display_name, placeOf(one.fingerprint_keys ?? {})])
  return [...new Set(names.filter((name) => name !== ''))]
    .map((name) => {
      const lower = name.toLowerCase()
      const distance = distanceBetween(asked, lower)
      const isPart = asked !== '' && (lower.includes(asked) || asked.includes(lower))
      return { name, distance, isNear: isPart || distance <= Math.max(1, Math.floor(asked.length / 3)) }
    })
    .filter(({ isNear }) => isNear)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, NEAR_MAX)
    .map(({ name }) => name)
}

/** How many characters have to be put in, left out or changed to make one text of the other, of their beginnings. */
function distanceBetween(a: string, b: string): number {
  const [from, to] = [a.slice(0, LENGTH_MAX), b.slice(0, LENGTH_MAX)]
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++)
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (from[i] === to[j] ? 0 : 1)))
    row = next
  }
  return row[to.length]!
}
