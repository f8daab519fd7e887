import type { ComponentList } from '../../model/components.ts'
import { NameOrder } from '../../model/name-order.ts'
import { compareText } from '../../model/text-order.ts'
import { trustedOf } from '../../model/trusted-labels.ts'
import type { StoredWorkload } from '../../store/workloads.ts'
import { goneAfterMs, NO_RHYTHM, type PollRhythm } from '../decide/poll-rhythm.ts'
import { isLastStage } from '../decide/rollout-standing.ts'
import { RHYTHMS_MAX } from './agent-limits.ts'
import { Departures } from './departures.ts'
import { isTargetFromBefore } from './followed-push.ts'
import { KeptBytes } from './kept-bytes.ts'
import { LiveTally } from './live-tally.ts'
import type { FollowedPush, Instance, Rollout, Workload } from './model.ts'

/** Everything the fleet holds in memory. One process holds one of these. */
export class FleetState {
  readonly instances = new Map<string, Instance>()
  readonly #workloads = new Map<string, Workload>()
  /** By id. */
  readonly workloads: ReadonlyMap<string, Workload> = this.#workloads
  readonly #names = new NameOrder<Workload>()
  /** The workloads that `firstSeenSince` has not found too old yet, in the order in which they came. */
  readonly #newest = new Set<Workload>()
  /** uid → id of the workload that the agent's last description named. */
  readonly homes = new Map<string, string>()
  /** Since when agents are unhealthy, by uid, as it is stored: of those of which a workload shows it, or has shown it. */
  readonly unhealthyStored = new Map<string, Date>()
  /** Since when instances are changed on their hosts, by uid; kept by `AlteredTimes`. */
  readonly altered = new Map<string, Date>()
  readonly #rhythms = new Map<string, PollRhythm>()
  readonly byConnection = new Map<number, Set<Instance>>()
  /** How much is kept of what agents say of themselves. */
  readonly kept = new KeptBytes()
  /** Component lists by hash, shared by all instances that report the same one. */
  readonly componentLists = new Map<string, ComponentList>()
  /** Instances with an offer that may have to be sent, or sent again. */
  readonly outstanding = new Set<Instance>()
  /** Live instances whose remote config status is not known and is waited for. */
  readonly unknownReported = new Set<Instance>()
  /** Live instances of a known workload whose description is waited for. */
  readonly awaitingDescription = new Set<Instance>()
  /** Live instances whose announced list of components is waited for. */
  readonly awaitingComponents = new Set<Instance>()
  readonly httpInstances = new Set<Instance>()
  /** Workloads without a live instance whose grace runs. */
  readonly inGrace = new Set<Workload>()
  /** Workloads with an instance that will make them degraded if it stays unhealthy for long enough. */
  readonly healthWatch = new Set<Workload>()
  /** Away instances, to be forgotten when the grace has passed. */
  readonly away = new Set<Instance>()
  /** Workloads with a rollout that is open, halted or aborted. */
  readonly rollingOut = new Set<Workload>()
  /** Uids of agents that were remembered at the start and have not come back since. */
  readonly knownAtStart = new Set<string>()
  /** When those of whom nothing else is known said goodbye. */
  readonly departures = new Departures()
  /** What became of pushes since the start, for the metrics. */
  readonly pushStats = { applied: 0, failed: 0, convergenceMs: 0 }
  /** When this process began to decide: by the fleet's clock, and by the time of day, for what is stored from before. */
  startedAtMs = 0
  startedAt = new Date(0)

  add(workload: Workload): void {
    this.#workloads.set(workload.id, workload)
    this.#names.add(workload)
    this.#newest.add(workload)
    this.kept.countWorkload(workload)
  }

  remove(workload: Workload): void {
    this.#workloads.delete(workload.id)
    this.#names.remove(workload)
    this.#newest.delete(workload)
    this.kept.forget(workload)
    this.inGrace.delete(workload)
    this.healthWatch.delete(workload)
    this.rollingOut.delete(workload)
  }

