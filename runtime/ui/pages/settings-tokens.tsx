import { useSignal } from '@preact/signals'
import { say } from '../i18n/define.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { tokenTexts } from '../i18n/tokens.ts'
import { Action } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { NewToken, TokenTable } from '../parts/token-table.tsx'
import { api } from '../state/endpoints.ts'
import { heldSomewhere } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** One's own tokens for programs. */
export function TokensSection() {
  const words = say(tokenTexts)
  const isAsking = useSignal(false)
  const tokens = useResource('tokens', (abort) => api.tokens(abort))
  return (
    <>
      <p class="muted">{words.lead}</p>
      <div class="actions">
        <Action
          kind="primary"
          onClick={() => {
            isAsking.value = true
          }}
        >
          {words.create}
        </Action>
      </div>
      <Loaded of={tokens}>
        {(list) => (
          <TokenTable
            label={say(settingsTexts).sections.tokens}
            tokens={list}
            revoke={api.revokeToken}
            onRevoked={tokens.reload}
          />
        )}
      </Loaded>
      {isAsking.value && (
        <NewToken
          permissions={heldSomewhere()}
          create={api.createToken}
          onClose={() => {
            isAsking.value = false
            tokens.reload()
          }}
        />
      )}
    </>
  )
}
