import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { IN_PERSON, IN_PERSON_IN_PART, PERMISSIONS } from '../../../lib/model/permissions.ts'
import type { ApiTokenCreated, ApiTokenRecord, ApiTokenRequest } from '../../../lib/wire/identity.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatDay } from '../i18n/format.ts'
import { nameRight, nameRights } from '../i18n/rights.ts'
import { tokenTexts } from '../i18n/tokens.ts'
import type { Result } from '../state/api.ts'
import { useDialog } from '../state/use-dialog.ts'
import { Action, bind, Checkbox, Field, Select, TextField } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { describeFailure } from './failure.tsx'
import { Form, FormDialog } from './form.tsx'
import { Ago } from './state.tsx'
import { Table, type TableColumn } from './table.tsx'
import { toast, toastFailure } from './toast.tsx'

const DAY_MS = 86_400_000
const LIFETIMES = ['7', '30', '90', '365']

/** What takes a person is no right of a token, also where it was made with all of its holder’s. */
const isInPerson = (permission: string): boolean => IN_PERSON.some((one) => one === permission)

/** The new token, which is shown this once. */
function Told({ made, onClose }: { made: ApiTokenCreated; onClose: () => void }) {
  const words = say(tokenTexts)
  const copy = async () => {
    await navigator.clipboard.writeText(made.token)
    toast(say(commonTexts).copied)
  }
  return (
    <div class="stack">
      <p>{words.once}</p>
      <Field label={words.token}>
        {(attributes) => (
          <input
            {...attributes}
            class="input mono"
            readOnly
            value={made.token}
            onFocus={(event) => event.currentTarget.select()}
          />
        )}
      </Field>
      <div class="actions">
        {/* Browsers keep the clipboard from pages without TLS. */}
        {window.isSecureContext && <Action onClick={() => void copy()}>{say(commonTexts).copy}</Action>}
        <Action kind="primary" onClick={onClose}>
          {words.done}
        </Action>
      </div>
    </div>
  )
}

/** Which of its holder's rights a token has; what takes a person is not offered, since no token can use it. */
function Rights({
  of,
  chosen,
  onChosen,
}: {
  of: readonly string[]
  chosen: readonly string[]
  onChosen: (chosen: string[]) => void
}) {
  const words = say(tokenTexts)
  return (
    <fieldset class="stack">
      <legend class="legend">{words.rights}</legend>
      <span class="hint">
        {words.rightsHint} {IN_PERSON.some((one) => of.includes(one)) && words.inPerson}
      </span>
      {PERMISSIONS.filter((one) => of.includes(one) && !IN_PERSON.includes(one)).map((permission) => (
        <Checkbox
          key={permission}
          value={chosen.includes(permission)}
          onValue={(isChosen) =>
            onChosen(isChosen ? [...chosen, permission] : chosen.filter((one) => one !== permission))
          }
        >
          {nameRight(permission)}{' '}
          <span class="muted small">
            <span class="mono">{permission}</span>
            {IN_PERSON_IN_PART.includes(permission) && ` · ${words.inPart}`}
          </span>
        </Checkbox>
      ))}
    </fieldset>
  )
}

