import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ACTIVITY_WORKLOADS_MAX } from '../../../lib/wire/values.ts'
import { tick } from '../i18n/format.ts'
import { api } from './endpoints.ts'

/** What was fetched is fetched again after so long: nothing tells browsers when it changes. */
const FETCH_EVERY_MS = 300_000
/** Rows that come into sight within this time are asked for together. */
const GATHER_MS = 100
/** Lines that are kept for rows that may come into sight again. */
const KEPT_MAX = 1_000

interface Line {
  events: readonly number[]
  /** The stretch of `FETCH_EVERY_MS` in which it was fetched. */
  period: number
}

const lines = signal<ReadonlyMap<string, Line>>(new Map())
const wanted = new Map<string, number>()
let isAsking = false

/**
 * How many instances of a workload came, went or changed their version in each hour of the last day, oldest first;
 * null while that is not known. For a row that is in sight.
 */
export function useActivity(workloadId: string): readonly number[] | null {
  const period = Math.floor(tick.value / FETCH_EVERY_MS)
  useEffect(() => {
    if (lines.peek().get(workloadId)?.period === period) return
    wanted.set(workloadId, period)
    if (!isAsking) setTimeout(fetchWanted, GATHER_MS)
    isAsking = true
    return () => void wanted.delete(workloadId)
  }, [workloadId, period])
  return lines.value.get(workloadId)?.events ?? null
}

/** Fetch what rows in sight want, one question after another. What fails is asked for again in the next stretch. */
async function fetchWanted(): Promise<void> {
  const asked = [...wanted].slice(0, ACTIVITY_WORKLOADS_MAX)
  for (const [id] of asked) wanted.delete(id)
  const answer = await api.activity(
    asked.map(([id]) => id),
    '24h',
  )
  if (answer.ok) {
    const periods = new Map(asked)
    const next = new Map(lines.peek())
    for (const { workload_id: id, events } of answer.value.workloads) {
      next.delete(id)
      next.set(id, { events, period: periods.get(id)! })
    }
    for (const id of next.keys()) {
      if (next.size <= KEPT_MAX) break
      next.delete(id)
    }
    lines.value = next
  }
  isAsking = wanted.size > 0
  if (isAsking) setTimeout(fetchWanted, GATHER_MS)
}
