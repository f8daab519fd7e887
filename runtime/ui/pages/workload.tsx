import { nameOf } from '../../../lib/model/workload-names.ts'
import {
  clusterOf,
  deadEndOf,
  environmentOf,
  placeOf,
  readOnlyReason,
  stagingOf,
} from '../../../lib/model/workload-states.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { HealthNode } from '../../../lib/wire/instances.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { describeVersions, fleetTexts } from '../i18n/fleet.ts'
import { formatListed, formatNumber, quoted, shortHash } from '../i18n/format.ts'
import { describeRunning, workloadTexts } from '../i18n/workload.ts'
import { otherwiseRunning, tellingFirst } from '../logic/workloads.ts'
import { ActionLink, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { useStanding } from '../parts/fleet-standing.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Head, Pairs, Tabs } from '../parts/page.tsx'
import { Ago, SeenAgo, StatusMark } from '../parts/state.tsx'
import { headingOf } from '../parts/workload-link.tsx'
import { WorkloadLinks } from '../parts/workload-links.tsx'
import { api } from '../state/endpoints.ts'
import { isShared, lineOf } from '../state/names.ts'
import { can } from '../state/session.ts'
import { useFailing } from '../state/use-failing.ts'
import { isSettled, type Resource, touchesWorkload, useResource } from '../state/use-resource.ts'
import { WorkloadActions } from './workload-actions.tsx'
import { InstancesTab } from './workload-instances.tsx'
import { OverviewTab } from './workload-overview.tsx'
import { WorkloadSentence } from './workload-sentence.tsx'

/** What every tab of a workload gets. */
export interface TabProps {
  workload: WorkloadRecord
  topology: Resource<WorkloadTopology>
  history: Resource<RevisionRecord[]>
  /** What keeps it from pushes and campaigns; read once for all that tells of it. */
  standing: Resource<FleetStanding>
  /** The components that unhealthy instances complain of, by `componentKey`. */
  failing: ReadonlyMap<string, number>
  /** The component that most of them name, as one of them reports it. */
  complaint: HealthNode | null
  /** More instances are unhealthy than were asked: `failing` counts them at least. */
  isFailingPart: boolean
  /** What is said of it as a whole has been read in full, or cannot be. */
  isReadInFull: boolean
}

const TABS = {
  overview: OverviewTab,
  instances: InstancesTab,
  configuration: lazy<TabProps>(async () => (await import('./workload-configuration.tsx')).ConfigurationTab),
  health: lazy<TabProps>(async () => (await import('./workload-health.tsx')).HealthTab),
  history: lazy<TabProps>(async () => (await import('./workload-history.tsx')).HistoryTab),
  activity: lazy<TabProps>(async () => (await import('./workload-activity.tsx')).ActivityTab),
  alerts: lazy<TabProps>(async () => (await import('./workload-alerts.tsx')).AlertsTab),
}

function Facts({ workload }: { workload: WorkloadRecord }) {
  const words = say(workloadTexts)
  const push = workload.current_config_push
  const isManaged = readOnlyReason(workload) === null
  const deadEnd = deadEndOf(workload)
  const running = otherwiseRunning(workload)
  const isAstray = running !== undefined && stagingOf(workload) === null
  const astray = isAstray ? 'warn' : undefined
  const config = !isManaged ? (
    words.notManaged
  ) : deadEnd !== null ? (
    <span class="warn">{words.noneWorks(shortHash(deadEnd))}</span>
  ) : workload.active_config_hash ? (
    <span>
      <span class="mono">{shortHash(workload.active_config_hash)}</span>
      {push?.label && push.config_hash === workload.active_config_hash && ` ${quoted(push.label)}`}
      {running && <span class={astray}> · {describeRunning(workload, running)}</span>}
    </span>
  ) : running ? (
    <span class={astray}>{describeRunning(workload, running)}</span>
  ) : (
    words.noneActive
  )
  const who = push?.pushed_by === 'auto-rollback' ? words.byRollback : words.pushedBy(push?.pushed_by ?? '–')
  return (
    <Pairs
      isInline
      of={[
        [words.facts.instances, formatNumber(workload.connected_instance_count)],
        [
          words.facts.version,
          <span class="mono">{describeVersions(workload.version, workload.version_mix)}</span>,
        ],
        [isAstray && workload.active_config_hash ? words.facts.wanted : words.facts.config, config],
        ...(push
          ? [
              [
                words.facts.pushed,
                <span>
                  <Ago at={push.submitted_at} /> {who}
                </span>,
              ] as const,
            ]
          : []),
        [words.facts.seen, <SeenAgo workload={workload} />],
      ]}
    />
  )
}

function Heading({
  workload,
  history,
  tab,
}: Pick<TabProps, 'workload' | 'history'> & { tab: keyof typeof TABS }) {
  const words = say(workloadTexts)
  const reason = readOnlyReason(workload)
  const control = reason === null ? words.managed : words.readOnly
  const name = nameOf(workload)
  const [title, beside] = tellingFirst(name, placeOf(workload), isShared(name))
  const where = [clusterOf(workload), beside, environmentOf(workload)]
  const around = [...where, control].filter((text) => text !== '')
  const readOnly = reason === null ? null : say(fleetTexts).readOnlyLong[reason]
  return (
    <Head
      title={title}
      inTab={[lineOf(name, placeOf(workload)), ...(tab === 'overview' ? [] : [words.tabs[tab]])].join(' · ')}
      beside={
        <>
          <StatusMark of={workload} />
          <span class="muted">{around.join(' · ')}</span>
        </>
      }
    >
      <WorkloadLinks workload={workload} />
      <WorkloadActions workload={workload} history={history.data} />
      {can('config_safety.approvals') && (
        <ActionLink
          kind="primary"
          href={`/workloads/${workload.id}/change`}
          reason={unless('config:request') ?? readOnly}
        >
          {words.propose}
        </ActionLink>
      )}
    </Head>
  )
}

function WorkloadTabs({ current, of }: { current: keyof typeof TABS; of: TabProps }) {
  const words = say(workloadTexts)
  const { workload, topology, history } = of
  const counts: Partial<Record<keyof typeof TABS, number>> = {
    instances: topology.data?.summary.connected_count ?? workload.connected_instance_count,
    history: history.data?.length ?? 0,
    alerts: workload.open_alert_count,
  }
  const tabs = (Object.keys(TABS) as (keyof typeof TABS)[]).map((id) => {
    const count = counts[id] ?? 0
    // The history is read in part.
    const shown = id === 'history' ? formatListed(count) : formatNumber(count)
    return {
      href: `/workloads/${workload.id}${id === 'overview' ? '' : `/${id}`}`,
      text: count === 0 ? words.tabs[id] : `${words.tabs[id]} ${shown}`,
      isCurrent: id === current,
    }
  })
  return <Tabs label={words.tabsLabel} tabs={tabs} />
}

/** One workload: what is wrong with it, what it is, and seven views. */
export function WorkloadPage({ params }: { params: Record<string, string> }) {
  const id = params['id'] ?? ''
  const touches = touchesWorkload(id)
  const workload = useResource(`workload:${id}`, (abort) => api.workload(id, abort), touches)
  const topology = useResource(`topology:${id}`, (abort) => api.topology(id, abort), touches)
  const history = useResource(
    `history:${id}`,
    (abort) => api.revisions(id, abort),
    (frame) => frame.type !== 'workload_update' && touches(frame),
  )
  const standing = useStanding(id)
  const asked = useFailing(id, topology.data?.instances ?? [])
  const { components: failing, complaint, isPart: isFailingPart, isAwaited } = asked
  const isReadInFull = isSettled(topology) && isSettled(history) && !isAwaited
  const wanted = params['tab'] ?? 'overview'
  const current = (wanted in TABS ? wanted : 'overview') as keyof typeof TABS
  const Tab = TABS[current]
  return (
    <Loaded of={workload} title={headingOf(id)}>
      {(data) => {
        const told = { failing, complaint, isFailingPart, isReadInFull }
        const props = { workload: data, topology, history, standing, ...told }
        return (
          <>
            <Heading workload={data} history={history} tab={current} />
            <Facts workload={data} />
            <WorkloadSentence {...props} />
            <WorkloadTabs current={current} of={props} />
            <Tab {...props} />
          </>
        )
      }}
    </Loaded>
  )
}