/** Ask for a token: what it is for, how long, and with which of its holder's rights. */
export function NewToken({
  permissions,
  create,
  onClose,
}: {
  permissions: readonly string[]
  create: (request: ApiTokenRequest) => Promise<Result<ApiTokenCreated>>
  /** Also after a token was made. */
  onClose: () => void
}) {
  const words = say(tokenTexts)
  const name = useSignal('')
  const days = useSignal('90')
  const chosen = useSignal<string[]>([])
  const error = useSignal<string | null>(null)
  const made = useSignal<ApiTokenCreated | null>(null)
  const submit = async () => {
    // A minute less, so that a clock that goes ahead of the server's does not ask for more than a year.
    const expiresAt = new Date(Date.now() + Number(days.value) * DAY_MS - 60_000)
    const request = { name: name.value, permissions: chosen.value, expires_at: expiresAt.toISOString() }
    const result = await create(request)
    if (result.ok) made.value = result.value
    else error.value = describeFailure(result)
  }
  return (
    <Dialog title={words.create} onClose={onClose}>
      {made.value !== null ? (
        <Told made={made.value} onClose={onClose} />
      ) : (
        <Form onSend={submit} send={words.make} onCancel={onClose}>
          <TextField
            label={words.name}
            hint={words.nameHint}
            error={error.value}
            autoComplete="off"
            maxLength={64}
            {...bind(name)}
          />
          <Select
            label={words.lasts}
            options={LIFETIMES.map((id) => [id, words.days[id] ?? id])}
            {...bind(days)}
          />
          <Rights
            of={permissions}
            chosen={chosen.value}
            onChosen={(next) => {
              chosen.value = next
            }}
          />
        </Form>
      )}
    </Dialog>
  )
}

function columnsOf(
  onRevoke: (token: ApiTokenRecord) => void,
  hasMakers: boolean,
): TableColumn<ApiTokenRecord>[] {
  const words = say(tokenTexts)
  const { column } = words
  const maker: TableColumn<ApiTokenRecord> = {
    title: column.madeBy,
    narrowTitle: column.madeBy,
    look: 'muted',
    cell: (token) => token.made_by ?? '–',
  }
  return [
    { title: column.name, look: 'name', cell: (token) => token.name },
    {
      title: column.rights,
      look: 'text',
      cell: (token) => nameRights(token.permissions.filter((one) => !isInPerson(one))) || words.readOnly,
    },
    {
      title: column.expires,
      narrowTitle: column.expires,
      look: 'muted',
      cell: ({ expires_at: end }) => (Date.parse(end) <= Date.now() ? words.expired : formatDay(end)),
    },
    {
      title: column.used,
      narrowTitle: column.used,
      look: 'muted',
      cell: (token) => <Ago at={token.last_used_at} />,
    },
    ...(hasMakers ? [maker] : []),
    {
      title: say(commonTexts).actions,
      isTitleHidden: true,
      cell: (token) => (
        <Action kind="plain" label={`${words.revoke} ${token.name}`} onClick={() => onRevoke(token)}>
          {words.revoke}
        </Action>
      ),
    },
  ]
}

/** The way to take a token away, once somebody has said yes; none without `revoke`. */
export function useRevocation(
  revoke: ((id: string) => Promise<Result<void>>) | null,
  onRevoked: () => void,
): { ask: (token: NamedToken) => void; dialog: ComponentChildren } {
  const words = say(tokenTexts)
  const { about, open, close, done } = useDialog<NamedToken>(onRevoked)
  if (about === null || revoke === null) return { ask: open, dialog: null }
  const act = async () => {
    const result = await revoke(about.id)
    if (!result.ok) {
      close()
      return toastFailure(result)
    }
    toast(words.revoked)
    done()
  }
  const dialog = (
    <FormDialog title={words.revoke} onClose={close} kind="danger primary" send={words.revoke} onSend={act}>
      <p>{words.revokeAsk(about.name)}</p>
    </FormDialog>
  )
  return { ask: open, dialog }
}

type NamedToken = Pick<ApiTokenRecord, 'id' | 'name'>

/** A holder's tokens, each to be revoked. */
export function TokenTable({
  label,
  tokens,
  revoke,
  onRevoked,
  hasMakers = false,
}: {
  label: string
  tokens: readonly ApiTokenRecord[]
  revoke: (id: string) => Promise<Result<void>>
  onRevoked: () => void
  /** Whether others than the holder made them. */
  hasMakers?: boolean
}) {
  const words = say(tokenTexts)
  const { ask, dialog } = useRevocation(revoke, onRevoked)
  if (tokens.length === 0) return <p class="empty">{words.none}</p>
  return (
    <>
      <Table label={label} columns={columnsOf(ask, hasMakers)} rows={tokens} keyOf={({ id }) => id} />
      {dialog}
    </>
  )
}
