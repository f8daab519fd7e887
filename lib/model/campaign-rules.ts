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

/** The first limit that is to be less than the one in force; null where none is. */
export const findLowered = (inForce: CampaignLimits, wanted: CampaignLimits): Limited | null =>
  LIMITED.find((of) => (wanted[of] ?? Number.POSITIVE_INFINITY) < (inForce[of] ?? 0)) ?? null

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
