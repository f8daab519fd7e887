import { say } from '../i18n/define.ts'
import { historyTexts } from '../i18n/history.ts'
import { AlertTable } from '../parts/alert-table.tsx'
import { Loaded } from '../parts/failure.tsx'
import { api } from '../state/endpoints.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'
import type { TabProps } from './workload.tsx'

/** The alerts of one workload, resolved ones too. */
export function AlertsTab({ workload }: TabProps) {
  const touches = touchesWorkload(workload.id)
  const alerts = useResource(
    'alerts:all',
    (abort) => api.alerts(true, abort),
    (frame) => frame.type === 'alert_update' && touches(frame),
  )
  return (
    <Loaded of={alerts}>
      {(all) => {
        const mine = all.filter((alert) => alert.workload_id === workload.id)
        return mine.length === 0 ? (
          <p class="empty">{say(historyTexts).noAlerts}</p>
        ) : (
          <AlertTable alerts={mine} reload={alerts.reload} />
        )
      }}
    </Loaded>
  )
}
