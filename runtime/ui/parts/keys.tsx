import { signal } from '@preact/signals'
import { say } from '../i18n/define.ts'
import { shellTexts } from '../i18n/shell.ts'
import { Checkbox } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { Pairs } from './page.tsx'

/** Whether the list of keys is open. */
export const areKeysShown = signal(false)

const OFF_KEY = 'muster.single-keys'

/**
 * Whether single characters do something. Whoever dictates to his browser types them by speaking, so they can be
 * turned off (WCAG 2.1.4).
 */
const hasSingleKeys = signal(localStorage.getItem(OFF_KEY) !== 'off')

const MAC = navigator.platform.startsWith('Mac')
/** How the palette's keys are called on this system. */
export const PALETTE_KEY = MAC ? '⌘ K' : 'Ctrl K'

/** Whether a key press is for something else: a field, an editor, a dialog, or a shortcut with Ctrl, Alt or ⌘. */
const isTaken = (event: KeyboardEvent): boolean =>
  event.defaultPrevented ||
  event.ctrlKey ||
  event.metaKey ||
  event.altKey ||
  document.querySelector('dialog[open]') !== null ||
  (event.target instanceof Element &&
    event.target.closest('input, textarea, select, [contenteditable="true"]') !== null)

/** `/` goes to the page's own search, or opens the palette where it has none; `?` lists the keys. */
export function onSingleKey(event: KeyboardEvent, openPalette: () => void): void {
  if (!hasSingleKeys.value || isTaken(event)) return
  if (event.key === '?') {
    event.preventDefault()
    areKeysShown.value = true
  } else if (event.key === '/') {
    event.preventDefault()
    const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
    if (search === null) openPalette()
    search?.focus()
    search?.select()
  }
}

/** The list of keys and what each does, and a switch for single characters. */
export function Keys() {
  const words = say(shellTexts).keys
  const turn = (isOn: boolean) => {
    hasSingleKeys.value = isOn
    if (isOn) localStorage.removeItem(OFF_KEY)
    else localStorage.setItem(OFF_KEY, 'off')
  }
  const rows: [string, string][] = [
    [PALETTE_KEY, words.palette],
    ['/', words.search],
    ['?', words.list],
    ['↑ ↓', words.rows],
    ['Esc', words.close],
    ['Ctrl ]  Ctrl [', words.indent],
  ]
  return (
    <Dialog title={words.title} onClose={() => (areKeysShown.value = false)}>
      <Pairs of={rows.map(([key, what]) => [what, <kbd>{key}</kbd>] as const)} />
      <Checkbox value={hasSingleKeys.value} onValue={turn}>
        {words.single}
      </Checkbox>
    </Dialog>
  )
}
