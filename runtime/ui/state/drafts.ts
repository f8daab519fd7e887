const keyOf = (workloadId: string) => `muster.draft.${workloadId}`
const asideKeyOf = (workloadId: string) => `muster.draft-aside.${workloadId}`

/** How long a draft that somebody started over from can be had back. */
export const ASIDE_MS = 600_000

/** A draft that was left for a new start, and until when it is kept. */
export interface DraftAside {
  text: string
  untilMs: number
}

function keep(key: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  } catch {
    // A draft over the browser's quota is only kept in the page.
  }
}

/** Drafts outlive a reload of the tab, not the tab: they may hold what nobody should find later. */
export const readDraft = (workloadId: string): string | null => sessionStorage.getItem(keyOf(workloadId))

export const keepDraft = (workloadId: string, text: string | null): void => keep(keyOf(workloadId), text)

/** Keep a draft beside its new start; null forgets it. Returns what is kept. */
export function setDraftAside(workloadId: string, text: string | null): DraftAside | null {
  const aside = text === null ? null : { text, untilMs: Date.now() + ASIDE_MS }
  keep(asideKeyOf(workloadId), aside && JSON.stringify(aside))
  return aside
}

/** The draft that was left for a new start; null when there is none, or its time is over. */
export function readDraftAside(workloadId: string): DraftAside | null {
  const stored = sessionStorage.getItem(asideKeyOf(workloadId))
  if (stored === null) return null
  try {
    const { text, untilMs } = JSON.parse(stored) as Partial<DraftAside>
    if (typeof text === 'string' && typeof untilMs === 'number' && untilMs > Date.now())
      return { text, untilMs }
  } catch {
    // Nothing that this page wrote.
  }
  keep(asideKeyOf(workloadId), null)
  return null
}
