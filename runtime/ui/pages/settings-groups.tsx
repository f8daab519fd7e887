import { useSignal } from '@preact/signals'
import type { PushGroup, PushGroupRequest } from '../../../lib/wire/pushes.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { selectorTexts } from '../i18n/selectors.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { readWords } from '../logic/label-lines.ts'
import { readSelectorLines, selectorLines } from '../logic/selector-lines.ts'
import { Action, bind, TextArea, TextField } from '../parts/controls.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { can, may } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'

const SELECTOR_LISTS = ['types', 'versions', 'capabilities'] as const

/** What a group's form holds, and the group that it means; a text says which line of the selector is wrong. */
function useGroupFields(group: PushGroup | null) {
  const name = useSignal(group?.name ?? '')
  const description = useSignal(group?.description ?? '')
  const lines = useSignal(selectorLines(group?.selector ?? {}).join('\n'))
  const lists = {
    types: useSignal((group?.selector.types ?? []).join(', ')),
    versions: useSignal((group?.selector.versions ?? []).join(', ')),
    capabilities: useSignal((group?.selector.capabilities ?? []).join(', ')),
  }
  const read = (): PushGroupRequest | string => {
    const labels = readSelectorLines(lines.value)
    if (!labels.ok) return labels.line
    return {
      name: name.value.trim(),
      description: description.value.trim(),
      selector: {
        ...labels.conditions,
        types: readWords(lists.types.value),
        versions: readWords(lists.versions.value),
        capabilities: readWords(lists.capabilities.value),
      },
    }
  }
  return { name, description, lines, lists, read }
}

function GroupForm({
  group,
  onClose,
  onDone,
}: {
  group: PushGroup | null
  onClose: () => void
  onDone: () => void
}) {
  const words = say(settingsTexts)
  const { save, saved } = say(commonTexts)
  const { conditions, conditionsHint, badCondition } = say(selectorTexts)
  const { name, description, lines, lists, read } = useGroupFields(group)
  const send = async () => {
    const wanted = read()
    if (typeof wanted === 'string') return toast(badCondition(wanted), 'bad')
    const result = await api.savePushGroup(group?.id ?? null, wanted)
    if (!result.ok) return toastFailure(result)
    toast(saved)
    onDone()
  }
  return (
    <FormDialog title={group?.name ?? words.newGroup} onClose={onClose} onSend={send} send={save}>
      <TextField label={words.groupName} {...bind(name)} />
      <TextField label={words.groupDescription} {...bind(description)} />
      <TextArea label={conditions} hint={conditionsHint} isMono {...bind(lines)} />
      {SELECTOR_LISTS.map((key) => (
        <TextField
          key={key}
          label={words.groupLists[key]}
          hint={words.groupListHints[key]}
          {...bind(lists[key])}
        />
      ))}
    </FormDialog>
  )
}

/** The workloads that a push to the group would reach now. */
function Reach({ group }: { group: PushGroup }) {
  const words = say(settingsTexts)
  const preview = useResource(`push-preview:${group.id}:${JSON.stringify(group.selector)}`, (abort) =>
    api.previewPush({ group_id: group.id }, abort),
  )
  return (
    <Loaded of={preview}>
      {(data) => (
        <div class="stack tight">
          <p>
            <b>{words.reached(data.targeted_count)}</b>{' '}
            <span class="muted">
              {Object.entries(data.breakdown)
                .filter(([, count]) => count > 0)
                .map(
                  ([bucket, count]) =>
                    `${formatNumber(count)} ${words.bucket[bucket as keyof typeof words.bucket] ?? bucket}`,
                )
                .join(' · ')}
            </span>
          </p>
          <div class="chips">
            {data.targets.slice(0, 20).map((target) => (
              <a key={target.workload_id} class="chip quiet" href={`/workloads/${target.workload_id}`}>
                {target.display_name}
              </a>
            ))}
          </div>
          <OutsideScope count={data.outside_scope_count} />
        </div>
      )}
    </Loaded>
  )
}

/** The conditions of a group, each as one chip. */
function Conditions({ group }: { group: PushGroup }) {
  const words = say(settingsTexts)
  return (
    <p class="chips" style={{ marginTop: '8px' }}>
      {selectorLines(group.selector).map((line) => (
        <span key={line} class="chip">
          {line}
        </span>
      ))}
      {SELECTOR_LISTS.flatMap((key) =>
        (group.selector[key] ?? []).map((value) => (
          <span key={`${key} ${value}`} class="chip quiet">
            {words.groupLists[key]}: {value}
          </span>
        )),
      )}
    </p>
  )
}

function Group({ group, onEdit, reload }: { group: PushGroup; onEdit: () => void; reload: () => void }) {
  const words = say(settingsTexts)
  const { edit, remove } = say(commonTexts)
  const isShown = useSignal(false)
  const removal = useDialog<true>(reload)
  const removeGroup = async () => {
    const result = await api.deletePushGroup(group.id)
    if (!result.ok) {
      removal.close()
      return toastFailure(result)
    }
    toast(words.removed)
    removal.done()
  }
  const mayPreview = can('config_safety.scoped_push') && may('workload:push_config')
  return (
    <section class="pane" style={{ marginTop: '0' }}>
      <div class="head">
        <h2 style={{ margin: '0' }}>{group.name}</h2>
        <span class="mono muted">{group.id}</span>
        <div class="actions">
          {mayPreview && (
            <Action isPressed={isShown.value} onClick={() => (isShown.value = !isShown.value)}>
              {words.groupReach}
            </Action>
          )}
          <Action onClick={onEdit}>{edit}</Action>
          <Action kind="danger" onClick={() => removal.open(true)}>
            {remove}
          </Action>
        </div>
      </div>
      {group.description && <p class="muted">{group.description}</p>}
      <Conditions group={group} />
      {isShown.value && <Reach group={group} />}
      {removal.about && (
        <FormDialog
          title={words.removeGroup(group.name)}
          onClose={removal.close}
          onSend={removeGroup}
          send={remove}
          kind="danger primary"
        />
      )}
    </section>
  )
}

/** Push groups: named choices of workloads by their trusted labels, and whom each reaches. */
export function GroupsSection() {
  const words = say(settingsTexts)
  const groups = useResource('push-groups', (abort) => api.pushGroups(abort))
  const { about, open, close, done } = useDialog<PushGroup | 'new'>(groups.reload)
  return (
    <>
      <p class="muted">{words.groupsLead}</p>
      <EditionLine parts={['scoped_push']} />
      <div class="actions">
        <Action kind="primary" onClick={() => open('new')}>
          {words.newGroup}
        </Action>
      </div>
      <Loaded of={groups}>
        {(list) =>
          list.length === 0 ? (
            <p class="empty">{words.noGroups}</p>
          ) : (
            list.map((group) => (
              <Group key={group.id} group={group} reload={groups.reload} onEdit={() => open(group)} />
            ))
          )
        }
      </Loaded>
      {about !== null && <GroupForm group={about === 'new' ? null : about} onClose={close} onDone={done} />}
    </>
  )
}
