import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { joinPage } from '../logic/pages.ts'
import { type Failure, nextPage, type Result } from './api.ts'
import { onFrame, resyncCount } from './hub.ts'

/** A list that is read page by page, newest first. */
export interface Pages<Row> {
  rows: readonly Row[]
  failure: Failure | null
  isLoading: boolean
  /** There are older ones. */
  hasOlder: boolean
  /** Read the next older page. */
  older(): void
  reload(): void
}

interface State<Row> {
  key: string
  rows: readonly Row[]
  next: string | null
  failure: Failure | null
  isLoading: boolean
}

interface PagesSpec<Row> {
  idOf(row: Row): string
  /** The first page, or the one at an address that the page before named. */
  load(address: string | null, signal: AbortSignal): Promise<Result<readonly Row[]>>
  /** Whether a frame of the hub says that there is something new. */
  touches(frame: HubFrame): boolean
}

/** Fetch the first page when `key` changes (null: not at all) and when something new is told, older ones when asked. */
export function usePages<Row>(key: string | null, spec: PagesSpec<Row>): Pages<Row> {
  const state = useSignal<State<Row>>({ key: '', rows: [], next: null, failure: null, isLoading: true })
  const specRef = useRef(spec)
  specRef.current = spec
  const actions = useRef({ reload: () => {}, older: () => {} })
  useEffect(() => {
    if (key === null) {
      state.value = { key: '', rows: [], next: null, failure: null, isLoading: false }
      return
    }
    let controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const run = async (address: string | null) => {
      controller.abort()
      const mine = new AbortController()
      controller = mine
      const before = state.value.key === key ? state.value : { rows: [], next: null }
      state.value = { key, rows: before.rows, next: before.next, failure: null, isLoading: true }
      const result = await specRef.current.load(address, mine.signal)
      if (mine.signal.aborted) return
      const { idOf } = specRef.current
      state.value = result.ok
        ? {
            key,
            ...joinPage(
              before,
              address === null,
              { rows: result.value, next: nextPage(result.headers) },
              idOf,
            ),
            ...{ failure: null, isLoading: false },
          }
        : { ...state.value, failure: result, isLoading: false }
    }
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        void run(null)
      }, 250)
    }
    actions.current = {
      reload: () => void run(null),
      older: () => void (state.value.next !== null && !state.value.isLoading && run(state.value.next)),
    }
    void run(null)
    const stopFrames = onFrame((frame) => {
      if (specRef.current.touches(frame)) soon()
    })
    let seen = resyncCount.peek()
    const stopResync = resyncCount.subscribe((count) => {
      if (count !== seen) soon()
      seen = count
    })
    return () => {
      controller.abort()
      clearTimeout(timer)
      stopFrames()
      stopResync()
    }
  }, [key, state])
  const { rows, next, failure, isLoading } = state.value
  return {
    rows: state.value.key === key ? rows : [],
    ...{ failure, isLoading, hasOlder: next !== null },
    older: () => actions.current.older(),
    reload: () => actions.current.reload(),
  }
}
