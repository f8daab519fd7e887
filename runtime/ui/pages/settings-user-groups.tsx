import { type Signal, useSignal } from '@preact/signals'
import { SCOPABLE_ROLES } from '../../../lib/model/scopes.ts'
import type { ManagedGroupRecord } from '../../../lib/wire/identity.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { describeScopes, userGroupTexts } from '../i18n/user-groups.ts'
import { readValues } from '../logic/scopes.ts'
import { Action, bind, Select, TextField } from '../parts/controls.tsx'
import { describeFailure, Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { toast } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'
import { EndsSoleApprover } from './settings-users.tsx'

const ROLES = ['viewer', 'editor', 'administrator']
const USUAL_KEY = 'muster/env'

type Where = 'everywhere' | 'within'

/** Where the role holds: everywhere, or on workloads with one of some values of a trusted label. */
function WhereFields({
  where,
  labelKey: key,
  values,
}: {
  where: Signal<Where>
  labelKey: Signal<string>
  values: Signal<string>
}) {
  const words = say(userGroupTexts)
  return (
    <>
      <Select
        label={words.where}
        value={where.value}
        options={[
          ['everywhere', words.everywhere],
          ['within', words.within],
        ]}
        onValue={(chosen) => {
          where.value = chosen as Where
        }}
      />
      {where.value === 'within' && (
        <>
          <TextField label={words.key} autoComplete="off" {...bind(key)} />
          <TextField label={words.values} hint={words.valuesHint} autoComplete="off" {...bind(values)} />
        </>
      )}
    </>
  )
}

interface DialogProps<Of> {
  group: Of
  onClose: () => void
  onDone: () => void
}

/** What a group gives, for a new one or one that is there. */
function GroupForm({ group, onClose, onDone }: DialogProps<ManagedGroupRecord | null>) {
  const words = say(userGroupTexts)
  const name = useSignal('')
  const role = useSignal(group?.role ?? 'editor')
  const where = useSignal<Where>(group?.scope === undefined ? 'everywhere' : 'within')
  const key = useSignal(group?.scope?.key ?? USUAL_KEY)
  const values = useSignal(group?.scope?.values.join(', ') ?? '')
  const error = useSignal<string | null>(null)
  const isBound = where.value === 'within'
  const policy = useResource('approval-policy', (abort) => api.approvalPolicy(abort))
  // Each of these names a group of the system after the role that it gives.
  const ending = policy.data?.sole_approver_ends_with ?? []
  const regroups = group !== null && group.member_count > 0 && !ending.includes(group.role)
  const isFit = SCOPABLE_ROLES.some((one) => one === role.value)
  const submit = async () => {
    const scope = isBound ? { key: key.value.trim(), values: readValues(values.value) } : null
    const gift = { role: role.value, scope }
    const result =
      group === null
        ? await api.createGroup({ name: name.value.trim(), ...gift })
        : await api.updateGroup(group.id, gift)
    if (!result.ok) {
      error.value = describeFailure(result)
      return
    }
    toast(say(commonTexts).saved)
    onDone()
  }
  return (
    <FormDialog
      title={group === null ? words.fresh : words.changing(group.name)}
      onClose={onClose}
      onSend={submit}
      send={group === null ? words.add : say(commonTexts).save}
      reason={isBound && !isFit ? words.onlyEditor : null}
    >
      {group === null && (
        <TextField
          label={words.name}
          hint={words.nameHint}
          autoComplete="off"
          maxLength={63}
          {...bind(name)}
        />
      )}
      <Select
        label={words.role}
        options={ROLES.map((id) => [id, say(settingsTexts).role[id] ?? id])}
        {...bind(role)}
      />
      <WhereFields where={where} labelKey={key} values={values} />
      {regroups && ending.includes(role.value) && <EndsSoleApprover policy={policy.data} />}
      {error.value !== null && (
        <p class="bad" role="alert">
          {error.value}
        </p>
      )}
    </FormDialog>
  )
}

function RemoveGroup({ group, onClose, onDone }: DialogProps<ManagedGroupRecord>) {
  const words = say(userGroupTexts)
  const act = async () => {
    const result = await api.deleteGroup(group.id)
    if (!result.ok) {
      toast(describeFailure(result), 'bad')
      return onClose()
    }
    toast(words.removed)
    onDone()
  }
  return (
    <FormDialog title={words.remove} onClose={onClose} onSend={act} send={words.remove} kind="danger primary">
      <p>{words.removeAsk(group.name)}</p>
    </FormDialog>
  )
}

type Open = { kind: 'new' } | { kind: 'change' | 'remove'; group: ManagedGroupRecord }

function columnsOf(onOpen: (open: Open) => void): TableColumn<ManagedGroupRecord>[] {
  const words = say(userGroupTexts)
  const { column } = words
  return [
    {
      title: column.name,
      look: 'name',
      cell: ({ name, is_system }) => (
        <>
          {name} {is_system && <span class="sub">{words.ofSystem}</span>}
        </>
      ),
    },
    { title: column.role, cell: ({ role }) => say(settingsTexts).role[role] ?? role },
    {
      title: column.scope,
      narrowTitle: column.scope,
      cell: ({ scope }) => (scope === undefined ? words.everywhere : describeScopes([scope])),
    },
    {
      title: column.members,
      narrowTitle: column.members,
      look: 'muted',
      cell: ({ member_count }) => <span class="short">{words.members(member_count)}</span>,
    },
    {
      title: say(commonTexts).actions,
      isTitleHidden: true,
      cell: (group) =>
        group.is_system ? null : (
          <span class="actions row-actions">
            <Action kind="plain" onClick={() => onOpen({ kind: 'change', group })}>
              {words.change}
            </Action>
            <Action kind="plain" onClick={() => onOpen({ kind: 'remove', group })}>
              {words.remove}
            </Action>
          </span>
        ),
    },
  ]
}

/** Groups of users: which role each gives, and where. */
export function UserGroupsSection() {
  const words = say(userGroupTexts)
  const groups = useResource('groups', (abort) => api.groups(abort))
  const { about, open, close, done } = useDialog<Open>(groups.reload)
  return (
    <>
      <p class="muted">{words.lead}</p>
      <div class="actions">
        <Action kind="primary" onClick={() => open({ kind: 'new' })}>
          {words.fresh}
        </Action>
      </div>
      <Loaded of={groups}>
        {(list) => <Table label={words.title} columns={columnsOf(open)} rows={list} keyOf={({ id }) => id} />}
      </Loaded>
      {(about?.kind === 'new' || about?.kind === 'change') && (
        <GroupForm group={about.kind === 'change' ? about.group : null} onClose={close} onDone={done} />
      )}
      {about?.kind === 'remove' && <RemoveGroup group={about.group} onClose={close} onDone={done} />}
    </>
  )
}
