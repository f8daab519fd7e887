import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type {
  AuditEventRecord,
  AuditPage as AuditPageRecord,
  AuditVerification,
} from '../../../lib/wire/audit.ts'
import { auditTexts, describeDetailField, describeOwnDetail, describeWho } from '../i18n/audit.ts'
import { describeAction, findActions } from '../i18n/audit-actions.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { quoted, shortHash } from '../i18n/format.ts'
import { describeFrozen } from '../i18n/freeze.ts'
import { describeValue } from '../i18n/report-items.ts'
import { commentOf, isWhatIsFrozen, readDetail } from '../logic/audit-detail.ts'
import { breakable } from '../parts/breakable.tsx'
import { Action, TextField } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { NamedFact, peopleIn, usePeople } from '../parts/fact-value.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Filters } from '../parts/filters.tsx'
import { Head, Pairs } from '../parts/page.tsx'
import { Moment } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { toastFailure } from '../parts/toast.tsx'
import { WorkloadLink } from '../parts/workload-link.tsx'
import { saveFile } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { useDebounced } from '../state/use-debounced.ts'
import { useResource } from '../state/use-resource.ts'

const PAGE = 50
const FILTERS = ['person', 'action', 'workload'] as const

/** What the actions of signing in begin with, so that all of them are found by it. */
const SIGN_INS = 'auth.login'

const DAY = /^\d{4}-\d\d-\d\d$/

/** A bound of the address with its time of day: a day alone is meant from its first minute to its last. */
function readMoment(search: URLSearchParams, key: 'from' | 'to'): string {
  const told = search.get(key) ?? ''
  return DAY.test(told) ? `${told}T${key === 'from' ? '00:00' : '23:59'}` : told
}

/** The filters of the address as the API takes them. Times are the reader's own. */
function readFilter(search: string): Record<string, string | undefined> {
  const wanted = new URLSearchParams(search)
  const text = (key: string) => wanted.get(key) || undefined
  // A minute is meant whole: to its last millisecond where it is the end.
  const bound = (key: 'from' | 'to', restMs: number) => {
    const date = new Date(readMoment(wanted, key))
    return Number.isNaN(date.getTime()) ? undefined : new Date(date.getTime() + restMs).toISOString()
  }
  const action = text('action')
  const meant = action === undefined ? [] : findActions(action)
  return {
    person: text('person'),
    actions: action === undefined ? undefined : meant.length > 0 ? meant.join(',') : action,
    workload: text('workload'),
    from: bound('from', 0),
    to: bound('to', 59_999),
  }
}

/** Asks whether the chain is whole, and what came of it. */
function useVerification() {
  const found = useSignal<AuditVerification | null>(null)
  const isBusy = useSignal(false)
  const verify = async () => {
    if (isBusy.value) return
    isBusy.value = true
    const answer = await api.verifyAudit()
    isBusy.value = false
    if (answer.ok) found.value = answer.value
    else toastFailure(answer)
  }
  return { found: found.value, isBusy: isBusy.value, verify }
}

function Verified({ found }: { found: AuditVerification }) {
  const words = say(auditTexts)
  return (
    <div class={`say t-${found.valid ? 'ok' : 'bad'}`} role="status">
      <p>
        {found.valid
          ? words.intact(found.checked_count, String(found.head_seq ?? 0))
          : words.broken(String(found.first_bad_seq ?? '?'))}{' '}
        {found.head_hash && <span class="hash muted">{found.head_hash}</span>}
      </p>
    </div>
  )
}

/** Fields that name the config of a push whose id is another field: the config leads to it, so the id is left out. */
const PUSH_OF: Readonly<Record<string, string>> = { failed_hash: 'failed_push_id', target_hash: 'push_id' }

const HASH = /^[0-9a-f]{64}$/
/** One long word without a meaning for people, such as what a rollback was prepared with; as JSON it is there in full. */
const OPAQUE = /^[\w+/=-]{41,}$/

