import { type Signal, useSignal } from '@preact/signals'
import { type ComponentChildren, Fragment } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { type AlertGroup, sinceOf } from '../../../lib/model/alert-groups.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { alertTexts, describeAlertGroup, describeNext, describeWhere } from '../i18n/alerts.ts'
import { say } from '../i18n/define.ts'
import { formatList } from '../i18n/format.ts'
import { rolloutTexts } from '../i18n/rollout.ts'
import { type AlertBand, bandAlerts } from '../logic/alerts.ts'
import {
  AlertTable,
  mayResolve,
  nameOfSubject,
  ResolveDialog,
  Severity,
  sayAlert,
  useNamesOf,
} from '../parts/alert-table.tsx'
import { Action } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head } from '../parts/page.tsx'
import { Ago } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { namesVersion } from '../state/names.ts'
import { query, setQuery } from '../state/router.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'

/** The alerts that were chosen, and what can be done with them. */
function ChosenBar({
  alerts,
  chosen,
  onResolve,
}: {
  alerts: readonly AlertRecord[]
  chosen: Signal<ReadonlySet<string>>
  onResolve: () => void
}) {
  const words = say(alertTexts)
  if (alerts.length === 0) return null
  return (
    <section class="selection" aria-label={words.bar}>
      <span role="status">{words.chosen(alerts.length)}</span>
      <Action
        kind="plain"
        onClick={() => {
          chosen.value = new Set()
        }}
      >
        {words.clear}
      </Action>
      <Action kind="primary" onClick={onResolve}>
        {words.resolveMany(alerts.length)}
      </Action>
    </section>
  )
}

/** Rows that are shown on demand, and made only then: there may be thousands. */
function OnDemand({ count, children }: { count: number; children: () => ComponentChildren }) {
  const isOpen = useSignal(false)
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>{say(alertTexts).showThem(count)}</summary>
      {isOpen.value && children()}
    </details>
  )
}

/** Alerts with one cause: what they have in common, and a button for all of them. */
function Group({
  group,
  onResolve,
  table,
}: {
  group: AlertGroup
  onResolve: (alerts: readonly AlertRecord[]) => void
  table: (rows: readonly AlertRecord[], label: string, told: string) => ComponentChildren
}) {
  const words = say(alertTexts)
  const { alerts, rule, common } = group
  const able = useMemo(() => alerts.filter(mayResolve), [alerts])
  useNamesOf(alerts.slice(0, common.kind === 'outage' ? OPEN_MAX : ASKED_MAX))
  const label = describeAlertGroup(rule, common)
  // What was lost at once says the same, but for what each names.
  const told = tellOnce(alerts.length > SAID_MAX ? alerts.slice(0, SAID_MAX) : alerts)
  return (
    <section class="alert-group" aria-label={label}>
      <div class="head">
        <h2>
          <Severity alert={worstOf(group)} /> {label}{' '}
          <span class="muted">
            {common.kind === 'outage' ? describeWhere(common.outage) : words.count(alerts.length)} ·{' '}
            <Ago at={common.kind === 'outage' ? common.outage.since : earliestOf(group)} />
          </span>
        </h2>
        {able.length > 0 && <Action onClick={() => onResolve(able)}>{words.resolveMany(able.length)}</Action>}
      </div>
      {alerts.length > OPEN_MAX && <p>{nameFirst(alerts)}</p>}
      <p class="muted told">{[told, describeNext(alerts[0]!)].filter((part) => part !== '').join(' ')}</p>
      {alerts.length <= OPEN_MAX ? (
        table(alerts, `${words.title}: ${label}`, told)
      ) : (
        <OnDemand count={alerts.length}>{() => table(alerts, `${words.title}: ${label}`, told)}</OnDemand>
      )}
    </section>
  )
}

