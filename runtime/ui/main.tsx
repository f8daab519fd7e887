import { render } from 'preact'
import { App } from './app.tsx'
import { tick } from './i18n/format.ts'
import { followFleet, forgetFleet } from './state/fleet.ts'
import { connectHub, disconnectHub } from './state/hub.ts'
import { keepFocus } from './state/keep-focus.ts'
import { followNames, forgetNames } from './state/names.ts'
import { loadRefusals } from './state/refusals.ts'
import { interceptLinks } from './state/router.ts'
import { clearSelection } from './state/selection.ts'
import { applyRemembered, loadSession, me, serverAway } from './state/session.ts'

applyRemembered()
loadRefusals()
interceptLinks()
keepFocus()
followFleet()
followNames()
setInterval(() => {
  if (!document.hidden) tick.value = Date.now()
}, 5000)
document.addEventListener('visibilitychange', () => {
  tick.value = Date.now()
})
// One live connection for as long as somebody is signed in.
me.subscribe((user) => {
  if (user) connectHub()
  else {
    disconnectHub()
    forgetFleet()
    forgetNames()
    clearSelection()
  }
})
/** Ask who is signed in, and again every 3 s while the server is away. */
async function start(): Promise<void> {
  await loadSession()
  if (serverAway.peek()) setTimeout(() => void start(), 3000)
}
void start()

const root = document.getElementById('app')
if (root) render(<App />, root)
