import { isOpen, readOnlyReason } from '../../../lib/model/workload-states.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatDuration } from '../i18n/format.ts'
import { pushTexts } from '../i18n/push.ts'
import { describeReason } from '../i18n/trouble.ts'
import { whyClassTexts } from '../i18n/why-class.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { groupOdd, instanceName, isAbout } from '../logic/instances.ts'
import { sharesOf, stateOf } from '../logic/pushes.ts'
import { identityOf, labelsBesideIdentity, workableHashOf } from '../logic/workloads.ts'
import { FleetStandingNote } from '../parts/fleet-standing.tsx'
import { Icon } from '../parts/icons.tsx'
import { describeFault, describeOddity } from '../parts/instance-words.ts'
import type { KeptInGitProps } from '../parts/kept-in-git.tsx'
import { lazy } from '../parts/lazy.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Pairs } from '../parts/page.tsx'
import { Ago, PushMark, Track } from '../parts/state.tsx'
import { WhyClass } from '../parts/why-class.tsx'
import { api } from '../state/endpoints.ts'
import { can, may } from '../state/session.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'
import { isNarrow } from '../state/viewport.ts'
import type { TabProps } from './workload.tsx'
import { WorkloadLeaving } from './workload-actions.tsx'

const Pipelines = lazy<{ yaml: string; failing: TabProps['failing']; isPart: boolean }>(
  async () => (await import('../parts/pipelines.tsx')).Pipelines,
)

const KeptInGit = lazy<KeptInGitProps>(async () => (await import('../parts/kept-in-git.tsx')).KeptInGit)

/** The config to draw: what is assigned and can be run, else what the first instance reports to run. */
function usePipelineYaml({ workload, topology }: Pick<TabProps, 'workload' | 'topology'>): {
  yaml: string | undefined
  isLoading: boolean
} {
  const hash = workableHashOf(workload)
  const mayRead = may('config:read_content')
  const revision = useResource(hash && mayRead ? `revision:${workload.id}:${hash}` : null, (abort) =>
    api.revision(workload.id, hash ?? '', abort),
  )
  const first = hash || !mayRead ? undefined : topology.data?.instances[0]?.instance_uid
  const detail = useResource(first ? `instance:${workload.id}:${first}` : null, (abort) =>
    api.instance(workload.id, first ?? '', abort),
  )
  const isLoading = mayRead && (hash ? revision.isLoading : first ? detail.isLoading : topology.isLoading)
  return { yaml: revision.data?.content ?? detail.data?.effective_config, isLoading }
}

function PipelinesPane(props: Pick<TabProps, 'workload' | 'topology' | 'failing' | 'isFailingPart'>) {
  const words = say(workloadTexts)
  const { yaml, isLoading } = usePipelineYaml(props)
  return (
    <section>
      <h2>{words.pipelines}</h2>
      <div class="pane">
        {!may('config:read_content') ? (
          <LeftOutFor permission="config:read_content" />
        ) : yaml ? (
          <Pipelines yaml={yaml} failing={props.failing} isPart={props.isFailingPart} />
        ) : (
          <p class="muted">{isLoading ? say(commonTexts).loading : words.noPipelines}</p>
        )}
      </div>
    </section>
  )
}

/** The shares of a push and how long they took. */
function LastPush({ push, workload }: { push: RevisionRecord; workload: WorkloadRecord }) {
  const { id: workloadId } = workload
  const words = say(workloadTexts)
  const convergence = useResource(
    `convergence:${push.push_id}`,
    (abort) => api.convergence(workloadId, push.config_hash, push.push_id, abort),
    touchesWorkload(workloadId),
  )
  // While a push goes out in stages, the instances of later stages wait as well, and the times are of the present
  // stage only. Where the stages were given up nobody waits, and the others are those that it did not come to.
  const isAborted = push.rollout_status === 'aborted'
  const isInStages = push.rollout_id !== undefined && (isOpen(push) || isAborted)
  const total = isInStages
    ? Math.max(push.target_count, workload.connected_instance_count)
    : push.target_count
  const { applied, failed, silent, waiting } = sharesOf(push)
  // Where nobody has applied it there is no time to tell.
  const times = isInStages || applied === 0 ? undefined : convergence.data?.times_ms
  return (
    <div class="stack tight">
      <div>
        <a
          class="mono link"
          href={`/workloads/${workloadId}/pushes/${push.config_hash}?push=${push.push_id}`}
        >
          {push.config_hash.slice(0, 7)}
        </a>{' '}
        <PushMark state={stateOf(push)} /> <Ago at={push.submitted_at} />
      </div>
      <Track
        parts={[
          ['ok', push.applied_count],
          ['bad', push.failed_count],
        ]}
        total={total}
      />
      <div class="muted">
        {words.pushCounts(applied, failed, isAborted ? 0 : waiting + total - push.target_count)}
        {isAborted && ` ${say(pushTexts).of(total)}`}
        {silent > 0 && ` · ${say(pushTexts).noAnswer(silent)}`}
      </div>
      {times && (
        <div class="quant">
          {(['p50', 'p90', 'p99', 'p100'] as const).map((key) => (
            <span key={key}>
              <b>{times[key] === null ? '–' : formatDuration(times[key])}</b>
              {say(pushTexts).timeTo(key.slice(1))}
            </span>
          ))}
        </div>
      )}
    </div>
  )
}

