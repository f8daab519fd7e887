import { signal } from '@preact/signals'

/**
 * How many workloads are asked about at once: more rows do not fit on a screen, and the socket takes messages of 4 kB.
 */
const ASKED_MAX = 100

const watched = new Map<string, number>()

/** When workloads on the screen were last heard of, as the server said last. */
export const seenAt = signal<Readonly<Record<string, string>>>({})

/** Ask about a workload for as long as it is on the screen. Returns how to stop. */
export function watchSeen(id: string): () => void {
  watched.set(id, (watched.get(id) ?? 0) + 1)
  return () => {
    const left = (watched.get(id) ?? 1) - 1
    if (left === 0) watched.delete(id)
    else watched.set(id, left)
  }
}

/** The workloads to ask about. */
export const listWatched = (): string[] => [...watched.keys()].slice(0, ASKED_MAX)
