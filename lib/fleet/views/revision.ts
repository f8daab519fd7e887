import { judgeOutcome } from '../../model/push-outcome.ts'
import type { PushTarget } from '../../store/push-targets.ts'
import type { AgentError, Push } from '../../store/pushes.ts'
import type { StoredRollout } from '../../store/rollouts.ts'
import type {
  PushAftermath,
  PushInstanceState,
  RevisionInstanceStatus,
  RevisionRecord,
  RevisionTimelineEntry,
  WorstHealth,
} from '../../wire/revisions.ts'
import { STATUS_TIMEOUT_TEXT } from '../../wire/values.ts'
import { shownStatus } from '../decide/rollout-standing.ts'
import type { FollowedPush } from '../state/model.ts'
import { type ErrorGroup, errorFields, type TextAccess, toErrorGroups } from './errors.ts'

/** How long an instance may say nothing before the revision shows that. */
export const STATUS_TIMEOUT_MS = 30_000
const CLOSED_TEXT = { superseded: 'Another push took its place', aborted: 'Aborted' } as const
/** The error that is shown for an instance that says nothing; its text is muster's own. */
const TIMEOUT_ERROR: AgentError = {
  cause: 'apply_timeout',
  title: 'Config apply timed out',
  parameters: {},
  text: STATUS_TIMEOUT_TEXT,
}
/** Instances that one revision shows; all of them are in its convergence. */
export const INSTANCES_MAX = 200

/** What a revision's record is made of beside the push itself. */
export interface RevisionSurroundings {
  /** '' when the hash has no label. */
  label: string
  isCurrent: boolean
  isPrevious: boolean
  isLastKnownGood: boolean
  /** The rollout, where the push is one in stages and it is known; else null. */
  rollout: StoredRollout | null
  groups: readonly ErrorGroup[]
  /** What was done about its failure; null for one that has not failed. */
  aftermath: PushAftermath | null
  now: Date
}

/** When an open push is shown as timed out; null for a push that is not open any more. */
export function timeoutAt(push: Push): Date | null {
  if (push.status !== 'pending' || push.phase === 'superseded' || push.phase === 'aborted') return null
  return new Date(push.submittedAt.getTime() + STATUS_TIMEOUT_MS)
}

/**
 * How far a push got, in the states that clients of the API know. That it was superseded or aborted, or that no target
 * will answer, is shown in other fields.
 */
export function reachedState({
  phase,
  counts,
  sentAt,
}: Push): 'submitted' | 'sent' | 'applying' | 'applied' | 'failed' {
  if (phase !== 'superseded' && phase !== 'aborted' && phase !== 'no_status') return phase
  if (counts.applying + counts.applied > 0) return 'applying'
  return sentAt === null ? 'submitted' : 'sent'
}

/** Targets that were offered the config and have said nothing yet. */
function silentCount({ counts }: Push): number {
  return Math.max(
    0,
    counts.target - counts.applying - counts.applied - counts.failed - counts.straggler - counts.gone,
  )
}

/** Targets that did not answer in time, or stopped answering. */
const timedOutCount = (push: Push, now: Date): number => {
  const limit = timeoutAt(push)
  return (limit !== null && now >= limit ? silentCount(push) : 0) + push.counts.straggler
}

/** The targets of a push that goes on which have said nothing in the time that they have for that. */
export function* unansweredTargets(
  { push, awaiting }: Pick<FollowedPush, 'push' | 'awaiting'>,
  now: Date,
): Generator<PushTarget> {
  if (timeoutAt(push) === null) return
  const before = now.getTime() - STATUS_TIMEOUT_MS
  // Each from its own offer on: a stage begins long after its push, and who joined was offered it as they came.
  for (const target of awaiting.keys())
    if (target.state === 'offered' && target.offeredAt.getTime() <= before) yield target
}

