import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
  /** Without heading and padding; the title is said to screen readers. */
  isBare?: boolean
  /** What it asks for is done against a rule: its heading says so by its colour and its shape. */
  isAlarm?: boolean
}

/** A modal dialog; Escape and the backdrop close it, focus returns where it was. */
export function Dialog({ title, onClose, children, isBare = false, isAlarm = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  // At once and not after the next frame: what is typed meanwhile belongs into the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement
    const dialog = ref.current
    dialog?.showModal()
    return () => {
      // While it is open nothing else takes the focus.
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      // The platform tells of it late: of one that is gone, when another may be open.
      onClose={(event) => {
        if (event.currentTarget.isConnected) onClose()
      }}
      // At once: the platform tells of it later, when a key that came meanwhile may have opened it again.
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
    >
      {isBare ? (
        <>
          <h2 class="sr" id={id}>
            {title}
          </h2>
          {children}
        </>
      ) : (
        <div class={isAlarm ? 'dialog alarm' : 'dialog'}>
          <h2 id={id}>{isAlarm ? `▲ ${title}` : title}</h2>
          {children}
        </div>
      )}
    </dialog>
  )
}
