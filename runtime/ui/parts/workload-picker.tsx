import { useSignal } from '@preact/signals'
import type { FoundWorkload } from '../../../lib/wire/fleet-search.ts'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { useFound } from '../state/found.ts'
import { labelOf } from '../state/names.ts'
import { Action } from './controls.tsx'
import { WorkloadSearch } from './workload-search.tsx'

/** Choose a workload that takes configs, for whatever `onChoose` opens. */
export function WorkloadPicker({
  onChoose,
  reason,
}: {
  onChoose: (id: string) => void
  reason: string | null
}) {
  const words = say(libraryTexts)
  const chosen = useSignal<FoundWorkload | null>(null)
  // Two tell whether there is anything to choose.
  const { workloads: targets, isSearching, failure } = useFound({ text: '', limit: 2, only: 'takes_configs' })
  if (targets.length === 0 && !isSearching && failure === null) return <p class="muted">{words.noTargets}</p>
  const workload = chosen.value ?? (targets.length === 1 && !isSearching ? targets[0] : undefined)
  return (
    <div class="stack tight">
      <WorkloadSearch
        label={words.useFor}
        only="takes_configs"
        onPick={(picked) => {
          chosen.value = picked
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
