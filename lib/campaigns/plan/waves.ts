import { createHash } from 'node:crypto'
import { STANDARD_WAVES } from '../../model/campaign-rules.ts'
import { inTurns, mapInTurns, sortInTurns } from '../../turns.ts'
import type { CampaignWave } from '../../wire/campaigns.ts'
import type { Selector } from '../../wire/selectors.ts'
import { PLAN_TURN } from './turn.ts'

/**
 * The waves of a campaign. One that changes production workloads begins with a wave of one workload, which is added
 * where the asked waves do not begin so.
 */
export function wavesFor(asked: readonly CampaignWave[], hasProduction: boolean): readonly CampaignWave[] {
  const isOneFirst = asked.length > 1 && asked[0]!.count === 1
  return hasProduction && !isOneFirst ? [STANDARD_WAVES[0]!, ...asked] : asked
}

/**
 * Put a campaign's targets in its order: by a hash of campaign and workload id, so that it is the same whenever it is
 * asked for, and another for each campaign.
 */
export async function orderTargets<T extends { workloadId: string }>(
  campaignId: string,
  targets: readonly T[],
): Promise<T[]> {
  const keyed = await mapInTurns(targets, PLAN_TURN, (target) => ({
    target,
    key: createHash('sha256').update(`${campaignId}\0${target.workloadId}`).digest('hex'),
  }))
  const ordered = await sortInTurns(keyed, PLAN_TURN, (a, b) => (a.key < b.key ? -1 : 1))
  return ordered.map(({ target }) => target)
}

/**
 * Choose the wave of each target, as an index, in the order of the targets. Each wave but the last takes the first free
 * targets that its selector selects until it is full, and without a size all of them; the last takes the rest. A
 * percentage is of all targets, rounded up.
 */
export async function assignWaves<T>(
  targets: readonly T[],
  waves: readonly CampaignWave[],
  openSelector: (selector: Selector) => (target: T) => boolean,
): Promise<number[]> {
  const last = waves.length - 1
  const found = targets.map(() => last)
  const isFree = targets.map(() => true)
  for (const [index, wave] of waves.slice(0, last).entries()) {
    let room = sizeOf(wave, targets.length)
    const isMeant = wave.selector === undefined ? () => true : openSelector(wave.selector)
    for await (const some of inTurns(targets.entries(), PLAN_TURN)) {
      if (room === 0) break
      for (const [at, target] of some) {
        if (room === 0 || !isFree[at] || !isMeant(target)) continue
        found[at] = index
        isFree[at] = false
        room--
      }
    }
  }
  return found
}

function sizeOf({ count, percentage }: CampaignWave, total: number): number {
  if (count !== undefined) return count
  if (percentage !== undefined) return Math.max(1, Math.ceil((total * percentage) / 100))
  return Number.POSITIVE_INFINITY
}