  /** A workload was deleted, and what was stored of its agents with it. */
  forgetHomesOf(workloadId: string): void {
    for (const [uid, home] of this.homes) {
      if (home !== workloadId) continue
      this.homes.delete(uid)
      this.unhealthyStored.delete(uid)
      this.altered.delete(uid)
    }
  }

  rename(workload: Workload, displayName: string): void {
    this.#names.remove(workload)
    workload.displayName = displayName
    this.#names.add(workload)
  }

  /**
   * The workloads that were first seen at this moment or since, in the order in which they came. A caller asks for ever
   * later moments: what is too old for one is not looked at again.
   */
  firstSeenSince(moment: Date): readonly Workload[] {
    const found: Workload[] = []
    for (const workload of this.#newest)
      if (workload.createdAt >= moment) found.push(workload)
      else this.#newest.delete(workload)
    return found
  }

  /** All workloads, in the order of name and id. */
  workloadsByName(): readonly Workload[] {
    return this.#names.list()
  }

  /** Is this agent live, or away for less than the grace? In the grace after the start any agent may be on its way. */
  isRecent(uid: string, nowMs: number, graceMs: number): boolean {
    return this.instances.has(uid) || nowMs - this.startedAtMs < this.startGraceMs(uid, graceMs)
  }

  /** For how many ms after the start an agent may still be on its way: the grace, longer for a slow poller. */
  startGraceMs(uid: string, graceMs: number): number {
    const rhythm = this.#rhythms.get(uid)
    return rhythm === undefined ? graceMs : Math.max(graceMs, goneAfterMs(rhythm))
  }

  /** The rhythms of pollers that are away, by uid; the one that left longest ago first. */
  get rhythms(): ReadonlyMap<string, PollRhythm> {
    return this.#rhythms
  }

  keepRhythm(uid: string, rhythm: PollRhythm): void {
    this.#rhythms.delete(uid)
    this.#rhythms.set(uid, rhythm)
    if (this.#rhythms.size > RHYTHMS_MAX) this.#rhythms.delete(this.#rhythms.keys().next().value!)
  }

  /** The rhythm of a poller that is back; it is not kept for it any longer. */
  takeRhythm(uid: string): PollRhythm {
    const rhythm = this.#rhythms.get(uid) ?? NO_RHYTHM
    this.#rhythms.delete(uid)
    return rhythm
  }

  forgetRhythm(uid: string): void {
    this.#rhythms.delete(uid)
  }

  liveInstances(workload: Workload): Instance[] {
    const live: Instance[] = []
    for (const instance of workload.instances) if (instance.connection !== null) live.push(instance)
    return live
  }
}

type OwnLabels = Pick<StoredWorkload, 'handLabels' | 'ruleLabels'>

/**
 * Change a workload's labels of operators, of rules, or of both; its trusted labels are made anew from them. Where those of
 * operators are given, they are all that there are, unless it is said that some could not be read.
 */
export function wearLabels(
  workload: Workload,
  change: Partial<OwnLabels> & { hasUnreadableLabels?: boolean },
): void {
  const unread = change.handLabels === undefined ? workload.hasUnreadableLabels : false
  const hasUnreadableLabels = change.hasUnreadableLabels ?? unread
  Object.assign(workload, change, { hasUnreadableLabels })
  Object.assign(workload, { trustedLabels: trustedOf(workload) })
}

/** A workload in memory, from its stored record. */
export function toWorkload(stored: StoredWorkload, hasUnreadableLabels = false): Workload {
  return {
    ...stored,
    trustedLabels: trustedOf({ ...stored, hasUnreadableLabels }),
    hasUnreadableLabels,
    instances: new Set(),
    live: new LiveTally(),
    active: null,
    rollout: null,
    takenBack: null,
    endedStages: null,
    newestPush: null,
    quarantinedHashes: new Set(),
    quarantinedInstances: new Map(),
    knownGoodHash: null,
    hasStoppedOffers: false,
    graceUntilMs: null,
    awaitedUntilMs: null,
    isDeleted: false,
  }
}

/** Whether instances of a workload that were there before this process started may still come. */
export const isAwaited = ({ awaitedUntilMs }: Pick<Workload, 'awaitedUntilMs'>, nowMs: number): boolean =>
  awaitedUntilMs !== null && nowMs < awaitedUntilMs

/** Note in memory that a hash is in quarantine for an instance that failed it. */
export function quarantineInstance(workload: Workload, hash: string, instanceUid: string): void {
  const uids = workload.quarantinedInstances.get(hash) ?? new Set<string>()
  uids.add(instanceUid)
  workload.quarantinedInstances.set(hash, uids)
}

/** True when the hash failed on the workload, or on this instance of it. */
export function isQuarantined(workload: Workload, hash: string, instanceUid: string): boolean {
  return (
    workload.quarantinedHashes.has(hash) ||
    (workload.quarantinedInstances.get(hash)?.has(instanceUid) ?? false)
  )
}

/** True when the hash failed on the workload, or on any instance of it. */
export const hasFailedSomewhere = (
  { quarantinedHashes, quarantinedInstances }: Workload,
  hash: string,
): boolean => quarantinedHashes.has(hash) || quarantinedInstances.has(hash)

/** What an instance should run; null while nothing is assigned to it. */
export function assignmentOf({ workload, uid }: Instance): FollowedPush | null {
  return workload === null ? null : assignmentOfUid(workload, uid)
}

/**
 * The push that an instance is assigned: a rollout's for its members, one that took members back for those, else the
 * workload's active push.
 */
export function assignmentOfUid({ rollout, takenBack, active }: Workload, uid: string): FollowedPush | null {
  if (rollout !== null && isMember(rollout, uid)) return rollout.followed
  return takenBack?.scope?.has(uid) ? takenBack : active
}

/**
 * Has a frame with what this push offers left for the instance? A former process may have sent one to those that were its
 * targets before this one began.
 */
export const hasLeftFor = (
  { uid, offer }: Pick<Instance, 'uid' | 'offer'>,
  followed: Pick<FollowedPush, 'push' | 'targets' | 'isFromBefore' | 'addedSince'>,
): boolean =>
  isTargetFromBefore(followed, followed.targets.get(uid)) ||
  (offer?.pushId === followed.push.pushId && offer.hasLeft)

/** The pushes that a workload's instances are assigned: the active one, and a rollout's or one that takes some back. */
export function followedPushes({
  active,
  rollout,
  takenBack,
}: Pick<Workload, 'active' | 'rollout' | 'takenBack'>): FollowedPush[] {
  return [active, rollout?.followed ?? null, takenBack].filter((followed) => followed !== null)
}

/** The pushes that memory follows, and the one whose late answers it takes. */
export const knownPushes = (workload: Workload): FollowedPush[] => [
  ...followedPushes(workload),
  ...(workload.endedStages === null ? [] : [workload.endedStages]),
]

/** A push that the fleet follows; null for one that is history. */
export function followedOf(
  workload: Parameters<typeof followedPushes>[0],
  pushId: string,
): FollowedPush | null {
  return followedPushes(workload).find(({ push }) => push.pushId === pushId) ?? null
}

/**
 * Does an instance belong to a started stage? Everyone belongs to the last one, joiners included, until the rollout is
 * aborted: from then on it has those who got its config, and nobody else.
 */
export function isMember({ members, stored }: Rollout, uid: string): boolean {
  return members.has(uid) || (stored.status !== 'aborted' && isLastStage(stored, stored.stageIndex))
}

/** The order in which instances are shown and chosen: by pod, connection time and uid. */
export function compareInstances(a: Instance, b: Instance): number {
  return (
    compareText(a.podName, b.podName) ||
    a.connectedAt.getTime() - b.connectedAt.getTime() ||
    compareText(a.uid, b.uid)
  )
}
