import { useSignal } from '@preact/signals'
import type { UserRecord } from '../../../lib/wire/identity.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { Action, Select, TextField } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { describeFailure, Loaded } from '../parts/failure.tsx'
import { Sheet } from '../parts/page.tsx'
import { Ago } from '../parts/state.tsx'
import { toast } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { me } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

const ROLES = ['viewer', 'editor', 'administrator']

function NewUser({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const words = say(settingsTexts)
  const email = useSignal('')
  const password = useSignal('')
  const role = useSignal('viewer')
  const error = useSignal<string | null>(null)
  const submit = async () => {
    error.value = [...password.value].length < 12 ? words.tooShort : null
    if (error.value !== null) return
    const result = await api.createUser({
      email: email.value.trim(),
      password: password.value,
      groups: [role.value],
    })
    if (!result.ok) {
      error.value = describeFailure(result)
      return
    }
    toast(words.added)
    onDone()
  }
  return (
    <Dialog title={words.newUser} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextField
          label={words.email}
          type="email"
          autoComplete="off"
          value={email.value}
          onValue={(value) => {
            email.value = value
          }}
        />
        <TextField
          label={words.next}
          type="password"
          autoComplete="new-password"
          hint={words.nextHint}
          value={password.value}
          error={error.value}
          onValue={(value) => {
            password.value = value
          }}
        />
        <Select
          label={words.roles}
          value={role.value}
          options={ROLES.map((id) => [id, words.role[id] ?? id])}
          onValue={(value) => {
            role.value = value
          }}
        />
        <div class="actions">
          <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
          <Action kind="primary" isSubmit>
            {words.addUser}
          </Action>
        </div>
      </form>
    </Dialog>
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
    <Dialog title={`${words.reset} · ${user.email}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <p class="muted">{words.resetHint}</p>
        <TextField
          label={words.next}
          type="password"
          autoComplete="new-password"
          hint={words.nextHint}
          value={password.value}
          error={error.value}
          onValue={(value) => {
            password.value = value
          }}
        />
        <div class="actions">
          <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
          <Action kind="primary" isSubmit>
            {say(commonTexts).save}
          </Action>
        </div>
      </form>
    </Dialog>
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
      <div class="actions">
        <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
        <Action kind="danger primary" onClick={() => void remove()}>
          {words.removeUser}
        </Action>
      </div>
    </Dialog>
  )
}

type Open = { kind: 'new' } | { kind: 'reset' | 'remove'; user: UserRecord } | null

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

/** Who may sign in, and as what. */
export function UsersSection() {
  const words = say(settingsTexts)
  const { column } = words
  const open = useSignal<Open>(null)
  const users = useResource('users', (abort) => api.users(abort))
  const close = () => {
    open.value = null
  }
  const done = () => {
    close()
    users.reload()
  }
  const setRole = async (user: UserRecord, role: string) => {
    const result = await api.updateUser(user.id, { groups: [role] })
    if (result.ok) toast(say(commonTexts).saved)
    else toast(describeFailure(result), 'bad')
    users.reload()
  }
  return (
    <>
      <div class="actions">
        <Action
          kind="primary"
          onClick={() => {
            open.value = { kind: 'new' }
          }}
        >
          {words.newUser}
        </Action>
      </div>
      <Links onLinked={users.reload} />
      <Loaded of={users}>
        {(list) => (
          <Sheet
            label={words.sections.users}
            head={
              <>
                <th scope="col">{column.email}</th>
                <th scope="col">{column.groups}</th>
                <th scope="col">{column.created}</th>
                <th scope="col">{column.login}</th>
                <th scope="col">
                  <span class="sr">{say(commonTexts).actions}</span>
                </th>
              </>
            }
          >
            {list.map((user) => (
              <tr key={user.id}>
                <td class="name">
                  {user.email}
                  {user.signs_in_with !== undefined && <span class="sub">{words.provider}</span>}
                  {user.id === me.value?.id && <span class="sub">{words.you}</span>}
                </td>
                <td>
                  <Select
                    isBare
                    label={`${words.roles}: ${user.email}`}
                    value={user.groups.length === 1 ? (user.groups[0] ?? '') : user.groups.join(', ')}
                    options={[
                      ...ROLES.map((id): [string, string] => [id, words.role[id] ?? id]),
                      ...(user.groups.length === 1
                        ? []
                        : [[user.groups.join(', '), user.groups.join(', ')] as [string, string]]),
                    ]}
                    onValue={(role) => void setRole(user, role)}
                  />
                </td>
                <td class="muted">
                  <Ago at={user.created_at} />
                </td>
                <td class="muted">
                  <Ago at={user.last_login_at} />
                </td>
                <td>
                  <span class="actions" style={{ flexWrap: 'nowrap' }}>
                    {user.has_password !== false && (
                      <Action
                        kind="plain"
                        onClick={() => {
                          open.value = { kind: 'reset', user }
                        }}
                      >
                        {words.reset}
                      </Action>
                    )}
                    <Action
                      kind="plain"
                      onClick={() => {
                        open.value = { kind: 'remove', user }
                      }}
                    >
                      {words.removeUser}
                    </Action>
                  </span>
                </td>
              </tr>
            ))}
          </Sheet>
        )}
      </Loaded>
      {open.value?.kind === 'new' && <NewUser onClose={close} onDone={done} />}
      {open.value?.kind === 'reset' && <ResetPassword user={open.value.user} onClose={close} />}
      {open.value?.kind === 'remove' && <RemoveUser user={open.value.user} onClose={close} onDone={done} />}
    </>
  )
}
