import type { RolloutHoldReason } from '../wire/rollouts.ts'

/**
 * What keeps a stage inside a campaign, or of a version that applies by itself, for a while: a freeze ends, and what is
 * stopped is continued or ends as a whole.
 */
const FOR_A_WHILE = ['frozen', 'not_approved', 'stopped'] as const satisfies readonly RolloutHoldReason[]

/**
 * Whether what keeps a stage inside a campaign has an end of its own. What has none keeps it until somebody changes the
 * workload, which nobody can do in the campaign: that gives the target up.
 */
export const isOverByItself = (reason: RolloutHoldReason): reason is (typeof FOR_A_WHILE)[number] =>
  (FOR_A_WHILE as readonly RolloutHoldReason[]).includes(reason)

/** What keeps one until somebody changes the workload. */
export type LastingHold = Exclude<RolloutHoldReason, (typeof FOR_A_WHILE)[number]>
