import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { alertTexts, describeAlert } from '../i18n/alerts.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { nameOf } from '../logic/workloads.ts'
import { api } from '../state/endpoints.ts'
import { fleetVersion, workloads } from '../state/fleet.ts'
import { can } from '../state/session.ts'
import { Capped } from './capped.tsx'
import { Action, unless } from './controls.tsx'
import { Sheet } from './page.tsx'
import { Ago, Mark } from './state.tsx'
import { toast, toastFailure } from './toast.tsx'

/** Where the cause of an alert is to be seen. */
function causeHref(alert: AlertRecord): string {
  const base = `/workloads/${alert.workload_id}`
  if (alert.rule === 'workload_unhealthy') return `${base}/health`
  if (alert.rule === 'push_failed' && alert.details)
    return `${base}/pushes/${alert.details['config_hash']}?push=${alert.details['push_id']}`
  if (alert.rule === 'config_drift') return `${base}/instances`
  if (alert.rule === 'version_outdated' && can('config_safety.version_intelligence')) return '/versions'
  return alert.rule === 'workload_down' ? `${base}/activity` : base
}

/** Alerts as a table, each leading to its cause. */
export function AlertTable({ alerts, reload }: { alerts: readonly AlertRecord[]; reload: () => void }) {
  const words = say(alertTexts)
  void fleetVersion.value
  const resolve = async (alert: AlertRecord) => {
    const result = await api.resolveAlert(alert.id)
    if (!result.ok) return toastFailure(result)
    toast(words.resolvedNow)
    reload()
  }
  return (
    <Sheet
      isStacked
      label={words.title}
      head={
        <>
          <th scope="col">{words.column.severity}</th>
          <th scope="col">{words.column.rule}</th>
          <th scope="col">{words.column.workload}</th>
          <th scope="col">{words.column.message}</th>
          <th scope="col">{words.column.fired}</th>
          <th scope="col">{words.column.resolved}</th>
          <th scope="col">
            <span class="sr">{say(commonTexts).actions}</span>
          </th>
        </>
      }
    >
      <Capped rows={alerts}>
        {(alert) => {
          const workload = workloads.get(alert.workload_id)
          return (
            <tr key={alert.id}>
              <td>
                <Mark
                  tone={alert.resolved_at ? 'idle' : alert.severity === 'critical' ? 'bad' : 'warn'}
                  shape={alert.resolved_at ? 'tick' : alert.severity === 'critical' ? 'cross' : 'triangle'}
                >
                  {words.severity[alert.severity] ?? alert.severity}
                </Mark>
              </td>
              <td>
                <a href={causeHref(alert)}>{words.rules[alert.rule] ?? alert.rule}</a>
              </td>
              <td>
                <a class="name" href={`/workloads/${alert.workload_id}`}>
                  {workload ? nameOf(workload) : alert.workload_id}
                </a>
              </td>
              <td class="text" title={alert.message}>
                {describeAlert(alert)}
              </td>
              <td class="muted">
                <Ago at={alert.fired_at} />
              </td>
              <td class="muted">
                {alert.resolved_at ? <Ago at={alert.resolved_at} /> : <span>{words.still}</span>}
              </td>
              <td>
                {!alert.resolved_at && (
                  <Action reason={unless('alert:resolve')} onClick={() => void resolve(alert)}>
                    {words.resolve}
                  </Action>
                )}
              </td>
            </tr>
          )
        }}
      </Capped>
    </Sheet>
  )
}
