import type { RolloutHoldReason } from '../wire/rollouts.ts'

/** What keeps a stage inside a campaign for a while: a freeze ends, and what is stopped is continued or ends as a whole. */
const FOR_A_WHILE = ['frozen', 'not_approved', 'stopped'] as const satisfies readonly RolloutHoldReason[]

/** What keeps a stage inside a campaign until somebody changes the workload: nobody can lift it in the campaign. */
export type LastingHold = Exclude<RolloutHoldReason, (typeof FOR_A_WHILE)[number]>

/** Whether what keeps a stage inside a campaign has an end of its own. Where it has none the campaign gives the target up. */
export const isOverByItself = (reason: RolloutHoldReason): reason is (typeof FOR_A_WHILE)[number] =>
  (FOR_A_WHILE as readonly RolloutHoldReason[]).includes(reason)
