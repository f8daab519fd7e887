import type { AlertRecord, AlertRule } from '../wire/alerts.ts'
import type { WorkloadTrouble } from '../wire/workloads.ts'

/**
 * What an alert is about, such as a port or the host that was not found, as the trouble of its workload says now. Alerts
 * themselves name none: they are kept and sent to webhooks, and everybody reads them. Undefined where the trouble is
 * another one than the alert's.
 */
export function parametersOf(
  { rule, details = {} }: Pick<AlertRecord, 'rule' | 'details'>,
  trouble: WorkloadTrouble | undefined,
): WorkloadTrouble['error_parameters'] {
  if (trouble?.error_cause === undefined || trouble.error_cause !== details['cause']) return undefined
  const isItsOwn =
    rule === 'push_failed'
      ? trouble.push_id === details['push_id']
      : rule === 'rollout_halted'
        ? trouble.rollout_id === details['rollout_id']
        : trouble.kind === 'unhealthy' || trouble.kind === 'some_unhealthy'
  return isItsOwn ? trouble.error_parameters : undefined
}

const ABOUT_PEOPLE: readonly AlertRule[] = [
  'administrator_kept',
  'approval_policy_lowered',
  'approval_policy_unreadable',
  'last_resort_login',
]

/** Whether alerts of a rule are about people or what they must ask of each other: only who manages those resolves them. */
export const isAboutPeople = (rule: AlertRule): boolean => ABOUT_PEOPLE.includes(rule)