/** How a config did at its worst, as it stands in records; nothing where no instance was seen unhealthy under it. */
export function toWorstHealth(push: Push | null): { worst_health?: WorstHealth } {
  if (push === null || push.unhealthyAt === null) return {}
  const { unhealthyCount, unhealthyOf, unhealthyAt } = push
  return {
    worst_health: {
      unhealthy_count: unhealthyCount,
      instance_count: unhealthyOf,
      at: unhealthyAt.toISOString(),
    },
  }
}

/** One push as lists, records and hub frames show it: without content and without instances. */
export function toRevision(push: Push, around: RevisionSurroundings, texts: TextAccess): RevisionRecord {
  const { counts } = push
  const timedOut = timedOutCount(push, around.now)
  const excluded = Object.values(push.excluded).reduce((sum, count) => sum + count, 0)
  const groups = around.groups.length > 0 ? around.groups : groupsOfPush(push, timedOut)
  return {
    workload_id: push.workloadId,
    config_id: push.hash,
    config_hash: push.hash,
    push_id: push.pushId,
    seq: push.seq,
    status: push.status,
    phase: push.phase,
    outcome: judgeOutcome(push),
    applied_at: push.submittedAt.toISOString(),
    submitted_at: push.submittedAt.toISOString(),
    ...(push.sentAt === null ? {} : { sent_at: push.sentAt.toISOString() }),
    updated_at: push.updatedAt.toISOString(),
    pushed_by: push.pushedBy,
    ...(around.label === '' ? {} : { label: around.label }),
    ...errorMessage(push, texts),
    timed_out_waiting_for_opamp_status: timedOut > 0,
    opamp_status_timeout_at: new Date(push.submittedAt.getTime() + STATUS_TIMEOUT_MS).toISOString(),
    ...(timedOut > 0 ? { timeout_message: STATUS_TIMEOUT_TEXT } : {}),
    is_rollback: push.kind !== 'approval',
    ...toTakenBack(push),
    ...(push.approvalId === null ? {} : { approval_id: push.approvalId }),
    ...(push.campaignId === null ? {} : { campaign_id: push.campaignId }),
    ...(around.rollout === null
      ? {}
      : { rollout_id: around.rollout.id, rollout_status: shownStatus(around.rollout) }),
    target_count: counts.target,
    applied_count: counts.applied,
    failed_count: counts.failed,
    pending_count: Math.max(0, counts.target - counts.applied - counts.failed),
    timed_out_count: timedOut,
    no_status_count: timedOut + counts.gone,
    ...(excluded === 0 ? {} : { excluded_count: excluded }),
    ...(groups.length === 0 ? {} : { error_groups: toErrorGroups(groups, push.hash, texts) }),
    ...(around.aftermath === null ? {} : { aftermath: around.aftermath }),
    ...toWorstHealth(push),
    timeline: toTimeline(push, timedOut),
    is_current: around.isCurrent,
    is_previous: around.isPrevious,
    is_last_known_good: around.isLastKnownGood,
    is_failed_candidate: push.status === 'failed',
    content_available: true,
  }
}

/** What a rollback takes back. */
const toTakenBack = ({ rollbackOfPushId, failedHash }: Push) => ({
  ...(rollbackOfPushId === null ? {} : { rollback_of_push_id: rollbackOfPushId }),
  ...(failedHash === null ? {} : { failed_config_hash: failedHash }),
})

/** The title is for everyone; the agent's own words take its place for those who may read them. */
function errorMessage({ error }: Push, { withTexts }: TextAccess): { error_message?: string } {
  if (error === null) return {}
  return { error_message: withTexts && error.text !== '' ? error.text : error.title }
}

