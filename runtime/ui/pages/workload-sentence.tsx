import { useRef } from 'preact/hooks'
import { readOnlyReason, splitOf } from '../../../lib/model/workload-states.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RolloutRecord } from '../../../lib/wire/rollouts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeAftermath } from '../i18n/aftermath.ts'
import { describeError, describeGroup, describeWhy } from '../i18n/causes.ts'
import { changeTexts } from '../i18n/change.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatAgo, formatExact, formatList, quoted, shortHash } from '../i18n/format.ts'
import { sayPart } from '../i18n/parts.ts'
import { describeSomeFailed, describeUnanswered } from '../i18n/push-sentences.ts'
import { describeTripped, rolloutTexts } from '../i18n/rollout.ts'
import { standingTexts } from '../i18n/standing.ts'
import { describeReason } from '../i18n/trouble.ts'
import { describeSplit, workloadTexts } from '../i18n/workload.ts'
import { type Diagnosis, diagnose, toneOf } from '../logic/diagnosis.ts'
import { listComponents, pathOfComponent } from '../logic/health.ts'
import { isBack } from '../logic/pushes.ts'
import { titleOf } from '../logic/requests.ts'
import { isStall, memberCountOf, valueSinceHalt } from '../logic/rollouts.ts'
import { ActionLink, unless } from '../parts/controls.tsx'
import { WayOut } from '../parts/way-out.tsx'
import { useApproved } from '../state/approved.ts'
import { api } from '../state/endpoints.ts'
import { can, holds, may } from '../state/session.ts'
import type { Failing } from '../state/use-failing.ts'
import { isSettled, touchesWorkload, useResource } from '../state/use-resource.ts'
import type { TabProps } from './workload.tsx'
import { canGoBack, RollBack } from './workload-actions.tsx'

type Complained = Pick<Failing, 'components' | 'complaint'>

const COMPONENTS_NAMED = 3
const PATHS_NAMED = 3

const causeOf = (push: RevisionRecord | null) => describeGroup(push?.error_groups?.[0])

/** The error that most unhealthy instances complain of: in their own words where the reader may know those. */
function sayError(of: Failing['complaint']): string {
  if (of === null) return ''
  return of.last_error ? quoted(of.last_error) : describeError(of)
}

/** What unhealthy instances complain of: the component, and its error. */
export function describeComplaint({ components, complaint }: Complained): string {
  return say(workloadTexts).say.complaint(nameComponents(components), sayError(complaint))
}

/**
 * The components that unhealthy instances complain of, and the error. Where the service knows a cause that is not a
 * component's, such as a config that failed, that is why: then it is what every other page says.
 */
function sayUnhealthy({ trouble }: WorkloadRecord, { components, complaint }: Complained): [string, string] {
  if (trouble?.error_cause && !trouble.component) return ['', describeWhy(trouble)]
  return [nameComponents(components), sayError(complaint)]
}

/** Places of a config, as far as a sentence has room; none where the reader may not know them. */
const namePaths = (paths: readonly string[]): string =>
  formatList([...paths.slice(0, PATHS_NAMED), ...(paths.length > PATHS_NAMED ? ['…'] : [])])

const nameComponents = (failing: Failing['components']): string =>
  formatList(listComponents(failing).slice(0, COMPONENTS_NAMED).map(sayPart))

/** Why a rollout stands still. */
function sayHalt(of: RolloutRecord, failing: Complained): [string, string] {
  const words = say(workloadTexts).say
  const { gate = '', value = 0, limit = 0, stage = 0 } = of.halt ?? {}
  const next = words.haltNext(of.rollback_target_hash !== undefined)
  if (isStall(gate)) return [words.rolloutStalled(stage + 1), next]
  const [tripped, allowed] = describeTripped({ gate, value, limit, of: memberCountOf(of, stage) })
  const what = words.rolloutHalted(stage + 1, tripped, allowed, valueSinceHalt(of))
  return gate === 'health' ? [what, `${describeComplaint(failing)} ${next}`.trim()] : [what, next]
}

/** That a config failed and was taken back, and how far that got. */
function sayTakenBack({ failed, trouble }: Diagnosis & { kind: 'rolled_back' }): [string, string] {
  const cause = causeOf(failed) || describeWhy(trouble)
  const back = describeAftermath(trouble.aftermath, cause)
  const { failed_count: count = 0, target_count: total = 0, campaign_id: campaign } = failed ?? {}
  return say(workloadTexts).say.rolledBack(count, total, cause, back, campaign !== undefined)
}

