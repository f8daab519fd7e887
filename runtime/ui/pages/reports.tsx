import { useSignal } from '@preact/signals'
import type {
  EvidencePack,
  ReportExportRequest,
  ReportFormat,
  ReportInclude,
  ReportScope,
} from '../../../lib/wire/reports.ts'
import { REPORT_FORMATS, REPORT_INCLUDES } from '../../../lib/wire/values.ts'
import { say } from '../i18n/define.ts'
import { reportTexts } from '../i18n/reports.ts'
import { readLabelLines } from '../logic/label-lines.ts'
import { Action, bind, Checkbox, Select, TextArea, TextField, unless } from '../parts/controls.tsx'
import { describeFailure } from '../parts/failure.tsx'
import { Form } from '../parts/form.tsx'
import { Head } from '../parts/page.tsx'
import { toast } from '../parts/toast.tsx'
import { WorkloadSearch } from '../parts/workload-search.tsx'
import { type Failure, saveFile } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { fleetCount, labelOf, namedOf, useNames } from '../state/names.ts'
import { query, setQuery } from '../state/router.ts'
import { ReportView } from './report-view.tsx'

const SCOPES = ['workloads', 'fleet', 'group', 'selector'] as const
type ScopeKind = (typeof SCOPES)[number]

/** What the address asks for, as the API takes it; a text says what is missing. */
function readRequest(): ReportExportRequest | string {
  const words = say(reportTexts)
  const wanted = query.value
  const kind = (wanted.get('scope') ?? 'workloads') as ScopeKind
  const day = (key: string, time: string) => {
    const date = new Date(`${wanted.get(key)}T${time}`)
    return Number.isNaN(date.getTime()) ? {} : { [key]: date.toISOString() }
  }
  let scope: ReportScope = {}
  if (kind === 'group') {
    const group = wanted.get('group')?.trim()
    if (group) scope = { group_id: group }
  } else if (kind === 'selector') {
    const read = readLabelLines(wanted.get('labels') ?? '')
    if (!read.ok) return words.badLine(read.line)
    if (Object.keys(read.labels).length > 0) scope = { selector: read.labels }
  } else if (kind === 'fleet') {
    scope = { whole_fleet: true }
  } else {
    const ids = (wanted.get('ids') ?? '').split(',').filter((id) => id !== '')
    if (ids.length > 0) scope = { workload_ids: ids }
  }
  if (Object.keys(scope).length === 0) return words.needsScope
  const left = (wanted.get('without') ?? '').split(',')
  const chosen = REPORT_INCLUDES.filter((id) => !left.includes(id))
  if (chosen.length === 0) return words.needsSection
  return {
    schema_version: 'report_export_request.v1',
    report_type: 'evidence_pack',
    scope: { ...scope, ...day('since', '00:00:00'), ...day('until', '23:59:59.999') },
    include: Object.fromEntries(REPORT_INCLUDES.map((id) => [id, chosen.includes(id)])),
    redaction: 'strict',
  }
}

/** The workloads of a report, each to be left out again, and a search that adds one. */
function WorkloadFields() {
  const words = say(reportTexts)
  const ids = (query.value.get('ids') ?? '').split(',').filter((id) => id !== '')
  useNames(ids)
  const choose = (next: readonly string[]) => setQuery({ ids: next.join(',') })
  return (
    <>
      <WorkloadSearch
        label={words.workloads}
        hint={words.workloadsHint}
        without={ids}
        onPick={({ id }) => choose([...ids, id])}
      />
      {ids.length > 0 && (
        <ul class="chips" aria-label={words.chosen}>
          {ids.map((id) => {
            const workload = namedOf(id)
            const name = workload ? labelOf(workload) : id
            return (
              <li key={id} class="chip">
                {name}{' '}
                <button
                  type="button"
                  class="chip-off"
                  aria-label={words.leaveOut(name)}
                  onClick={() => choose(ids.filter((other) => other !== id))}
                >
                  ×
                </button>
              </li>
            )
          })}
        </ul>
      )}
    </>
  )
}

/** A field that shows a part of the address and writes it. */
const bindQuery = (key: string) => ({
  value: query.value.get(key) ?? '',
  onValue: (value: string) => setQuery({ [key]: value }),
})

