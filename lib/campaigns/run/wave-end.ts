import type { CampaignSummary } from '../../store/campaigns.ts'
import type { StateCounts } from './limits.ts'
import type { OwnMove } from './write.ts'

/** How many targets, up to this wave, still wait or have a push that has not ended. */
export const countLeft = (waves: readonly StateCounts[], wave: number): number =>
  waves.slice(0, wave + 1).reduce((sum, { waiting = 0, started = 0 }) => sum + waiting + started, 0)

/**
 * What follows on a wave of which every target has ended: it is watched as long as the plan says, then the next one
 * begins, and after the last the campaign is done. Null while it is watched. It is watched since `watchingSinceMs`
 * (heard time; null before that): a time in which this process did not run does not count.
 */
export function moveAfterWave(
  { plan, wave, waveEndedAt }: Pick<CampaignSummary, 'plan' | 'wave' | 'waveEndedAt'>,
  watchingSinceMs: number | null,
  { now, nowMs }: { now: Date; nowMs: number },
): OwnMove | null {
  const from = 'running'
  if (waveEndedAt === null || watchingSinceMs === null)
    return { from, to: { status: from, waveEndedAt: now }, action: null }
  const waves = plan?.waves ?? []
  const dwellMs = (waves[wave]?.dwell_seconds ?? 0) * 1_000
  if (nowMs - watchingSinceMs < dwellMs) return null
  if (wave + 1 < waves.length)
    return { from, to: { status: from, wave: wave + 1, waveEndedAt: null }, action: 'campaign.wave' }
  return { from, to: { status: 'done', endedAt: now }, action: 'campaign.done' }
}
