import { type Signal, useSignal } from '@preact/signals'
import { aboutOf, isAboutPeople } from '../../../lib/model/alert-about.ts'
import type { NamedRecord } from '../../../lib/model/workload-names.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { alertTexts, describeAlert, describeNext, workloadIdsOf } from '../i18n/alerts.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { tick } from '../i18n/format.ts'
import { inPieces } from '../logic/selection.ts'
import { api } from '../state/endpoints.ts'
import { labelOf, lineOf, namedOf, useNames } from '../state/names.ts'
import { can } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { Action, bind, TextArea, unless } from './controls.tsx'
import { FormDialog } from './form.tsx'
import { Ago, Mark } from './state.tsx'
import { Table, type TableColumn } from './table.tsx'
import { toast, toastFailure } from './toast.tsx'
import { WorkloadLink, WorkloadName } from './workload-link.tsx'

/** Where alerts about people are seen to. */
const PAGES: Readonly<Partial<Record<AlertRecord['rule'], string>>> = {
  administrator_kept: '/settings/users',
  approval_policy_lowered: '/settings/approvals',
  approval_policy_unreadable: '/settings/approvals',
  last_resort_login: '/audit',
}

/** The campaign, the fleet config or the person that an alert without a workload is about. */
function topicOf({ rule, details = {} }: AlertRecord): { name: string; href: string } {
  const name = String(details['name'] ?? '')
  const page = PAGES[rule]
  if (page !== undefined) return { name, href: page }
  return 'campaign_id' in details
    ? { name, href: `/campaigns/${details['campaign_id']}` }
    : { name, href: `/fleet-configs/${details['fleet_config_id']}` }
}

/** What a line about the workload of an alert is made of. */
type Subject = NamedRecord & Pick<WorkloadRecord, 'trouble'>

/** What a workload is called by its id, where that is known. */
function callById(id: string): string | undefined {
  const workload = namedOf(id)
  return workload && labelOf(workload)
}

/** Ask for the names of all that these alerts are about. */
export const useNamesOf = (alerts: readonly AlertRecord[]): void =>
  useNames(alerts.flatMap((alert) => [alert.workload_id, ...workloadIdsOf(alert)]))

/** The name of what an alert is about; its workload is looked for where neither the alert names it nor it is given. */
export function nameOfSubject(
  alert: AlertRecord,
  workload: Subject | undefined = namedOf(alert.workload_id),
): string {
  const { workload_id: id, about } = alert
  if (id === '') return topicOf(alert).name
  if (about) return lineOf(about.name, about.place)
  return workload ? labelOf(workload) : id.slice(0, 8)
}

/**
 * What happened, with what the workload itself says that it is about, such as the host that was not found; of a campaign,
 * the first of its workloads that says so.
 */
