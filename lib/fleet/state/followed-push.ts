import type { FleetClock } from '../../clock.ts'
import { tellingRank } from '../../model/telling-cause.ts'
import type { PushTarget, TargetState } from '../../store/push-targets.ts'
import type { AgentError } from '../../store/pushes.ts'
import { CLOCKS_MS, hasJustApplied } from '../decide/losses.ts'
import { decidePush, type PushVerdict } from '../decide/push.ts'
import { WAITED_MAX_MS } from '../decide/target-end.ts'
import type { FollowedPush, Instance } from './model.ts'
import type { FleetState } from './state.ts'

const OPEN_STATES: readonly TargetState[] = ['offered', 'applying', 'straggler', 'gone']

/** True while an instance may still say what became of the push. */
export const isOpen = (target: PushTarget): boolean => OPEN_STATES.includes(target.state)

/** Is this a state in which the target's end is waited for? Each target leaves it in bounded time. */
const isAwaited = (state: TargetState): boolean => state === 'offered' || state === 'applying'

const COUNTED = ['applying', 'applied', 'failed', 'straggler', 'gone'] as const

function isCounted(state: TargetState): state is (typeof COUNTED)[number] {
  return (COUNTED as readonly string[]).includes(state)
}

/** What of a followed push is of single targets from the beginning. */
export type GatheredTargets = Pick<FollowedPush, 'targets' | 'awaiting' | 'appliedMs'>

/** Put a new target among those of a push, without counting it. It may run the config already. */
export function putTarget(gathered: GatheredTargets, target: PushTarget, clock: FleetClock): void {
  keepTarget(gathered, target)
  if (target.state === 'applied') gathered.appliedMs.set(target, clock.heardMs())
}

function keepTarget({ targets, awaiting }: GatheredTargets, target: PushTarget): void {
  targets.set(target.instanceUid, target)
  if (isAwaited(target.state)) awaiting.set(target, null)
}

/** Add a new target to a push and to its counts. */
export function addTarget(followed: FollowedPush, target: PushTarget, clock: FleetClock): void {
  putTarget(followed, target, clock)
  countTarget(followed, target)
  const waited = followed.waitedJoiners.get(target.instanceUid)
  if (waited !== undefined) followed.waited.set(target, waited)
  followed.waitedJoiners.delete(target.instanceUid)
  if (followed.isFromBefore) followed.addedSince.add(target)
}

/**
 * Is a push still open? One of an aborted rollout is not, although its status stays pending: its members keep the config
 * until the next push. Nor is one that nobody answers, as where no agent reports what became of a config, unless it goes in
 * stages: then somebody is to decide.
 */
export const isPushOpen = ({
  push: { status, phase },
  isStaged,
}: Pick<FollowedPush, 'push' | 'isStaged'>): boolean =>
  status === 'pending' && phase !== 'aborted' && (isStaged || phase !== 'no_status')

/** May a former process have sent this target what the push offers? */
export const isTargetFromBefore = (
  { isFromBefore, addedSince }: Pick<FollowedPush, 'isFromBefore' | 'addedSince'>,
  target: PushTarget | undefined,
): boolean => isFromBefore && target !== undefined && !addedSince.has(target)

function countTarget(followed: FollowedPush, target: PushTarget): void {
  const { counts } = followed.push
  if (target.isJoiner) counts.joined++
  if (!target.isTarget) return
  counts.target++
  if (isCounted(target.state)) counts[target.state]++
}

/**
 * Move one target to another state and keep the counts right; false when it was there already. `appliedAt`: when its
 * instance said that it had applied the config, where that was told late.
 */
export function moveTarget(
  followed: FollowedPush,
  target: PushTarget,
  state: TargetState,
  clock: FleetClock,
  error: AgentError | null = null,
  appliedAt: Date | null = null,
): boolean {
  const now = clock.now()
  // A FAILED that the instance reports replaces one that was concluded from its losses.
  const isSaidNow = state === 'failed' && isLostOut(target) && error?.cause !== LOST
  if (target.state === state && !isSaidNow) return false
  if (target.isTarget && isLostOut(target)) followed.lostOutCount--
  if (target.isTarget) {
    const { counts } = followed.push
    if (isCounted(target.state)) counts[target.state]--
    if (isCounted(state)) counts[state]++
  }
  if (target.state === 'failed') followed.failedCount--
  if (state === 'failed') followed.failedCount++
  noteWaited(followed, target, clock.heardMs())
  if (state === 'applied') followed.appliedMs.set(target, clock.heardMs())
  if (isAwaited(state)) followed.awaiting.set(target, clock.heardMs())
  else followed.awaiting.delete(target)
  target.state = state
  target.error = error
  if (target.isTarget && isLostOut(target)) followed.lostOutCount++
  target.updatedAt = now
  if (state === 'applying') target.applyingAt = now
  // A failure is dated by when it was noted: who pages through those that failed relies on none being added behind.
  target.endedAt = state === 'applied' ? (appliedAt ?? now) : state === 'failed' ? now : null
  return true
}

