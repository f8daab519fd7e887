import { useSignal } from '@preact/signals'
import { trustedAmong } from '../../../lib/wire/labels.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatExact } from '../i18n/format.ts'
import { reviewTexts } from '../i18n/reviews.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { readLabelLines, writeLabelLines } from '../logic/label-lines.ts'
import { Action, bind, TextArea } from '../parts/controls.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { labelOf, useFleet, WorkloadSearch } from '../parts/workload-search.tsx'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, loadFleet, workloads } from '../state/fleet.ts'
import { query, setQuery } from '../state/router.ts'

function LabelsForm({ id, labels }: { id: string; labels: Record<string, string> }) {
  const words = say(settingsTexts)
  const text = useSignal(writeLabelLines(labels))
  const save = async () => {
    const read = readLabelLines(text.value)
    if (!read.ok) return toast(words.badLine(read.line), 'bad')
    const result = await api.setTrustedLabels(id, read.labels)
    if (!result.ok) return toastFailure(result)
    const until = result.value.stricter_until
    toast(until === undefined ? say(commonTexts).saved : say(reviewTexts).labelsWait(formatExact(until)))
    void loadFleet()
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <TextArea label={words.labelsText} isMono rows={6} {...bind(text)} />
      <div class="actions">
        <Action kind="primary" isSubmit>
          {say(commonTexts).save}
        </Action>
      </div>
    </form>
  )
}

/** Labels that only operators set, for one workload at a time. */
export function LabelsSection() {
  const words = say(settingsTexts)
  useFleet()
  const id = query.value.get('workload') ?? ''
  const chosen = workloads.get(id)
  return (
    <section class="pane stack">
      <p class="muted">{words.labelsLead}</p>
      <WorkloadSearch
        label={words.labelsFor}
        fits={() => true}
        onPick={(workload) => setQuery({ workload: workload.id })}
      />
      {chosen && (
        <h2 style={{ margin: '0' }}>
          <a href={`/workloads/${chosen.id}`}>{labelOf(chosen)}</a>
        </h2>
      )}
      {fleetLoaded.value && chosen && (
        <LabelsForm key={id} id={id} labels={trustedAmong(chosen.labels ?? {})} />
      )}
    </section>
  )
}