/** Why instances do not run what is assigned, where the service knows. */
const describeDriftOf = ({ trouble }: WorkloadRecord): string =>
  trouble?.kind === 'drifted' ? describeReason(trouble) : ''

/** How many instances are unhealthy, of what, and since when: where it is known, since which push. */
function sayUnhealthyNow(
  { count, total, first, push }: Diagnosis & { kind: 'unhealthy' },
  workload: WorkloadRecord,
  failing: Complained,
): [string, string] {
  const words = say(workloadTexts).say
  const [what, error] = sayUnhealthy(workload, failing)
  if (push === undefined) {
    const since = workload.trouble?.since ? formatAgo(workload.trouble.since) : ''
    return words.unhealthy(count, total, first, what, error, since)
  }
  const { config_hash: hash, submitted_at: at, pushed_by: who, instance_count: since } = push
  return words.unhealthySince(count, total, shortHash(hash), formatAgo(at), who, what, error, since)
}

function toSentence(
  diagnosis: Diagnosis,
  { workload, failing, complaint }: Pick<TabProps, 'workload' | 'failing' | 'complaint'>,
): [string, string] {
  const words = say(workloadTexts).say
  switch (diagnosis.kind) {
    case 'archived':
      return words.archived
    case 'disconnected':
      return words.disconnected(formatAgo(diagnosis.since))
    case 'leaving':
      return words.leaving(formatAgo(diagnosis.since))
    case 'rolled_back':
      return sayTakenBack(diagnosis)
    case 'push_failed': {
      const { push } = diagnosis
      const [what, why] = words.pushFailed(push.failed_count, push.target_count, causeOf(push))
      const isInPart = push.rollout_id !== undefined && workload.connected_instance_count > push.target_count
      const others = isInPart ? say(rolloutTexts).othersSafe : ''
      return [what, [why, describeAftermath(push.aftermath, causeOf(push)), others].filter(Boolean).join(' ')]
    }
    case 'some_failed':
      return describeSomeFailed(diagnosis.push)
    case 'rollout_halted':
      return sayHalt(diagnosis.rollout, { components: failing, complaint })
    case 'rollout':
      return words.rollout(diagnosis.push.applied_count)
    case 'unhealthy':
      return sayUnhealthyNow(diagnosis, workload, { components: failing, complaint })
    case 'silent':
      return words.silent(diagnosis.push.target_count)
    case 'applying':
      return [
        words.applying(diagnosis.push.applied_count, diagnosis.push.target_count),
        describeUnanswered(diagnosis.push.no_status_count),
      ]
    case 'split':
      return [`${describeSplit(diagnosis.split)}.`, words.splitNext]
    case 'drifted':
      return words.drifted(diagnosis.count, diagnosis.total, describeDriftOf(workload))
    case 'differs': {
      const { count, total, paths } = diagnosis
      const since = workload.altered_since ? formatAgo(workload.altered_since) : ''
      return words.differs(count, total, namePaths(paths), since)
    }
    case 'degraded':
      return words.degraded
    case 'approval':
      return words.approval(diagnosis.count)
    case 'read_only':
      return words.readOnly[diagnosis.reason]
    case 'outdated':
      return words.outdated(diagnosis.version)
    case 'nothing_assigned':
      return words.nothingAssigned
    case 'fine':
      return words.fine(diagnosis.total)
  }
}

function toAction(diagnosis: Diagnosis, id: string): { href: string; text: string } | null {
  const { see } = say(workloadTexts)
  const base = `/workloads/${id}`
  const pushHref = (hash: string, pushId: string) => `${base}/pushes/${hash}?push=${pushId}`
  switch (diagnosis.kind) {
    case 'rolled_back':
      return {
        href: pushHref(diagnosis.trouble.config_hash ?? '', diagnosis.trouble.push_id ?? ''),
        text: see.push,
      }
    case 'push_failed':
    case 'some_failed':
    case 'silent':
    case 'applying':
      return { href: pushHref(diagnosis.push.config_hash, diagnosis.push.push_id), text: see.push }
    case 'rollout_halted':
      return { href: `${base}/rollouts/${diagnosis.rollout.id}`, text: see.stages }
    case 'rollout':
      return { href: `${base}/rollouts/${diagnosis.push.rollout_id}`, text: see.stages }
    case 'split':
      return { href: `${base}/rollouts/${diagnosis.split.rolloutId}`, text: see.stages }
    case 'unhealthy':
    case 'degraded':
      return { href: `${base}/health`, text: see.health }
    case 'drifted':
      return { href: `${base}/instances`, text: see.instances }
    case 'differs':
      return { href: `${base}/configuration`, text: see.configuration }
    case 'approval':
      return can('config_safety.approvals') && may('config:request')
        ? { href: `/approvals?workload=${id}`, text: see.approval }
        : null
    case 'outdated':
      return can('config_safety.version_intelligence') ? { href: '/versions', text: see.versions } : null
    default:
      return null
  }
}