/** How often the time that an agent may take to be heard at all does not count against it. */
const SLACKS_MAX = 2

/** A target that was waited for moves on: how long that was adds up while its push is open. */
function noteWaited({ awaiting, waited, push }: FollowedPush, target: PushTarget, nowMs: number): void {
  const sinceMs = awaiting.get(target) ?? null
  if (sinceMs === null || push.status !== 'pending') return
  const before = waited.get(target) ?? { ms: 0, times: 0 }
  waited.set(target, { ms: before.ms + nowMs - sinceMs, times: before.times + 1 })
}

/**
 * For how long a target of an open push was waited for before it was opened again. `slackMs`: what its agent may take to be
 * heard at all, see `pollSlackMs`; that is left out while it takes the offer, and while it applies it. A poller that leaves
 * and comes back over and over does not get it anew each time: it would be waited for as long as it does so.
 */
export function waitedBefore({ push, waited }: FollowedPush, target: PushTarget, slackMs: number): number {
  return push.status === 'pending' ? waitedMs(waited.get(target), slackMs) : 0
}

const waitedMs = ({ ms, times } = { ms: 0, times: 0 }, slackMs: number): number =>
  Math.max(0, ms - Math.min(times, SLACKS_MAX) * slackMs)

/** Was a target waited for as long as one is in all? Then it counts as silent until it says how it ended. */
export const isWaitedOut = (followed: FollowedPush, target: PushTarget, slackMs: number): boolean =>
  waitedBefore(followed, target, slackMs) >= WAITED_MAX_MS

/** The same of one that had joined and is forgotten: as it joins again, nobody waits for it. */
export const wasJoinerWaitedOut = ({ waitedJoiners }: FollowedPush, uid: string, slackMs: number): boolean =>
  waitedMs(waitedJoiners.get(uid), slackMs) >= WAITED_MAX_MS

/** How many of those that joined, were waited for and are forgotten a push knows. */
const WAITED_JOINERS_MAX = 100

/** One that comes and goes is not waited for anew each time, also where it is forgotten in between. */
function noteWaitedJoiner({ waited, waitedJoiners }: FollowedPush, target: PushTarget): void {
  const before = waited.get(target)
  if (before === undefined) return
  waitedJoiners.set(target.instanceUid, before)
  const [oldest] = waitedJoiners.keys()
  if (waitedJoiners.size > WAITED_JOINERS_MAX) waitedJoiners.delete(oldest!)
}

/** Forget an instance that joined and is not here any more, where it decides nothing; false where it is no such joiner. */
export function removeJoiner(followed: FollowedPush, uid: string): boolean {
  const target = followed.targets.get(uid)
  if (target === undefined || !target.isJoiner || (target.isTarget && !isSpare(followed, target)))
    return false
  noteWaitedJoiner(followed, target)
  followed.targets.delete(uid)
  followed.awaiting.delete(target)
  followed.waited.delete(target)
  followed.lostJoiners.delete(uid)
  const { counts } = followed.push
  counts.joined--
  if (target.state === 'failed') followed.failedCount--
  if (!target.isTarget) return true
  counts.target--
  if (isCounted(target.state)) counts[target.state]--
  setLosses(followed, target, 0)
  return true
}

/**
 * Does a push that is still open stand as it does also without this one of its targets? It never answered, or is not the
 * only one that applied it. One that has vanished soon after it had applied it counts against a stage.
 */
function isSpare({ push, isSuperseded, missing }: FollowedPush, { state, instanceUid }: PushTarget): boolean {
  if (push.status !== 'pending' || isSuperseded || missing.has(instanceUid)) return false
  return state === 'gone' || state === 'straggler' || (state === 'applied' && push.counts.applied > 1)
}

/** A target as it is when its offer is stored. */
export function newTarget(
  instance: Pick<Instance, 'uid' | 'podName'>,
  options: {
    generation: number
    isTarget: boolean
    isJoiner: boolean
    state: TargetState
    hadFailedBefore: boolean
    now: Date
  },
): PushTarget {
  const { generation, isTarget, isJoiner, state, hadFailedBefore, now } = options
  return {
    instanceUid: instance.uid,
    podName: instance.podName,
    isTarget,
    isJoiner,
    state,
    generation,
    offeredAt: now,
    applyingAt: null,
    endedAt: state === 'applied' ? now : null,
    error: null,
    hadFailedBefore,
    wasUnsent: false,
    losses: 0,
    updatedAt: now,
  }
}

