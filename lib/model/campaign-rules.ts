import type { CampaignLimits, CampaignWave } from '../wire/campaigns.ts'

// What holds for a campaign that does not say otherwise. The service goes by it, and the form shows it.

/** How long each wave is watched after its targets have ended. */
export const DWELL_SECONDS = 60
/** How long a wave can be watched at most. */
export const DWELL_SECONDS_MAX = 7 * 86_400
/** How many waves there can be. */
export const WAVES_MAX = 20
/** How many windows there can be. */
export const WINDOWS_MAX = 14
/** How many instances are changed at one time. */
export const IN_FLIGHT = { standard: 500, max: 10_000 }
/** For how many days workloads that are away are waited for. */
export const CATCH_UP_DAYS = { standard: 7, max: 30 }
/** The highest number of workloads that a limit or a wave can name. */
export const COUNT_MAX = 1_000_000

/** One workload, then a twentieth, then the rest. */
export const STANDARD_WAVES: readonly CampaignWave[] = [
  { count: 1, dwell_seconds: DWELL_SECONDS },
  { percentage: 5, dwell_seconds: DWELL_SECONDS },
  { percentage: 100, dwell_seconds: DWELL_SECONDS },
]

/** What the limits of a campaign count. */
export const LIMITED = ['failed', 'unhealthy', 'drifted', 'silent'] as const
/** One of them. */
export type Limited = (typeof LIMITED)[number]

/** The limits that hold of those that somebody said, by what was asked for and what was raised since. */
export const limitsInForce = (asked: CampaignLimits, raised: CampaignLimits): CampaignLimits =>
  Object.fromEntries(
    LIMITED.flatMap((of) => {
      const said = Math.max(asked[of] ?? -1, raised[of] ?? -1)
      return said < 0 ? [] : [[of, said]]
    }),
  )

/**
 * How many workloads a limit allows where nobody said: of failed, unhealthy and drifted ones none in the first wave and
 * then 3 or 1 %, whichever is more; of silent ones 5 % in every wave.
 */
export function standardLimit(
  of: Limited,
  { wave, targetCount }: { wave: number; targetCount: number },
): number {
  if (of === 'silent') return Math.floor(targetCount / 20)
  return wave === 0 ? 0 : Math.max(3, Math.floor(targetCount / 100))
}

/** What it takes to say how many workloads a limit allows in one wave of a campaign. */
export interface LimitFacts {
  wave: number
  /** All that were to change, those that are away included. */
  targetCount: number
  asked: CampaignLimits
  /** What operators raised limits to when they continued the campaign. */
  raised: CampaignLimits
}

/** How many workloads a limit allows: what was asked for, else the standard of this wave; and at least what it was raised to. */
export const limitOf = (of: Limited, { wave, targetCount, asked, raised }: LimitFacts): number =>
  Math.max(asked[of] ?? standardLimit(of, { wave, targetCount }), raised[of] ?? 0)

/**
 * The first limit that is to be less than it is in this wave; null where none is. Of silent ones fewer than the standard may
 * be said where it has not halted over that: the first wave is held to what was said alone.
 */
export function findLowered(
  wanted: CampaignLimits,
  facts: LimitFacts & { haltedOver: { gate: string; limit: number } | null },
): { of: Limited; limit: number } | null {
  const said = limitsInForce(facts.asked, facts.raised)
  for (const of of LIMITED) {
    const halted = facts.haltedOver?.gate === of ? facts.haltedOver.limit : 0
    const limit = Math.max(of === 'silent' ? (said[of] ?? 0) : limitOf(of, facts), halted)
    if ((wanted[of] ?? limit) < limit) return { of, limit }
  }
  return null
}
