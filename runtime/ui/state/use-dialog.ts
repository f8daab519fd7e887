import { useSignal } from '@preact/signals'

/** The dialog of a page: whether it is open, and what about. */
export interface PageDialog<Of> {
  /** What the dialog is about; null while none is open. */
  readonly about: Of | null
  open(about: Of): void
  close(): void
  /** Close it after what it was for was done, and show what came of it. */
  done(): void
}

/** Keep which dialog of a page is open. `onDone` shows what a dialog has changed. */
export function useDialog<Of>(onDone: () => void = () => {}): PageDialog<Of> {
  const about = useSignal<Of | null>(null)
  const set = (next: Of | null) => {
    about.value = next
  }
  return {
    get about() {
      return about.value
    },
    open: set,
    close: () => set(null),
    done() {
      set(null)
      onDone()
    },
  }
}
