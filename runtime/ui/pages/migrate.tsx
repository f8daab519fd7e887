import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { MigrationPreview, MigrationVendor } from '../../../lib/wire/migration.ts'
import { MIGRATION_VENDORS } from '../../../lib/wire/values.ts'
import { translated } from '../i18n/check-findings.ts'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { describeUnmapped } from '../i18n/library-words.ts'
import { CodeView } from '../parts/code.tsx'
import {
  Action,
  ActionLink,
  bind,
  Select,
  TextArea,
  TextField,
  unless,
  unlessEverywhere,
} from '../parts/controls.tsx'
import { Form } from '../parts/form.tsx'
import { Head } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WorkloadPicker } from '../parts/workload-picker.tsx'
import { beginDraft } from '../state/drafts.ts'
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

/** Keep the draft as a template, as the assistant suggests. */
async function keepTemplate(preview: MigrationPreview): Promise<void> {
  const { kind, source_type, tags, category, stack } = preview.save_hint
  const result = await api.createTemplate({
    name: preview.draft_name,
    content: preview.draft_yaml,
    kind,
    source_type,
    tags,
    category,
    stack,
  })
  if (!result.ok) return toastFailure(result)
  toast(say(libraryTexts).saved)
  navigate(`/templates/${result.value.id}`)
}

/** The draft, and where it can go. */
function ResultDraft({ preview }: { preview: MigrationPreview }) {
  const words = say(libraryTexts)
  const { confidence, draft_yaml: draft } = preview
  return (
    <div class="stack">
      <div class="pane flush">
        <div class="pane-head">
          <b>{words.result}</b>
          <Mark tone={TONES[confidence]} shape={confidence === 'high' ? 'tick' : 'triangle'}>
            {words.confidence[confidence]}
          </Mark>
          <span class="grow" />
          <Action reason={unlessEverywhere('config:create')} onClick={() => void keepTemplate(preview)}>
            {words.keep}
          </Action>
        </div>
        <CodeView text={draft} label={words.result} />
      </div>
      {can('config_safety.approvals') && (
        <section class="pane">
          <WorkloadPicker
            reason={unless('config:request')}
            onChoose={(id) => {
              beginDraft(id, draft)
              navigate(`/workloads/${id}/change`)
            }}
          />
        </section>
      )}
    </div>
  )
}

/** One path that became another text. */
const Became = ({ from, to }: { from: string; to: string }) => (
  <>
    <code>{from}</code> → <code>{to}</code>
  </>
)

function Result({ preview }: { preview: MigrationPreview }) {
  const words = say(libraryTexts)
  const { warnings, evidence, unsupported_keys: unsupported, redactions } = preview
  return (
    <div class="two" style={{ marginTop: '24px' }}>
      <ResultDraft preview={preview} />
      <div>
        <Findings
          title={words.warnings}
          rows={warnings.map(({ code, message }) => translated(words.warning, code, message))}
        />
        <Findings
          title={words.mapped}
          rows={evidence.map((item) => <Became from={item.source_path} to={item.target_path} />)}
        />
        <Findings
          title={words.unmapped}
          rows={unsupported.map((item) => (
            <>
              <code>{item.path}</code> <span class="muted">{describeUnmapped(item)}</span>
            </>
          ))}
        />
        <Findings
          title={words.redacted}
          rows={redactions.map((item) => <Became from={item.path} to={item.placeholder} />)}
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
  const reason = unless('workload:validate_config') ?? (source.value.trim() === '' ? words.needsSource : null)
  const convert = async () => {
    const result = await api.previewMigration({
      vendor: vendor.value,
      source: source.value,
      ...(endpoint.value.trim() ? { context: { otlp_endpoint: endpoint.value.trim() } } : {}),
    })
    if (result.ok) preview.value = result.value
    else toastFailure(result)
  }
  return (
    <>
      <Head title={words.migrate}>
        <ActionLink href="/templates">← {words.title}</ActionLink>
      </Head>
      <div style={{ marginTop: '24px' }}>
        <Form class="pane stack" onSend={convert} send={words.convert} reason={reason}>
          <div class="tools" style={{ margin: '0', alignItems: 'end' }}>
            <Select
              label={words.vendor}
              options={MIGRATION_VENDORS.map((id) => [id, words.vendors[id]])}
              {...bind(vendor)}
            />
            <div class="grow">
              <TextField
                label={words.endpoint}
                placeholder="https://otlp.example.com:4318"
                {...bind(endpoint)}
              />
            </div>
          </div>
          <TextArea label={words.source} hint={words.sourceHint} isMono rows={10} {...bind(source)} />
        </Form>
      </div>
      {preview.value && <Result preview={preview.value} />}
    </>
  )
}
