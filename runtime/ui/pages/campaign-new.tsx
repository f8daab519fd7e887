import { type Signal, useSignal } from '@preact/signals'
import type { CampaignCreateRequest } from '../../../lib/wire/campaigns.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { selectionTexts } from '../i18n/selection.ts'
import { toSelector } from '../logic/campaigns.ts'
import { readLabelLines, readWords } from '../logic/label-lines.ts'
import { CodeEditor } from '../parts/code.tsx'
import {
  Action,
  ActionLink,
  bind,
  Checkbox,
  Select,
  TextArea,
  TextField,
  unless,
} from '../parts/controls.tsx'
import { Head } from '../parts/page.tsx'
import { toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { carriedIds } from '../state/selection.ts'

type Kind = 'text' | 'patch'
type Patch = Extract<NonNullable<CampaignCreateRequest['change']>, { kind?: 'patch' }>['patch']

interface Form {
  name: Signal<string>
  description: Signal<string>
  kind: Signal<Kind>
  text: Signal<string>
  takeover: Signal<boolean>
  scope: Signal<string>
  exclude: Signal<string>
  dwell: Signal<string>
}

function readPatch(text: string): Patch | null {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Patch) : null
  } catch {
    return null
  }
}

/** What is asked for, or why it cannot be asked yet. */
function readForm(form: Form): { request: CampaignCreateRequest } | { reason: string } {
  const words = say(campaignTexts)
  const ids = carriedIds()
  if (ids === null) return { reason: say(selectionTexts).unknown }
  const read = readLabelLines(form.scope.value)
  if (!read.ok) return { reason: words.scopeInvalid(read.line) }
  const hasScope = Object.keys(read.labels).length > 0 || ids.length > 0
  if (form.name.value.trim() === '' || form.text.value.trim() === '' || !hasScope)
    return { reason: words.needs }
  const patch = form.kind.value === 'patch' ? readPatch(form.text.value) : undefined
  if (patch === null) return { reason: words.patchInvalid }
  const dwell = Math.max(0, Math.round(Number(form.dwell.value) || 0))
  const excluded = readWords(form.exclude.value)
  return {
    request: {
      name: form.name.value.trim(),
      description: form.description.value.trim(),
      change:
        patch === undefined
          ? { kind: 'text', yaml: form.text.value, takeover: form.takeover.value }
          : { kind: 'patch', patch },
      scope: {
        ...(Object.keys(read.labels).length > 0 ? { selector: toSelector(read.labels) } : {}),
        ...(ids.length > 0 ? { workload_ids: [...ids] } : {}),
        ...(excluded.length > 0 ? { exclude_ids: excluded } : {}),
      },
      waves: [
        { count: 1, dwell_seconds: dwell },
        { percentage: 5, dwell_seconds: dwell },
        { percentage: 100, dwell_seconds: dwell },
      ],
    },
  }
}

function Fields({ form, reason }: { form: Form; reason: string | null }) {
  const words = say(campaignTexts)
  const ids = carriedIds()
  return (
    <div class="pane stack">
      <TextField label={words.name} {...bind(form.name)} maxLength={128} />
      <TextField label={words.description} {...bind(form.description)} />
      <Select
        label={words.kind}
        {...bind(form.kind)}
        options={[
          ['text', words.kinds.text],
          ['patch', words.kinds.patch],
        ]}
      />
      {form.kind.value === 'text' && <Checkbox {...bind(form.takeover)}>{words.takeover}</Checkbox>}
      {ids === null && <p class="warn">{say(selectionTexts).unknown}</p>}
      {ids !== null && ids.length > 0 && <p>{words.named(ids.length)}</p>}
      <TextArea label={words.scope} {...bind(form.scope)} hint={words.scopeHint} isMono />
      <TextArea label={words.exclude} {...bind(form.exclude)} isMono rows={2} />
      <TextField label={words.dwell} {...bind(form.dwell)} type="number" />
      <div class="actions">
        <Action kind="primary" isSubmit reason={reason}>
          {words.save}
        </Action>
      </div>
    </div>
  )
}

function useForm(): Form {
  return {
    name: useSignal(''),
    description: useSignal(''),
    kind: useSignal<Kind>('text'),
    text: useSignal(''),
    takeover: useSignal(false),
    scope: useSignal(''),
    exclude: useSignal(''),
    dwell: useSignal('60'),
  }
}

/** Write down one change for many workloads; its plan begins at once. */
export function NewCampaignPage() {
  const words = say(campaignTexts)
  const form = useForm()
  const isBusy = useSignal(false)
  const read = readForm(form)
  const reason = unless('workload:push_config') ?? ('reason' in read ? read.reason : null)
  const save = async () => {
    if (reason !== null || isBusy.value || !('request' in read)) return
    isBusy.value = true
    const made = await api.createCampaign(read.request)
    isBusy.value = false
    if (!made.ok) return toastFailure(made)
    const planned = await api.planCampaign(made.value.id)
    if (!planned.ok) toastFailure(planned)
    navigate(`/campaigns/${made.value.id}`)
  }
  return (
    <>
      <Head title={words.create}>
        <ActionLink href="/campaigns">← {words.title}</ActionLink>
      </Head>
      <form
        class="two"
        style={{ marginTop: '24px' }}
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <div class="pane flush">
          {form.kind.value === 'text' ? (
            <CodeEditor text={form.text.value} label={words.config} onText={bind(form.text).onValue} />
          ) : (
            <TextArea label={words.patch} {...bind(form.text)} hint={words.patchHint} isMono rows={18} />
          )}
        </div>
        <Fields form={form} reason={reason} />
      </form>
    </>
  )
}
