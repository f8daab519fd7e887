import type { PushTarget } from '../../store/push-targets.ts'
import type { GateMeasures } from '../../store/rollouts.ts'
import { DOING_MS } from '../decide/losses.ts'
import type { StageFacts } from '../decide/rollout.ts'
import { isLastStage, isUnpromoted } from '../decide/rollout-standing.ts'
import { standsTo } from '../decide/standing.ts'
import { isHealthAwaited } from '../decide/status.ts'
import { isDegradingNow } from '../state/derive.ts'
import { isLostOut } from '../state/followed-push.ts'
import type { Instance, Rollout, Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

/**
 * What the gates of a stage see and come to; `openUids`: of whom it is still to be seen how healthy they are,
 * `startingUids`: who of them is there and starts.
 */
export type MeasuredFacts = StageFacts & {
  measured: GateMeasures
  openUids: readonly string[]
  startingUids: readonly string[]
}

/** The members of a rollout as its gates see them now, and what the gates come to. */
export function stageFactsOf(
  parts: FleetParts,
  workload: Workload,
  rollout: Rollout,
  convergedForMs: number | null,
): MeasuredFacts {
  const { stored, followed } = rollout
  const plan = stored.stages[stored.stageIndex]!
  const waived = new Set(stored.waived)
  const nowMs = parts.deps.clock.heardMs()
  const uids = { failed: [] as string[], unhealthy: [] as string[], drifted: [] as string[] }
  const vanished = { failed: [] as string[], unhealthy: [] as string[] }
  const [silentUids, memberUids] = [[] as string[], [] as string[]]
  const isLast = isLastStage(stored, stored.stageIndex)
  // Others took the places of members that vanished, and run the config as well: only where the last stage has everyone.
  const isReplaced = isLast && workload.live.count >= followed.push.counts.target
  let [living, joining] = [0, 0]
  const [startingUids, vanishingUids] = [[] as string[], [] as string[]]
  for (const target of followed.targets.values()) {
    if (!target.isTarget) continue
    const { instanceUid: uid, state } = target
    const instance = parts.state.instances.get(uid) ?? null
    // A joiner of the last stage counts only once it has answered: else the stage would wait as long as others come.
    if (target.isJoiner && followed.awaiting.has(target)) joining++
    else memberUids.push(uid)
    if (state === 'straggler' || state === 'gone' || isLostOut(target)) silentUids.push(uid)
    if (isThere(parts, workload, uid, nowMs)) living++
    if (state === 'failed') uids.failed.push(uid)
    if (isUnwell(instance, nowMs)) uids.unhealthy.push(uid)
    if (state !== 'failed' && hasVanished(rollout, workload, uid, instance))
      vanished[state === 'applied' ? 'unhealthy' : 'failed'].push(uid)
    const isJudged = state === 'applied' && !waived.has(uid)
    if (isJudged && isUndecided(instance, nowMs)) startingUids.push(uid)
    else if (isJudged && followed.missing.get(uid) === false) vanishingUids.push(uid)
    if (failsDriftGate(target, instance, followed.push.hash)) uids.drifted.push(uid)
  }
  const openUids = plan.gates.includes('health') ? [...startingUids, ...vanishingUids] : []
  const isLong = isHealthOpenLong(rollout, nowMs)
  if (isLong) uids.unhealthy.push(...startingUids.filter((uid) => startsAgainAndAgain(rollout, uid, nowMs)))
  // Where no member is left, that is what halts the stage.
  if (living > 0 && !isReplaced) {
    uids.failed.push(...vanished.failed)
    uids.unhealthy.push(...vanished.unhealthy)
  }
  return {
    ...measureAll(uids, waived),
    memberUids,
    silentUids,
    living,
    isLast,
    plan,
    members: followed.push.counts.target - joining,
    applied: followed.push.counts.applied,
    convergedForMs,
    isUnpromoted: isUnpromoted(stored),
    openUids,
    startingUids,
    isAwaiting: isAwaiting(parts, rollout, nowMs) || (openUids.length > 0 && !isLong),
  }
}

/**
 * For how long a stage waits at a stretch, as of one member or another it is still to be seen how healthy it is. After
 * that one that starts again and again within as long counts as unhealthy, and others are not waited for.
 */
const HEALTH_OPEN_MAX_MS = DOING_MS
/** So many starts, with being well in between, are more than a restart and what may come of it. */
const STARTS_MIN = 3

const isHealthOpenLong = ({ unsettled }: Rollout, nowMs: number): boolean =>
  unsettled !== undefined && nowMs - unsettled.sinceMs >= HEALTH_OPEN_MAX_MS

function startsAgainAndAgain({ unsettled }: Rollout, uid: string, nowMs: number): boolean {
  const starts = unsettled?.startsMs.get(uid) ?? []
  return starts.length >= STARTS_MIN && nowMs - starts[0]! <= HEALTH_OPEN_MAX_MS
}

/**
 * Note of which members of the running stage it is still to be seen how healthy they are. Members that take turns in that
 * would hold the stage for ever.
 */
export function noteUnsettled(
  rollout: Rollout,
  { openUids, startingUids }: Pick<MeasuredFacts, 'openUids' | 'startingUids'>,
  nowMs: number,
): void {
  if (openUids.length === 0) {
    delete rollout.unsettled
    return
  }
  rollout.unsettled ??= { sinceMs: nowMs, starting: new Set(), startsMs: new Map() }
  const { starting, startsMs } = rollout.unsettled
  for (const uid of startingUids)
    if (!starting.has(uid)) startsMs.set(uid, [...(startsMs.get(uid) ?? []), nowMs].slice(-STARTS_MIN))
  starting.clear()
  for (const uid of startingUids) starting.add(uid)
}

/** Who fails which gate and is not let pass, and what each gate comes to with those that are. */
function measureAll(uids: Record<'failed' | 'unhealthy' | 'drifted', string[]>, waived: ReadonlySet<string>) {
  const held = (all: readonly string[]) => all.filter((uid) => !waived.has(uid))
  const measure = (all: readonly string[]) => ({ value: all.length, waived: all.length - held(all).length })
  return {
    failedUids: held(uids.failed),
    unhealthyUids: held(uids.unhealthy),
    driftedUids: held(uids.drifted),
    measured: {
      no_failure: measure(uids.failed),
      health: measure(uids.unhealthy),
      drift: measure(uids.drifted),
    },
  }
}

const isUnwell = (instance: Instance | null, nowMs: number): boolean =>
  instance !== null && instance.connection !== null && isDegradingNow(instance, nowMs)

/** Is it still to be seen how healthy the instance is: it has yet to say so, or is not well and does not count yet? */
const isUndecided = (instance: Instance | null, nowMs: number): boolean =>
  instance !== null &&
  instance.connection !== null &&
  (isHealthAwaited(instance, nowMs) ||
    (instance.unhealthySinceMs !== null && !isDegradingNow(instance, nowMs)))

/**
 * Has this process just started, and is a member on its way, or another agent of the workload that was known then? Of the
 * first ones alone neither a stage can be judged nor the next one chosen: the last would have nobody, and be done.
 */
function isAwaiting(
  { deps, state }: FleetParts,
  { followed, awaitedUids = [] }: Rollout,
  nowMs: number,
): boolean {
  // Those that stayed away are gone through in turns: until it is noted of one, it is waited for. One that is remembered
  // and is not among them had said goodbye; of one that is not remembered nobody knows.
  const isOnItsWay = (uid: string) =>
    !state.instances.has(uid) &&
    (state.homes.has(uid) ? state.knownAtStart.has(uid) : state.isRecent(uid, nowMs, deps.graceMs))
  for (const { isTarget, state: reached, instanceUid } of followed.targets.values())
    if (isTarget && reached !== 'gone' && isOnItsWay(instanceUid)) return true
  if (nowMs - state.startedAtMs >= deps.graceMs) return false
  return awaitedUids.some((uid) => state.knownAtStart.has(uid))
}

/** Did a member stay away for longer than the grace, soon after it had applied the config, and is not back? */
const hasVanished = (
  { followed }: Rollout,
  workload: Workload,
  uid: string,
  instance: Instance | null,
): boolean =>
  followed.missing.get(uid) === true && (instance?.connection == null || instance.workload !== workload)

/** Is the instance connected in this workload, or away for less than the grace? */
function isThere({ deps, state }: FleetParts, workload: Workload, uid: string, nowMs: number): boolean {
  const instance = state.instances.get(uid)
  return instance === undefined ? state.isRecent(uid, nowMs, deps.graceMs) : instance.workload === workload
}

/** Is the target a straggler, or did it apply the config and reports another one now? */
function failsDriftGate(target: PushTarget, instance: Instance | null, hash: string): boolean {
  if (target.state === 'straggler') return true
  if (target.state !== 'applied' || instance === null || instance.connection === null) return false
  return standsTo(instance, hash) === 'other'
}
