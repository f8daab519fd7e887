import { useMemo } from 'preact/hooks'
import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { formatNumber } from '../i18n/format.ts'
import { FLEET_FILTERS, type FleetFilter } from '../logic/workloads.ts'
import { fleetVersion, workloads } from '../state/fleet.ts'
import { hrefWith } from '../state/router.ts'

const TONES: Partial<Record<FleetFilter, string>> = {
  degraded: 'warn',
  disconnected: 'bad',
  drifted: 'warn',
  alerts: 'bad',
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
    ['warn', by.degraded],
    ['bad', by.disconnected],
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

/** What is wrong, in numbers; each number leads to its workloads. */
export function FleetCounters({ current }: { current: FleetFilter | null }) {
  const words = say(fleetTexts)
  const version = fleetVersion.value
  // `workloads` is no signal; `fleetVersion` counts its changes.
  const counted = useMemo(count, [version])
  const { all, by } = counted
  const isAll = current === null
  return (
    <nav aria-label={words.counters}>
      <Pulse {...counted} />
      <ul class="counters">
        <li>
          <a href={hrefWith({ show: null })} aria-current={isAll ? 'true' : undefined}>
            <strong>{formatNumber(all)}</strong>
            <span>{words.all}</span>
          </a>
        </li>
        {(Object.keys(FLEET_FILTERS) as FleetFilter[]).map((id) => (
          <li key={id} class={by[id] === 0 ? 'zero' : (TONES[id] ?? '')}>
            <a href={hrefWith({ show: id })} aria-current={current === id ? 'true' : undefined}>
              <strong>{formatNumber(by[id])}</strong>
              <span>{words[id]}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
