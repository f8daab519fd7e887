import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeGroup, describeParameters } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { formatAgo, formatExact, formatList, shortHash } from '../i18n/format.ts'
import { reviewNoticeTexts } from '../i18n/review-notices.ts'
import { standingTexts } from '../i18n/standing.ts'
import { describeReason } from '../i18n/trouble.ts'
import { appliedHashes } from '../logic/pushes.ts'
import { titleOf } from '../logic/requests.ts'
import { findStillThere, pickTouched } from '../logic/still-there.ts'
import { useApproved } from '../state/approved.ts'
import { api } from '../state/endpoints.ts'
import { may, me } from '../state/session.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'

/** The newest push of a config that came to something, where it failed, or failed on some; null where it did not. */
function lastFailureOf(history: readonly RevisionRecord[], hash: string): RevisionRecord | null {
  const last = history.find(
    (row) => row.config_hash === hash && (row.status !== 'pending' || row.failed_count > 0),
  )
  return last !== undefined && (last.status === 'failed' || last.failed_count > 0) ? last : null
}

/** That a push failed or was taken back, on how many, when and why, as one bold sentence and the rest. */
function describe(push: RevisionRecord): [what: string, why: string] {
  const words = say(reviewNoticeTexts)
  const { failed_count: failed, target_count: total, updated_at: at, worst_health: worst } = push
  const group = push.error_groups?.[0]
  const isTakenBack = group?.cause === 'rolled_back'
  const what = isTakenBack ? words.takenBack(formatAgo(at)) : words.failed(failed, total, formatAgo(at))
  const why = isTakenBack ? '' : describeGroup(group)
  const health = worst ? words.unhealthy(worst.unhealthy_count, worst.instance_count) : ''
  return [what, [why && `${why}.`, health].filter((part) => part !== '').join(' ')]
}

/** What was pushed to a workload, the newest first; empty while it is not read. */
function useHistory(workloadId: string, isWanted: boolean): readonly RevisionRecord[] {
  const history = useResource(
    isWanted ? `history:${workloadId}` : null,
    (abort) => api.revisions(workloadId, abort),
    touchesWorkload(workloadId),
  )
  return history.data ?? []
}

/** The newest push of a config that the workload ran before and does not run now, so that it can go back; else null. */
export function useRevisionThatRan(workload: WorkloadRecord, hash: string): RevisionRecord | null {
  const history = useHistory(workload.id, workload.active_config_hash !== hash)
  return appliedHashes(history).has(hash) ? (history.find((row) => row.config_hash === hash) ?? null) : null
}

/** The newest push of a config to a workload, where it failed; null where it did not, or no config is meant. */
export function useLastFailure(workloadId: string, hash: string | undefined): RevisionRecord | null {
  const history = useHistory(workloadId, hash !== undefined)
  return hash === undefined ? null : lastFailureOf(history, hash)
}

/**
 * That the last change of a workload failed, and the way to its text: most repairs change a few words of what failed.
 * Nothing where the draft starts from that text already (`from`).
 */
export function LastChangeFailed({ workloadId, from }: { workloadId: string; from: string | null }) {
  const words = say(reviewNoticeTexts)
  // A rollback only answers a change.
  const push = useHistory(workloadId, true).find((row) => row.failed_config_hash === undefined)
  if (push?.status !== 'failed' || push.config_hash === from || !may('config:read_content')) return null
  const { config_hash: hash, failed_count: failed, target_count: total, updated_at: at } = push
  const why = describeGroup(push.error_groups?.[0])
  return (
    <div class="notice t-warn" role="note">
      <div>
        <b>{words.lastFailed(shortHash(hash), failed, total, formatAgo(at))}</b> {why && `${why}.`}{' '}
        <a class="link" href={`/workloads/${workloadId}/change?hash=${hash}`}>
          {words.startFrom}
        </a>
      </div>
    </div>
  )
}

/** Troubles that are about how the instances are now, and not about a push. */
const UNWELL: ReadonlySet<string> = new Set(['unhealthy', 'some_unhealthy'])

/** What is wrong with a workload as it runs now, and whether a change does something to the part that says so. */
export function BrokenNow({
  workload: { trouble },
  plan,
}: {
  workload: WorkloadRecord
  plan: ConfigPlan | null
}) {
  const words = say(reviewNoticeTexts)
  if (trouble === undefined || !UNWELL.has(trouble.kind)) return null
  const { names, isChanged } = pickTouched(plan?.failing_now ?? [])
  const named = formatList(names)
  return (
    <div class="notice t-bad" role="note">
      <div>
        <b>{words.brokenNow(trouble.count ?? 0, trouble.total ?? 0, describeReason(trouble))}</b>{' '}
        {named !== '' && (isChanged ? words.changes(named) : words.leaves(named))}
      </div>
    </div>
  )
}

