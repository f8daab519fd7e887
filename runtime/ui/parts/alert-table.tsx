import { useSignal } from '@preact/signals'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { alertTexts, describeAlert } from '../i18n/alerts.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { tick } from '../i18n/format.ts'
import { namedAt, nameOf, placeOf } from '../logic/workloads.ts'
import { api } from '../state/endpoints.ts'
import { fleetVersion, workloads } from '../state/fleet.ts'
import { can } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { Action, bind, TextArea, unless } from './controls.tsx'
import { FormDialog } from './form.tsx'
import { Ago, Mark } from './state.tsx'
import { Table, type TableColumn } from './table.tsx'
import { toast, toastFailure } from './toast.tsx'
import { WorkloadLink } from './workload-link.tsx'

/** The campaign or the fleet config that an alert without a workload is about. */
function topicOf({ details = {} }: AlertRecord): { name: string; href: string } {
  const name = String(details['name'] ?? '')
  return 'campaign_id' in details
    ? { name, href: `/campaigns/${details['campaign_id']}` }
    : { name, href: `/fleet-configs/${details['fleet_config_id']}` }
}

/** The name of what an alert is about. */
export function nameOfSubject(alert: AlertRecord): string {
  if (alert.workload_id === '') return topicOf(alert).name
  const workload = workloads.get(alert.workload_id)
  return workload ? namedAt(nameOf(workload), placeOf(workload)) : alert.workload_id.slice(0, 8)
}

/** Where the cause of an alert is to be seen. */
export function causeHref(alert: AlertRecord): string {
  if (alert.workload_id === '') return topicOf(alert).href
  const base = `/workloads/${alert.workload_id}`
  if (alert.rule === 'workload_unhealthy') return `${base}/health`
  if (alert.rule === 'push_failed' && alert.details)
    return `${base}/pushes/${alert.details['config_hash']}?push=${alert.details['push_id']}`
  if (alert.rule === 'rollout_halted' && alert.details)
    return `${base}/rollouts/${alert.details['rollout_id']}`
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
  const resolve = async () => {
    const result = await api.resolveAlert(alert.id, reason.value.trim())
    if (!result.ok) return toastFailure(result)
    toast(words.resolvedNow, 'ok', { label: words.undo, run: () => onUndo(alert.id) })
    onClose()
    onResolved()
  }
  return (
    <FormDialog
      title={words.resolveTitle(words.rules[alert.rule] ?? alert.rule, name)}
      onClose={onClose}
      onSend={resolve}
      send={words.resolve}
    >
      <p>{describeAlert(alert)}</p>
      <p class="muted">{words.resolveLead}</p>
      <TextArea label={words.resolveReason} {...bind(reason)} />
    </FormDialog>
  )
}

function Severity({ alert }: { alert: AlertRecord }) {
  const isCritical = alert.severity === 'critical'
  return (
    <Mark
      tone={alert.resolved_at ? 'idle' : isCritical ? 'bad' : 'warn'}
      shape={alert.resolved_at ? 'tick' : isCritical ? 'cross' : 'triangle'}
    >
      {say(alertTexts).severity[alert.severity] ?? alert.severity}
    </Mark>
  )
}

interface AlertActions {
  resolve: (alert: AlertRecord) => void
  reopen: (id: string) => void
}

function RowActions({ alert, act }: { alert: AlertRecord; act: AlertActions }) {
  const words = say(alertTexts)
  return (
    <>
      {!alert.resolved_at && (
        <Action
          reason={unless('alert:resolve', alert.workload_id || undefined)}
          onClick={() => act.resolve(alert)}
        >
          {words.resolve}
        </Action>
      )}
      {alert.reopen_until && Date.parse(alert.reopen_until) > tick.value && (
        <Action
          reason={unless('alert:resolve', alert.workload_id || undefined)}
          onClick={() => act.reopen(alert.id)}
        >
          {words.reopen}
        </Action>
      )}
    </>
  )
}

function columnsOf(act: AlertActions): TableColumn<AlertRecord>[] {
  const words = say(alertTexts)
  const { column } = words
  return [
    { title: column.severity, cell: (alert) => <Severity alert={alert} /> },
    {
      title: column.rule,
      cell: (alert) => <a href={causeHref(alert)}>{words.rules[alert.rule] ?? alert.rule}</a>,
    },
    {
      title: column.workload,
      cell: (alert) => {
        const { workload_id: id } = alert
        if (id === '')
          return (
            <a class="name" href={topicOf(alert).href}>
              {topicOf(alert).name}
            </a>
          )
        return <WorkloadLink id={id} look="name" />
      },
    },
    {
      title: column.message,
      look: 'text',
      cell: (alert) => <span title={alert.message}>{describeAlert(alert)}</span>,
    },
    { title: column.fired, look: 'muted', cell: (alert) => <Ago at={alert.fired_at} /> },
    {
      title: column.resolved,
      look: 'muted',
      cell: (alert) => (
        <>
          {alert.resolved_at ? <Ago at={alert.resolved_at} /> : <span>{words.still}</span>}
          {alert.resolve_reason && <div class="muted">{words.because(alert.resolve_reason)}</div>}
        </>
      ),
    },
    {
      title: say(commonTexts).actions,
      isTitleHidden: true,
      cell: (alert) => <RowActions alert={alert} act={act} />,
    },
  ]
}

/** Alerts as a table, each leading to its cause. */
export function AlertTable({ alerts, reload }: { alerts: readonly AlertRecord[]; reload: () => void }) {
  const words = say(alertTexts)
  void fleetVersion.value
  const { about, open, close } = useDialog<AlertRecord>()
  const reopen = async (id: string) => {
    const result = await api.reopenAlert(id)
    if (!result.ok) return toastFailure(result)
    toast(words.reopened)
    reload()
  }
  const columns = columnsOf({ resolve: open, reopen: (id) => void reopen(id) })
  return (
    <>
      <Table label={words.title} columns={columns} rows={alerts} keyOf={({ id }) => id} />
      {about !== null && (
        <ResolveDialog
          alert={about}
          name={nameOfSubject(about)}
          onClose={close}
          onResolved={reload}
          onUndo={(id) => void reopen(id)}
        />
      )}
    </>
  )
}