export function sayAlert(
  alert: AlertRecord,
  workload: Subject | undefined = namedOf(alert.workload_id),
): string {
  const subjects = workload === undefined ? workloadIdsOf(alert).map(namedOf) : [workload]
  const abouts = subjects.map((subject) => aboutOf(alert, subject?.trouble))
  return describeAlert(alert, abouts.find((about) => Object.keys(about).length > 0) ?? {}, callById)
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

/** Alerts that are named before several are resolved. */
const NAMED_MAX = 5
/** Alerts in one call; the server has the same limit. */
const AT_ONCE = 100

/** Resolve these alerts, a piece at a time; resolves with how many were, or null where a call failed, which is told here. */
async function resolveAll(ids: readonly string[], reason: string): Promise<number | null> {
  let count = 0
  for (const [at, piece] of inPieces(ids, AT_ONCE).entries()) {
    const result = await api.resolveAlerts(piece, reason)
    if (!result.ok) {
      toastFailure(result)
      if (at > 0) toast(say(alertTexts).stopped(at * AT_ONCE, ids.length), 'bad')
      return null
    }
    count += result.value.resolved_count
  }
  return count
}

/** Ask why, then resolve one alert or several. */
export function ResolveDialog({
  alerts,
  onClose,
  onResolved,
}: {
  alerts: readonly AlertRecord[]
  onClose: () => void
  /** Called again when it was undone. */
  onResolved: () => void
}) {
  const words = say(alertTexts)
  const reason = useSignal('')
  const ids = alerts.map(({ id }) => id)
  const [first] = alerts
  const undo = async () => {
    for (const id of ids) {
      const result = await api.reopenAlert(id)
      if (!result.ok) toastFailure(result)
    }
    onResolved()
  }
  const resolve = async () => {
    const count = await resolveAll(ids, reason.value.trim())
    if (count === null) return onResolved()
    const told = ids.length === 1 ? words.resolvedNow : words.resolvedMany(count)
    toast(told, 'ok', { label: words.undo, run: () => void undo() })
    onClose()
    onResolved()
  }
  const title =
    first === undefined || ids.length > 1
      ? words.resolveMany(ids.length)
      : words.resolveTitle(words.rules[first.rule] ?? first.rule, nameOfSubject(first))
  return (
    <FormDialog title={title} onClose={onClose} onSend={resolve} send={words.resolve}>
      {alerts.slice(0, NAMED_MAX).map((alert) => (
        <p key={alert.id}>
          {ids.length > 1 && <b>{nameOfSubject(alert)}: </b>}
          {sayAlert(alert)}
        </p>
      ))}
      {ids.length > NAMED_MAX && <p class="muted">{words.andMore(ids.length - NAMED_MAX)}</p>}
      <p class="muted">{words.resolveLead}</p>
      <TextArea label={words.resolveReason} {...bind(reason)} />
    </FormDialog>
  )
}

/** How bad an alert is, as a shape and a word. */
export function Severity({ alert }: { alert: AlertRecord }) {
  const isCritical = alert.severity === 'critical'
  return (
    <Mark
      tone={alert.resolved_at ? 'idle' : isCritical ? 'bad' : 'warn'}
      // How bad it was; that it is over is said beside it, and a tick here would call that good.
      shape={isCritical ? 'cross' : 'triangle'}
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

/** Whether an alert is open and the reader may resolve it. */
export const mayResolve = (alert: AlertRecord): boolean =>
  !alert.resolved_at &&
  unless('alert:resolve', alert.workload_id || undefined) === null &&
  (!isAboutPeople(alert.rule) || unless('settings:manage') === null)

/** The box with which an alert is chosen. */
function choiceColumn(
  alerts: readonly AlertRecord[],
  chosen: Signal<ReadonlySet<string>>,
): TableColumn<AlertRecord> {
  const words = say(alertTexts)
  const able = alerts.filter(mayResolve)
  const set = (some: readonly AlertRecord[], isChosen: boolean) => {
    const ids = new Set(some.map(({ id }) => id))
    const others = [...chosen.value].filter((id) => !ids.has(id))
    chosen.value = new Set(isChosen ? [...others, ...ids] : others)
  }
  const box = (label: string, some: readonly AlertRecord[]) => (
    <label class="pick-box">
      <input
        type="checkbox"
        aria-label={label}
        checked={some.length > 0 && some.every(({ id }) => chosen.value.has(id))}
        onChange={(event) => set(some, event.currentTarget.checked)}
      />
    </label>
  )
  return {
    title: able.length > 0 && box(words.chooseAll, able),
    look: 'pick',
    cell: (alert) =>
      mayResolve(alert) &&
      box(words.choose(words.rules[alert.rule] ?? alert.rule, nameOfSubject(alert)), [alert]),
  }
}

/** What an alert is about, which leads there. */
function Subject({ of: alert }: { of: AlertRecord }) {
  const { workload_id: id, about } = alert
  if (about) return <WorkloadName name={about.name} place={about.place} href={`/workloads/${id}`} />
  if (id !== '') return <WorkloadLink id={id} look="name" />
  return (
    <a class="name" href={topicOf(alert).href}>
      {topicOf(alert).name}
    </a>
  )
}

/** What happened and what to do, and how the alert ended. */
function Told({ of: alert }: { of: AlertRecord }) {
  const words = say(alertTexts)
  useNamesOf([alert])
  return (
    <>
      <span>{sayAlert(alert)}</span>
      {describeNext(alert) !== '' && (
        <div class="muted">
          <a href={causeHref(alert)}>{describeNext(alert)}</a>
        </div>
      )}
      {alert.resolved_at && (
        <div class="muted">
          {words.resolvedAt} <Ago at={alert.resolved_at} />{' '}
          {alert.resolve_reason && words.because(alert.resolve_reason)}
        </div>
      )}
    </>
  )
}

/** What an alert says beside what stands above all of its group, and a way to its cause. */
function ToldApart({ of: alert, told }: { of: AlertRecord; told: string }) {
  useNamesOf([alert])
  const said = sayAlert(alert)
  return (
    <>
      {said !== told && <span>{said} </span>}
      <a class="link" href={causeHref(alert)}>
        {say(alertTexts).see}
      </a>
    </>
  )
}

/** The columns in which alerts differ that are of one cause: the head above them has said all else (`told`). */
function columnsAlike(told: string): TableColumn<AlertRecord>[] {
  const words = say(alertTexts)
  return [
    { title: words.column.workload, cell: (alert) => <Subject of={alert} /> },
    {
      title: words.column.message,
      look: 'text',
      cell: (alert) => <ToldApart of={alert} told={told} />,
    },
  ]
}

function columnsApart(): TableColumn<AlertRecord>[] {
  const words = say(alertTexts)
  const { column } = words
  return [
    {
      title: column.alert,
      look: 'alert',
      cell: (alert) => (
        <>
          <a href={causeHref(alert)}>{words.rules[alert.rule] ?? alert.rule}</a> <Severity alert={alert} />
        </>
      ),
    },
    { title: column.workload, cell: (alert) => <Subject of={alert} /> },
    { title: column.message, look: 'text', cell: (alert) => <Told of={alert} /> },
  ]
}

function columnsOf(act: AlertActions, told: string | undefined): TableColumn<AlertRecord>[] {
  const { column } = say(alertTexts)
  return [
    ...(told === undefined ? columnsApart() : columnsAlike(told)),
    { title: column.fired, look: 'muted', cell: (alert) => <Ago at={alert.fired_at} /> },
    {
      title: say(commonTexts).actions,
      isTitleHidden: true,
      cell: (alert) => <RowActions alert={alert} act={act} />,
    },
  ]
}

/**
 * Alerts as a table, each leading to its cause; with `chosen` several can be chosen. `told` is the sentence that stands
 * above alerts of one cause; their rows say only what is their own.
 */
export function AlertTable({
  alerts,
  reload,
  chosen,
  label,
  told,
}: {
  alerts: readonly AlertRecord[]
  reload: () => void
  chosen?: Signal<ReadonlySet<string>>
  label?: string
  told?: string | undefined
}) {
  const words = say(alertTexts)
  const { about, open, close } = useDialog<AlertRecord>()
  const reopen = async (id: string) => {
    const result = await api.reopenAlert(id)
    if (!result.ok) return toastFailure(result)
    toast(words.reopened)
    reload()
  }
  const columns = columnsOf({ resolve: open, reopen: (id) => void reopen(id) }, told)
  return (
    <>
      <div class={told === undefined ? 'alert-rows' : 'alert-rows alike'}>
        <Table
          label={label ?? words.title}
          columns={chosen && alerts.some(mayResolve) ? [choiceColumn(alerts, chosen), ...columns] : columns}
          rows={alerts}
          keyOf={({ id }) => id}
        />
      </div>
      {about !== null && <ResolveDialog alerts={[about]} onClose={close} onResolved={reload} />}
    </>
  )
}