function OddInstances({ workload, topology }: TabProps) {
  const words = say(workloadTexts)
  const summary = topology.data?.summary
  if (!summary) return null
  const groups = groupOdd(topology.data?.instances ?? [], summary, describeOddity, describeFault)
  if (groups.length === 0) return <p class="muted">{words.noneDiffer}</p>
  return (
    <ul class="list">
      {groups.slice(0, ODD_SHOWN).map((group) => {
        const { about, instances } = group
        const isBad = instances[0]?.remote_config_status?.status === 'failed'
        const ofAll = isAbout(workload.trouble, group, groups) ? describeReason(workload.trouble) : ''
        const why = group.why === '' ? ofAll : group.why
        return (
          <li key={`${about.join()}${why}`}>
            <span class={isBad ? 'bad' : 'warn'}>
              <Icon shape={isBad ? 'cross' : 'triangle'} />
            </span>
            <div>
              <div class="who">
                {instances.slice(0, ODD_NAMED).map((instance) => (
                  <a
                    key={instance.instance_uid}
                    class="mono link"
                    href={`/workloads/${workload.id}/health?instance=${instance.instance_uid}`}
                  >
                    {instanceName(instance, workload)}
                  </a>
                ))}
                {instances.length > ODD_NAMED && (
                  <a class="link" href={`/workloads/${workload.id}/instances`}>
                    {words.moreAlike(instances.length - ODD_NAMED)}
                  </a>
                )}
              </div>
              <div class="muted">{[...about, ...(why === '' ? [] : [why])].join(' · ')}</div>
            </div>
          </li>
        )
      })}
    </ul>
  )
}

/** How many kinds of instances that stand out are shown, and how many of each are named. */
const ODD_SHOWN = 6
const ODD_NAMED = 3

/** Labels as links to the workloads that have them. */
function Labels({ of }: { of: readonly [string, string][] }) {
  return (
    <div class="chips">
      {of.map(([key, value]) => (
        <a key={key} class="chip quiet wrap" href={`/?q=${encodeURIComponent(`${key}:${value}`)}`}>
          {key}={value}
        </a>
      ))}
    </div>
  )
}

/** The pipelines, the last push, and what stands out. */
export function OverviewTab(props: TabProps) {
  const { workload, history, standing } = props
  const words = say(workloadTexts)
  const push = workload.current_config_push ?? history.data?.[0]
  const labels = labelsBesideIdentity(workload)
  const differing = (
    <section class="pane">
      <h2>{words.differ}</h2>
      <OddInstances {...props} />
    </section>
  )
  const lastPush = (
    <section class="pane">
      <h2>{words.lastPush}</h2>
      {push ? <LastPush push={push} workload={workload} /> : <p class="muted">{words.noPush}</p>}
      <KeptInGit workload={workload} standing={standing} />
      <FleetStandingNote workloadId={workload.id} standing={standing} isFreezeTold />
    </section>
  )
  return (
    <div class="two">
      <div class="stack">
        {/* Where all is below each other, the instances that fail come first, then what was done to them. */}
        {isNarrow.value && differing}
        {isNarrow.value && lastPush}
        <PipelinesPane {...props} />
        <section class="ground">
          <h2>{words.identity}</h2>
          <Pairs
            of={[
              ...identityOf(workload).map(
                ([key, value]) => [words.identityKey[key] ?? key, <span class="mono">{value}</span>] as const,
              ),
              ['id', <span class="mono">{workload.id}</span>],
              ...(can('config_safety.approvals') && readOnlyReason(workload) === null
                ? [[say(whyClassTexts).title, <WhyClass workload={workload} />] as const]
                : []),
              ...(labels.length === 0 ? [] : [[words.labels, <Labels of={labels} />] as const]),
            ]}
          />
        </section>
      </div>
      <div>
        {!isNarrow.value && lastPush}
        {!isNarrow.value && differing}
        <WorkloadLeaving workload={workload} />
      </div>
    </div>
  )
}
