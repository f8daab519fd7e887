import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** The unit of CPU times in /proc: ticks a second. It is the same on every Linux that Node runs on. */
const TICKS = 100

/** User and system CPU of a process, all threads, in seconds. */
export async function cpuSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

/** Memory that a process takes, in KiB: what is in RAM, and what was swapped out of it. */
export async function memoryKib(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return of('VmRSS') + of('VmSwap')
}

/** Wait for some ms of real time. */
export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Run `work`; returns its value and how much CPU each of these processes used meanwhile, in percent of one core. */
export async function watchCpu<T>(
  pids: Readonly<Record<string, number>>,
  work: () => Promise<T>,
): Promise<{ value: T; seconds: number; percent: Record<string, number> }> {
  const names = Object.keys(pids)
  const read = () => Promise.all(names.map((name) => cpuSeconds(pids[name]!).catch(() => 0)))
  const before = await read()
  const startedAt = performance.now()
  const value = await work()
  const seconds = (performance.now() - startedAt) / 1000
  const after = await read()
  const percent = Object.fromEntries(
    names.map((name, n) => [name, Math.round(((after[n]! - before[n]!) / seconds) * 100)]),
  )
  return { value, seconds, percent }
}

/** Says how much this process's main thread worked without letting a timer through. */
export interface WorkWatch {
  /** The most time of the processor between two ticks of a 10 ms timer since the last call, in ms. */
  takeLongestMs(): number
}

/**
 * Watch the work of the main thread. While other programs use the processor, a timer also waits for them; the time that
 * the thread itself was on the processor does not grow by that.
 */
export function watchWork(): WorkWatch {
  // The first number of the main thread's schedstat: nanoseconds on the processor.
  const workedMs = () => Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
  let longestMs = 0
  let lastMs = workedMs()
  const look = () => {
    const nowMs = workedMs()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
  }
  setInterval(look, 10).unref()
  return {
    takeLongestMs() {
      look()
      const taken = longestMs
      longestMs = 0
      return taken
    },
  }
}