/** A link to the lines of the config that set up the component that most unhealthy instances complain of. */
function ToLines({ id, failing }: { id: string; failing: TabProps['failing'] }) {
  const [component] = listComponents(failing)
  if (component === undefined || !may('config:read_content')) return null
  return (
    <ActionLink href={`/workloads/${id}/configuration?at=${encodeURIComponent(pathOfComponent(component))}`}>
      {say(workloadTexts).see.lines}
    </ActionLink>
  )
}

/** The campaign that brought what failed; for those who may read campaigns. */
function ToCampaign({ of }: { of: Diagnosis }) {
  const failed = of.kind === 'rolled_back' ? of.failed : of.kind === 'push_failed' ? of.push : null
  if (failed?.campaign_id === undefined || !holds('config:request')) return null
  return <ActionLink href={`/campaigns/${failed.campaign_id}`}>{say(workloadTexts).see.campaign}</ActionLink>
}

/** The text that a repair helps: what failed, what a rollout left, or what runs, where a part of that complains. */
function hashToCorrect(of: Diagnosis, { workload, failing }: Pick<Told, 'workload' | 'failing'>) {
  if (of.kind === 'rolled_back') return of.trouble.config_hash
  if (of.kind === 'push_failed') return of.push.config_hash
  if (of.kind === 'split') return of.split.hash
  if (of.kind !== 'unhealthy' || listComponents(failing).length === 0) return undefined
  if (readOnlyReason(workload) !== null) return undefined
  const { active_config_hash: active } = workload
  const split = splitOf(workload)
  return split !== null && (active === undefined || split.hash === of.push?.config_hash) ? split.hash : active
}

/** Whether another config would put it right: then the reader is told what stands in the way of one. */
const isMendedByConfig = ({ kind }: Diagnosis, workload: TabProps['workload']): boolean =>
  readOnlyReason(workload) === null &&
  ['push_failed', 'some_failed', 'rolled_back', 'rollout_halted', 'split', 'unhealthy'].includes(kind)

/** To the editor with the text of which a repair is what helps. */
function Correct({
  of,
  told,
  isFirst,
}: {
  of: Diagnosis
  told: Pick<Told, 'workload' | 'failing'>
  isFirst: boolean
}) {
  const hash = hashToCorrect(of, told)
  const { id } = told.workload
  if (hash === undefined || !may('config:read_content')) return null
  return (
    <ActionLink
      href={`/workloads/${id}/change?hash=${hash}`}
      reason={unless('config:request')}
      kind={isFirst ? 'primary' : ''}
    >
      {say(workloadTexts).see.correct}
    </ActionLink>
  )
}

/** To the editor with what others report to run, after a push that failed where there is nothing to go back to. */
function FromOthers({
  of,
  workload: { id },
  topology,
}: { of: Diagnosis } & Pick<TabProps, 'workload' | 'topology'>) {
  if (of.kind !== 'push_failed' || of.push.aftermath?.kind !== 'nowhere_to_go') return null
  const others = topology.data?.instances.some(
    ({ reported_config_hash: runs, effective_config_hash: applied }) =>
      runs !== undefined && applied !== of.push.config_hash,
  )
  if (others !== true || !may('config:read_content')) return null
  return (
    <ActionLink href={`/workloads/${id}/change?hash=reported`} reason={unless('config:request')}>
      {say(workloadTexts).see.others}
    </ActionLink>
  )
}

/** A change that waits for approval, beside whatever else is wrong: it may be what puts that right. */
function Waiting({ of: { id, waiting_approval_count: count } }: { of: TabProps['workload'] }) {
  const diagnosis: Diagnosis = { kind: 'approval', count }
  const action = toAction(diagnosis, id)
  return (
    <div class="also">
      <p>{say(workloadTexts).say.approval(count)[0]}</p>
      {action && <ActionLink href={action.href}>{action.text}</ActionLink>}
    </div>
  )
}

