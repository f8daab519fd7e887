import { toneOfTrouble } from '../../../lib/model/troubles.ts'
import type { WorkloadRecord, WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { describeBeside, describeKind, describeReason, describeTrouble } from '../i18n/trouble.ts'
import { troubleHref } from '../logic/workloads.ts'
import { Ago } from './state.tsx'

/** What `Why` says below what is wrong; '' for nothing. */
export const sayBeneath = (of: WorkloadTrouble): string =>
  [describeReason(of), describeBeside(of)].filter((part) => part !== '').join(' · ')

/** What is wrong and since when; in a row why stands below it, and elsewhere after it. */
export function Why({ of }: { of: WorkloadTrouble }) {
  const reason = sayBeneath(of)
  return (
    <>
      <span class="headline">
        <span class={`trouble ${toneOfTrouble(of)}`}>{describeKind(of)}</span>
        {of.since && (
          <span class="since">
            {' · '}
            <Ago at={of.since} />
          </span>
        )}
      </span>
      {reason !== '' && (
        <span class="beneath">
          <span class="gap"> · </span>
          <span class="reason">{reason}</span>
        </span>
      )}
    </>
  )
}

/** What is wrong, since when and why, as a link to where it is shown. */
export function WhyLink({ workload }: { workload: Pick<WorkloadRecord, 'id' | 'trouble'> }) {
  const { trouble } = workload
  if (!trouble) return <span class="faint">–</span>
  const reason = describeReason(trouble)
  const title = `${describeTrouble(trouble)}${reason === '' ? '' : ` · ${reason}`}`
  return (
    <a class="whole" href={troubleHref(workload)} title={title}>
      <Why of={trouble} />
    </a>
  )
}
