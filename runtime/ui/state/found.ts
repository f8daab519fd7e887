import { useRef } from 'preact/hooks'
import { parseSearch } from '../../../lib/model/workload-search.ts'
import { readOnlyReason } from '../../../lib/model/workload-states.ts'
import type { FoundWorkload, SearchedOnly } from '../../../lib/wire/fleet-search.ts'
import { matchesOne } from '../logic/search.ts'
import type { Failure } from './api.ts'
import { api } from './endpoints.ts'
import { fleetLoaded, fleetVersion, listByName } from './fleet.ts'
import { labelOf } from './names.ts'
import { useDebounced } from './use-debounced.ts'
import { useResource } from './use-resource.ts'

/** Somebody who types is asked for once the text has rested so long, in milliseconds. */
const REST_MS = 120

/** What is searched for, and how many are shown. */
export interface Wanted {
  /** Null where nothing is searched for. */
  text: string | null
  limit: number
  only?: SearchedOnly | undefined
}

/** What was found so far. */
export interface Found {
  workloads: readonly FoundWorkload[]
  /** Whether the answer to what was typed last is still to come. */
  isSearching: boolean
  failure: Failure | null
  retry: () => void
}

/** The first that fit, of the list that a page has fetched. */
function findInList({ text, limit, only }: Wanted): FoundWorkload[] {
  const terms = parseSearch(text ?? '')
  const found: FoundWorkload[] = []
  for (const workload of listByName()) {
    if (found.length >= limit) break
    if (workload.archived_at) continue
    if (only === 'takes_configs' && readOnlyReason(workload) !== null) continue
    if (only === 'pushed' && workload.current_config_push === undefined) continue
    if (matchesOne(workload, terms)) found.push(workload)
  }
  return found
}

/**
 * The workloads that a text finds: among the list where it is there, else the service looks, so that nobody fetches the
 * whole fleet to choose one of it. Until it has answered, those found before are shown that bear what was typed.
 */
export function useFound(wanted: Wanted): Found {
  const { text, limit, only } = wanted
  const hasList = fleetLoaded.value
  if (hasList) void fleetVersion.value
  const rested = useDebounced(text, REST_MS)
  const isAsked = !hasList && text !== null && rested !== null
  const answer = useResource(isAsked ? `found:${only}:${limit}:${rested}` : null, (abort) =>
    api.searchFleet({ q: rested ?? '', limit, only }, abort),
  )
  const last = useRef<readonly FoundWorkload[]>([])
  if (answer.data !== null) last.current = answer.data.workloads
  const isSearching = !hasList && text !== null && (rested !== text || answer.isLoading)
  const shown = () => {
    if (text === null) return []
    if (hasList) return findInList(wanted)
    if (!isSearching) return answer.data?.workloads ?? []
    return last.current.filter((one) => labelOf(one).toLowerCase().includes(text.trim().toLowerCase()))
  }
  const failure = isAsked && !isSearching ? answer.failure : null
  return { workloads: shown(), isSearching, failure, retry: answer.reload }
}
