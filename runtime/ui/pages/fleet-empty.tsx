import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { extensionSnippet, supervisorSnippet } from '../logic/snippets.ts'
import { Action } from '../parts/controls.tsx'
import { Mark } from '../parts/state.tsx'
import { toast } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

const DEFAULT_OPAMP_PORT = '4320'

function Snippet({ title, text }: { title: string; text: string }) {
  const words = say(commonTexts)
  return (
    <section>
      <h2>{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre class="snippet" tabIndex={0}>
        {text}
      </pre>
      <p style={{ marginTop: '8px' }}>
        <Action
          onClick={() => {
            void navigator.clipboard.writeText(text).then(() => toast(words.copied))
          }}
        >
          {words.copy}
        </Action>
      </p>
    </section>
  )
}

/** How to connect the first collector, waiting for it. */
export function FleetEmpty() {
  const words = say(fleetTexts)
  const { hostname, protocol } = window.location
  const isSecure = protocol === 'https:'
  // Shows the port of the OpAMP listener to those who may see it, else the usual one; behind a proxy the port is the
  // proxy's.
  const info = useResource(may('settings:manage') ? 'system-info' : null, (abort) => api.systemInfo(abort))
  const opamp = info.data?.listeners.find(({ name }) => name === 'opamp')?.address
  const port = opamp?.slice(opamp.lastIndexOf(':') + 1) || DEFAULT_OPAMP_PORT
  return (
    <div class="stack">
      <div>
        <h2>{words.emptyTitle}</h2>
        <p class="muted">{words.emptyMore}</p>
        <p style={{ marginTop: '12px' }} role="status">
          <Mark tone="busy" shape="clock">
            {words.waiting}
          </Mark>
        </p>
      </div>
      <div class="two" style={{ gridTemplateColumns: 'repeat(auto-fit, minmax(min(340px, 100%), 1fr))' }}>
        <Snippet title={words.emptySupervisor} text={supervisorSnippet(hostname, port, isSecure)} />
        <Snippet title={words.emptyExtension} text={extensionSnippet(hostname, port, isSecure)} />
      </div>
      <p class="muted">
        {opamp === undefined ? words.emptyPort : words.emptyPortKnown(port)} {words.emptySecret}
      </p>
    </div>
  )
}
