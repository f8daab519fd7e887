import { useMemo, useRef } from 'preact/hooks'
import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { formatNumber, tick } from '../i18n/format.ts'
import { toHealthLines } from '../logic/overview.ts'
import { type CountedState, PRESENCE_LOOK } from '../logic/presence.ts'
import { FLEET_FILTERS, type FleetFilter } from '../logic/workloads.ts'
import { Sparkline } from '../parts/sparkline.tsx'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, fleetVersion, workloads } from '../state/fleet.ts'
import { hrefWith } from '../state/router.ts'
import { useResource } from '../state/use-resource.ts'

const COUNT_EVERY_MS = 300_000
/** In the place of a number that is not known yet. */
const PENDING = '…'

const TONES: Partial<Record<FleetFilter, string>> = {
  drifted: 'warn',
  alerts: 'bad',
  wrong: 'bad',
}

function count(): { all: number; by: Record<FleetFilter, number> } {
  const by = Object.fromEntries(Object.keys(FLEET_FILTERS).map((id) => [id, 0])) as Record<
    FleetFilter,
    number
  >
  let all = 0
  for (const workload of workloads.values()) {
    if (workload.archived_at) continue
    all++
    for (const [id, passes] of Object.entries(FLEET_FILTERS)) if (passes(workload)) by[id as FleetFilter]++
  }
  return { all, by }
}

/** A bar of the fleet's workloads by status. The counters say the same in numbers. */
function Pulse({ all, by }: ReturnType<typeof count>) {
  const parts = [
    ['ok', by.connected],
    ['warn', by.degraded - by.all_unhealthy + by.leaving],
    ['bad', by.all_unhealthy + by.disconnected],
  ] as const
  return (
    <div class="pulse" aria-hidden="true">
      {parts.map(([tone, number]) =>
        number > 0 ? (
          <i key={tone} class={`f-${tone}`} style={{ width: `${(100 * number) / all}%` }} />
        ) : null,
      )}
    </div>
  )
}

/** Whether it is a state, which is counted over time as well. */
const isState = (id: FleetFilter): id is FleetFilter & CountedState => id in PRESENCE_LOOK

/** The colour of a counter: what is well has none. */
const toneOf = (id: FleetFilter): string =>
  id === 'connected' ? '' : isState(id) ? PRESENCE_LOOK[id][0] : (TONES[id] ?? '')

/** How many workloads were how in the last day. */
function useLines(): ReturnType<typeof toHealthLines> {
  // The fleet is counted every five minutes, and nothing tells browsers when.
  const health = useResource(`lines:${Math.floor(tick.value / COUNT_EVERY_MS)}`, (abort) =>
    api.fleetHealth('24h', abort),
  )
  // What was drawn stays while it is asked for again.
  const last = useRef<ReturnType<typeof toHealthLines>>(null)
  const lines = useMemo(() => (health.data === null ? null : toHealthLines(health.data)), [health.data])
  if (health.data !== null) last.current = lines
  return last.current
}

/** What the server counts of the whole fleet, for as long as only a part of it is here. */
function useServerCounts(isWanted: boolean): Partial<Record<FleetFilter | 'all', number>> {
  const summary = useResource(isWanted ? 'fleet-counts' : null, (abort) => api.fleetSummary(abort))
  if (summary.data === null) return {}
  const { counts, troubled_count: wrong } = summary.data
  return { ...counts, wrong }
}

/** What is wrong, in numbers; each number leads to its workloads. */
export function FleetCounters({ current }: { current: FleetFilter | null }) {
  const words = say(fleetTexts)
  const version = fleetVersion.value
  // `workloads` is no signal; `fleetVersion` counts its changes.
  const counted = useMemo(count, [version])
  const { all, by } = counted
  const isAll = current === null
  const lines = useLines()
  // Counts of a part of the fleet would be wrong ones: nobody degraded, while the one who is has not come yet.
  const isWhole = fleetLoaded.value
  const counts = useServerCounts(!isWhole)
  const countOf = (id: FleetFilter | 'all'): number | undefined =>
    isWhole ? (id === 'all' ? all : by[id]) : counts[id]
  const show = (number: number | undefined) => (number === undefined ? PENDING : formatNumber(number))
  const lookOf = (id: FleetFilter): string => {
    const number = countOf(id)
    return number === undefined ? 'pending' : number === 0 ? 'zero' : toneOf(id)
  }
  return (
    <nav aria-label={words.counters} aria-busy={!isWhole}>
      {isWhole ? <Pulse {...counted} /> : <div class="pulse" aria-hidden="true" />}
      <ul class="counters">
        <li>
          <a href={hrefWith({ show: null })} aria-current={isAll ? 'true' : undefined}>
            <strong>{show(countOf('all'))}</strong>
            <span>{words.all}</span>
          </a>
        </li>
        {(Object.keys(FLEET_FILTERS) as FleetFilter[]).map((id) => (
          <li key={id} class={lookOf(id)}>
            <a href={hrefWith({ show: id })} aria-current={current === id ? 'true' : undefined}>
              <strong>{show(countOf(id))}</strong>
              <span>{id === 'all_unhealthy' ? words.allUnhealthyOfThem : words[id]}</span>
              {isState(id) && (
                // Its room is there from the start, so that nothing moves when it comes.
                <Sparkline
                  values={lines?.[id] ?? []}
                  color={`--${PRESENCE_LOOK[id][0]}`}
                  title={words.lastDay}
                />
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
