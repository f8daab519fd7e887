import { useSignal } from '@preact/signals'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { readOnlyReason } from '../logic/workloads.ts'
import { fleetLoaded, workloads } from '../state/fleet.ts'
import { labelOf } from '../state/names.ts'
import { Action } from './controls.tsx'
import { useFleet, WorkloadSearch } from './workload-search.tsx'

/** Choose a workload that takes configs, for whatever `onChoose` opens. */
export function WorkloadPicker({
  onChoose,
  reason,
}: {
  onChoose: (id: string) => void
  reason: string | null
}) {
  const words = say(libraryTexts)
  const chosen = useSignal('')
  useFleet()
  const targets = [...workloads.values()].filter((workload) => readOnlyReason(workload) === null)
  if (fleetLoaded.value && targets.length === 0) return <p class="muted">{words.noTargets}</p>
  // Where there is only one, there is nothing to choose.
  const workload = workloads.get(chosen.value) ?? (targets.length === 1 ? targets[0] : undefined)
  return (
    <div class="stack tight">
      <WorkloadSearch
        label={words.useFor}
        fits={(candidate) => readOnlyReason(candidate) === null}
        onPick={({ id }) => {
          chosen.value = id
        }}
      />
      {workload && <p class="chip wrap">{labelOf(workload)}</p>}
      <div class="actions">
        <Action
          kind="primary"
          reason={reason ?? (workload ? null : words.useFor)}
          onClick={() => workload && onChoose(workload.id)}
        >
          {words.useGo}
        </Action>
      </div>
    </div>
  )
}
