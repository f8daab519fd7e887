import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { AuditEventRecord, AuditVerification } from '../../../lib/wire/audit.ts'
import { auditTexts, describeDetailField } from '../i18n/audit.ts'
import { describeAction, findActions } from '../i18n/audit-actions.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { describeValue } from '../i18n/report-items.ts'
import { readDetail } from '../logic/audit-detail.ts'
import { nameOf } from '../logic/workloads.ts'
import { Action, TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head, Pairs, Sheet } from '../parts/page.tsx'
import { Ago } from '../parts/state.tsx'
import { toastFailure } from '../parts/toast.tsx'
import { saveFile } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, fleetLoading, fleetVersion, loadFleet, workloads } from '../state/fleet.ts'
import { query, setQuery } from '../state/router.ts'
import { useDebounced } from '../state/use-debounced.ts'
import { useResource } from '../state/use-resource.ts'

const PAGE = 50
const FILTERS = ['person', 'action', 'workload'] as const

/** The filters of the address as the API takes them. Days are the reader's own. */
function readFilter(search: string): Record<string, string | undefined> {
  const wanted = new URLSearchParams(search)
  const text = (key: string) => wanted.get(key) || undefined
  const day = (key: string, time: string) => {
    const date = new Date(`${wanted.get(key)}T${time}`)
    return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
  }
  const action = text('action')
  const meant = action === undefined ? [] : findActions(action)
  return {
    person: text('person'),
    actions: action === undefined ? undefined : meant.length > 0 ? meant.join(',') : action,
    workload: text('workload'),
    from: day('from', '00:00:00'),
    to: day('to', '23:59:59.999'),
  }
}

function Verify() {
  const words = say(auditTexts)
  const result = useSignal<AuditVerification | null>(null)
  const isBusy = useSignal(false)
  const verify = async () => {
    if (isBusy.value) return
    isBusy.value = true
    const answer = await api.verifyAudit()
    isBusy.value = false
    if (answer.ok) result.value = answer.value
    else toastFailure(answer)
  }
  const found = result.value
  return (
    <>
      <div class="actions" style={{ marginTop: '16px' }}>
        <Action onClick={() => void verify()}>{isBusy.value ? words.verifying : words.verify}</Action>
      </div>
      {found && (
        <div class={`say t-${found.valid ? 'ok' : 'bad'}`} role="status">
          <p>
            {found.valid
              ? words.intact(found.checked_count, String(found.head_seq ?? 0))
              : words.broken(String(found.first_bad_seq ?? '?'))}{' '}
            {found.head_hash && <span class="hash muted">{found.head_hash}</span>}
          </p>
        </div>
      )}
    </>
  )
}

const nameOfWorkload = (id: string): string => {
  const workload = workloads.get(id)
  return workload ? nameOf(workload) : id.slice(0, 8)
}

const HASH = /^[0-9a-f]{64}$/

/** What an event says, field by field; what is stored of it is one click away. */
function Detail({ event }: { event: AuditEventRecord }) {
  const fields = readDetail(event)
  return (
    <>
      {fields.length > 0 && (
        <Pairs
          of={fields.map(([key, value]) => [
            describeDetailField(key),
            typeof value === 'string' && HASH.test(value) ? (
              <span class="mono" title={value}>
                {shortHash(value)}
              </span>
            ) : (
              describeValue(value)
            ),
          ])}
          isInline
        />
      )}
      <details>
        <summary class="faint">{say(auditTexts).raw}</summary>
        <pre class="mono">{JSON.stringify(event, null, 2)}</pre>
      </details>
    </>
  )
}

/** Who did what: filter, page, export, verify. */
export function AuditPage() {
  const words = say(auditTexts)
  const { column } = words
  const offset = Math.max(0, Number(query.value.get('offset')) || 0)
  const search = useDebounced(query.value.toString(), 300)
  const filter = readFilter(search)
  const page = useResource(`audit:${search}:${offset}`, (abort) =>
    api.audit({ ...filter, limit: PAGE, offset }, abort),
  )
  void fleetVersion.value
  useEffect(() => {
    if (!fleetLoaded.peek() && !fleetLoading.peek()) void loadFleet()
  }, [])
  const exportCsv = async () => {
    const result = await api.exportAudit(filter)
    if (result.ok) saveFile(result.value.blob, result.value.name)
    else toastFailure(result)
  }
  return (
    <>
      <Head title={words.title}>
        <Action onClick={() => void exportCsv()}>{words.exportCsv}</Action>
      </Head>
      <Verify />
      <div class="tools" style={{ marginTop: '20px', alignItems: 'end' }}>
        {FILTERS.map((key) => (
          <TextField
            key={key}
            label={words[key]}
            hint={words.hint[key]}
            value={query.value.get(key) ?? ''}
            onValue={(value) => setQuery({ [key]: value, offset: null })}
          />
        ))}
        {(['from', 'to'] as const).map((key) => (
          <TextField
            key={key}
            label={words[key]}
            type="date"
            value={query.value.get(key) ?? ''}
            onValue={(value) => setQuery({ [key]: value, offset: null })}
          />
        ))}
      </div>
      <Loaded of={page}>
        {(data) => {
          if (!data.available) return <p class="empty">{words.away}</p>
          if (data.events.length === 0) return <p class="empty">{words.none}</p>
          return (
            <>
              <Sheet
                label={words.title}
                head={
                  <>
                    <th scope="col">{column.when}</th>
                    <th scope="col">{column.who}</th>
                    <th scope="col">{column.action}</th>
                    <th scope="col">{column.what}</th>
                    <th scope="col">{column.detail}</th>
                    <th scope="col">{column.hash}</th>
                  </>
                }
              >
                {data.events.map((event) => (
                  <tr key={event.id}>
                    <td class="muted">
                      <Ago at={event.occurred_at} />
                    </td>
                    <td>{event.email ?? '–'}</td>
                    <td>
                      {describeAction(event.action)} <span class="mono faint">{event.action}</span>
                    </td>
                    <td>
                      {event.resource === 'workload' && event.resource_id ? (
                        <a href={`/workloads/${event.resource_id}`}>{nameOfWorkload(event.resource_id)}</a>
                      ) : (
                        <span class="muted">
                          {event.resource} <span class="mono">{event.resource_id?.slice(0, 12)}</span>
                        </span>
                      )}
                    </td>
                    <td class="text">
                      <Detail event={event} />
                    </td>
                    <td class="mono faint" title={event.event_hash}>
                      {shortHash(event.event_hash)}
                    </td>
                  </tr>
                ))}
              </Sheet>
              <div class="tools" style={{ marginTop: '12px' }}>
                <span class="muted grow">
                  {words.shown(offset + 1, offset + data.events.length, data.total)}
                </span>
                {offset > 0 && (
                  <Action
                    onClick={() => setQuery({ offset: offset > PAGE ? String(offset - PAGE) : null }, false)}
                  >
                    {words.newer}
                  </Action>
                )}
                {offset + data.events.length < data.total && (
                  <Action onClick={() => setQuery({ offset: String(offset + PAGE) }, false)}>
                    {words.older}
                  </Action>
                )}
              </div>
            </>
          )
        }}
      </Loaded>
    </>
  )
}