function ScopeFields() {
  const words = say(reportTexts)
  const kind = (query.value.get('scope') ?? 'workloads') as ScopeKind
  return (
    <>
      <Select
        label={words.scope}
        value={kind}
        options={SCOPES.map((id) => [id, words.scopes[id]])}
        onValue={(scope) => setQuery({ scope: scope === 'workloads' ? null : scope })}
      />
      {kind === 'workloads' && <WorkloadFields />}
      {kind === 'fleet' && <p class="muted">{words.wholeFleet(fleetCount.value ?? 0)}</p>}
      {kind === 'group' && <TextField label={words.group} {...bindQuery('group')} />}
      {kind === 'selector' && <TextArea label={words.selector} isMono {...bindQuery('labels')} />}
      {(['since', 'until'] as const).map((key) => (
        <TextField key={key} label={words[key]} type="date" {...bindQuery(key)} />
      ))}
    </>
  )
}

function SectionFields() {
  const words = say(reportTexts)
  const left = (query.value.get('without') ?? '').split(',').filter((id) => id !== '')
  const toggle = (id: ReportInclude, isOn: boolean) =>
    setQuery({ without: (isOn ? left.filter((other) => other !== id) : [...left, id]).join(',') })
  return (
    <fieldset class="field">
      <legend class="legend">{words.sections}</legend>
      {REPORT_INCLUDES.map((id) => (
        <Checkbox key={id} value={!left.includes(id)} onValue={(isOn) => toggle(id, isOn)}>
          {words.include[id]}
        </Checkbox>
      ))}
    </fieldset>
  )
}

const LABELS: Record<ReportFormat | 'json', string> = {
  json: 'JSON',
  markdown: 'Markdown',
  csv: 'CSV',
  pdf: 'PDF',
}

function tellFailure(failure: Failure): void {
  const words = say(reportTexts)
  const own = failure.code === 'pdf_unavailable' ? words.pdfAway : words.failed[failure.code ?? '']
  toast(own ?? describeFailure(failure), 'bad')
}

/** The pack that is shown, and its files; `request` is a text where something is missing. */
function usePack(request: ReportExportRequest | string) {
  const kept = useSignal<{ request: string; pack: EvidencePack; blob: Blob } | null>(null)
  const isBusy = useSignal(false)
  const read = async (wanted: ReportExportRequest) => {
    isBusy.value = true
    const result = await api.evidencePack(wanted)
    isBusy.value = false
    if (!result.ok) {
      tellFailure(result)
      return null
    }
    kept.value = { request: JSON.stringify(wanted), ...result.value }
    return kept.value
  }
  const preview = async () => {
    if (typeof request !== 'string' && !isBusy.value) await read(request)
  }
  const download = async (format: ReportFormat | 'json', withNames: boolean) => {
    if (typeof request === 'string' || isBusy.value) return
    // The pack that is shown is the one that is saved: a new one, however alike, has another hash.
    const isShown = kept.value?.request === JSON.stringify(request)
    const found = isShown ? kept.value : await read(request)
    if (!found) return
    if (format === 'json')
      return saveFile(found.blob, `evidence-pack-${found.pack.inputs_hash.slice(0, 12)}.json`)
    isBusy.value = true
    const same = await api.exportPack(request, format, withNames, found.pack.report_hash)
    const isGone = !same.ok && same.code === 'report_not_kept'
    const result = isGone ? await api.exportPack(request, format, withNames) : same
    isBusy.value = false
    if (!result.ok) return tellFailure(result)
    saveFile(result.value.blob, result.value.name)
    if (isGone) toast(say(reportTexts).madeAnew, 'bad')
  }
  return { shown: kept.value?.pack ?? null, isBusy: isBusy.value, preview, download }
}

/** Choose scope, period and sections; read the pack; keep it as a file. */
export function ReportsPage() {
  const words = say(reportTexts)
  const request = readRequest()
  const withNames = useSignal(false)
  const { shown, isBusy, preview, download } = usePack(request)
  const reason = unless('reports:export') ?? (typeof request === 'string' ? request : null)
  return (
    <>
      <Head title={words.title} />
      <p class="muted">{words.lead}</p>
      <div class="settings report-page" style={{ marginTop: '24px' }}>
        <div class="pane stack">
          <Form onSend={preview} send={isBusy ? words.working : words.preview} reason={reason}>
            <ScopeFields />
            <SectionFields />
          </Form>
          <div>
            <h2>{words.download}</h2>
            <div class="actions">
              {(['json', ...REPORT_FORMATS] as const).map((format) => (
                <Action key={format} reason={reason} onClick={() => void download(format, withNames.value)}>
                  {LABELS[format]}
                </Action>
              ))}
            </div>
            <div style={{ marginTop: '12px' }}>
              <Checkbox {...bind(withNames)}>{words.withNames}</Checkbox>
            </div>
          </div>
        </div>
        {shown ? <ReportView pack={shown} /> : <p class="empty">{words.empty}</p>}
      </div>
    </>
  )
}
