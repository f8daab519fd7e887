import { path } from './router.ts'

/** What one acts with. A link or a field that goes away is no answer to anything. */
const ACTED_WITH = 'button, form, dialog'
/** What says what became of it, the most telling first: a sentence, wherever on the page, else the nearest heading. */
const [SENTENCE, HEADING] = ['[data-said], .say', 'h1, h2, h3']

/** What says so nearest to this part; null where nothing on the page does. */
function findNearest(what: string, around: HTMLElement | null): HTMLElement | null {
  for (let at = around; at !== null; at = at.id === 'main' ? null : at.parentElement) {
    const found = at.querySelector<HTMLElement>(what)
    if (found !== null) return found
  }
  return null
}

const findSaying = (around: HTMLElement): HTMLElement | null =>
  findNearest(SENTENCE, around) ?? findNearest(HEADING, around)

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