/** That the last change failed with another text than this, why, and whether this one has still what it failed of. */
export function FailedLast({ workloadId, approval }: { workloadId: string; approval: ApprovalRecord }) {
  const words = say(reviewNoticeTexts)
  // A rollback only answers a change.
  const push = useHistory(workloadId, true).find((row) => row.failed_config_hash === undefined)
  if (push?.status !== 'failed' || push.config_hash === approval.draft_hash) return null
  const { config_hash: hash, failed_count: failed, target_count: total, updated_at: at } = push
  const group = push.error_groups?.[0]
  const why = describeGroup(group)
  const still = findStillThere(group, approval.draft_yaml)
  const what = still === null ? '' : describeParameters(still.about)
  return (
    <div class={`notice ${still?.isThere ? 't-bad' : 't-warn'}`} role="note">
      <div>
        <b>
          {words.lastFailed(shortHash(hash), failed, total, formatAgo(at))} {why && `${why}.`}
        </b>{' '}
        {still !== null && (still.isThere ? words.hasStill(what) : words.hasNoMore(what))}{' '}
        <a class="link" href={`/workloads/${workloadId}/pushes/${hash}?push=${push.push_id}`}>
          {words.see}
        </a>
      </div>
    </div>
  )
}

/** That the config of this hash failed on the workload when it was last pushed to it; nothing where it did not. */
export function FailedBefore({ workloadId, hash }: { workloadId: string; hash: string | undefined }) {
  const push = useLastFailure(workloadId, hash)
  if (push === null) return null
  const [what, why] = describe(push)
  return (
    <div class="notice t-bad" role="note">
      <div>
        <b>{what}</b> {why}{' '}
        <a class="link" href={`/workloads/${workloadId}/pushes/${push.config_hash}?push=${push.push_id}`}>
          {say(reviewNoticeTexts).see}
        </a>
      </div>
    </div>
  )
}

/** Which request that waits a new one for the same target group takes the place of; nothing where none waits there. */
export function TakesPlaceOf({ workloadId, group }: { workloadId: string; group: string }) {
  const words = say(reviewNoticeTexts)
  const waiting = useResource(
    may('config:request', workloadId) ? `waiting:${workloadId}` : null,
    (abort) => api.approvalsOf(workloadId, 'pending', abort),
    (frame) => frame.type === 'approval_update' && frame.approval.workload_id === workloadId,
  )
  const taken = waiting.data?.find(({ target_group: of }) => of === group)
  if (taken === undefined) return null
  const title = titleOf(taken)
  const ago = formatAgo(taken.created_at)
  return (
    <div class="notice t-warn" role="note">
      <div>
        {taken.requester === me.value?.email
          ? words.takesPlaceOfOwn(title, ago)
          : words.takesPlace(title, taken.requester, ago)}{' '}
        <a class="link" href={`/workloads/${workloadId}/changes/${taken.id}`}>
          {words.seeWaiting}
        </a>
      </div>
    </div>
  )
}

/**
 * Other requests of the same workload that are approved and wait to be pushed: each holds a whole config, so that one
 * takes the other back, or ends it.
 */
export function ApprovedBeside({ approval }: { approval: ApprovalRecord }) {
  const words = say(reviewNoticeTexts)
  const { workload_id: id } = approval
  const others = (useApproved(id).data ?? []).filter((one) => one.id !== approval.id)
  return others.map((one) => (
    <div key={one.id} class="notice t-warn" role="note">
      <div>
        {words.approvedBeside(titleOf(one), one.requester, formatAgo(one.approved_at ?? one.created_at))}{' '}
        <a class="link" href={`/workloads/${id}/changes/${one.id}`}>
          {words.seeWaiting}
        </a>
      </div>
    </div>
  ))
}

/** That the workload is under a fleet config, and that a push to it alone will hold it; nothing where it is not. */
export function UnderFleetConfig({ standing }: { standing: FleetStanding | null }) {
  const words = say(standingTexts)
  const config = standing?.fleet_config
  if (!config) return null
  return (
    <div class="notice t-warn" role="note">
      <div>
        {words.under(config.name)} <b>{words.willHold}</b>
      </div>
    </div>
  )
}

/** That the workload is frozen, until when and why, and what can be done about a change meanwhile. */
export function FrozenNotice({
  standing,
  can,
}: {
  standing: FleetStanding | null
  can: 'askedNow' | 'approvedNow' | 'pushedLater'
}) {
  const words = say(reviewNoticeTexts)
  const freeze = standing?.freeze
  if (!freeze) return null
  return (
    <div class="notice t-warn" role="note">
      <div>
        {words.frozen(formatExact(freeze.until), freeze.reason)} {words[can]}
      </div>
    </div>
  )
}
