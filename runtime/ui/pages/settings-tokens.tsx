import { say } from '../i18n/define.ts'
import { sectionTexts } from '../i18n/settings-sections.ts'
import { tokenTexts } from '../i18n/tokens.ts'
import { Action } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { NewToken, TokenTable } from '../parts/token-table.tsx'
import { api } from '../state/endpoints.ts'
import { heldSomewhere } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'

/** One's own tokens for programs. */
export function TokensSection() {
  const words = say(tokenTexts)
  const tokens = useResource('tokens', (abort) => api.tokens(abort))
  const { about, open, done } = useDialog<'new'>(tokens.reload)
  return (
    <>
      <p class="muted">
        {words.lead} {words.inPerson}
      </p>
      <div class="actions">
        <Action kind="primary" onClick={() => open('new')}>
          {words.create}
        </Action>
      </div>
      <Loaded of={tokens}>
        {(list) => (
          <TokenTable
            label={say(sectionTexts).tokens}
            tokens={list}
            revoke={api.revokeToken}
            onRevoked={tokens.reload}
          />
        )}
      </Loaded>
      {about === 'new' && <NewToken permissions={heldSomewhere()} create={api.createToken} onClose={done} />}
    </>
  )
}
