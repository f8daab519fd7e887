import { useSignal } from '@preact/signals'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { alertTexts, describeAlert } from '../i18n/alerts.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { tick } from '../i18n/format.ts'
import { nameOf } from '../logic/workloads.ts'
import { api } from '../state/endpoints.ts'
import { fleetVersion, workloads } from '../state/fleet.ts'
import { can } from '../state/session.ts'
import { Capped } from './capped.tsx'
import { Action, TextArea, unless } from './controls.tsx'
import { Dialog } from './dialog.tsx'
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

/** Ask why, then resolve an alert. */
function ResolveDialog({
  alert,
  name,
  onClose,
  onResolved,
  onUndo,
}: {
  alert: AlertRecord
  name: string
  onClose: () => void
  onResolved: () => void
  onUndo: (id: string) => void
}) {
  const words = say(alertTexts)
  const reason = useSignal('')
  const isBusy = useSignal(false)
  const resolve = async () => {
    if (isBusy.value) return
    isBusy.value = true
    const result = await api.resolveAlert(alert.id, reason.value.trim())
    isBusy.value = false
    if (!result.ok) return toastFailure(result)
    toast(words.resolvedNow, 'ok', { label: words.undo, run: () => onUndo(alert.id) })
    onClose()
    onResolved()
  }
  return (
    <Dialog title={words.resolveTitle(words.rules[alert.rule] ?? alert.rule, name)} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void resolve()
        }}
      >
        <p>{describeAlert(alert)}</p>
        <p class="muted">{words.resolveLead}</p>
        <TextArea
          label={words.resolveReason}
          value={reason.value}
          onValue={(value) => {
            reason.value = value
          }}
        />
        <div class="actions">
          <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
          <Action kind="primary" isSubmit>
            {words.resolve}
          </Action>
        </div>
      </form>
    </Dialog>
  )
}

/** Alerts as a table, each leading to its cause. */
export function AlertTable({ alerts, reload }: { alerts: readonly AlertRecord[]; reload: () => void }) {
  const words = say(alertTexts)
  void fleetVersion.value
  const asked = useSignal<AlertRecord | null>(null)
  const reopen = async (id: string) => {
    const result = await api.reopenAlert(id)
    if (!result.ok) return toastFailure(result)
    toast(words.reopened)
    reload()
  }
  const nameOfWorkload = (alert: AlertRecord) => {
    const workload = workloads.get(alert.workload_id)
    return workload ? nameOf(workload) : alert.workload_id.slice(0, 8)
  }
  return (
    <>
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
                  {alert.resolve_reason && <div class="muted">{words.because(alert.resolve_reason)}</div>}
                </td>
                <td>
                  {!alert.resolved_at && (
                    <Action reason={unless('alert:resolve')} onClick={() => (asked.value = alert)}>
                      {words.resolve}
                    </Action>
                  )}
                  {alert.reopen_until && Date.parse(alert.reopen_until) > tick.value && (
                    <Action reason={unless('alert:resolve')} onClick={() => void reopen(alert.id)}>
                      {words.reopen}
                    </Action>
                  )}
                </td>
              </tr>
            )
          }}
        </Capped>
      </Sheet>
      {asked.value && (
        <ResolveDialog
          alert={asked.value}
          name={nameOfWorkload(asked.value)}
          onClose={() => (asked.value = null)}
          onResolved={reload}
          onUndo={(id) => void reopen(id)}
        />
      )}
    </>
  )
}
