import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { nameOf, placeOf, readOnlyReason } from '../logic/workloads.ts'
import { fleetLoaded, fleetLoading, fleetVersion, loadFleet, workloads } from '../state/fleet.ts'
import { Action, Select } from './controls.tsx'

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
  void fleetVersion.value
  useEffect(() => {
    if (!fleetLoaded.peek() && !fleetLoading.peek()) void loadFleet()
  }, [])
  const options = [...workloads.values()]
    .filter((workload) => readOnlyReason(workload) === null)
    .map((workload): [string, string] => [
      workload.id,
      [nameOf(workload), placeOf(workload)].filter((text) => text !== '').join(' · '),
    ])
    .sort(([, a], [, b]) => a.localeCompare(b))
  if (options.length === 0) return <p class="muted">{words.noTargets}</p>
  const id = chosen.value || (options[0]?.[0] ?? '')
  return (
    <div class="tools" style={{ alignItems: 'end' }}>
      <Select
        label={words.useFor}
        value={id}
        options={options}
        onValue={(value) => {
          chosen.value = value
        }}
      />
      <Action kind="primary" reason={reason} onClick={() => onChoose(id)}>
        {words.useGo}
      </Action>
    </div>
  )
}
