import { useSignal } from '@preact/signals'
import type { AuditEventRecord } from '../../../lib/wire/audit.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { TrustedLabels } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatExact } from '../i18n/format.ts'
import { labelRuleTexts } from '../i18n/label-rules.ts'
import { reviewTexts } from '../i18n/reviews.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { readLabelLines, writeLabelLines } from '../logic/label-lines.ts'
import { breakable } from '../parts/breakable.tsx'
import { Action, bind, TextArea } from '../parts/controls.tsx'
import { FailureNotice, Loaded, Waiting } from '../parts/failure.tsx'
import { Ago } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WorkloadSearch } from '../parts/workload-search.tsx'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, loadFleet } from '../state/fleet.ts'
import { labelOf, namedOf, useNames } from '../state/names.ts'
import { query, setQuery } from '../state/router.ts'
import { may } from '../state/session.ts'
import { usePages } from '../state/use-pages.ts'
import { useResource } from '../state/use-resource.ts'

/** The labels that rules give, each with its rule; a label that somebody set counts before them. */
function FromRules({ of }: { of: TrustedLabels['rule_labels'] }) {
  const words = say(labelRuleTexts)
  const entries = Object.entries(of)
  if (entries.length === 0) return null
  return (
    <>
      <p class="muted">{words.fromRules}</p>
      <ul>
        {entries.map(([key, { value, rule_name, is_overruled }]) => (
          <li key={key} class={is_overruled ? 'faint' : ''}>
            {words.fromRule(`${key}=${value}`, rule_name)}
          </li>
        ))}
      </ul>
    </>
  )
}

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
    if (fleetLoaded.peek()) void loadFleet()
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

/** Who set the labels of each workload last, and when; nothing to whoever may not see the audit trail. */
function useLastSet(): ReadonlyMap<string, AuditEventRecord> {
  const set = useResource(
    may('audit:view') ? 'labels-set' : null,
    (abort) => api.audit({ action: 'workload.trusted_labels', limit: 200 }, abort),
    touchesLabels,
  )
  const last = new Map<string, AuditEventRecord>()
  for (const event of set.data?.events ?? []) {
    const id = event.workload_id ?? ''
    if (!last.has(id)) last.set(id, event)
  }
  return last
}

const touchesLabels = ({ type }: HubFrame): boolean => type === 'workload_update'

/** The workloads that somebody set labels on; each leads to its form. */
function Labelled() {
  const words = say(settingsTexts)
  const { column } = words
  const { rows, failure, isLoading, hasOlder, older, reload } = usePages<TrustedLabels>('trusted-labels', {
    idOf: ({ workload_id: id }) => id,
    load: (address, abort) => api.allTrustedLabels(address, abort),
    touches: touchesLabels,
  })
  const last = useLastSet()
  useNames(rows.map(({ workload_id: id }) => id))
  const nameOf = (id: string) => {
    const known = namedOf(id)
    return known ? labelOf(known) : id.slice(0, 8)
  }
  return (
    <section class="ground stack tight">
      <h2>{words.labelled}</h2>
      {failure !== null && <FailureNotice failure={failure} retry={reload} />}
      {rows.length === 0 && isLoading && <Waiting />}
      {rows.length === 0 && !isLoading && failure === null && <p class="muted">{words.labelledNone}</p>}
      {rows.length > 0 && (
        <Table
          label={words.labelled}
          rows={rows}
          keyOf={({ workload_id: id }) => id}
          columns={[
            {
              title: words.labelsFor,
              look: 'text',
              cell: ({ workload_id: id }) => (
                <a class="name" href={`/settings/labels?workload=${id}`}>
                  {nameOf(id)}
                </a>
              ),
            },
            {
              title: column.labels,
              look: 'text mono',
              cell: ({ labels }) => breakable(writeLabelLines(labels).split('\n').join(' · ')),
            },
            {
              title: column.setBy,
              cell: ({ workload_id: id }) => breakable(last.get(id)?.email ?? '–'),
            },
            {
              title: column.setAt,
              look: 'muted',
              cell: ({ workload_id: id }) => <Ago at={last.get(id)?.occurred_at} />,
            },
          ]}
        />
      )}
      {hasOlder && <Action onClick={older}>{say(commonTexts).more}</Action>}
    </section>
  )
}

/** Labels that only operators set: for one workload, and the list of all that have some. */
export function LabelsSection() {
  const words = say(settingsTexts)
  const id = query.value.get('workload') ?? ''
  useNames([id])
  const chosen = namedOf(id)
  const trusted = useResource(
    id === '' ? null : `trusted-labels/${id}`,
    (abort) => api.trustedLabels(id, abort),
    (frame) => frame.type === 'label_rules_update',
  )
  return (
    <>
      <section class="pane stack">
        <p class="muted">{words.labelsLead}</p>
        <WorkloadSearch label={words.labelsFor} onPick={(workload) => setQuery({ workload: workload.id })} />
        {chosen && (
          <h2 style={{ margin: '0' }}>
            <a href={`/workloads/${chosen.id}`}>{labelOf(chosen)}</a>
          </h2>
        )}
        {chosen && (
          <Loaded of={trusted}>
            {({ labels, rule_labels }) => (
              <>
                <LabelsForm key={id} id={id} labels={labels} />
                <FromRules of={rule_labels} />
              </>
            )}
          </Loaded>
        )}
      </section>
      <Labelled />
    </>
  )
}
