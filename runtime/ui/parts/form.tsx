import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { Action } from './controls.tsx'
import { Dialog } from './dialog.tsx'

interface FormProps {
  /** Sends what was filled in; the form is not sent again while it goes. */
  onSend: () => Promise<unknown>
  /** What its button says. */
  send: string
  /** Why it cannot be sent now. */
  reason?: string | null
  kind?: '' | 'primary' | 'danger primary'
  class?: string
  onCancel?: () => void
  /** Other things to do with what was filled in, beside the button. */
  beside?: ComponentChildren
  children?: ComponentChildren
}

/** A form with its buttons. It is sent by its button or by Enter, once at a time. */
export function Form(props: FormProps) {
  const isBusy = useSignal(false)
  const submit = async () => {
    if (isBusy.value || props.reason) return
    isBusy.value = true
    try {
      await props.onSend()
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      class={props.class ?? 'stack'}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {props.children}
      <div class="actions">
        {props.onCancel && <Action onClick={props.onCancel}>{say(commonTexts).cancel}</Action>}
        <Action kind={props.kind ?? 'primary'} isSubmit reason={props.reason} isReasonShown>
          {props.send}
        </Action>
        {props.beside}
      </div>
    </form>
  )
}

/** A dialog that asks for something; cancelling closes it. */
export function FormDialog({
  title,
  onClose,
  isAlarm = false,
  ...form
}: Omit<FormProps, 'onCancel'> & { title: string; onClose: () => void; isAlarm?: boolean }) {
  return (
    <Dialog title={title} onClose={onClose} isAlarm={isAlarm}>
      <Form {...form} onCancel={onClose} />
    </Dialog>
  )
}
