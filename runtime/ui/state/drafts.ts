const keyOf = (workloadId: string) => `muster.draft.${workloadId}`
const startKeyOf = (workloadId: string) => `muster.draft-start.${workloadId}`
const asideKeyOf = (workloadId: string) => `muster.draft-aside.${workloadId}`

/** How long a draft can be restored after somebody started over, in milliseconds. */
export const ASIDE_MS = 600_000

/** A draft from before somebody started over, and until when it is kept, in milliseconds since the epoch. */
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

/**
 * The draft of a workload; null for none. Drafts outlive a reload of the tab but not the tab: they may hold what
 * nobody should find later.
 */
export const readDraft = (workloadId: string): string | null => sessionStorage.getItem(keyOf(workloadId))

/** The draft of a workload that was begun from the same start, as its address says it; null for any other. */
export const readDraftFrom = (workloadId: string, start: string): string | null =>
  sessionStorage.getItem(startKeyOf(workloadId)) === start ? readDraft(workloadId) : null

/** Keep the draft of a workload with what it was begun from, where its address says that; null forgets it. */
export function keepDraft(workloadId: string, text: string | null, start: string | null = null): void {
  keep(keyOf(workloadId), text)
  keep(startKeyOf(workloadId), text === null ? null : start)
}

/** Begin a draft of a workload with a text; what was being written there is kept aside. */
export function beginDraft(workloadId: string, text: string): void {
  const left = readDraft(workloadId)
  if (left !== null && left !== text) setDraftAside(workloadId, left)
  keepDraft(workloadId, text)
}

/** Keep a draft for ASIDE_MS when somebody starts over; null forgets it. Returns what is kept. */
export function setDraftAside(workloadId: string, text: string | null): DraftAside | null {
  const aside = text === null ? null : { text, untilMs: Date.now() + ASIDE_MS }
  keep(asideKeyOf(workloadId), aside && JSON.stringify(aside))
  return aside
}

/** The draft from before somebody started over; null when there is none, or its time is over. */
export function readDraftAside(workloadId: string): DraftAside | null {
  const stored = sessionStorage.getItem(asideKeyOf(workloadId))
  if (stored === null) return null
  try {
    const { text, untilMs } = JSON.parse(stored) as Partial<DraftAside>
    if (typeof text === 'string' && typeof untilMs === 'number' && untilMs > Date.now())
      return { text, untilMs }
  } catch {
    // What is stored was not written by this page.
  }
  keep(asideKeyOf(workloadId), null)
  return null
}
