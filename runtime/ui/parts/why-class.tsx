import { findClass } from '../../../lib/model/approval-policy.ts'
import { trustedAmong } from '../../../lib/model/labels.ts'
import type { ApprovalOutlook, ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { formatExact, formatList } from '../i18n/format.ts'
import { whyClassTexts } from '../i18n/why-class.ts'
import { api } from '../state/endpoints.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'
import { unlessEverywhere } from './controls.tsx'

/**
 * Why a workload, or a request on it, counts as production for approvals or does not, by which label or rule; and where
 * that is changed, or who changes it.
 */
export function WhyClass({
  workload: { id, labels },
  asked,
  counted,
}: {
  workload: WorkloadRecord
  /** What a request names; absent where it is about the workload alone. */
  asked?: Pick<ApprovalRecord, 'target_env' | 'target_group'>
  /** What the service counts it as; absent where that is not asked. */
  counted?: ApprovalOutlook['approval_class'] | undefined
}) {
  const words = say(whyClassTexts)
  const { data: set } = useResource(
    `trusted-labels:${id}`,
    (abort) => api.trustedLabels(id, abort),
    touchesWorkload(id),
  )
  const { target_env: targetEnv = '', target_group: targetGroup = '' } = asked ?? {}
  const found = findClass({ targetEnv, targetGroup, labels, trustedLabels: trustedAmong(labels) })
  const { approvalClass, naming } =
    counted === undefined || counted === found.approvalClass
      ? found
      : { approvalClass: counted, naming: null }
  const given = naming?.by === 'trusted' ? set?.rule_labels[naming.key] : undefined
  const rule = given === undefined || given.is_overruled ? '' : given.rule_name
  const mayChange = unlessEverywhere('settings:manage') === null
  const { data: others } = useResource(mayChange ? null : 'people', (abort) => api.people([], abort))
  const isOfLabels = naming === null || naming.by === 'trusted' || approvalClass === 'unlabelled'
  return (
    <p class="muted" role="note">
      {words.says(approvalClass, naming, rule)}{' '}
      {set?.stricter_until !== undefined && words.waits(formatExact(set.stricter_until))}{' '}
      {isOfLabels &&
        (mayChange ? (
          <>
            <a class="link" href={`/settings/labels?workload=${id}`}>
              {words.setOne}
            </a>
            {' · '}
            <a class="link" href="/settings/label-rules">
              {words.setMany}
            </a>
          </>
        ) : (
          words.ask(formatList(others?.administrators ?? []))
        ))}
    </p>
  )
}
