import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { historyTexts } from '../i18n/history.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { AlertTable } from '../parts/alert-table.tsx'
import { Action } from '../parts/controls.tsx'
import { FailureNotice } from '../parts/failure.tsx'
import { api } from '../state/endpoints.ts'
import { holds } from '../state/session.ts'
import { usePages } from '../state/use-pages.ts'
import { touchesWorkload } from '../state/use-resource.ts'
import type { TabProps } from './workload.tsx'

/**
 * That the alert of a campaign tells of what failed here: there is one for all of its workloads. Nothing where no push of a
 * campaign is what is the matter.
 */
function ToldByCampaign({ workload: { trouble }, history }: Pick<TabProps, 'workload' | 'history'>) {
  const words = say(historyTexts)
  const id = trouble?.push_id && history.data?.find((row) => row.push_id === trouble.push_id)?.campaign_id
  if (!id) return null
  return (
    <p>
      {words.toldByCampaign}{' '}
      {holds('config:request') && (
        <a class="link" href={`/campaigns/${id}`}>
          {say(workloadTexts).see.campaign}
        </a>
      )}
    </p>
  )
}

/** The alerts of one workload, resolved ones too. */
export function AlertsTab({ workload, history }: TabProps) {
  const touches = touchesWorkload(workload.id)
  const alerts = usePages<AlertRecord>(`alerts:${workload.id}`, {
    idOf: ({ id }) => id,
    load: (address, abort) => api.alertsOf(workload.id, address, abort),
    touches: (frame) => frame.type === 'alert_update' && touches(frame),
  })
  if (alerts.failure) return <FailureNotice failure={alerts.failure} retry={alerts.reload} />
  if (alerts.rows.length === 0)
    return alerts.isLoading ? null : (
      <>
        <ToldByCampaign workload={workload} history={history} />
        <p class="empty">{say(historyTexts).noAlerts}</p>
      </>
    )
  return (
    <div class="stack">
      <ToldByCampaign workload={workload} history={history} />
      <AlertTable alerts={alerts.rows} reload={alerts.reload} />
      {alerts.hasOlder && (
        <div class="actions">
          <Action onClick={alerts.older}>{say(commonTexts).older}</Action>
        </div>
      )}
    </div>
  )
}
