import { useSignal } from '@preact/signals'
import { say } from '../i18n/define.ts'
import { gitTexts } from '../i18n/git.ts'
import { api } from '../state/endpoints.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'
import { Action, bind, Select, TextField, unlessEverywhere } from './controls.tsx'
import { describeFailure } from './failure.tsx'
import { FormDialog } from './form.tsx'
import { toast } from './toast.tsx'

/** What is handed over where it is not all that the owner keeps: the object that the page is about. */
type Only = { workload_ids: string[] } | { fleet_config_ids: string[] }

interface HandOverProps {
  owner: string
  only: Only
  /** Called with the owner from then on. */
  onDone: (toOwner: string) => void
}

/** The people and service accounts that may be chosen, by id; null for whoever may not list them. */
function useAccounts(): [string, string][] | null {
  const mayList = unlessEverywhere('users:manage') === null
  const users = useResource(mayList ? 'users' : null, (abort) => api.users(abort))
  const machines = useResource(mayList ? 'service-accounts' : null, (abort) => api.serviceAccounts(abort))
  if (!mayList) return null
  const named: [string, string][] = [
    ...(machines.data ?? []).map(({ id, name }): [string, string] => [id, name]),
    ...(users.data ?? []).map(({ id, email }): [string, string] => [id, email]),
  ]
  return [['', say(gitTexts).choose], ...named]
}

function HandOverDialog({ owner, only, onClose, onDone }: HandOverProps & { onClose: () => void }) {
  const words = say(gitTexts)
  const accounts = useAccounts()
  const what = useSignal('this')
  const toOwner = useSignal(owner)
  const account = useSignal('')
  const error = useSignal<string | null>(null)
  const send = async () => {
    const to = { owner, to_owner: toOwner.value.trim(), to_account_id: account.value.trim() }
    const result = await api.handOver(what.value === 'all' ? to : { ...to, ...only })
    if (!result.ok) {
      error.value = describeFailure(result)
      return
    }
    toast(words.handedOver)
    onDone(to.to_owner)
  }
  return (
    <FormDialog
      title={words.handOver}
      send={words.handOverNow}
      onSend={send}
      onClose={onClose}
      reason={account.value.trim() === '' ? words.mustChoose : null}
    >
      <p>{words.handOverLead}</p>
      <Select
        label={words.what}
        options={[
          ['this', words.onlyThis],
          ['all', words.allOf(owner)],
        ]}
        {...bind(what)}
      />
      <TextField label={words.toOwner} autoComplete="off" {...bind(toOwner)} />
      {accounts === null ? (
        <TextField label={words.account} hint={words.accountHint} autoComplete="off" {...bind(account)} />
      ) : (
        <Select label={words.account} options={accounts} {...bind(account)} />
      )}
      {error.value !== null && (
        <p class="bad" role="alert">
          {error.value}
        </p>
      )}
    </FormDialog>
  )
}

/** Lets a person who may break the glass everywhere give what an owner in Git keeps to another account or name. */
export function HandOver({ owner, only, onDone }: HandOverProps) {
  const { about, open, close } = useDialog<true>()
  const finish = (toOwner: string) => {
    close()
    onDone(toOwner)
  }
  return (
    <>
      <Action kind="plain" reason={unlessEverywhere('config:break_glass')} onClick={() => open(true)}>
        {say(gitTexts).handOver}
      </Action>
      {about !== null && <HandOverDialog owner={owner} only={only} onClose={close} onDone={finish} />}
    </>
  )
}