/** A config by the beginning of its hash, as a link to its push where that is known. */
function Hash({ of, push, workloadId }: { of: string; push: unknown; workloadId: string | undefined }) {
  const text = shortHash(of)
  if (typeof push !== 'string' || workloadId === undefined)
    return (
      <span class="mono" title={of}>
        {text}
      </span>
    )
  return (
    <a class="mono link" title={of} href={`/workloads/${workloadId}/pushes/${of}?push=${push}`}>
      {text}
    </a>
  )
}

/** Why: what was said with an event, and then what else it tells, field by field. */
function Detail({ event, people }: { event: AuditEventRecord; people: ReadonlyMap<string, string> }) {
  const comment = commentOf(event)
  const fields = readDetail(event).filter(([key]) => key !== 'comment')
  const about = { workloadId: event.workload_id, configHash: event.config_hash }
  // The other columns say all that there is of an event without a detail.
  if (fields.length === 0 && comment === '') return null
  const known = new Map(fields)
  const told = new Set(
    Object.entries(PUSH_OF).flatMap(([hash, push]) => (known.has(hash) && known.has(push) ? push : [])),
  )
  return (
    <div class="detail">
      {comment !== '' && <p class="said">{quoted(comment)}</p>}
      <Pairs
        of={fields.flatMap(([key, value]) =>
          told.has(key)
            ? []
            : [
                [
                  describeDetailField(key),
                  typeof value === 'string' && HASH.test(value) ? (
                    <Hash of={value} push={known.get(PUSH_OF[key] ?? '')} workloadId={event.workload_id} />
                  ) : typeof value === 'string' && OPAQUE.test(value) ? (
                    <span class="mono" title={value}>
                      {value.slice(0, 12)}…
                    </span>
                  ) : (
                    <NamedFact name={key} value={value} about={about} people={people} isShort>
                      {isWhatIsFrozen(event.action, key)
                        ? describeFrozen(value)
                        : (describeOwnDetail(key, value) ?? describeValue(value))}
                    </NamedFact>
                  ),
                ] as const,
              ],
        )}
        isInline
      />
    </div>
  )
}

