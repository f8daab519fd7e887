import { type Signal, signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { changesMade, type Failure, outsideScope, type Result } from './api.ts'
import { startRefetching } from './refetch.ts'

/** Something fetched: kept while it is fetched again, so that nothing jumps. */
export interface Resource<T> {
  data: T | null
  /** Of a list: how many rows are not in it because they lie outside of the reader's scope. */
  outside: number
  failure: Failure | null
  isLoading: boolean
  reload(): void
}

/** Whether it is there, or is known not to come: what is made of several waits for that, and does not change as one comes. */
export const isSettled = ({ data, isLoading }: Pick<Resource<unknown>, 'data' | 'isLoading'>): boolean =>
  data !== null || !isLoading

/** Whether this was so once: what is drawn when all of it is there stays drawn as some of it is read again. */
export function useOnce(is: boolean): boolean {
  const was = useRef(false)
  was.current ||= is
  return was.current
}

interface State<T> {
  data: T | null
  outside: number
  failure: Failure | null
  isLoading: boolean
}

const ASKED: State<never> = { data: null, outside: 0, failure: null, isLoading: true }
const NOT_ASKED: State<never> = { ...ASKED, isLoading: false }

/** What is shown once the answer is there; a failure keeps what was read before, unless it is gone. */
function answered<T>(before: State<T>, result: Result<T>): State<T> {
  if (!result.ok) {
    const kept = result.status === 404 ? { data: null, outside: 0 } : before
    return { data: kept.data, outside: kept.outside, failure: result, isLoading: false }
  }
  return { data: result.value, outside: outsideScope(result.headers), failure: null, isLoading: false }
}

/** How a part of the page reads something; kept up to date as the part is drawn again. */
interface Reader<T> {
  load(signal: AbortSignal): Promise<Result<T>>
  touches(frame: HubFrame): boolean
}

/** Something that is shown at least once at this moment. */
interface Shared<T> {
  state: Signal<State<T>>
  readers: Set<Reader<T>>
  /** Whether whoever comes to show it may go by what was read: a while later, or after a change, it may be otherwise. */
  isFresh(): boolean
  reload(): void
  stop(): void
}

/** For so long what was read counts as it is for parts of the page that come later; not every change is told by a frame. */
const FRESH_MS = 10_000

/** What is shown now, by its key: whoever else shows it reads the same, and nothing is fetched twice. */
const shared = new Map<string, Shared<unknown>>()

function share<T>(key: string, soonMs?: () => number): Shared<T> {
  const state: Signal<State<T>> = signal<State<T>>(ASKED)
  const readers = new Set<Reader<T>>()
  let asked = { atMs: 0, changes: 0 }
  const fetch = async (abort: AbortSignal) => {
    state.value = { ...state.value, isLoading: true }
    asked = { atMs: performance.now(), changes: changesMade() }
    const result = await [...readers].at(-1)!.load(abort)
    if (!abort.aborted) state.value = answered(state.value, result)
  }
  // What a part of the page did may be done only once that is gone, and nobody else shows this.
  const reload = () => {
    if (readers.size > 0) refetching.run(fetch)
  }
  const refetching = startRefetching(
    (frame) => [...readers].some((reader) => reader.touches(frame)),
    reload,
    soonMs,
  )
  const made: Shared<T> = {
    state,
    readers,
    isFresh: () =>
      state.peek().failure === null &&
      asked.changes === changesMade() &&
      performance.now() - asked.atMs < FRESH_MS,
    reload,
    stop() {
      refetching.stop()
      shared.delete(key)
    },
  }
  shared.set(key, made as Shared<unknown>)
  return made
}

/**
 * Fetch when `key` changes (null: not at all), after a reconnect, and shortly after a hub frame for which
 * `touches` answers true: `soonMs` later, so that a burst of frames is answered once. All parts of the page that have the
 * same key at the same time share what is fetched, so that a key names one thing to read in all of the console.
 */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<Result<T>>,
  touches?: (frame: HubFrame) => boolean,
  soonMs?: () => number,
): Resource<T> {
  const joined = useSignal<{ key: string; of: Shared<T> } | null>(null)
  const latest = useRef({ load, touches })
  latest.current = { load, touches }
  useEffect(() => {
    if (key === null) return
    const known = shared.get(key) as Shared<T> | undefined
    const of = known ?? share<T>(key, soonMs)
    const reader: Reader<T> = {
      load: (abort) => latest.current.load(abort),
      touches: (frame) => latest.current.touches?.(frame) === true,
    }
    of.readers.add(reader)
    joined.value = { key, of }
    if (known === undefined || !of.isFresh()) of.reload()
    return () => {
      of.readers.delete(reader)
      if (of.readers.size === 0) of.stop()
    }
  }, [key])

  const of =
    key === null
      ? undefined
      : joined.value?.key === key
        ? joined.value.of
        : (shared.get(key) as Shared<T> | undefined)
  // What was just asked for is on its way, before the effect has begun to fetch it.
  const state: State<T> = of?.state.value ?? (key === null ? NOT_ASKED : ASKED)
  return { ...state, reload: () => of?.reload() }
}

/** Frames that concern one workload. */
export const touchesWorkload =
  (id: string) =>
  (frame: HubFrame): boolean => {
    switch (frame.type) {
      case 'workload_update':
        return frame.workload.id === id
      case 'workload_event':
        return frame.event.workload_id === id
      case 'alert_update':
        return frame.alert.workload_id === id
      case 'approval_update':
        return frame.approval.workload_id === id
      case 'workload_config_status':
      case 'auto_rollback_applied':
      case 'push_update':
      case 'workload_removed':
        return frame.workload_id === id
      default:
        return false
    }
  }

/** Read a resource again once this has changed; what was read stays until then. */
export function useReread({ reload }: Pick<Resource<unknown>, 'reload'>, after: string): void {
  const last = useRef(after)
  useEffect(() => {
    if (last.current === after) return
    last.current = after
    reload()
  }, [after])
}
