import { useEffect } from 'preact/hooks'
import { alertTexts } from '../i18n/alerts.ts'
import { say } from '../i18n/define.ts'
import { nameOf } from '../logic/workloads.ts'
import { AlertTable } from '../parts/alert-table.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head } from '../parts/page.tsx'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, fleetLoading, loadFleet, workloads } from '../state/fleet.ts'
import { query, setQuery } from '../state/router.ts'
import { useResource } from '../state/use-resource.ts'

/** Open alerts, resolved ones on demand. */
export function AlertsPage() {
  const words = say(alertTexts)
  const withResolved = query.value.get('resolved') === 'true'
  const wanted = (query.value.get('q') ?? '').toLowerCase()
  const alerts = useResource(
    `alerts:${withResolved}`,
    (abort) => api.alerts(withResolved, abort),
    (frame) => frame.type === 'alert_update' || frame.type === 'workload_removed',
  )
  useEffect(() => {
    if (!fleetLoaded.peek() && !fleetLoading.peek()) void loadFleet()
  }, [])
  return (
    <>
      <Head
        title={words.title}
        beside={alerts.data && <span class="muted">{words.count(alerts.data.length)}</span>}
      />
      <div class="tools" style={{ marginTop: '20px' }}>
        <input
          class="input grow"
          type="search"
          aria-label={words.filter}
          placeholder={words.filter}
          value={query.value.get('q') ?? ''}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <button
          type="button"
          class="btn"
          aria-pressed={withResolved}
          onClick={() => setQuery({ resolved: withResolved ? null : 'true' })}
        >
          {words.resolved}
        </button>
      </div>
      <Loaded of={alerts}>
        {(all) => {
          const shown = all.filter((alert) => {
            const workload = workloads.get(alert.workload_id)
            const text = `${alert.rule} ${words.rules[alert.rule]} ${alert.severity} ${alert.message} ${workload ? nameOf(workload) : ''}`
            return text.toLowerCase().includes(wanted)
          })
          if (all.length === 0) return <p class="empty">{words.none}</p>
          if (shown.length === 0) return <p class="empty">{words.noneFit}</p>
          return <AlertTable alerts={shown} reload={alerts.reload} />
        }}
      </Loaded>
    </>
  )
}
