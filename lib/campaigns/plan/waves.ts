import { createHash } from 'node:crypto'
import { STANDARD_WAVES } from '../../model/campaign-rules.ts'
import type { CampaignWave } from '../../wire/campaigns.ts'

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
export function orderTargets<T extends { workloadId: string }>(
  campaignId: string,
  targets: readonly T[],
): T[] {
  const keyed = targets.map((target) => ({
    target,
    key: createHash('sha256').update(`${campaignId}\0${target.workloadId}`).digest('hex'),
  }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ target }) => target)
}

/**
 * Choose the wave of each target, as an index, in the order of the targets. Each wave but the last takes the first free
 * targets that its selector selects until it is full, and without a size all of them; the last takes the rest. A
 * percentage is of all targets, rounded up.
 */
export function assignWaves<T>(
  targets: readonly T[],
  waves: readonly CampaignWave[],
  isInSelector: (target: T, selector: NonNullable<CampaignWave['selector']>) => boolean,
): number[] {
  const last = waves.length - 1
  const found = targets.map(() => last)
  const isFree = targets.map(() => true)
  waves.slice(0, last).forEach((wave, index) => {
    let room = sizeOf(wave, targets.length)
    targets.forEach((target, at) => {
      if (room === 0 || !isFree[at]) return
      if (wave.selector !== undefined && !isInSelector(target, wave.selector)) return
      found[at] = index
      isFree[at] = false
      room--
    })
  })
  return found
}

function sizeOf({ count, percentage }: CampaignWave, total: number): number {
  if (count !== undefined) return count
  if (percentage !== undefined) return Math.max(1, Math.ceil((total * percentage) / 100))
  return Number.POSITIVE_INFINITY
}
