import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { joinPage, type Page } from '../logic/pages.ts'
import { type Failure, nextPage, outsideScope, type Result } from './api.ts'
import { startRefetching } from './refetch.ts'

/** A list that is read page by page, newest first. */
export interface Pages<Row> {
  rows: readonly Row[]
  /** How many of the rows so far are not shown because they lie outside of the reader's scope. */
  outside: number
  failure: Failure | null
  isLoading: boolean
  /** There are older ones. */
  hasOlder: boolean
  /** Read the next older page. */
  older(): void
  reload(): void
}

interface State<Row> extends Page<Row> {
  key: string
  failure: Failure | null
  isLoading: boolean
}

interface PagesSpec<Row> {
  idOf(row: Row): string
  /** The first page, or the one at an address that the page before named. */
  load(address: string | null, signal: AbortSignal): Promise<Result<readonly Row[]>>
  /** Whether a frame of the hub says that there is something new, or that a row is another now. */
  touches(frame: HubFrame, rows: readonly Row[]): boolean
}

const NOTHING = { rows: [], next: null, outside: [] }

/** Fetch the first page when `key` changes (null: not at all) and when something new is told, older ones when asked. */
export function usePages<Row>(key: string | null, spec: PagesSpec<Row>): Pages<Row> {
  const state = useSignal<State<Row>>({ key: '', ...NOTHING, failure: null, isLoading: true })
  const specRef = useRef(spec)
  specRef.current = spec
  const actions = useRef({ reload: () => {}, older: () => {} })
  useEffect(() => {
    if (key === null) {
      state.value = { key: '', ...NOTHING, failure: null, isLoading: false }
      return
    }
    const fetch = async (address: string | null, signal: AbortSignal) => {
      const before: Page<Row> = state.value.key === key ? state.value : NOTHING
      state.value = { ...before, key, failure: null, isLoading: true }
      const result = await specRef.current.load(address, signal)
      if (signal.aborted) return
      if (!result.ok) {
        state.value = { ...state.value, failure: result, isLoading: false }
        return
      }
      const outside = [outsideScope(result.headers)]
      const page = { rows: result.value, next: nextPage(result.headers), outside }
      const joined = joinPage(before, address === null, page, specRef.current.idOf)
      state.value = { key, ...joined, failure: null, isLoading: false }
    }
    const refetching = startRefetching(
      (frame) => specRef.current.touches(frame, state.peek().rows),
      () => actions.current.reload(),
    )
    const read = (address: string | null) => refetching.run((signal) => fetch(address, signal))
    actions.current = {
      reload: () => read(null),
      older: () => {
        if (state.value.next !== null && !state.value.isLoading) read(state.value.next)
      },
    }
    read(null)
    return refetching.stop
  }, [key, state])
  const { next, failure, isLoading } = state.value
  const { rows, outside } = state.value.key === key ? state.value : NOTHING
  return {
    rows,
    outside: outside.reduce((sum, count) => sum + count, 0),
    failure,
    isLoading,
    hasOlder: next !== null,
    older: () => actions.current.older(),
    reload: () => actions.current.reload(),
  }
}
