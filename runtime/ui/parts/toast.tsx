import { signal } from '@preact/signals'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import type { Failure } from '../state/api.ts'
import { path } from '../state/router.ts'
import { describeFailure } from './failure.tsx'

interface Toast {
  id: number
  tone: 'ok' | 'bad'
  text: string
  undo?: Undo | undefined
}

/** A button that undoes what was just done. */
interface Undo {
  label: string
  run: () => void
}

/** How long a message stays, in milliseconds; one that offers to undo something has to be read first. */
const SHOWN_MS = 5_000
const UNDO_SHOWN_MS = 20_000

const toasts = signal<Toast[]>([])
let nextId = 1

const dismiss = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

// A failure concerns the page on which it happened and goes with it; a success may still be shown on the next page.
path.subscribe(() => {
  toasts.value = toasts.peek().filter(({ tone }) => tone === 'ok')
})

/** Show a message for a while; failures stay until they are closed. */
export function toast(text: string, tone: 'ok' | 'bad' = 'ok', undo?: Undo): void {
  const id = nextId++
  // A later success takes the place of an earlier one, and nothing is said twice; what has to be read or can be undone
  // stays.
  const kept = toasts.value.filter((one) => one.text !== text && (one.tone === 'bad' || one.undo))
  toasts.value = [...kept.slice(-2), { id, tone, text, undo }]
  if (tone === 'ok') setTimeout(() => dismiss(id), undo ? UNDO_SHOWN_MS : SHOWN_MS)
}

/** Say why something did not work. */
export const toastFailure = (failure: Failure): void => toast(describeFailure(failure), 'bad')

/** The messages that are shown now. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text, undo }) => (
        <div key={id} class={`notice t-${tone}`}>
          <div>{text}</div>
          {undo && (
            <button
              type="button"
              class="btn"
              onClick={() => {
                dismiss(id)
                undo.run()
              }}
            >
              {undo.label}
            </button>
          )}
          <button
            type="button"
            class="btn plain"
            aria-label={say(commonTexts).close}
            onClick={() => dismiss(id)}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
