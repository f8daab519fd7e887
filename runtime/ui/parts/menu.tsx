import type { ComponentChildren, TargetedFocusEvent, TargetedKeyboardEvent } from 'preact'

/** Closes an open menu when the focus or the pointer goes elsewhere. */
function closeWhenLeft({ currentTarget: menu, relatedTarget }: TargetedFocusEvent<HTMLDetailsElement>) {
  if (relatedTarget instanceof Node && menu.contains(relatedTarget)) return
  // The focus may only be on its way to what was clicked inside.
  setTimeout(() => {
    if (!menu.contains(document.activeElement)) menu.open = false
  }, 120)
}

/** Closes the menu on Escape, and gives its button the focus again. */
function closeOnEscape(event: TargetedKeyboardEvent<HTMLDetailsElement>) {
  if (event.key !== 'Escape') return
  event.currentTarget.open = false
  event.currentTarget.querySelector('summary')?.focus()
}

/** What opens below a button, and closes when the focus leaves it or on Escape. */
export function Menu({
  label,
  kind = '',
  look = '',
  onOpen = () => {},
  children,
}: {
  label: ComponentChildren
  /** Classes of the button, and of what opens. */
  kind?: string
  look?: string
  onOpen?: (isOpen: boolean) => void
  children: ComponentChildren
}) {
  return (
    <details
      class="menu"
      onToggle={(event) => onOpen(event.currentTarget.open)}
      onFocusOut={closeWhenLeft}
      onKeyDown={closeOnEscape}
    >
      <summary class={`btn ${kind}`}>{label}</summary>
      <div class={`menu-body ${look}`}>{children}</div>
    </details>
  )
}
