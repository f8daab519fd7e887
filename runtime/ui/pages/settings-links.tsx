import { useSignal } from '@preact/signals'
import { LINK_NAME_LENGTH_MAX, LINK_URL_LENGTH_MAX, WORKLOAD_LINKS_MAX } from '../../../lib/wire/values.ts'
import type { WorkloadLink, WorkloadLinks } from '../../../lib/wire/workload-links.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatExact } from '../i18n/format.ts'
import { sectionTexts } from '../i18n/settings-sections.ts'
import { workloadLinkTexts } from '../i18n/workload-links.ts'
import { Action, TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Form } from '../parts/form.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { useResource } from '../state/use-resource.ts'

/** One link: its name and its address, changed in place. */
function LinkFields({
  of,
  onChange,
  onRemove,
}: {
  of: WorkloadLink
  onChange: (link: WorkloadLink) => void
  onRemove: () => void
}) {
  const words = say(workloadLinkTexts)
  return (
    <li class="stack tight">
      <TextField
        label={words.name}
        value={of.name}
        maxLength={LINK_NAME_LENGTH_MAX}
        onValue={(name) => onChange({ ...of, name })}
      />
      <TextField
        label={words.url}
        hint={words.example}
        value={of.url}
        maxLength={LINK_URL_LENGTH_MAX}
        onValue={(url) => onChange({ ...of, url })}
      />
      <div class="actions">
        <Action onClick={onRemove}>{words.remove(of.name)}</Action>
      </div>
    </li>
  )
}

function LinksForm({ of, onDone }: { of: WorkloadLinks; onDone: () => void }) {
  const words = say(workloadLinkTexts)
  const links = useSignal<readonly WorkloadLink[]>(of.links)
  const isChanged = JSON.stringify(links.value) !== JSON.stringify(of.links)
  const isFull = links.value.length >= WORKLOAD_LINKS_MAX
  const save = async () => {
    const saved = await api.saveWorkloadLinks(links.value)
    if (!saved.ok) return toastFailure(saved)
    toast(say(commonTexts).saved)
    onDone()
  }
  return (
    <Form onSend={save} send={say(commonTexts).save} reason={isChanged ? null : words.unsaved}>
      {links.value.length === 0 && <p class="muted">{words.none}</p>}
      <ul class="list">
        {links.value.map((link, at) => (
          <LinkFields
            // A link has no id of its own, and its name changes while it is typed.
            key={at}
            of={link}
            onChange={(changed) => {
              links.value = links.value.with(at, changed)
            }}
            onRemove={() => {
              links.value = links.value.toSpliced(at, 1)
            }}
          />
        ))}
      </ul>
      <div class="actions">
        <Action
          reason={isFull ? words.full(WORKLOAD_LINKS_MAX) : null}
          isReasonShown
          onClick={() => {
            links.value = [...links.value, { name: '', url: '' }]
          }}
        >
          {words.add}
        </Action>
      </div>
      {of.updated_by && of.updated_at && (
        <p class="muted small">{words.by(of.updated_by, formatExact(of.updated_at))}</p>
      )}
    </Form>
  )
}

/** The links that every workload has to other programs. */
export function LinksSection() {
  const words = say(workloadLinkTexts)
  const links = useResource('workload-links', (abort) => api.workloadLinks(abort))
  return (
    <section class="pane stack" aria-label={say(sectionTexts).links}>
      <p class="muted">{words.lead}</p>
      <Loaded of={links}>
        {(data) => <LinksForm key={data.updated_at ?? ''} of={data} onDone={links.reload} />}
      </Loaded>
    </section>
  )
}
