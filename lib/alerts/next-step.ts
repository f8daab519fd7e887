import { isLapse } from '../model/stops.ts'
import type { AlertRule } from '../wire/alerts.ts'
import type { ALERT_STEPS } from '../wire/values.ts'

const NEXT_STEP: Record<AlertRule, string> = {
  workload_down: 'Look at its activity and whether its hosts or pods still run.',
  workload_unhealthy: 'Look at its health for the failing component.',
  push_failed: 'Look at the push for the error of each instance, then propose a corrected config.',
  rollout_halted: 'Look at the stage that stopped it, then decide on its page how it goes on.',
  config_drift: 'Look at the instances that run something else.',
  version_outdated: 'Bring its collectors to the recommended version.',
  campaign_halted: 'Look at what stopped it, then continue it, abort it or roll it back.',
  campaign_failures: 'Look at which workloads failed, and bring them a config that works.',
  auto_apply_held: 'Look at what failed, then let it go on or turn it off.',
  config_conflict: 'Change a priority or a selector of one of the fleet configs.',
  administrator_kept: 'Make somebody else an administrator, or mend the groups at the identity provider.',
  approval_policy_lowered:
    'Ask for the former policy to stop it or take it back, or let a second person confirm it while it waits.',
  approval_policy_unreadable:
    'Store the policy anew under Settings, which a second person confirms, and find out who wrote over it.',
  last_resort_login: 'Make sure in the audit trail that the sign-in was meant to.',
}

/** What to do next where an approval does not hold any more: whatever goes on without it only stops again. */
const NEXT_AFTER_LAPSE: Partial<Record<AlertRule, string>> = {
  campaign_halted:
    'It goes on only once that is as it was: then continue it. Else abort it and ask anew, or roll it back.',
  auto_apply_held: 'It goes on only once that is as it was: then continue it. Else turn it off and ask anew.',
}

/** What to do next where a version is paused, or nobody continued it. */
const NEXT_AFTER_STOP: Readonly<Record<string, string>> = {
  paused: 'Continue it, or turn it off.',
  not_continued: 'Ask for it anew where it is to apply by itself.',
}

/** What can be done about a workload now; null where that was not asked. */
export type NextSteps = readonly (typeof ALERT_STEPS)[number][] | null

/** What else to do about a workload that is unhealthy or drifts: only what is possible there now. */
function sayWhatHelps(rule: 'workload_unhealthy' | 'config_drift', steps: NextSteps): string {
  if (steps === null) return ''
  if (!steps.includes('push')) return ' Its config is not pushed from here: mend it where it is kept.'
  const isBack = steps.includes('roll_back')
  // The same text is not sent again to whoever says that it applied it, or failed it.
  if (rule === 'config_drift')
    return isBack
      ? ' Then restart them, propose a change or roll back.'
      : ' Then restart them or propose a change.'
  return ` Then correct its config${isBack ? ' or roll back' : ''}.`
}

/**
 * What to do next about an alert, in English: for the API and the command line; pages say it themselves. `steps` is
 * what can be done now.
 */
export function sayNextStep(
  { rule, details }: { rule: AlertRule; details: { gate?: unknown } },
  steps: NextSteps = null,
): string {
  if (rule === 'workload_unhealthy' || rule === 'config_drift')
    return `${NEXT_STEP[rule]}${sayWhatHelps(rule, steps)}`
  const gate = String(details.gate ?? '')
  const ofGate = rule === 'auto_apply_held' ? NEXT_AFTER_STOP[gate] : undefined
  if (ofGate !== undefined) return ofGate
  const isOfLapse = isLapse(gate)
  return (isOfLapse ? NEXT_AFTER_LAPSE[rule] : undefined) ?? NEXT_STEP[rule]
}
