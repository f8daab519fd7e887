import { createHash } from 'node:crypto'
import { STANDARD_WAVES } from '../../model/campaign-rules.ts'
import { inTurns, mapInTurns, sortInTurns } from '../../turns.ts'
import type { CampaignWave } from '../../wire/campaigns.ts'
import type { Selector } from '../../wire/selectors.ts'
import { PLAN_TURN } from './turn.ts'

/** The waves that a campaign goes in, and of each target, in their order, the index of its wave. */
export interface LaidWaves {
  waves: readonly CampaignWave[]
  found: readonly number[]
}

/**
 * Lay a campaign's targets in the waves that were asked for. The first one means somebody: those before it that mean
 * nobody are left out. Where production is changed, and somebody is there to try the change out, it is of one workload
 * that is there; one of one workload is put in front where none was asked for.
 */
export async function layWaves<T>(
  targets: readonly T[],
  asked: readonly CampaignWave[],
  about: {
    hasProduction: boolean
    isThere: (target: T) => boolean
    openSelector: (selector: Selector) => (target: T) => boolean
  },
): Promise<LaidWaves> {
  const { hasProduction, isThere, openSelector } = about
  const found = await assignWaves(targets, asked, openSelector)
  const begin = found.length === 0 ? 0 : found.reduce((least, wave) => Math.min(least, wave))
  const first = targets.filter((_, at) => found[at] === begin)
  const isOneFirst = first.length === 1 && isThere(first[0]!)
  const waves = asked.slice(begin)
  if (!hasProduction || isOneFirst || !targets.some(isThere))
    return { waves, found: found.map((wave) => wave - begin) }
  const withOne = [STANDARD_WAVES[0]!, ...waves]
  return { waves: withOne, found: await assignWaves(targets, withOne, openSelector) }
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
