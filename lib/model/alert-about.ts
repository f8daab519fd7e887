import type { AlertRecord, AlertRule } from '../wire/alerts.ts'
import type { WorkloadTrouble } from '../wire/workloads.ts'

/** What an error is about, and what the instance says of it itself. */
export type AboutError = Pick<WorkloadTrouble, 'error_parameters' | 'error_message'>

/** The same with the error itself, where the alert does not name it. */
export type ErrorOfAlert = AboutError & Pick<WorkloadTrouble, 'error_cause' | 'error_title'>

/**
 * What an alert is about, such as a port or the host that was not found, and what the instance says itself, as the
 * trouble of its workload says now; of the alert of a campaign, that of one of its workloads. Alerts themselves name
 * none: they are kept and sent to webhooks, and everybody reads them. Nothing where the trouble is another one than the
 * alert's.
 */
export function aboutOf(
  { rule, details = {} }: Pick<AlertRecord, 'rule' | 'details'>,
  trouble: WorkloadTrouble | undefined,
): ErrorOfAlert {
  if (rule === 'config_drift') return whyDrifted(details, trouble)
  if (trouble === undefined || !hasItsCause(details, trouble)) return {}
  return isItsOwn(rule, details, trouble) ? onlyAbout(trouble) : {}
}

/** Why a config is not applied, where it is the one that the trouble of its workload is about. */
function whyDrifted({ config_hash: hash }: Details, trouble: WorkloadTrouble | undefined): ErrorOfAlert {
  if (trouble?.error_cause === undefined || trouble.config_hash !== hash) return {}
  const { error_cause, error_title } = trouble
  return { error_cause, ...(error_title === undefined ? {} : { error_title }), ...onlyAbout(trouble) }
}

/** Of a told error what it is about and what the instance says itself, where it has them. */
export const onlyAbout = ({ error_parameters: about, error_message: own }: AboutError): AboutError => ({
  ...(about === undefined ? {} : { error_parameters: about }),
  ...(own === undefined ? {} : { error_message: own }),
})

type Details = NonNullable<AlertRecord['details']>

/** An alert names no cause where muster has no words for it. */
const hasItsCause = ({ cause = 'unknown' }: Details, { error_cause: now }: WorkloadTrouble): boolean =>
  now !== undefined && now === (cause || 'unknown')

function isItsOwn(rule: AlertRule, details: Details, trouble: WorkloadTrouble): boolean {
  switch (rule) {
    case 'push_failed':
      return trouble.push_id === details['push_id']
    case 'rollout_halted':
      return trouble.rollout_id === details['rollout_id']
    case 'campaign_failures':
    case 'campaign_halted':
      return trouble.push_id !== undefined
    default:
      return trouble.kind === 'unhealthy' || trouble.kind === 'some_unhealthy'
  }
}

const ABOUT_PEOPLE: readonly AlertRule[] = [
  'administrator_kept',
  'approval_policy_lowered',
  'approval_policy_unreadable',
  'last_resort_login',
]

/** Whether alerts of a rule are about people or what they must ask of each other: only who manages those resolves them. */
export const isAboutPeople = (rule: AlertRule): boolean => ABOUT_PEOPLE.includes(rule)
