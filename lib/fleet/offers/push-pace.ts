import type { FleetDeps } from '../state/deps.ts'

/** The share of its time that a process works while it tells many instances something. */
const LOAD_MAX = 0.6
/**
 * The longest wait between two chunks: where other things keep the process busy, a push to ten thousand takes half a
 * second longer for it, and not for ever.
 */
const PAUSE_MS_MAX = 12
const OWED_MS_MAX = 50

/**
 * Says after each chunk of instances how many ms to wait before the next one, so that what the process works by then,
 * the answers of those that were told included, is at most LOAD_MAX of the time.
 */
export function paceOf({ clock, busyMs }: Pick<FleetDeps, 'clock' | 'busyMs'>): () => number {
  const { machine } = clock
  let before = { atMs: machine.monotonicMs(), busyMs: busyMs() }
  // How much longer all that was worked should have taken. What a flood of something else owes is forgotten.
  let owedMs = 0
  return () => {
    const now = { atMs: machine.monotonicMs(), busyMs: busyMs() }
    owedMs += (now.busyMs - before.busyMs) / LOAD_MAX - (now.atMs - before.atMs)
    owedMs = Math.min(OWED_MS_MAX, Math.max(0, owedMs))
    before = now
    return Math.min(PAUSE_MS_MAX, owedMs)
  }
}
