import type { CampaignTargetState } from '../wire/campaigns.ts'

/** What a state says of a target of a campaign. */
type Trait =
  /** It waits for its turn, or for its workload to come back. */
  | 'waits'
  /** A push to it has not ended. */
  | 'under-way'
  /** It may run what the campaign brought, whether or not it has said so. */
  | 'may-run'
  /** It did not try the change out. */
  | 'untried'
  /** The limit that counts it. */
  | 'counts-as-failed'
  | 'counts-as-silent'
  /** Something of it went wrong, as lists and reports count that. */
  | 'went-wrong'
  /** The campaign was to change it and did not, or could not take it back. */
  | 'missed'
  /** It is not as the campaign would have it, whatever that is for. */
  | 'astray'

/** The one table of what each state of a target means. Who needs a set of states names what they have in common. */
const TRAITS = {
  left_out: [],
  waiting: ['waits'],
  // It becomes `expired` once the campaign waits for it no longer.
  offline: ['waits', 'untried', 'astray'],
  started: ['under-way'],
  applied: ['may-run'],
  failed: ['may-run', 'counts-as-failed', 'went-wrong', 'missed', 'astray'],
  no_answer: ['may-run', 'untried', 'counts-as-silent', 'went-wrong', 'missed', 'astray'],
  overtaken: ['may-run', 'untried', 'astray'],
  // Some of its instances have the change where it was given up amid its stages.
  skipped: ['may-run', 'untried', 'counts-as-silent', 'missed', 'astray'],
  expired: ['untried', 'missed', 'astray'],
  cancelled: [],
  rolling_back: ['under-way'],
  rolled_back: [],
  rollback_failed: ['went-wrong', 'missed', 'astray'],
  moved_on: ['astray'],
  // It was not the campaign's to take back any more, and may run what that brought.
  left_scope: ['missed', 'astray'],
  no_way_back: ['missed', 'astray'],
} as const satisfies Readonly<Record<CampaignTargetState, readonly Trait[]>>

/** The states of which this holds, in the order of the table. */
export const statesThat = (trait: Trait): readonly CampaignTargetState[] =>
  (Object.keys(TRAITS) as CampaignTargetState[]).filter((state) =>
    (TRAITS[state] as readonly Trait[]).includes(trait),
  )

/** A state of a target that the campaign was to change and did not, or could not take back. */
export type MissedState = {
  [State in CampaignTargetState]: 'missed' extends (typeof TRAITS)[State][number] ? State : never
}[CampaignTargetState]
/** All of these, in the order of the table. */
export const MISSED_STATES = statesThat('missed') as readonly MissedState[]