/** Error groups where no instance has failed: the push's own error, or else the instances that say nothing. */
function groupsOfPush(push: Push, timedOut: number): ErrorGroup[] {
  if (push.error !== null) return [toOwnGroup(push, push.error)]
  if (timedOut === 0) return []
  const at = new Date(push.submittedAt.getTime() + STATUS_TIMEOUT_MS)
  const { cause, title, text } = TIMEOUT_ERROR
  return [
    {
      cause,
      title,
      sample: text,
      count: timedOut,
      firstAt: at,
      lastAt: at,
      instanceUids: [],
      parameters: {},
    },
  ]
}

function toOwnGroup(push: Push, error: NonNullable<Push['error']>): ErrorGroup {
  const at = push.failedAt ?? push.updatedAt
  return {
    cause: error.cause,
    title: error.title,
    sample: error.text,
    count: 1,
    firstAt: at,
    lastAt: at,
    instanceUids: [],
    parameters: error.parameters,
  }
}

function toTimeline(push: Push, timedOut: number): RevisionTimelineEntry[] {
  const entries: RevisionTimelineEntry[] = [
    { state: 'submitted', at: push.submittedAt.toISOString(), terminal: false },
  ]
  const add = (state: string, at: Date | null, more: Partial<RevisionTimelineEntry> = {}) => {
    if (at !== null) entries.push({ state, at: at.toISOString(), terminal: false, ...more })
  }
  add('sent', push.sentAt)
  if (timedOut > 0) {
    const at = new Date(push.submittedAt.getTime() + STATUS_TIMEOUT_MS)
    add('sent', at, { message: STATUS_TIMEOUT_TEXT, timed_out: true })
  }
  add('applied', push.appliedAt, { terminal: true })
  add('failed', push.failedAt, {
    terminal: true,
    ...(push.error === null ? {} : { message: push.error.title }),
  })
  if (push.phase === 'superseded' || push.phase === 'aborted')
    add(reachedState(push), push.updatedAt, { terminal: true, message: CLOSED_TEXT[push.phase] })
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** What one instance did with a push, in the words of the wire. */
export function toInstanceState(
  target: PushTarget,
  now: Date,
): { status: PushInstanceState; isTimedOut: boolean } {
  const isLate = now.getTime() - target.offeredAt.getTime() >= STATUS_TIMEOUT_MS
  switch (target.state) {
    case 'applying':
    case 'applied':
    case 'failed':
      return { status: target.state, isTimedOut: false }
    case 'offered':
      return isLate ? { status: 'no_status', isTimedOut: true } : { status: 'sent', isTimedOut: false }
    case 'straggler':
      return { status: 'no_status', isTimedOut: true }
    default:
      return { status: 'no_status', isTimedOut: false }
  }
}

const ORDER = ['failed', 'straggler', 'gone', 'offered', 'applying', 'applied', 'cannot_report', 'superseded']

/** The order in which targets are shown: those that need attention first. */
export const compareTargets = (a: PushTarget, b: PushTarget): number =>
  ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.instanceUid < b.instanceUid ? -1 : 1)

/** The first `INSTANCES_MAX` instances of a revision, failed first. `traits` are the attributes of live instances. */
export function toInstanceStatuses(
  push: Push,
  targets: readonly PushTarget[],
  traits: (uid: string) => ReadonlyMap<string, string> | null,
  now: Date,
  texts: TextAccess,
): RevisionInstanceStatus[] {
  return [...targets]
    .sort(compareTargets)
    .slice(0, INSTANCES_MAX)
    .map((target) => {
      const { status, isTimedOut } = toInstanceState(target, now)
      const node = traits(target.instanceUid)?.get('k8s.node.name') ?? ''
      return {
        instance_uid: target.instanceUid,
        ...(target.podName === '' ? {} : { pod_name: target.podName }),
        ...(node === '' ? {} : { node }),
        required: target.isTarget && !target.isJoiner,
        status,
        config_hash: push.hash,
        updated_at: target.updatedAt.toISOString(),
        ...(isTimedOut
          ? { ...errorFields(TIMEOUT_ERROR, { withTexts: true }), timed_out: true }
          : errorFields(target.error, texts)),
      }
    })
}
