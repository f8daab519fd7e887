import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { describeHere, describeScopes } from '../i18n/user-groups.ts'
import { type About, boundTo, labelsAbout, may, me } from '../state/session.ts'
import { toast } from './toast.tsx'

/**
 * Why the person who is signed in may not do something about what is named, or on the workload that the page is about;
 * null when she may.
 */
export function unless(permission: string, about?: About): string | null {
  if (may(permission, about)) return null
  const scopes = boundTo(permission)
  if (scopes.length === 0) return say(commonTexts).needs(permission)
  const labels = labelsAbout(about)
  return say(commonTexts).outside(describeScopes(scopes), labels && describeHere(scopes, labels))
}

/** The same of what belongs to the whole fleet, as templates do: a right within a scope is not enough. */
export function unlessEverywhere(permission: string): string | null {
  if (me.value?.permissions.includes(permission)) return null
  const scopes = boundTo(permission)
  return scopes.length === 0
    ? say(commonTexts).needs(permission)
    : say(commonTexts).ofAll(describeScopes(scopes))
}

interface ActionProps {
  /** Why this cannot be done now; the button stays visible and says so. */
  reason?: string | null | undefined
  /** Whether the reason stands beside the button for everybody to see; else it is told at the click and by a hover. */
  isReasonShown?: boolean
  kind?: '' | 'primary' | 'danger' | 'danger primary' | 'plain'
  isPressed?: boolean
  isSubmit?: boolean
  /** What it is called in full, where there is room for a part of that only; a hover tells it as well. */
  label?: string
  onClick?: () => void
  children: ComponentChildren
}

/** A button. One that may not be used is still found by keyboard, and says why. */
export function Action({
  reason,
  isReasonShown,
  kind = '',
  isPressed,
  isSubmit,
  label,
  onClick,
  children,
}: ActionProps) {
  const id = useId()
  return (
    <>
      <button
        type={isSubmit === true ? 'submit' : 'button'}
        class={`btn ${kind}`}
        aria-disabled={reason ? 'true' : undefined}
        aria-describedby={reason ? id : undefined}
        aria-pressed={isPressed}
        aria-label={label}
        title={reason ?? label}
        onClick={(event) => {
          if (!reason) return onClick?.()
          event.preventDefault()
          toast(reason, 'bad')
        }}
      >
        {children}
      </button>
      {reason && (
        <span class={isReasonShown === true ? 'muted' : 'sr'} id={id}>
          {reason}
        </span>
      )}
    </>
  )
}

/** A link that looks like a button, and like a button that may not be used when there is a reason. */
export function ActionLink({
  href,
  reason,
  kind = '',
  children,
}: {
  href: string
  reason?: string | null
  kind?: ActionProps['kind']
  children: ComponentChildren
}) {
  if (reason)
    return (
      <Action reason={reason} kind={kind}>
        {children}
      </Action>
    )
  return (
    <a class={`btn ${kind}`} href={href}>
      {children}
    </a>
  )
}

/** A field that shows a signal and writes it: `<TextField label="…" {...bind(name)} />`. */
export const bind = <V,>(signal: Signal<V>) => ({
  value: signal.value,
  onValue: (value: V) => {
    signal.value = value
  },
})

interface FieldProps {
  label: string
  hint?: string | undefined
  error?: string | null | undefined
  children: (attributes: FieldAttributes) => ComponentChildren
}

/** What ties an input to its label, its hint and its error. */
export interface FieldAttributes {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': 'true' | undefined
}

/** A labelled field with its hint and its error. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const note = `${id}-note`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': hint || error ? note : undefined,
        'aria-invalid': error ? 'true' : undefined,
      })}
      {(error || hint) && (
        <span id={note} class={error ? 'error' : 'hint'}>
          {error || hint}
        </span>
      )}
    </div>
  )
}

/** A one-line text field with its label. */
export function TextField({
  label,
  value,
  onValue,
  hint,
  error,
  ...rest
}: {
  label: string
  value: string
  onValue: (value: string) => void
  hint?: string
  error?: string | null
  type?: string
  autoComplete?: string
  placeholder?: string
  autofocus?: boolean
  minLength?: number
  maxLength?: number
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <input
          {...attributes}
          {...(rest as { type?: 'text' })}
          class="input"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** A text field of several lines with its label. */
export function TextArea({
  label,
  value,
  onValue,
  hint,
  error,
  isMono = false,
  rows = 3,
  maxLength,
}: {
  label: string
  value: string
  onValue: (value: string) => void
  hint?: string
  error?: string | null
  isMono?: boolean
  rows?: number
  maxLength?: number
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <textarea
          {...attributes}
          class={`area ${isMono ? 'mono' : ''}`}
          rows={rows}
          maxLength={maxLength}
          spellcheck={!isMono}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** One of a few values. */
export function Select<V extends string>({
  label,
  value,
  options,
  onValue,
  isBare = false,
}: {
  label: string
  value: V
  options: readonly (readonly [V, string])[]
  onValue: (value: V) => void
  /** Without a visible label. */
  isBare?: boolean
}) {
  const id = useId()
  const select = (
    <select
      id={id}
      class="select"
      aria-label={isBare ? label : undefined}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value as V)}
    >
      {options.map(([key, text]) => (
        <option key={key} value={key} selected={key === value}>
          {text}
        </option>
      ))}
    </select>
  )
  if (isBare) return select
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {select}
    </div>
  )
}

/** A box to tick, with its label. */
export function Checkbox({
  value,
  onValue,
  children,
}: {
  value: boolean
  onValue: (value: boolean) => void
  children: ComponentChildren
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => onValue(event.currentTarget.checked)} />
      <span>{children}</span>
    </label>
  )
}
