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
import { Action, Checkbox, Select, TextArea, TextField, unless } from '../parts/controls.tsx'
import { describeFailure } from '../parts/failure.tsx'
import { Head } from '../parts/page.tsx'
import { toast } from '../parts/toast.tsx'
import { labelOf, useFleet, WorkloadSearch } from '../parts/workload-search.tsx'
import { type Failure, saveFile } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { workloads } from '../state/fleet.ts'
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
    const ids = [...workloads.values()].flatMap(({ id, archived_at: archived }) => (archived ? [] : [id]))
    if (ids.length > 0) scope = { workload_ids: ids }
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

const countLive = () => [...workloads.values()].filter(({ archived_at: archived }) => !archived).length

function ScopeFields() {
  const words = say(reportTexts)
  const kind = (query.value.get('scope') ?? 'workloads') as ScopeKind
  useFleet()
  const ids = (query.value.get('ids') ?? '').split(',').filter((id) => id !== '')
  return (
    <>
      <Select
        label={words.scope}
        value={kind}
        options={SCOPES.map((id) => [id, words.scopes[id]])}
        onValue={(scope) => setQuery({ scope: scope === 'workloads' ? null : scope })}
      />
      {kind === 'workloads' && (
        <>
          <WorkloadSearch
            label={words.workloads}
            hint={words.workloadsHint}
            fits={({ id }) => !ids.includes(id)}
            onPick={({ id }) => setQuery({ ids: [...ids, id].join(',') })}
          />
          {ids.length > 0 && (
            <ul class="chips" aria-label={words.chosen}>
              {ids.map((id) => {
                const workload = workloads.get(id)
                const name = workload ? labelOf(workload) : id
                return (
                  <li key={id} class="chip">
                    {name}{' '}
                    <button
                      type="button"
                      class="chip-off"
                      aria-label={words.leaveOut(name)}
                      onClick={() => setQuery({ ids: ids.filter((other) => other !== id).join(',') })}
                    >
                      ×
                    </button>
                  </li>
                )
              })}
            </ul>
          )}
        </>
      )}
      {kind === 'fleet' && <p class="muted">{words.wholeFleet(countLive())}</p>}
      {kind === 'group' && (
        <TextField
          label={words.group}
          value={query.value.get('group') ?? ''}
          onValue={(group) => setQuery({ group })}
        />
      )}
      {kind === 'selector' && (
        <TextArea
          label={words.selector}
          isMono
          value={query.value.get('labels') ?? ''}
          onValue={(labels) => setQuery({ labels })}
        />
      )}
      {(['since', 'until'] as const).map((key) => (
        <TextField
          key={key}
          label={words[key]}
          type="date"
          value={query.value.get(key) ?? ''}
          onValue={(value) => setQuery({ [key]: value })}
        />
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
        <Checkbox key={id} checked={!left.includes(id)} onValue={(isOn) => toggle(id, isOn)}>
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

/** Choose scope, period and sections; read the pack; keep it as a file. */
export function ReportsPage() {
  const words = say(reportTexts)
  const kept = useSignal<{ request: string; pack: EvidencePack; blob: Blob } | null>(null)
  const isBusy = useSignal(false)
  const request = readRequest()
  const reason = unless('reports:export') ?? (typeof request === 'string' ? request : null)
  const fail = (failure: Failure) =>
    toast(
      failure.code === 'pdf_unavailable'
        ? words.pdfAway
        : (words.failed[failure.code ?? ''] ?? describeFailure(failure)),
      'bad',
    )
  const read = async (wanted: ReportExportRequest) => {
    isBusy.value = true
    const result = await api.evidencePack(wanted)
    isBusy.value = false
    if (!result.ok) {
      fail(result)
      return null
    }
    kept.value = { request: JSON.stringify(wanted), ...result.value }
    return kept.value
  }
  const preview = async () => {
    if (typeof request !== 'string' && !isBusy.value) await read(request)
  }
  const download = async (format: ReportFormat | 'json') => {
    if (typeof request === 'string' || isBusy.value) return
    // What is shown is what is kept: another pack, however alike, has another hash.
    const isShown = kept.value?.request === JSON.stringify(request)
    const found = isShown ? kept.value : await read(request)
    if (!found) return
    if (format === 'json') {
      saveFile(found.blob, `evidence-pack-${found.pack.inputs_hash.slice(0, 12)}.json`)
      return
    }
    isBusy.value = true
    const same = await api.exportPack(request, format, found.pack.report_hash)
    const isGone = !same.ok && same.code === 'report_not_kept'
    const result = isGone ? await api.exportPack(request, format) : same
    isBusy.value = false
    if (!result.ok) return fail(result)
    saveFile(result.value.blob, result.value.name)
    if (isGone) toast(words.madeAnew, 'bad')
  }
  return (
    <>
      <Head title={words.title} />
      <p class="muted">{words.lead}</p>
      <div class="settings report-page" style={{ marginTop: '24px' }}>
        <form
          class="pane stack"
          onSubmit={(event) => {
            event.preventDefault()
            if (reason === null) void preview()
          }}
        >
          <ScopeFields />
          <SectionFields />
          <div class="actions">
            <Action kind="primary" isSubmit reason={reason}>
              {isBusy.value ? words.working : words.preview}
            </Action>
          </div>
          <div>
            <h3>{words.download}</h3>
            <div class="actions">
              {(['json', ...REPORT_FORMATS] as const).map((format) => (
                <Action key={format} reason={reason} onClick={() => void download(format)}>
                  {LABELS[format]}
                </Action>
              ))}
            </div>
          </div>
        </form>
        {kept.value ? <ReportView pack={kept.value.pack} /> : <p class="empty">{words.empty}</p>}
      </div>
    </>
  )
}