/** How an aborted rollout left it, beside what is worse. */
function LeftSplit({ of }: { of: TabProps['workload'] }) {
  const split = splitOf(of)
  if (split === null) return null
  return (
    <div class="also">
      <p>{describeSplit(split)}.</p>
      <ActionLink href={`/workloads/${of.id}/rollouts/${split.rolloutId}`}>
        {say(workloadTexts).see.stages}
      </ActionLink>
    </div>
  )
}

/** Changes that are approved and that nobody has pushed: who let them through, since when, and the way to the push. */
function Approved({ of, id }: { of: Told['approved']; id: string }) {
  const words = say(workloadTexts)
  return of.map((one) => (
    <div key={one.id} class="also">
      <p>
        {words.say.approved(
          titleOf(one),
          formatList(one.approvals.map(({ by }) => by)),
          formatAgo(one.approved_at ?? one.created_at),
        )}{' '}
        {one.approvals_short === true && say(changeTexts).approvalsShort}
      </p>
      <ActionLink href={`/workloads/${id}/changes/${one.id}`}>
        {may('workload:push_config') ? words.see.toPush : words.see.approval}
      </ActionLink>
    </div>
  ))
}

/** That a freeze holds up what is pushed to it. */
const Frozen = ({ of: { until, reason } }: { of: NonNullable<Told['freeze']> }) => (
  <div class="also">
    <p>
      {say(standingTexts).frozen(formatExact(until))} {quoted(reason)}
    </p>
  </div>
)

/** What the sentence is made of, as it was when all of it had been read. */
type Told = Pick<TabProps, 'workload' | 'history' | 'failing' | 'complaint'> & {
  diagnosis: Diagnosis
  approved: readonly ApprovalRecord[]
  freeze: FleetStanding['freeze'] | null
}

/** What there is to say, once all that it is made of is there: a cause that came later would turn it into another. */
function useTold({ workload, topology, history, standing, ...of }: TabProps): Told | null {
  const { failing, complaint, isReadInFull } = of
  const told = useRef<Told | null>(null)
  const push = workload.current_config_push
  const rolloutId = push?.status === 'pending' ? push.rollout_id : undefined
  const rollout = useResource(
    rolloutId ? `rollout:${rolloutId}` : null,
    (abort) => api.rollout(workload.id, rolloutId ?? '', abort),
    touchesWorkload(workload.id),
  )
  const approved = useApproved(workload.id)
  if (isReadInFull && [rollout, approved, standing].every(isSettled)) {
    const diagnosis = diagnose(workload, topology.data, history.data ?? [], rollout.data)
    const beside = { approved: approved.data ?? [], freeze: standing.data?.freeze ?? null }
    told.current = { workload, history, failing, complaint, diagnosis, ...beside }
  }
  return told.current?.workload.id === workload.id ? told.current : null
}

/** One sentence that says what is wrong and what to do next. */
export function WorkloadSentence(of: TabProps) {
  const told = useTold(of)
  if (told === null)
    return (
      <div class="say t-idle" role="status">
        <p>{say(commonTexts).loading}</p>
      </div>
    )
  const { workload, history, failing, complaint, diagnosis } = told
  const [what, next] = toSentence(diagnosis, { workload, failing, complaint })
  const action = toAction(diagnosis, workload.id)
  const isUrged =
    diagnosis.kind === 'unhealthy' &&
    diagnosis.push !== undefined &&
    canGoBack({ workload, history: history.data })
  return (
    <div class={`say t-${toneOf(diagnosis)}`} role="status">
      <p>
        <b>{what}</b> {next}
      </p>
      {isUrged && <RollBack workload={workload} history={history.data} isUrged />}
      <Correct of={diagnosis} told={told} isFirst={!isUrged} />
      {diagnosis.kind === 'unhealthy' && <ToLines id={workload.id} failing={failing} />}
      <ToCampaign of={diagnosis} />
      <FromOthers of={diagnosis} workload={workload} topology={of.topology} />
      {action && <ActionLink href={action.href}>{action.text}</ActionLink>}
      {diagnosis.kind !== 'split' && <LeftSplit of={workload} />}
      {diagnosis.kind !== 'approval' && workload.waiting_approval_count > 0 && <Waiting of={workload} />}
      {isMendedByConfig(diagnosis, workload) ? (
        <WayOut
          workload={workload}
          canGoBack={!isBack(workload.trouble?.aftermath) && canGoBack({ workload, history: history.data })}
          freeze={told.freeze}
        />
      ) : (
        told.freeze && <Frozen of={told.freeze} />
      )}
      <Approved of={told.approved} id={workload.id} />
    </div>
  )
}