/** Note how often a target was lost: its connection ended after its offer, without a goodbye and not by muster. */
export function setLosses(followed: FollowedPush, target: PushTarget, losses: number): void {
  if (target.isTarget) {
    followed.lostCount += Number(losses > 0) - Number(target.losses > 0)
    followed.lossCount += losses - target.losses
  }
  target.losses = losses
}

/**
 * How long before this process began the target had applied the config, by the time of day, which is all that is stored of
 * that; null where it has not. Below zero for one that was read back since.
 */
export const appliedBeforeMs = ({ state, endedAt }: PushTarget, startedAt: Date): number | null =>
  state === 'applied' && endedAt !== null ? startedAt.getTime() - endedAt.getTime() : null

/**
 * Has the target applied the config since this was said? When it did is stored by the wall clock of the owner of then, and
 * `saidAt` is this owner's wall clock less an age that two machines' monotonic clocks tell, at most. Where these clocks
 * differ, or that age is too long, something that was said by so much later is taken for older, so that what an agent runs
 * is not rolled back for what it failed before. A failure that came later than that counts. A time that lies far ahead is
 * of a clock that was put back since, and makes nothing old.
 */
export const hasAppliedSince = (target: PushTarget | undefined, saidAt: Date, now: Date): boolean =>
  target?.state === 'applied' &&
  target.endedAt !== null &&
  target.endedAt > saidAt &&
  target.endedAt.getTime() - now.getTime() < CLOCKS_MS

/** For how long it has been heard of since the target applied the config; null where it has not. */
export function appliedAgoMs(
  { appliedMs }: Pick<FollowedPush, 'appliedMs'>,
  target: PushTarget,
  nowMs: number,
  { startedAt, startedAtMs }: Pick<FleetState, 'startedAt' | 'startedAtMs'>,
): number | null {
  const beforeMs = appliedBeforeMs(target, startedAt)
  return beforeMs === null ? null : nowMs - (appliedMs.get(target) ?? startedAtMs - beforeMs)
}

/** How many of those that joined, were lost and stayed away a push keeps. */
const LOST_JOINERS_MAX = 100

/** Note that a lost joiner stays away; returns the one that has for the longest where these are too many. */
export function noteLostJoiner({ lostJoiners }: FollowedPush, uid: string): string | null {
  lostJoiners.delete(uid)
  lostJoiners.add(uid)
  const [oldest] = lostJoiners
  if (lostJoiners.size <= LOST_JOINERS_MAX || oldest === undefined) return null
  lostJoiners.delete(oldest)
  return oldest
}

/** The offer of this push to an instance; null where its newest is of another one, or there is none. */
export const offerOf = ({ offer }: Instance, { push }: FollowedPush): Instance['offer'] =>
  offer?.generation === push.generation ? offer : null

/** Note that a target's agent vanishes; where it applied the config so long ago, that says nothing of the config. */
export function noteMissing({ missing }: FollowedPush, target: PushTarget, agoMs: number | null): void {
  if (target.isTarget && hasJustApplied({ state: target.state, appliedAgoMs: agoMs }))
    missing.set(target.instanceUid, false)
}

/** Note that a target's agent stayed away for longer than the grace. */
export function noteAway({ missing }: FollowedPush, target: PushTarget): void {
  // One that never answered a push which has ended stays a straggler while it is away.
  const isLost = isLostAway(target) || (isLostOnce(target) && target.state === 'straggler')
  if (missing.has(target.instanceUid) || isLost) missing.set(target.instanceUid, true)
}

/** Was the target lost while it applied the config, and has it not been heard of since? */
const isLostAway = (target: PushTarget): boolean => isLostOnce(target) && target.state === 'gone'

const isLostOnce = ({ isTarget, losses }: PushTarget): boolean => isTarget && losses > 0

const LOST = 'lost_while_applying'

/** Did this target fail only because it was lost too often, without reporting FAILED? */
export const isLostOut = (target: PushTarget): boolean =>
  target.state === 'failed' && target.error?.cause === LOST

/** The error of a target that was lost too often. */
export const LOST_OUT: AgentError = {
  cause: LOST,
  title: 'Lost each time it applied the config',
  parameters: {},
  text: '',
}

const NO_COUNTS = { target: 0, applying: 0, applied: 0, failed: 0, straggler: 0, gone: 0, joined: 0 }

/**
 * A push that is followed from now on, without targets yet. `isFromBefore`: it was loaded from the database; its counts
 * are then made anew as its targets are restored, because they are stored a little later than the targets.
 */
