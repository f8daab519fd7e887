import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { type Failure, outsideScope, type Result } from './api.ts'
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

interface State<T> {
  key: string
  data: T | null
  outside: number
  failure: Failure | null
  isLoading: boolean
}

/** What is shown once the answer is there; a failure keeps what was read before, unless it is gone. */
function answered<T>(before: State<T>, key: string, result: Result<T>): State<T> {
  if (!result.ok) {
    const kept = result.status === 404 ? { data: null, outside: 0 } : before
    return { key, data: kept.data, outside: kept.outside, failure: result, isLoading: false }
  }
  return {
    key,
    data: result.value,
    outside: outsideScope(result.headers),
    failure: null,
    isLoading: false,
  }
}

/**
 * Fetch when `key` changes (null: not at all), after a reconnect, and shortly after a hub frame for which
 * `touches` answers true: `soonMs` later, so that a burst of frames is answered once.
 */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<Result<T>>,
  touches?: (frame: HubFrame) => boolean,
  soonMs?: () => number,
): Resource<T> {
  const state: Signal<State<T>> = useSignal<State<T>>({
    key: '',
    data: null,
    outside: 0,
    failure: null,
    isLoading: true,
  })
  const loadRef = useRef(load)
  loadRef.current = load
  const touchesRef = useRef(touches)
  touchesRef.current = touches
  const reloadRef = useRef<() => void>(() => {})

  useEffect(() => {
    if (key === null) {
      state.value = { key: '', data: null, outside: 0, failure: null, isLoading: false }
      return
    }
    const fetch = async (signal: AbortSignal) => {
      const isSame = state.value.key === key
      const { data, outside } = isSame ? state.value : { data: null, outside: 0 }
      state.value = { ...state.value, key, data, outside, isLoading: true }
      const result = await loadRef.current(signal)
      if (signal.aborted) return
      state.value = answered(state.value, key, result)
    }
    const refetching = startRefetching(
      (frame) => touchesRef.current?.(frame) === true,
      () => reloadRef.current(),
      soonMs,
    )
    reloadRef.current = () => refetching.run(fetch)
    reloadRef.current()
    return refetching.stop
  }, [key, state])

  const { data, outside, failure, isLoading } = state.value
  return {
    ...(state.value.key === key ? { data, outside } : { data: null, outside: 0 }),
    failure,
    // What was just asked for is on its way, before the effect has begun to fetch it.
    isLoading: state.value.key === (key ?? '') ? isLoading : key !== null,
    reload: () => reloadRef.current(),
  }
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
