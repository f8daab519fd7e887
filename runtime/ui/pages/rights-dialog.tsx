import type { RightsRecord } from '../../../lib/wire/rights.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { nameRight, nameRights, rightsTexts } from '../i18n/rights.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { tokenTexts } from '../i18n/tokens.ts'
import { describeScopes } from '../i18n/user-groups.ts'
import { Action } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { useRevocation } from '../parts/token-table.tsx'
import type { Result } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { useResource } from '../state/use-resource.ts'

type Right = RightsRecord['rights'][number]
type TokenRights = RightsRecord['tokens'][number]

/** Which group gives a right, or why it is not held. */
function Why({ right: { groups, scopes, withheld } }: { right: Right }) {
  const words = say(rightsTexts)
  if (groups.length === 0) return <span class="faint">{words.none}</span>
  const { role } = say(settingsTexts)
  const names = groups.map((name) => role[name] ?? name).join(', ')
  if (withheld) return <span class="warn">{words.needsPerson}</span>
  return (
    <span>
      <span class={groups.length === 1 ? 'short' : undefined}>{words.group(names)}</span>{' '}
      {scopes !== undefined && <span class="sub">{words.within(describeScopes(scopes))}</span>}
    </span>
  )
}

/** The tokens of a holder, and what each of them may; with `revoke` they can be taken away. */
function Tokens({
  tokens,
  revoke,
  onRevoked,
}: {
  tokens: readonly TokenRights[]
  revoke: ((id: string) => Promise<Result<void>>) | null
  onRevoked: () => void
}) {
  const words = say(rightsTexts)
  const verb = say(tokenTexts).revoke
  const { ask, dialog } = useRevocation(revoke, onRevoked)
  if (tokens.length === 0) return null
  const actions: TableColumn<TokenRights> = {
    title: say(commonTexts).actions,
    isTitleHidden: true,
    cell: (token) => (
      <Action kind="plain" label={`${verb} ${token.name}`} onClick={() => ask(token)}>
        {verb}
      </Action>
    ),
  }
  return (
    <>
      <Table
        label={words.tokens}
        rows={tokens}
        keyOf={({ id }) => id}
        columns={[
          {
            title: words.token.name,
            look: 'text',
            cell: ({ name, idle }) => (
              <>
                {name} {idle && <span class="sub warn">{words.idle[idle]}</span>}
              </>
            ),
          },
          {
            title: words.token.may,
            narrowTitle: words.token.may,
            look: 'text',
            cell: ({ rights }) => nameRights(rights) || words.nothing,
          },
          {
            title: words.token.not,
            narrowTitle: words.token.not,
            look: 'text',
            cell: ({ withheld }) =>
              withheld
                .map(({ permission, why }) => `${nameRight(permission)} (${words.why[why]})`)
                .join(' · ') || '–',
          },
          ...(revoke === null ? [] : [actions]),
        ]}
      />
      {dialog}
    </>
  )
}

/** What a person or a service account may do, and why; oneself where no id is given. */
export function RightsDialog({
  id,
  name,
  onClose,
}: {
  id: string | null
  name: string
  onClose: () => void
}) {
  const words = say(rightsTexts)
  const rights = useResource(`rights ${id ?? ''}`, (abort) => api.rights(id, abort))
  return (
    <Dialog title={words.title(name)} onClose={onClose}>
      <p class="muted">{words.lead}</p>
      <Loaded of={rights}>
        {(found) => (
          <>
            <Table
              label={words.open}
              rows={found.rights}
              keyOf={({ permission }) => permission}
              columns={[
                { title: words.column.right, look: 'text', cell: ({ permission }) => nameRight(permission) },
                {
                  title: words.column.why,
                  narrowTitle: words.column.why,
                  look: 'text',
                  cell: (right) => <Why right={right} />,
                },
              ]}
            />
            {found.rights.some(({ scopes }) => scopes !== undefined) && <p class="muted">{words.texts}</p>}
            <Tokens
              tokens={found.tokens}
              revoke={id === null ? null : (token) => api.revokeTokenOf(id, token)}
              onRevoked={rights.reload}
            />
          </>
        )}
      </Loaded>
      <div class="actions">
        <Action onClick={onClose}>{say(commonTexts).close}</Action>
      </div>
    </Dialog>
  )
}
