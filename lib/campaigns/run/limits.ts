import {
  LIMITED,
  type Limited,
  limitOf,
  limitsInForce,
  type LimitFacts as WaveFacts,
} from '../../model/campaign-rules.ts'
import { statesThat } from '../../model/target-states.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignTargetState } from '../../wire/campaigns.ts'

/** How many targets of a campaign are in each state. */
export type StateCounts = Partial<Record<CampaignTargetState, number>>

/** What the limits of a campaign are judged by. */
export interface LimitFacts extends WaveFacts {
  /** Targets by state, over all waves. */
  counts: StateCounts
  /** Applied targets that were well when they were started and are not now. */
  unhealthy: number
  /** Applied targets that did not drift when they were started and do now. */
  drifted: number
}

/** What of a campaign its limits go by. */
export const limitFactsOf = ({
  wave,
  plan,
  rules,
  raised,
}: Pick<CampaignSummary, 'wave' | 'plan' | 'rules' | 'raised'>): WaveFacts => ({
  wave,
  targetCount: plan?.target_count ?? 0,
  asked: rules.limits,
  raised,
})

/** A limit that is passed: `value` targets where `limit` are allowed. */
export interface PassedLimit {
  gate: Limited
  value: number
  limit: number
}

/** The first limit that is passed; null when none is. */
export const findPassedLimit = (facts: LimitFacts): PassedLimit | null => listPassedLimits(facts)[0] ?? null

/** The limits that are passed, in the order in which they halt. Targets that are away count nowhere. */
export function listPassedLimits(facts: LimitFacts): PassedLimit[] {
  const { counts, unhealthy, drifted } = facts
  const values: Readonly<Record<Limited, number>> = {
    failed: countIn(COUNTED.failed, counts),
    unhealthy,
    drifted,
    silent: countIn(COUNTED.silent, counts),
  }
  return LIMITED.map((gate) => ({ gate, value: values[gate], limit: limitOf(gate, facts) })).filter(
    ({ value, limit }) => value > limit,
  )
}

/** How many targets are in one of these states. */
const countIn = (states: readonly CampaignTargetState[], counts: StateCounts): number =>
  states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)

/** States of targets that a limit counts; for those that look at workloads instead, none. */
export const COUNTED: Readonly<Record<Limited, readonly CampaignTargetState[]>> = {
  failed: statesThat('counts-as-failed'),
  silent: statesThat('counts-as-silent'),
  unhealthy: [],
  drifted: [],
}

/** States of targets that did not try the change out. */
export const UNTRIED_STATES = statesThat('untried')

/**
 * The first wave tries the change out. When it is over, others follow, and no target in it applied the change, the
 * targets that did not try it are held against the `silent` limit that was asked for or raised, which is 0 where
 * neither was. Null where the limit is kept, in a later wave, or where no workload could have tried it when the plan was
 * made.
 */
export function findUntried(campaign: CampaignSummary, waves: readonly StateCounts[]): PassedLimit | null {
  const { plan, wave } = campaign
  const inWave = waves[wave] ?? {}
  const wasAnybodyThere = (plan?.verdicts.changes ?? 0) > 0
  const isFirstOfSeveral = wave === 0 && (plan?.waves.length ?? 0) > 1
  if (!isFirstOfSeveral || !wasAnybodyThere || (inWave.applied ?? 0) > 0) return null
  const { asked, raised } = limitFactsOf(campaign)
  const value = countIn(UNTRIED_STATES, inWave)
  const limit = limitsInForce(asked, raised).silent ?? 0
  return value > limit ? { gate: 'silent', value, limit } : null
}