/** An event as it is stored, behind the beginning of its hash. */
function Stored({ event }: { event: AuditEventRecord }) {
  const isOpen = useSignal(false)
  const { raw } = say(auditTexts)
  const hash = shortHash(event.event_hash)
  return (
    <>
      <button
        type="button"
        class="behind mono"
        title={event.event_hash}
        aria-label={`${hash}, ${raw}`}
        onClick={() => {
          isOpen.value = true
        }}
      >
        {hash}
      </button>
      {isOpen.value && (
        <Dialog
          title={raw}
          onClose={() => {
            isOpen.value = false
          }}
        >
          <pre class="stored">{JSON.stringify(event, null, 2)}</pre>
          <div class="actions">
            <Action
              onClick={() => {
                isOpen.value = false
              }}
            >
              {say(commonTexts).close}
            </Action>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** What an event was about. */
function Resource({ event }: { event: AuditEventRecord }) {
  const { resource, resource_id: id, resource_name: name } = event
  if (resource === 'workload' && id) return <WorkloadLink id={id} />
  const page = resource === 'campaign' ? 'campaigns' : resource === 'fleet_config' ? 'fleet-configs' : null
  return (
    <span class="muted">
      {say(auditTexts).resources[resource ?? ''] ?? resource?.replaceAll('_', ' ')}{' '}
      {name === undefined ? (
        // Settings are called by words, all else by ids, whose beginning is enough.
        <span class="mono">{resource === 'settings' ? id?.replaceAll('_', ' ') : id?.slice(0, 12)}</span>
      ) : page === null ? (
        <b>{breakable(name)}</b>
      ) : (
        <a class="link" href={`/${page}/${id}`}>
          {name}
        </a>
      )}
    </span>
  )
}

function columnsOf(people: ReadonlyMap<string, string>): TableColumn<AuditEventRecord>[] {
  const { column } = say(auditTexts)
  return [
    { title: column.when, look: 'muted', cell: (event) => <Moment at={event.occurred_at} /> },
    { title: column.who, cell: describeWho },
    {
      title: column.action,
      look: 'text',
      cell: ({ action }) => <span title={action}>{describeAction(action)}</span>,
    },
    { title: column.what, look: 'text', cell: (event) => <Resource event={event} /> },
    { title: column.detail, look: 'text', cell: (event) => <Detail event={event} people={people} /> },
    {
      title: column.hash,
      narrowTitle: column.hash,
      cell: (event) => <Stored event={event} />,
    },
  ]
}

/** The fields that the address is filtered by. */
function AuditFilters() {
  const words = say(auditTexts)
  const isSignIns = query.value.get('action') === SIGN_INS
  const bound = (key: string) => ({
    value: query.value.get(key) ?? '',
    onValue: (value: string) => setQuery({ [key]: value, offset: null }),
  })
  const [person, ...others] = FILTERS
  const fieldOf = (key: (typeof FILTERS)[number]) => (
    <TextField key={key} label={words[key]} hint={words.hint[key]} {...bound(key)} />
  )
  const isSet = [...others, 'from', 'to'].some((key) => query.value.has(key))
  return (
    <Filters first={fieldOf(person)} isSet={isSet}>
      {others.map(fieldOf)}
      {(['from', 'to'] as const).map((key) => (
        <TextField
          key={key}
          label={words[key]}
          type="datetime-local"
          {...bound(key)}
          value={readMoment(query.value, key)}
        />
      ))}
      <button
        type="button"
        class="btn"
        aria-pressed={isSignIns}
        onClick={() => setQuery({ action: isSignIns ? null : SIGN_INS, offset: null })}
      >
        {words.signIns}
      </button>
    </Filters>
  )
}

function Events({ page, offset }: { page: AuditPageRecord; offset: number }) {
  const words = say(auditTexts)
  const { available, events, total } = page
  const people = usePeople(useMemo(() => peopleIn(events), [events]))
  if (!available) return <p class="empty">{words.away}</p>
  if (events.length === 0) return <p class="empty">{words.none}</p>
  const turnTo = (start: number) => setQuery({ offset: start > 0 ? String(start) : null }, false)
  return (
    <>
      <Table label={words.title} columns={columnsOf(people)} rows={events} keyOf={({ id }) => id} />
      <div class="tools" style={{ marginTop: '12px' }}>
        <span class="muted grow">{words.shown(offset + 1, offset + events.length, total)}</span>
        {offset > 0 && <Action onClick={() => turnTo(offset - PAGE)}>{words.newer}</Action>}
        {offset + events.length < total && (
          <Action onClick={() => turnTo(offset + PAGE)}>{words.older}</Action>
        )}
      </div>
    </>
  )
}

/** Who did what: filter, page, export, verify. */
export function AuditPage() {
  const words = say(auditTexts)
  const offset = Math.max(0, Number(query.value.get('offset')) || 0)
  const search = useDebounced(query.value.toString(), 300)
  const filter = readFilter(search)
  const page = useResource(`audit:${search}:${offset}`, (abort) =>
    api.audit({ ...filter, limit: PAGE, offset }, abort),
  )
  const { found, isBusy, verify } = useVerification()
  const exportCsv = async () => {
    const result = await api.exportAudit(filter)
    if (result.ok) saveFile(result.value.blob, result.value.name)
    else toastFailure(result)
  }
  return (
    <>
      <Head title={words.title}>
        <Action onClick={() => void exportCsv()}>{words.exportCsv}</Action>
        <Action onClick={() => void verify()}>{isBusy ? words.verifying : words.verify}</Action>
      </Head>
      {found && <Verified found={found} />}
      <AuditFilters />
      <p class="muted small">{words.zone(Intl.DateTimeFormat().resolvedOptions().timeZone)}</p>
      <Loaded of={page}>{(data) => <Events page={data} offset={offset} />}</Loaded>
    </>
  )
}
