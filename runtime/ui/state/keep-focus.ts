import { path } from './router.ts'

/** What one acts with. A link or a field that goes away is no answer to anything. */
const ACTED_WITH = 'button, form, dialog'
/** What says what became of it, the most telling first. */
const SAYS = ['[data-said]', '.say', 'h1, h2, h3'] as const

/** The nearest part around here that says what happened; null where nothing does. */
function findSaying(around: HTMLElement): HTMLElement | null {
  for (const what of SAYS) {
    const found = around.querySelector<HTMLElement>(what)
    if (found !== null) return found
  }
  const { parentElement } = around
  return parentElement === null || around.id === 'main' ? null : findSaying(parentElement)
}

/**
 * Put the focus on what says what happened where the button that did it goes away with it: else whoever acts by keyboard
 * starts again at the top of the page, and a screen reader says nothing of the place.
 */
export function keepFocus(): void {
  let [acted, here]: [HTMLElement[], string] = [[], '']
  document.addEventListener('focusin', ({ target }) => {
    const isActed = target instanceof HTMLElement && target.closest(ACTED_WITH) !== null
    acted = []
    here = path.peek()
    for (let at = isActed ? target : null; at !== null; at = at.parentElement) acted.push(at)
  })
  new MutationObserver(() => {
    const [button] = acted
    if (button === undefined || button.isConnected || document.activeElement !== document.body) return
    const around = acted.find((one) => one.isConnected)
    acted = []
    // Another page takes the focus itself, and so does a dialog that is open.
    if (around === undefined || here !== path.peek()) return
    const saying = findSaying(around)
    if (saying === null) return
    if (!saying.hasAttribute('tabindex')) saying.tabIndex = -1
    saying.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true })
}
