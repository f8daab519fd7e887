import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { countMissing } from '../logic/campaigns.ts'
import { campaignTexts } from './campaigns.ts'
import { say } from './define.ts'
import { formatDuration } from './format.ts'

/** What a campaign does at `nowMs` (Unix time), in one sentence, and what comes next. */
export function describeCampaign(of: CampaignRecord, nowMs: number): string[] {
  const words = say(campaignTexts)
  const away = of.counts['offline'] ?? 0
  const more = away > 0 && ['running', 'done', 'paused'].includes(of.status) ? [words.away(away)] : []
  if (of.planning !== undefined) return [words.planning(of.planning.done, of.planning.total)]
  if (of.status === 'halted' && of.halt !== undefined) {
    const { gate, value, limit, wave, title } = of.halt
    const cause = title ? [words.haltCause(title)] : []
    return [words.halt[gate](value, limit, wave + 1), ...cause, words.haltNext]
  }
  const missing = countMissing(of.counts)
  if (of.status === 'done' && missing.length > 0) {
    const done = words.doneBut(of.counts['applied'] ?? 0, of.plan?.target_count ?? 0)
    return [done, ...missing.map(([state, count]) => words.missing[state](count)), ...more]
  }
  if (of.status !== 'running')
    return [words.sentence[of.status as keyof typeof words.sentence] ?? '', ...more]
  if (of.wave_ends_at !== undefined) {
    const left = Math.max(0, Date.parse(of.wave_ends_at) - nowMs)
    return [words.watching(of.wave + 1, formatDuration(left)), ...more]
  }
  const total = of.plan?.target_count ?? 0
  return [words.running(of.wave + 1, of.plan?.waves.length ?? 1, of.counts['applied'] ?? 0, total), ...more]
}
