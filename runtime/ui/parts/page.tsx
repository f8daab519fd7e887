import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Name the page for the browser's tab and for screen readers. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'muster' : `${title} · muster`
  }, [title])
}

/** The heading of a page, with its actions. */
export function Head({
  title,
  inTab = title,
  beside,
  children,
}: {
  title: string
  /** What the browser's tab says, where the heading alone would be that of other pages as well. */
  inTab?: string
  beside?: ComponentChildren
  children?: ComponentChildren
}) {
  useTitle(inTab)
  return (
    <div class="head">
      <h1>{title}</h1>
      {beside}
      {children && <div class="actions">{children}</div>}
    </div>
  )
}

/**
 * Keep the current link of a row of links in sight, where the row is wider than the page. `said` is all that the row says:
 * what it counts comes later, and pushes aside what stands behind it.
 */
export function useCurrentInSight(current: string, said: string) {
  const row = useRef<HTMLElement>(null)
  // Only the row scrolls; the page stays where it is.
  useEffect(() => {
    const link = row.current?.querySelector<HTMLElement>('[aria-current]')
    if (!row.current || !link) return
    const { offsetLeft, offsetWidth } = link
    const start = row.current.offsetLeft
    row.current.scrollLeft = offsetLeft - start - (row.current.clientWidth - offsetWidth) / 2
  }, [current, said])
  return row
}

/** Tabs are links: each has its address. */
export function Tabs({
  label,
  tabs,
}: {
  label: string
  tabs: readonly { href: string; text: string; isCurrent: boolean }[]
}) {
  const row = useCurrentInSight(
    tabs.find(({ isCurrent }) => isCurrent)?.href ?? '',
    tabs.map(({ text }) => text).join(' '),
  )
  return (
    <nav class="tabs" aria-label={label} ref={row}>
      {tabs.map(({ href, text, isCurrent }) => (
        <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}

/** Facts as name and value. */
export function Pairs({
  of,
  isInline = false,
}: {
  of: readonly (readonly [string, ComponentChildren])[]
  isInline?: boolean
}) {
  return (
    <dl class={isInline ? 'facts' : 'pairs'}>
      {of.map(([name, value]) =>
        isInline ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ) : (
          <>
            <dt key={name}>{name}</dt>
            <dd key={`${name}-value`}>{value}</dd>
          </>
        ),
      )}
    </dl>
  )
}

/** A table of modest length; it scrolls by itself where it is wider than the page. */
export function Sheet({
  label,
  head,
  children,
  isStacked = false,
}: {
  label: string
  head: ComponentChildren
  children: ComponentChildren
  /**
   * On a narrow page each row becomes a few lines instead of scrolling sideways. A cell that says nothing without its
   * column's heading has it in `data-label`.
   */
  isStacked?: boolean
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1).
    <section class={isStacked ? 'sheet stacked' : 'sheet'} aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}
