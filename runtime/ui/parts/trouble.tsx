import type { WorkloadRecord, WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { describeTrouble } from '../i18n/trouble.ts'
import { toneOfTrouble, troubleHref } from '../logic/workloads.ts'
import { Ago } from './state.tsx'

/** What is wrong, and since when. */
export function Why({ of }: { of: WorkloadTrouble }) {
  return (
    <span class={toneOfTrouble(of)}>
      {describeTrouble(of)}
      {of.since && (
        <span class="muted">
          {' · '}
          <Ago at={of.since} />
        </span>
      )}
    </span>
  )
}

/** What is wrong, and since when, as a link to where it is shown. */
export function WhyLink({ workload }: { workload: WorkloadRecord }) {
  const { trouble } = workload
  if (!trouble) return <span class="faint">–</span>
  return (
    <a href={troubleHref(workload)} title={describeTrouble(trouble)}>
      <Why of={trouble} />
    </a>
  )
}
