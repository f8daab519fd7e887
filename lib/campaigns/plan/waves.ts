import { createHash } from 'node:crypto'
import type { CampaignWave } from '../../wire/campaigns.ts'

/** How long a wave is watched where nothing else is asked for. */
export const DWELL_SECONDS = 60

/** One workload, then a twentieth, then the rest. */
export const DEFAULT_WAVES: readonly CampaignWave[] = [
  { count: 1, dwell_seconds: DWELL_SECONDS },
  { percentage: 5, dwell_seconds: DWELL_SECONDS },
  { percentage: 100, dwell_seconds: DWELL_SECONDS },
]

/** The waves that a campaign goes in: where it reaches production, one workload goes first whatever was asked for. */
export function wavesFor(asked: readonly CampaignWave[], hasProduction: boolean): readonly CampaignWave[] {
  const isOneFirst = asked.length > 1 && asked[0]!.count === 1
  return hasProduction && !isOneFirst ? [DEFAULT_WAVES[0]!, ...asked] : asked
}

/** The order of a campaign's workloads: the same whenever it is asked for, another for each campaign. */
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
 * The wave of each target, in their order. The first wave that a target fits takes it, and the last one takes the
 * rest; a percentage is of all targets, and is one target at least.
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
