import { useSignal } from '@preact/signals'
import type { ApprovalPolicyRecord } from '../../../lib/wire/approval-policy.ts'
import type { UserRecord } from '../../../lib/wire/identity.ts'
import { policyTexts } from '../i18n/approval-policy.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { groupChoiceTexts } from '../i18n/group-choice.ts'
import { rightsTexts } from '../i18n/rights.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { sectionTexts } from '../i18n/settings-sections.ts'
import { classesForTwo } from '../logic/approval-classes.ts'
import { Action, bind, TextField } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { describeFailure, Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { GroupBoxes, GroupChanges, nameGroups, whyNotSaved } from '../parts/group-choice.tsx'
import { Ago } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { me } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'
import { RightsDialog } from './rights-dialog.tsx'
import { NoSecondPerson, SecondPerson } from './settings-approvals.tsx'

/** The names of the groups that a user can be in. */
function useGroupNames(): string[] {
  const groups = useResource('groups', (abort) => api.groups(abort))
  return groups.data?.map(({ name }) => name) ?? ['viewer', 'editor', 'administrator']
}

/** Whether other groups of an account end the exception of the only person who may approve. */
function endsWith(
  policy: ApprovalPolicyRecord | null,
  after: readonly string[],
  before: readonly string[] = [],
): boolean {
  const ending = policy?.sole_approver_ends_with ?? []
  return after.some((name) => ending.includes(name)) && !before.some((name) => ending.includes(name))
}

/** Says that a group ends the exception of the only person who may approve, and where nothing can be approved then. */
export function EndsSoleApprover({ policy }: { policy: ApprovalPolicyRecord | null }) {
  const words = say(policyTexts)
  const stops = policy === null ? [] : classesForTwo(policy)
  if (stops.length === 0) return null
  return (
    <div class="notice t-warn" role="status">
      <div>
        <b>{words.endsSole}</b> {words.endsSoleAt(stops)} {words.endsSoleNext}
      </div>
    </div>
  )
}

function NewUser({
  policy,
  onClose,
  onDone,
}: {
  policy: ApprovalPolicyRecord | null
  onClose: () => void
  onDone: () => void
}) {
  const words = say(settingsTexts)
  const email = useSignal('')
  const password = useSignal('')
  const groups = useSignal(['viewer'])
  const known = useGroupNames()
  const error = useSignal<string | null>(null)
  const submit = async () => {
    error.value = [...password.value].length < 12 ? words.tooShort : null
    if (error.value !== null) return
    const result = await api.createUser({
      email: email.value.trim(),
      password: password.value,
      groups: groups.value,
    })
    if (!result.ok) {
      error.value = describeFailure(result)
      return
    }
    toast(words.added)
    onDone()
  }
  return (
    <FormDialog
      title={words.newUser}
      onClose={onClose}
      onSend={submit}
      send={words.addUser}
      reason={whyNotSaved(groups.value, null)}
    >
      <TextField label={words.email} type="email" autoComplete="off" {...bind(email)} />
      <TextField
        label={words.next}
        type="password"
        autoComplete="new-password"
        hint={words.nextHint}
        error={error.value}
        {...bind(password)}
      />
      <GroupBoxes
        known={known}
        chosen={groups.value}
        onChosen={(chosen) => {
          groups.value = chosen
        }}
      />
      {endsWith(policy, groups.value) && <EndsSoleApprover policy={policy} />}
    </FormDialog>
  )
}

/** The groups of a user, to be changed once it was read what changes. */
function ChangeGroups({
  user,
  policy,
  onClose,
  onDone,
}: {
  user: UserRecord
  policy: ApprovalPolicyRecord | null
  onClose: () => void
  onDone: () => void
}) {
  const { id, email, groups: before } = user
  const known = useGroupNames()
  const chosen = useSignal(before)
  const submit = async () => {
    const result = await api.updateUser(id, { groups: chosen.value })
    if (!result.ok) return toastFailure(result)
    toast(say(commonTexts).saved)
    onDone()
  }
  return (
    <FormDialog
      title={say(groupChoiceTexts).titleFor(email)}
      onClose={onClose}
      onSend={submit}
      send={say(commonTexts).save}
      reason={whyNotSaved(chosen.value, before)}
    >
      <GroupBoxes
        known={known}
        chosen={chosen.value}
        onChosen={(next) => {
          chosen.value = next
        }}
      />
      <GroupChanges id={id} name={email} before={before} after={chosen.value} />
      {endsWith(policy, chosen.value, before) && <EndsSoleApprover policy={policy} />}
    </FormDialog>
  )
}

function ResetPassword({ user, onClose }: { user: UserRecord; onClose: () => void }) {
  const words = say(settingsTexts)
  const password = useSignal('')
  const error = useSignal<string | null>(null)
  const submit = async () => {
    error.value = [...password.value].length < 12 ? words.tooShort : null
    if (error.value !== null) return
    const result = await api.updateUser(user.id, { password: password.value })
    if (!result.ok) {
      error.value = describeFailure(result)
      return
    }
    toast(say(commonTexts).saved)
    onClose()
  }
  return (
    <FormDialog
      title={`${words.reset} · ${user.email}`}
      onClose={onClose}
      onSend={submit}
      send={say(commonTexts).save}
    >
      <p class="muted">{words.resetHint}</p>
      <TextField
        label={words.next}
        type="password"
        autoComplete="new-password"
        hint={words.nextHint}
        error={error.value}
        {...bind(password)}
      />
    </FormDialog>
  )
}

function RemoveUser({
  user,
  onClose,
  onDone,
}: {
  user: UserRecord
  onClose: () => void
  onDone: () => void
}) {
  const words = say(settingsTexts)
  const remove = async () => {
    const result = await api.deleteUser(user.id)
    if (!result.ok) {
      toast(describeFailure(result), 'bad')
      return onClose()
    }
    toast(words.removed)
    onDone()
  }
  return (
    <Dialog title={words.removeUser} onClose={onClose}>
      <p>{words.removeAsk(user.email)}</p>
      {user.signs_in_with !== undefined && <p>{words.removeProvider}</p>}
      <div class="actions">
        <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
        <Action kind="danger primary" onClick={() => void remove()}>
          {words.removeUser}
        </Action>
      </div>
    </Dialog>
  )
}

type Open = { kind: 'new' } | { kind: 'groups' | 'rights' | 'reset' | 'remove'; user: UserRecord }

/** People of the identity provider who may be local users; nothing is shown where there are none. */
function Links({ onLinked }: { onLinked: () => void }) {
  const words = say(settingsTexts)
  const links = useResource('link-requests', (abort) => api.linkRequests(abort))
  const answer = async (id: string, isSame: boolean) => {
    const result = await (isSame ? api.acceptLink(id) : api.refuseLink(id))
    if (result.ok) toast(isSame ? words.linked : words.removed)
    else toast(describeFailure(result), 'bad')
    links.reload()
    onLinked()
  }
  const requests = links.data ?? []
  if (requests.length === 0) return null
  return (
    <section class="pane" style={{ marginTop: '0' }} aria-label={words.links}>
      <h2>{words.links}</h2>
      <p class="muted">{words.linksLead}</p>
      {requests.map(({ id, email, subject }) => (
        <div key={id} class="head">
          <span>
            {email} <span class="mono muted">{`${words.subject}: ${subject}`}</span>
          </span>
          <div class="actions">
            <Action onClick={() => void answer(id, false)}>{words.refuseLink}</Action>
            <Action kind="primary" onClick={() => void answer(id, true)}>
              {words.link}
            </Action>
          </div>
        </div>
      ))}
    </section>
  )
}

/** The groups of a user, and the way to change them. */
function GroupsOf({ user, onChange }: { user: UserRecord; onChange: () => void }) {
  const words = say(groupChoiceTexts)
  return (
    <>
      {nameGroups(user.groups)}{' '}
      <span class="row-actions">
        <Action
          kind="plain"
          label={words.openFor(user.email)}
          reason={user.groups_from && words.ofProvider}
          onClick={onChange}
        >
          {words.open}
        </Action>
      </span>
    </>
  )
}

function columnsOf(onOpen: (open: Open) => void): TableColumn<UserRecord>[] {
  const words = say(settingsTexts)
  const { column } = words
  return [
    {
      title: column.email,
      look: 'name',
      cell: (user) => (
        <>
          {user.email} {user.signs_in_with !== undefined && <span class="sub">{words.provider}</span>}{' '}
          {user.id === me.value?.id && <span class="sub">{words.you}</span>}
        </>
      ),
    },
    {
      title: column.groups,
      cell: (user) => <GroupsOf user={user} onChange={() => onOpen({ kind: 'groups', user })} />,
    },
    {
      title: column.login,
      narrowTitle: column.login,
      look: 'muted',
      cell: (user) => (
        <>
          {user.last_login_at ? <Ago at={user.last_login_at} /> : words.neverCame}
          <div class="beneath small">
            {words.made} <Ago at={user.created_at} />
          </div>
        </>
      ),
    },
    {
      title: say(commonTexts).actions,
      isTitleHidden: true,
      cell: (user) => (
        <span class="actions row-actions short-names">
          <Action kind="plain" onClick={() => onOpen({ kind: 'rights', user })}>
            {say(rightsTexts).open}
          </Action>
          {user.has_password !== false && (
            <Action kind="plain" onClick={() => onOpen({ kind: 'reset', user })}>
              {words.reset}
            </Action>
          )}
          <Action kind="plain" onClick={() => onOpen({ kind: 'remove', user })}>
            {words.removeUser}
          </Action>
        </span>
      ),
    },
  ]
}

/** Who may sign in, and as what. */
export function UsersSection() {
  const words = say(settingsTexts)
  const users = useResource('users', (abort) => api.users(abort))
  const policy = useResource('approval-policy', (abort) => api.approvalPolicy(abort))
  /** Who made, linked or regrouped whom decides who counts for whom. */
  const reload = () => {
    users.reload()
    policy.reload()
  }
  const { about, open, close, done } = useDialog<Open>(reload)
  return (
    <>
      <SecondPerson />
      <NoSecondPerson policy={policy.data} />
      <div class="actions">
        <Action kind="primary" onClick={() => open({ kind: 'new' })}>
          {words.newUser}
        </Action>
      </div>
      <Links onLinked={reload} />
      <Loaded of={users}>
        {(list) => (
          <Table
            label={say(sectionTexts).users}
            columns={columnsOf(open)}
            rows={list}
            keyOf={({ id }) => id}
          />
        )}
      </Loaded>
      {about?.kind === 'new' && <NewUser policy={policy.data} onClose={close} onDone={done} />}
      {about?.kind === 'groups' && (
        <ChangeGroups user={about.user} policy={policy.data} onClose={close} onDone={done} />
      )}
      {about?.kind === 'rights' && (
        <RightsDialog id={about.user.id} name={about.user.email} onClose={close} />
      )}
      {about?.kind === 'reset' && <ResetPassword user={about.user} onClose={done} />}
      {about?.kind === 'remove' && <RemoveUser user={about.user} onClose={close} onDone={done} />}
    </>
  )
}
