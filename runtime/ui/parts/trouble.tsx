import { toneOfTrouble } from '../../../lib/model/troubles.ts'
import type { WorkloadRecord, WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { describeReason, describeTrouble } from '../i18n/trouble.ts'
import { troubleHref } from '../logic/workloads.ts'
import { Ago } from './state.tsx'

/** What is wrong, since when, and why. */
export function Why({ of }: { of: WorkloadTrouble }) {
  const reason = describeReason(of)
  return (
    <>
      <span class={`trouble ${toneOfTrouble(of)}`}>
        <span>{describeTrouble(of)}</span>
        {of.since && (
          <span class="muted since">
            {' · '}
            <Ago at={of.since} />
          </span>
        )}
      </span>
      {reason !== '' && (
        <span class="reason">
          <span class="gap"> · </span>
          {reason}
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
    <a href={troubleHref(workload)} title={title}>
      <Why of={trouble} />
    </a>
  )
}
