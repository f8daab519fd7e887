import { useSignal } from '@preact/signals'
import type { LabelRulePreview, LabelRuleRecord, LabelRuleRequest } from '../../../lib/wire/label-rules.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { labelRuleTexts } from '../i18n/label-rules.ts'
import { selectorTexts } from '../i18n/selectors.ts'
import { readLabelLines, writeLabelLines } from '../logic/label-lines.ts'
import { readSelectorLines, selectorLines } from '../logic/selector-lines.ts'
import { breakable } from '../parts/breakable.tsx'
import { Action, bind, Checkbox, Field, Select, TextArea, TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'
import { RulePreview } from './label-rule-preview.tsx'

type Kind = 'selector' | 'list'

/** What the form of a rule holds, and the rule that it means; a text says why it means none. */
function useRuleFields(rule: LabelRuleRecord | null) {
  const name = useSignal(rule?.name ?? '')
  const priority = useSignal(String(rule?.priority ?? 0))
  const kind = useSignal<Kind>(rule?.list === undefined ? 'selector' : 'list')
  const lines = useSignal(selectorLines(rule?.selector ?? {}).join('\n'))
  const labels = useSignal(writeLabelLines(rule?.labels ?? {}))
  const list = useSignal(rule?.list ?? '')
  const read = (): LabelRuleRequest | string => {
    const head = { name: name.value.trim(), priority: Number(priority.value) }
    if (!Number.isInteger(head.priority)) return say(labelRuleTexts).priorityInvalid
    if (kind.value === 'list') return { ...head, list: list.value }
    const conditions = readSelectorLines(lines.value)
    if (!conditions.ok) return say(selectorTexts).badCondition(conditions.line)
    const given = readLabelLines(labels.value)
    if (!given.ok) return say(labelRuleTexts).badLine(given.line)
    return { ...head, selector: conditions.conditions, labels: given.labels }
  }
  return { name, priority, kind, lines, labels, list, read }
}

function RuleFields({ of }: { of: ReturnType<typeof useRuleFields> }) {
  const words = say(labelRuleTexts)
  return (
    <>
      <TextField label={words.name} {...bind(of.name)} maxLength={128} />
      <TextField label={words.priority} {...bind(of.priority)} type="number" />
      <Select
        label={words.kind}
        {...bind(of.kind)}
        options={[
          ['selector', words.kinds.selector],
          ['list', words.kinds.list],
        ]}
      />
      {of.kind.value === 'selector' ? (
        <>
          <TextArea label={words.conditions} hint={words.conditionsHint} isMono {...bind(of.lines)} />
          <TextArea label={words.labels} isMono {...bind(of.labels)} />
        </>
      ) : (
        <>
          <TextArea label={words.list} hint={words.listHint} isMono rows={8} {...bind(of.list)} />
          <Field label={words.file}>
            {(attributes) => (
              <input
                {...attributes}
                type="file"
                accept=".csv,text/csv,text/plain"
                onChange={async (event) => {
                  const file = event.currentTarget.files?.[0]
                  if (file) of.list.value = await file.text()
                }}
              />
            )}
          </Field>
        </>
      )}
    </>
  )
}

/** Why a change of the rules may not be saved yet, by its preview; null when it may. */
function unlessMeant(looked: LabelRulePreview | null, isMeant: boolean): string | null {
  const words = say(labelRuleTexts)
  if (looked === null) return words.previewStale
  return (looked.lowered_count > 0 || looked.lowers_newcomers) && !isMeant ? words.confirmNeeded : null
}

function RuleDialog({ rule, onClose }: { rule: LabelRuleRecord | null; onClose: () => void }) {
  const words = say(labelRuleTexts)
  const fields = useRuleFields(rule)
  const looked = useSignal<{ of: string; preview: LabelRulePreview } | null>(null)
  const isMeant = useSignal(false)
  const read = fields.read()
  const key = JSON.stringify(read)
  // A preview counts only for what stands in the form now.
  const preview = looked.value?.of === key ? looked.value.preview : null
  const look = async () => {
    if (typeof read === 'string') return toast(read, 'bad')
    isMeant.value = false
    const found = await api.previewLabelRule({ ...read, ...(rule === null ? {} : { id: rule.id }) })
    if (!found.ok) return toastFailure(found)
    looked.value = { of: key, preview: found.value }
  }
  const save = async () => {
    if (typeof read === 'string') return
    const saved = await api.saveLabelRule(rule?.id ?? null, { ...read, confirm_lowering: isMeant.value })
    if (!saved.ok) return toastFailure(saved)
    toast(words.saved)
    onClose()
  }
  return (
    <FormDialog
      title={rule === null ? words.create : words.edit}
      onClose={onClose}
      onSend={save}
      send={words.save}
      reason={typeof read === 'string' ? read : unlessMeant(preview, isMeant.value)}
      beside={<Action onClick={() => void look()}>{words.preview}</Action>}
    >
      <RuleFields of={fields} />
      {preview !== null && <RulePreview of={preview} />}
      {preview !== null && unlessMeant(preview, false) !== null && (
        <Checkbox {...bind(isMeant)}>{words.confirm}</Checkbox>
      )}
    </FormDialog>
  )
}

function RemoveDialog({ rule, onClose }: { rule: LabelRuleRecord; onClose: () => void }) {
  const words = say(labelRuleTexts)
  const isMeant = useSignal(false)
  const preview = useResource(`label-rule-removal/${rule.id}`, (abort) =>
    api.previewLabelRule({ id: rule.id, remove: true }, abort),
  )
  const reason = unlessMeant(preview.data, isMeant.value)
  const remove = async () => {
    const removed = await api.deleteLabelRule(rule.id, isMeant.value)
    if (!removed.ok) return toastFailure(removed)
    toast(words.removed)
    onClose()
  }
  return (
    <FormDialog
      title={words.remove}
      onClose={onClose}
      onSend={remove}
      send={words.remove}
      kind="danger primary"
      reason={reason}
    >
      <p>
        <b>{rule.name}</b>
      </p>
      <Loaded of={preview}>{(of) => <RulePreview of={of} />}</Loaded>
      {preview.data !== null && unlessMeant(preview.data, false) !== null && (
        <Checkbox {...bind(isMeant)}>{words.confirm}</Checkbox>
      )}
    </FormDialog>
  )
}

function listColumns(
  onEdit: (rule: LabelRuleRecord) => void,
  onRemove: (rule: LabelRuleRecord) => void,
): TableColumn<LabelRuleRecord>[] {
  const words = say(labelRuleTexts)
  const { column } = words
  return [
    { title: column.name, look: 'text name', cell: ({ name }) => name },
    { title: column.priority, look: 'n', narrowTitle: column.priority, cell: ({ priority }) => priority },
    {
      title: column.whom,
      look: 'text mono',
      cell: ({ selector, list_count = 0, list_key = '' }) =>
        selector === undefined
          ? words.hosts(list_count, list_key)
          : breakable(selectorLines(selector).join(' · ')),
    },
    {
      title: column.labels,
      look: 'text mono',
      cell: ({ labels = {}, list_labels = [] }) =>
        breakable(
          [...Object.entries(labels).map(([key, value]) => `${key}=${value}`), ...list_labels].join(' · '),
        ),
    },
    {
      title: column.workloads,
      look: 'text',
      narrowTitle: column.workloads,
      cell: ({ workload_count, overruled_count, by_hand_count }) => (
        <>
          {formatNumber(workload_count)}{' '}
          {overruled_count > 0 && <span class="sub">{words.overruled(overruled_count)}</span>}{' '}
          {by_hand_count > 0 && <span class="sub">{words.byHand(by_hand_count)}</span>}
        </>
      ),
    },
    {
      title: say(commonTexts).actions,
      isTitleHidden: true,
      cell: (rule) => (
        <div class="actions row-actions short-names">
          <Action onClick={() => onEdit(rule)} label={`${say(commonTexts).edit} ${rule.name}`}>
            {say(commonTexts).edit}
          </Action>
          <Action
            kind="danger"
            onClick={() => onRemove(rule)}
            label={`${say(commonTexts).remove} ${rule.name}`}
          >
            {say(commonTexts).remove}
          </Action>
        </div>
      ),
    },
  ]
}

type Asked = { what: 'edit'; rule: LabelRuleRecord | null } | { what: 'remove'; rule: LabelRuleRecord }

/** Rules that give trusted labels, in the order in which they count. */
export function LabelRulesSection() {
  const words = say(labelRuleTexts)
  const rules = useResource(
    'label-rules',
    (abort) => api.labelRules(abort),
    (frame) => frame.type === 'label_rules_update',
  )
  const { about, open, done } = useDialog<Asked>(rules.reload)
  const edit = async (rule: LabelRuleRecord) => {
    // Only the answer for one rule has its list.
    const whole = await api.labelRule(rule.id)
    if (!whole.ok) return toastFailure(whole)
    open({ what: 'edit', rule: whole.value })
  }
  return (
    <section class="stack">
      <p class="muted">{words.lead}</p>
      <p class="muted">{words.claim}</p>
      <div class="actions">
        <Action kind="primary" onClick={() => open({ what: 'edit', rule: null })}>
          {words.create}
        </Action>
      </div>
      <Loaded of={rules}>
        {(list) =>
          list.length === 0 ? (
            <p class="empty">{words.none}</p>
          ) : (
            <Table
              label={words.title}
              rows={list}
              keyOf={({ id }) => id}
              columns={listColumns(
                (rule) => void edit(rule),
                (rule) => open({ what: 'remove', rule }),
              )}
            />
          )
        }
      </Loaded>
      {about?.what === 'edit' && <RuleDialog rule={about.rule} onClose={done} />}
      {about?.what === 'remove' && <RemoveDialog rule={about.rule} onClose={done} />}
    </section>
  )
}
