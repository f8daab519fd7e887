import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { lazy } from '../parts/lazy.tsx'

const ConnectGuide = lazy(async () => (await import('../parts/connect-guide.tsx')).ConnectGuide)

/** How to connect the first collector, waiting for it. */
export function FleetEmpty() {
  const words = say(fleetTexts)
  return (
    <div class="stack first-connection">
      <div>
        <h2>{words.emptyTitle}</h2>
        <p class="muted">{words.emptyMore}</p>
      </div>
      <ConnectGuide />
    </div>
  )
}
