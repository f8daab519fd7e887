import { useSignal } from '@preact/signals'
import { permissionsOf } from '../../../lib/model/permissions.ts'
import type {
  ApiTokenRecord,
  ManagedGroupRecord,
  ServiceAccountRecord,
  UserRecord,
} from '../../../lib/wire/identity.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { groupChoiceTexts } from '../i18n/group-choice.ts'
import { rightsTexts } from '../i18n/rights.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { tokenTexts } from '../i18n/tokens.ts'
import { Action, bind, Select, TextField } from '../parts/controls.tsx'
import { describeFailure, Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { GroupBoxes, GroupChanges, isSameChoice, nameGroups, whyNotSaved } from '../parts/group-choice.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { NewToken, TokenTable } from '../parts/token-table.tsx'
import { api } from '../state/endpoints.ts'
import { me } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'
import { RightsDialog } from './rights-dialog.tsx'

type Groups = readonly ManagedGroupRecord[]

/** What members of these groups may do, be it within a scope only. */
const permissionsIn = (groups: Groups, names: readonly string[]) =>
  permissionsOf(groups.flatMap(({ name, role }) => (names.includes(name) ? role : [])))

function NewMachine({
  users,
  groups,
  onClose,
  onDone,
}: {
  users: readonly UserRecord[]
  groups: Groups
  onClose: () => void
  onDone: () => void
}) {
  const words = say(tokenTexts)
  const name = useSignal('')
  const owner = useSignal(me.value?.id ?? '')
  const chosen = useSignal(['viewer'])
  const error = useSignal<string | null>(null)
  const submit = async () => {
    const request = { name: name.value, owner_id: owner.value, groups: chosen.value }
    const result = await api.createServiceAccount(request)
    if (result.ok) return onDone()
    error.value = result.code === 'service_account_taken' ? words.taken : describeFailure(result)
  }
  return (
    <FormDialog
      title={words.newMachine}
      onClose={onClose}
      onSend={submit}
      send={words.addMachine}
      reason={whyNotSaved(chosen.value, null)}
    >
      <TextField
        label={words.machineName}
        hint={words.machineNameHint}
        error={error.value}
        autoComplete="off"
        maxLength={63}
        {...bind(name)}
      />
      <Select label={words.owner} options={users.map(({ id, email }) => [id, email])} {...bind(owner)} />
      <GroupBoxes
        known={groups.map(({ name: known }) => known)}
        chosen={chosen.value}
        onChosen={(next) => {
          chosen.value = next
        }}
      />
    </FormDialog>
  )
}

/** The owner and the groups of an account, to be changed once it was read what changes. */
function ChangeMachine({
  account,
  users,
  groups: known,
  onClose,
  onChanged,
}: Omit<MachineProps, 'reload'> & {
  onClose: () => void
  /** Told the tokens that the former owner may still have. */
  onChanged: (seenBefore: readonly ApiTokenRecord[]) => void
}) {
  const words = say(tokenTexts)
  const { id, name, groups } = account
  const before = account.owner?.id ?? ''
  const owner = useSignal(before)
  const chosen = useSignal(groups)
  const isHandedOver = owner.value !== before
  const hasMoved = !isSameChoice(chosen.value, groups)
  const submit = async () => {
    const result = await api.updateServiceAccount(id, {
      ...(isHandedOver ? { owner_id: owner.value } : {}),
      ...(hasMoved ? { groups: chosen.value } : {}),
    })
    if (!result.ok) return toastFailure(result)
    toast(say(commonTexts).saved)
    onChanged(result.value.tokens_of_former_owner ?? [])
  }
  return (
    <FormDialog
      title={name}
      onClose={onClose}
      onSend={submit}
      send={say(commonTexts).save}
      reason={whyNotSaved(chosen.value, isHandedOver ? null : groups)}
    >
      <Select
        label={words.owner}
        options={[
          ...(account.owner ? [] : [['', words.chooseOwner] as [string, string]]),
          ...users.map((user): [string, string] => [user.id, user.email]),
        ]}
        {...bind(owner)}
      />
      <GroupBoxes
        known={known.map((group) => group.name)}
        chosen={chosen.value}
        onChosen={(next) => {
          chosen.value = next
        }}
      />
      <GroupChanges id={id} name={name} before={groups} after={chosen.value} />
    </FormDialog>
  )
}

/** The owner and the groups of an account. */
function MachineFacts({ account }: { account: ServiceAccountRecord }) {
  return (
    <p class="muted">
      {account.owner && <>{`${say(tokenTexts).owner}: ${account.owner.email}`} · </>}
      {`${say(settingsTexts).roles}: ${nameGroups(account.groups)}`}
    </p>
  )
}

/** The tokens of an account, and a new one. */
function MachineTokens({
  account,
  groups,
  isAsking,
  onAsked,
}: {
  account: ServiceAccountRecord
  groups: Groups
  isAsking: boolean
  onAsked: () => void
}) {
  const tokens = useResource(`tokens ${account.id}`, (abort) => api.tokensOf(account.id, abort))
  return (
    <>
      <Loaded of={tokens}>
        {(list) => (
          <TokenTable
            label={account.name}
            tokens={list}
            revoke={(id) => api.revokeTokenOf(account.id, id)}
            onRevoked={tokens.reload}
            hasMakers
          />
        )}
      </Loaded>
      {isAsking && (
        <NewToken
          permissions={permissionsIn(groups, account.groups)}
          create={(request) => api.createTokenFor(account.id, request)}
          onClose={() => {
            onAsked()
            tokens.reload()
          }}
        />
      )}
    </>
  )
}

interface MachineProps {
  account: ServiceAccountRecord
  users: readonly UserRecord[]
  groups: Groups
  reload: () => void
}

function RemoveMachine({
  account,
  reload,
  onClose,
}: Omit<MachineProps, 'users' | 'groups'> & { onClose: () => void }) {
  const { remove } = say(commonTexts)
  const act = async () => {
    const result = await api.deleteServiceAccount(account.id)
    onClose()
    if (!result.ok) return toastFailure(result)
    toast(say(settingsTexts).removed)
    reload()
  }
  return (
    <FormDialog title={remove} onClose={onClose} onSend={act} send={remove} kind="danger primary">
      <p>{say(tokenTexts).removeMachine(account.name)}</p>
    </FormDialog>
  )
}

function Machine({ account, users, groups, reload }: MachineProps) {
  const words = say(tokenTexts)
  const { about, open, close } = useDialog<'change' | 'token' | 'rights' | 'remove'>()
  const seenBefore = useSignal<readonly ApiTokenRecord[]>([])
  return (
    <section class="pane stack" style={{ marginTop: '0' }} aria-label={account.name}>
      <div class="head">
        <h2 style={{ margin: '0' }}>{account.name}</h2>
        <div class="actions">
          <Action label={`${say(groupChoiceTexts).open} ${account.name}`} onClick={() => open('change')}>
            {say(groupChoiceTexts).open}
          </Action>
          <Action onClick={() => open('rights')}>{say(rightsTexts).open}</Action>
          <Action onClick={() => open('token')}>{words.create}</Action>
          <Action kind="danger" onClick={() => open('remove')}>
            {say(commonTexts).remove}
          </Action>
        </div>
      </div>
      {account.owner === undefined && (
        <div class="notice t-warn" role="status">
          <div>{words.ownerless}</div>
        </div>
      )}
      {seenBefore.value.length > 0 && (
        <div class="notice t-warn" role="status">
          <div>{words.seenBefore(seenBefore.value.map(({ name }) => name).join(', '))}</div>
        </div>
      )}
      <MachineFacts account={account} />
      <MachineTokens account={account} groups={groups} isAsking={about === 'token'} onAsked={close} />
      {about === 'change' && (
        <ChangeMachine
          account={account}
          users={users}
          groups={groups}
          onClose={close}
          onChanged={(tokens) => {
            seenBefore.value = tokens
            close()
            reload()
          }}
        />
      )}
      {about === 'rights' && <RightsDialog id={account.id} name={account.name} onClose={close} />}
      {about === 'remove' && <RemoveMachine account={account} reload={reload} onClose={close} />}
    </section>
  )
}

/** Accounts for programs, with their tokens. */
export function MachinesSection() {
  const words = say(tokenTexts)
  const users = useResource('users', (abort) => api.users(abort))
  const accounts = useResource('service-accounts', (abort) => api.serviceAccounts(abort))
  const people = users.data ?? []
  const groups = useResource('groups', (abort) => api.groups(abort)).data ?? []
  const { about, open, close, done } = useDialog<'new'>(accounts.reload)
  return (
    <>
      <p class="muted">{words.machinesLead}</p>
      <div class="actions">
        <Action kind="primary" onClick={() => open('new')}>
          {words.newMachine}
        </Action>
      </div>
      <Loaded of={accounts}>
        {(list) =>
          list.length === 0 ? (
            <p class="empty">{words.noMachines}</p>
          ) : (
            list.map((account) => (
              <Machine
                key={account.id}
                account={account}
                users={people}
                groups={groups}
                reload={accounts.reload}
              />
            ))
          )
        }
      </Loaded>
      {about === 'new' && (
        <NewMachine
          users={people}
          groups={groups}
          onClose={close}
          onDone={() => {
            toast(say(settingsTexts).added)
            done()
          }}
        />
      )}
    </>
  )
}