/** Alerts with one cause together, the others in a table of their own; several are resolved at once. */
function GroupedAlerts({ alerts, reload }: { alerts: readonly AlertRecord[]; reload: () => void }) {
  const words = say(alertTexts)
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const { about, open, close } = useDialog<readonly AlertRecord[]>()
  // What was resolved meanwhile, or does not fit the search any more, is not acted on.
  const picked = alerts.filter(({ id, resolved_at: at }) => !at && chosen.value.has(id))
  const bands = useMemo(() => bandAlerts(alerts), [alerts])
  const hasGroups = bands.some(({ groups }) => groups.length > 0)
  const table = (rows: readonly AlertRecord[], label: string, told?: string) => (
    <AlertTable alerts={rows} reload={reload} chosen={chosen} label={label} told={told} />
  )
  // Each table has a name of its own.
  const titleOf = ({ kind }: AlertBand) => (!hasGroups ? words.title : words.bandTitle[kind])
  return (
    <>
      <ChosenBar alerts={picked} chosen={chosen} onResolve={() => open(picked)} />
      {bands.map((band) => (
        <Fragment key={band.kind}>
          {band.groups.map((group) => (
            <Group key={group.key} group={group} onResolve={open} table={table} />
          ))}
          {band.others.length > 0 && table(band.others, titleOf(band))}
        </Fragment>
      ))}
      {about !== null && (
        <ResolveDialog
          alerts={about}
          onClose={close}
          onResolved={() => {
            chosen.value = new Set()
            reload()
          }}
        />
      )}
    </>
  )
}

/** The sentence that most alerts of a group say, word for word; empty where each says its own. */
function tellOnce(alerts: readonly AlertRecord[]): string {
  const counts = new Map<string, number>()
  for (const said of alerts.map((alert) => sayAlert(alert))) counts.set(said, (counts.get(said) ?? 0) + 1)
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most !== undefined && most[1] > 1 ? most[0] : ''
}

/** What the first alerts of a group are about. */
function nameFirst(alerts: readonly AlertRecord[]): string {
  const names = alerts.slice(0, OPEN_MAX).map((alert) => nameOfSubject(alert))
  return formatList([...names, say(rolloutTexts).more(alerts.length - names.length)])
}

/** The rows of a group of more alerts than these are shown on demand. */
const OPEN_MAX = 5
/** Alerts of a group among which the sentence is looked for that most of them say. */
const SAID_MAX = 300
/** Those of them whose workloads are asked what they say themselves; of an outage they say nothing more. */
const ASKED_MAX = 100
/** More alerts than these are read again only once changes were gathered for longer. */
const MANY = 1_000
const NONE: readonly AlertRecord[] = []
const soonFor = (count: number): number => (count > MANY ? 3_000 : 250)

const worstOf = ({ alerts }: AlertGroup): AlertRecord =>
  alerts.find(({ severity }) => severity === 'critical') ?? alerts[0]!
const earliestOf = ({ alerts }: AlertGroup): string => alerts.map(sinceOf).sort()[0]!

/** What each alert is found by. Made once for all that is typed: of thousands it takes longer than a key should. */
function useTexts(alerts: readonly AlertRecord[]): (alert: AlertRecord) => string {
  const { rules } = say(alertTexts)
  return useMemo(() => {
    const texts = new Map<AlertRecord, string>()
    return (alert) => {
      const known = texts.get(alert)
      if (known !== undefined) return known
      const { rule, severity, message, about } = alert
      const place = about === undefined ? '' : `${about.environment} ${about.cluster}`
      const text = `${rule} ${rules[rule]} ${severity} ${message} ${sayAlert(alert)} ${nameOfSubject(alert)} ${place}`
      texts.set(alert, text.toLowerCase())
      return texts.get(alert)!
    }
    // What alerts say depends on what is known of their workloads, which may have come.
  }, [alerts, rules, namesVersion.value])
}

/** Open alerts, those with one cause together, resolved ones on demand. */
export function AlertsPage() {
  const words = say(alertTexts)
  const withResolved = query.value.get('resolved') === 'true'
  const wanted = (query.value.get('q') ?? '').toLowerCase()
  const count = useRef(0)
  const alerts = useResource(
    `alerts:${withResolved}`,
    (abort) => api.alerts(withResolved, abort),
    (frame) => frame.type === 'alert_update' || frame.type === 'workload_removed',
    () => soonFor(count.current),
  )
  const all = alerts.data ?? NONE
  count.current = all.length
  const textOf = useTexts(all)
  const shown = useMemo(
    () => (wanted === '' ? all : all.filter((alert) => textOf(alert).includes(wanted))),
    [all, textOf, wanted],
  )
  const counted =
    shown.length < all.length ? words.countOf(shown.length, all.length) : words.count(all.length)
  return (
    <>
      <Head title={words.title} beside={alerts.data && <span class="muted">{counted}</span>} />
      <p class="muted">{words.lead}</p>
      <div class="tools" style={{ marginTop: '12px' }}>
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
        {() => {
          if (all.length === 0) return <p class="empty">{words.none}</p>
          if (shown.length === 0) return <p class="empty">{words.noneFit}</p>
          return <GroupedAlerts alerts={shown} reload={alerts.reload} />
        }}
      </Loaded>
    </>
  )
}
