import { totalmem } from 'node:os'
import type { Log } from '../lib/log.ts'

/** What the process takes beside its heaps, and what it may take in all, in bytes. */
export interface MemoryReading {
  native: number
  limit: number
}

const EVERY_MS = 1_000
/**
 * From which part of the limit on which sockets are cut: those that have finished no message for `quietMs`. Agents
 * that beat do so each 30 s, so that only the highest step cuts them too; an agent that was cut connects again at
 * once.
 */
const STEPS = [
  { part: 0.8, quietMs: 5_000 },
  { part: 0.65, quietMs: 35_000 },
  { part: 0.5, quietMs: 60_000 },
] as const

/** How long a socket may be without a finished message; null while memory is no reason to ask. */
export function allowedQuietMs({ native, limit }: MemoryReading): number | null {
  return STEPS.find(({ part }) => native >= limit * part)?.quietMs ?? null
}

/**
 * The memory of this process, and the machine's or the container's. The heaps of worker threads are still in `native`:
 * one thread cannot see those of others.
 */
export function readMemory(): MemoryReading {
  const { rss, heapTotal, external } = process.memoryUsage()
  const contained = process.constrainedMemory?.() ?? 0
  const total = totalmem()
  return {
    native: Math.max(0, rss - heapTotal - external),
    limit: contained > 0 ? Math.min(contained, total) : total,
  }
}

/**
 * Watch the memory that the socket library takes. It collects the pieces of an unfinished message where nobody can
 * count them, up to the largest message for each socket: a hundred sockets that never finish one hold more than a
 * gigabyte. A socket that has just finished a message holds nothing of an earlier one, so when memory is short those
 * are cut that have finished none for long.
 */
export function watchMemory(parts: {
  log: Log
  read: () => MemoryReading
  /** What worker threads have taken, in bytes: a config that is being read is no reason to cut agents. */
  inWorkers: () => Promise<number>
  /** Cut the sockets that have finished no message since this moment of `performance.now()`; how many. */
  cutQuiet(sinceMs: number): number
}): { look(): Promise<void>; stop(): void } {
  let isLooking = false
  let isBlind = false
  const judge = async () => {
    const { native, limit } = parts.read()
    // Threads are asked only where it matters.
    if (allowedQuietMs({ native, limit }) === null) return
    const bytes = Math.max(0, native - (await parts.inWorkers()))
    const quietMs = allowedQuietMs({ native: bytes, limit })
    if (quietMs === null) return
    const count = parts.cutQuiet(performance.now() - quietMs)
    if (count > 0)
      parts.log.warn(
        { count, bytes, reason: 'memory' },
        'cut sockets that have not finished a message for long',
      )
  }
  const look = async () => {
    if (isLooking) return
    isLooking = true
    try {
      await judge()
      isBlind = false
    } catch (error) {
      // A process without a free file descriptor cannot read what it takes; it serves those that it has.
      if (!isBlind) parts.log.error({ err: error }, 'memory cannot be read')
      isBlind = true
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), EVERY_MS)
  timer.unref()
  return { look, stop: () => clearInterval(timer) }
}
