const keyOf = (workloadId: string) => `muster.draft.${workloadId}`

/** Drafts outlive a reload of the tab, not the tab: they may hold what nobody should find later. */
export const readDraft = (workloadId: string): string | null => sessionStorage.getItem(keyOf(workloadId))

export function keepDraft(workloadId: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(keyOf(workloadId))
    else sessionStorage.setItem(keyOf(workloadId), text)
  } catch {
    // A draft over the browser's quota is only kept in the page.
  }
}
