import { useMemo } from 'preact/hooks'
import { troubleNow, troublesOf } from '../../../lib/model/troubles.ts'
import { splitSearch } from '../../../lib/model/workload-search.ts'
import { WORKLOAD_TROUBLES } from '../../../lib/wire/values.ts'
import type { WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { kindTexts } from '../i18n/trouble-kinds.ts'
import { fleetVersion, workloads } from '../state/fleet.ts'
import { hrefWith } from '../state/router.ts'

type Kind = WorkloadTrouble['kind']

/** Kinds of which one has the other's name in its own are told apart by leaving those out. */
const termsOf = (kind: Kind): string[] =>
  kind === 'unhealthy' ? ['trouble:unhealthy', '-trouble:some_unhealthy'] : [`trouble:${kind}`]

function countKinds(): ReadonlyMap<Kind, number> {
  const counts = new Map<Kind, number>()
  for (const workload of workloads.values()) {
    if (troubleNow(workload) === null) continue
    for (const kind of troublesOf(workload)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

/** What those that are in trouble are in trouble for, in numbers; each leads to its own. */
export function FleetKinds({ search }: { search: string }) {
  const words = say(kindTexts)
  const version = fleetVersion.value
  // `workloads` is no signal; `fleetVersion` counts its changes.
  const counts = useMemo(countKinds, [version])
  const terms = splitSearch(search)
  const others = terms.filter((term) => !/^-?trouble:/.test(term))
  const shown = WORKLOAD_TROUBLES.filter((kind) => counts.has(kind))
  if (shown.length === 0) return null
  return (
    <nav aria-label={words.kinds}>
      <ul class="chips kinds">
        <li class="muted lead" aria-hidden="true">
          {words.lead}
        </li>
        {shown.map((kind) => {
          const own = termsOf(kind)
          const isChosen =
            own.length + others.length === terms.length && own.every((term) => terms.includes(term))
          const q = [...others, ...(isChosen ? [] : own)].join(' ')
          return (
            <li key={kind}>
              <a
                class={isChosen ? 'chip' : 'chip quiet'}
                href={hrefWith({ q: q === '' ? null : q })}
                aria-current={isChosen ? 'true' : undefined}
              >
                {words.kind[kind]} {formatNumber(counts.get(kind) ?? 0)}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
