import type { CampaignGate, CampaignLimits, CampaignTargetState } from '../../wire/campaigns.ts'

/** How many targets of a campaign are in each state. */
export type StateCounts = Partial<Record<CampaignTargetState, number>>

/** What a campaign is held to, as it stands. */
export interface LimitFacts {
  wave: number
  /** All targets that were to change, those that are away included. */
  targetCount: number
  /** Over all waves. */
  counts: StateCounts
  /** Applied targets that were well when they were started and are not now. */
  unhealthy: number
  asked: CampaignLimits
  /** What an operator raised when he continued. */
  raised: CampaignLimits
}

/** A limit that is passed. */
export interface PassedLimit {
  gate: Extract<CampaignGate, 'failed' | 'unhealthy' | 'silent'>
  value: number
  limit: number
}

/** What is allowed where nothing is asked for: nothing in the first wave, then 3 or 1 %; of silent ones 5 %. */
export function limitOf(gate: PassedLimit['gate'], { wave, targetCount, asked, raised }: LimitFacts): number {
  const said = Math.max(asked[gate] ?? -1, raised[gate] ?? -1)
  if (said >= 0) return said
  if (gate === 'silent') return Math.floor(targetCount / 20)
  return wave === 0 ? 0 : Math.max(3, Math.floor(targetCount / 100))
}

/** The first limit that is passed; null when none is. Targets that are away count nowhere. */
export function findPassedLimit(facts: LimitFacts): PassedLimit | null {
  const { counts, unhealthy } = facts
  const values: readonly [PassedLimit['gate'], number][] = [
    ['failed', counts.failed ?? 0],
    ['unhealthy', unhealthy],
    ['silent', (counts.skipped ?? 0) + (counts.no_answer ?? 0)],
  ]
  for (const [gate, value] of values) {
    const limit = limitOf(gate, facts)
    if (value > limit) return { gate, value, limit }
  }
  return null
}

/** States of targets in which nothing was tried out; who was away is `expired` once it is waited for no longer. */
export const UNTRIED_STATES = ['offline', 'expired', 'skipped', 'no_answer', 'overtaken'] as const

/**
 * The first wave is there to try the change out: where nobody in it applied it, those that were to are too many, unless
 * somebody allows as many. Where nobody was there at the plan, nobody was to.
 */
export function findUntried(facts: {
  wave: number
  waveCount: number
  wasAnybodyThere: boolean
  inWave: StateCounts
  asked: CampaignLimits
  raised: CampaignLimits
}): PassedLimit | null {
  const { wave, waveCount, wasAnybodyThere, inWave, asked, raised } = facts
  if (wave !== 0 || waveCount < 2 || !wasAnybodyThere || (inWave.applied ?? 0) > 0) return null
  const value = UNTRIED_STATES.reduce((sum, state) => sum + (inWave[state] ?? 0), 0)
  const limit = Math.max(asked.silent ?? 0, raised.silent ?? 0)
  return value > limit ? { gate: 'silent', value, limit } : null
}
