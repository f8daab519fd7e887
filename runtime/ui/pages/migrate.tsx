import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { MigrationPreview, MigrationVendor } from '../../../lib/wire/migration.ts'
import { MIGRATION_VENDORS } from '../../../lib/wire/values.ts'
import { translated } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { describeUnmapped } from '../i18n/library-words.ts'
import { CodeView } from '../parts/code.tsx'
import { Action, ActionLink, Select, TextArea, TextField, unless } from '../parts/controls.tsx'
import { Head } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WorkloadPicker } from '../parts/workload-picker.tsx'
import { keepDraft } from '../state/drafts.ts'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { can } from '../state/session.ts'

const TONES = { low: 'bad', medium: 'warn', high: 'ok' } as const

function Findings({ title, rows }: { title: string; rows: readonly ComponentChildren[] }) {
  return (
    <section class="pane">
      <h2>
        {title} {rows.length > 0 && <span class="muted">{rows.length}</span>}
      </h2>
      {rows.length === 0 ? (
        <p class="muted">{say(libraryTexts).nothing}</p>
      ) : (
        <ul class="list">
          {rows.map((row, at) => (
            <li key={`${title}${at}`}>
              <div>{row}</div>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Result({ preview }: { preview: MigrationPreview }) {
  const words = say(libraryTexts)
  const keep = async () => {
    const { save_hint: hint } = preview
    const result = await api.createTemplate({
      name: preview.draft_name,
      content: preview.draft_yaml,
      kind: hint.kind,
      source_type: hint.source_type,
      tags: hint.tags,
      category: hint.category,
      stack: hint.stack,
    })
    if (!result.ok) return toastFailure(result)
    toast(words.saved)
    navigate(`/templates/${result.value.id}`)
  }
  return (
    <div class="two" style={{ marginTop: '24px' }}>
      <div class="stack">
        <div class="pane flush">
          <div class="pane-head">
            <b>{words.result}</b>
            <Mark
              tone={TONES[preview.confidence]}
              shape={preview.confidence === 'high' ? 'tick' : 'triangle'}
            >
              {words.confidence[preview.confidence]}
            </Mark>
            <span class="grow" />
            <Action reason={unless('config:create')} onClick={() => void keep()}>
              {words.keep}
            </Action>
          </div>
          <CodeView text={preview.draft_yaml} label={words.result} />
        </div>
        {can('config_safety.approvals') && (
          <section class="pane">
            <WorkloadPicker
              reason={unless('workload:push_config')}
              onChoose={(id) => {
                keepDraft(id, preview.draft_yaml)
                navigate(`/workloads/${id}/change`)
              }}
            />
          </section>
        )}
      </div>
      <div>
        <Findings
          title={words.warnings}
          rows={preview.warnings.map(({ code, message }) => translated(words.warning, code, message))}
        />
        <Findings
          title={words.mapped}
          rows={preview.evidence.map((item) => (
            <>
              <code>{item.source_path}</code> → <code>{item.target_path}</code>
            </>
          ))}
        />
        <Findings
          title={words.unmapped}
          rows={preview.unsupported_keys.map((item) => (
            <>
              <code>{item.path}</code> <span class="muted">{describeUnmapped(item)}</span>
            </>
          ))}
        />
        <Findings
          title={words.redacted}
          rows={preview.redactions.map((item) => (
            <>
              <code>{item.path}</code> → <code>{item.placeholder}</code>
            </>
          ))}
        />
      </div>
    </div>
  )
}

/** Paste a vendor's config, see what becomes of it, open it as a change. */
export function MigratePage() {
  const words = say(libraryTexts)
  const vendor = useSignal<MigrationVendor>('datadog_agent')
  const source = useSignal('')
  const endpoint = useSignal('')
  const preview = useSignal<MigrationPreview | null>(null)
  const isBusy = useSignal(false)
  const reason = unless('workload:validate_config') ?? (source.value.trim() === '' ? words.needsSource : null)
  const convert = async () => {
    if (reason !== null || isBusy.value) return
    isBusy.value = true
    const result = await api.previewMigration({
      vendor: vendor.value,
      source: source.value,
      ...(endpoint.value.trim() ? { context: { otlp_endpoint: endpoint.value.trim() } } : {}),
    })
    isBusy.value = false
    if (result.ok) preview.value = result.value
    else toastFailure(result)
  }
  return (
    <>
      <Head title={words.migrate}>
        <ActionLink href="/templates">← {words.title}</ActionLink>
      </Head>
      <form
        class="pane stack"
        style={{ marginTop: '24px' }}
        onSubmit={(event) => {
          event.preventDefault()
          void convert()
        }}
      >
        <div class="tools" style={{ margin: '0', alignItems: 'end' }}>
          <Select
            label={words.vendor}
            value={vendor.value}
            options={MIGRATION_VENDORS.map((id) => [id, words.vendors[id]])}
            onValue={(value) => {
              vendor.value = value
            }}
          />
          <div class="grow">
            <TextField
              label={words.endpoint}
              placeholder="https://otlp.example.com:4318"
              value={endpoint.value}
              onValue={(value) => {
                endpoint.value = value
              }}
            />
          </div>
        </div>
        <TextArea
          label={words.source}
          hint={words.sourceHint}
          isMono
          rows={10}
          value={source.value}
          onValue={(value) => {
            source.value = value
          }}
        />
        <div class="actions">
          <Action kind="primary" isSubmit reason={reason}>
            {words.convert}
          </Action>
        </div>
      </form>
      {preview.value && <Result preview={preview.value} />}
    </>
  )
}
