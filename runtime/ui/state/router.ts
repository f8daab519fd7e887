import { computed, signal } from '@preact/signals'

const read = () => ({ path: window.location.pathname, search: window.location.search })

/** The present address; what a page shows, its tab, filter and order included, is part of it. */
export const location = signal(read())
/** The path of the present address. */
export const path = computed(() => location.value.path)
/** The query of the present address. */
export const query = computed(() => new URLSearchParams(location.value.search))

window.addEventListener('popstate', () => {
  location.value = read()
})

/** Go to an address of this console. `replace` leaves no step to go back to. */
export function navigate(href: string, options: { replace?: boolean; keepsScroll?: boolean } = {}): void {
  const before = window.location.pathname
  if (options.replace === true) window.history.replaceState(null, '', href)
  else window.history.pushState(null, '', href)
  location.value = read()
  if (options.keepsScroll !== true && before !== window.location.pathname) window.scrollTo(0, 0)
}

/** The present address with some of its query changed; null and '' take a key away. */
export function hrefWith(changes: Record<string, string | null>): string {
  const next = new URLSearchParams(location.value.search)
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(key)
    else next.set(key, value)
  }
  const text = next.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
  return text === '' ? location.value.path : `${location.value.path}?${text}`
}

/** Change the query in place. */
export const setQuery = (changes: Record<string, string | null>, replace = true): void =>
  navigate(hrefWith(changes), { replace, keepsScroll: true })

/** Follow links of this console without loading the page again. */
export function interceptLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element | null)?.closest?.('a[href]')
    if (!(link instanceof HTMLAnchorElement) || link.target !== '' || link.hasAttribute('download')) return
    if (link.origin !== window.location.origin || link.pathname.startsWith('/api/')) return
    if (link.getAttribute('href')?.startsWith('#')) return
    event.preventDefault()
    const samePath = link.pathname === window.location.pathname
    navigate(link.pathname + link.search, { keepsScroll: samePath })
  })
}

/** What a pattern such as `/workloads/:id/:tab` finds in a path; null when it does not fit. */
export function matchPath(pattern: string, actual: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const given = actual.replace(/(?<!\/)\/+$/, '').split('/')
  if (actual === '/' ? pattern !== '/' : wanted.length !== given.length) return null
  const found: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? ''
    if (part.startsWith(':')) {
      if (value === '') return null
      try {
        found[part.slice(1)] = decodeURIComponent(value)
      } catch {
        return null
      }
    } else if (part !== value) return null
  }
  return found
}