export function followPush(
  push: FollowedPush['push'],
  body: Uint8Array,
  required: FollowedPush['required'],
  isFromBefore: boolean,
): FollowedPush {
  if (isFromBefore) push.counts = { ...NO_COUNTS }
  return {
    push,
    body,
    required,
    targets: new Map(),
    awaiting: new Map(),
    waited: new Map(),
    waitedJoiners: new Map(),
    appliedMs: new WeakMap(),
    compatibility: new WeakMap(),
    isSuperseded: push.phase === 'superseded',
    isStaged: false,
    scope: null,
    liftedUids: new Set(),
    pushedAgain: null,
    hasReturned: false,
    lostCount: 0,
    lossCount: 0,
    lostOutCount: 0,
    failedCount: 0,
    missing: new Map(),
    lostJoiners: new Set(),
    beginning: 0,
    isFromBefore,
    addedSince: new WeakSet(),
  }
}

/** Take over a stored target. */
export function restoreTarget(followed: FollowedPush, target: PushTarget): void {
  keepTarget(followed, target)
  countTarget(followed, target)
  if (isLostAway(target)) noteAway(followed, target)
  if (target.state === 'failed') followed.failedCount++
  if (target.isTarget && isLostOut(target)) followed.lostOutCount++
  if (!target.isTarget || target.losses === 0) return
  followed.lostCount++
  followed.lossCount += target.losses
}

/** Has every instance that is assigned this push, and is live or away for less than the grace, failed it? */
function hasEveryoneFailed(followed: FollowedPush, isRecent: (uid: string) => boolean): boolean {
  let failed = 0
  for (const target of followed.targets.values()) {
    if (target.state === 'cannot_report') continue
    if (!isRecent(target.instanceUid)) continue
    if (target.state !== 'failed') return false
    failed++
  }
  return failed > 0
}

/** Which targets that count have not ended yet: some that were planned, or only such as joined later, or none. */
export function openTargetsOf({ awaiting }: Pick<FollowedPush, 'awaiting'>): 'planned' | 'joined' | 'none' {
  let open: 'joined' | 'none' = 'none'
  for (const { isTarget, isJoiner } of awaiting.keys()) {
    if (isTarget && !isJoiner) return 'planned'
    if (isTarget) open = 'joined'
  }
  return open
}

/**
 * Whether a push brings back what ran there before: to the members of a rollout that is undone, to all by itself after
 * a failed push, or as its campaign is rolled back.
 */
export const isBringingBack = ({ scope, push }: Pick<FollowedPush, 'scope' | 'push'>): boolean =>
  scope !== null || push.kind === 'auto-rollback' || (push.kind === 'rollback' && push.campaignId !== null)

/**
 * The verdict on a followed push. `isRecent` tells of a uid whether it is assigned the push and live, or away for less
 * than the grace.
 */
export function judgePush(followed: FollowedPush, isRecent: (uid: string) => boolean): PushVerdict {
  const { push } = followed
  const { counts } = push
  return decidePush({
    status: push.status,
    isSuperseded: followed.isSuperseded,
    isStaged: followed.isStaged,
    bringsBack: isBringingBack(followed),
    isScoped: followed.scope !== null,
    get open() {
      return openTargetsOf(followed)
    },
    hasSent: push.sentAt !== null,
    counts: {
      targets: counts.target,
      applying: counts.applying,
      applied: counts.applied,
      failed: counts.failed,
      lostOut: followed.lostOutCount,
      straggler: counts.straggler,
      gone: counts.gone,
      lost: followed.lostCount,
      losses: followed.lossCount,
    },
    hasReturned: followed.hasReturned,
    hasEveryoneFailed:
      push.status === 'applied' && followed.failedCount > 0 && hasEveryoneFailed(followed, isRecent),
  })
}

/** When a target failed first, and why: as the first one that tells it says. Null where none has failed. */
export function firstFailure({ targets }: FollowedPush): { endedAt: Date; error: AgentError | null } | null {
  let first: Date | null = null
  let telling: PushTarget | null = null
  for (const target of targets.values()) {
    if (target.state !== 'failed' || target.endedAt === null) continue
    if (first === null || target.endedAt < first) first = target.endedAt
    const more = telling === null ? 1 : tellingRank(target.error) - tellingRank(telling.error)
    if (more > 0 || (more === 0 && target.endedAt < telling!.endedAt!)) telling = target
  }
  return first === null || telling === null ? null : { endedAt: first, error: telling.error }
}

/** The error that a failed push shows: that of the first failed target that tells why, or the verdict's own. */
export function errorOfPush(followed: FollowedPush, cause: PushVerdict['cause']): AgentError {
  if (cause === LOST) {
    return {
      cause,
      title:
        followed.lostCount === followed.push.counts.target
          ? 'Every instance was lost while applying the config'
          : 'Instances were lost while applying the config, and none applied it',
      parameters: { instances: String(followed.push.counts.target) },
      text: '',
    }
  }
  return (
    firstFailure(followed)?.error ?? {
      cause: 'unknown',
      title: 'Remote config error',
      parameters: {},
      text: '',
    }
  )
}
