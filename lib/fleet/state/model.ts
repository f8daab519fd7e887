import type { ComponentList, UsedComponent } from '../../model/components.ts'
import type { AgentConnection, ConfigReader } from '../../opamp/fleet-port.ts'
import type { Asked, HealthNode } from '../../opamp/report.ts'
import type { PushTarget } from '../../store/push-targets.ts'
import type { AgentError, Push } from '../../store/pushes.ts'
import type { StoredRollout } from '../../store/rollouts.ts'
import type { StoredWorkload } from '../../store/workloads.ts'
import type { RolloutHoldReason } from '../../wire/rollouts.ts'
import type { Offer, Reported } from '../decide/offer.ts'
import type { PollRhythm } from '../decide/poll-rhythm.ts'
import type { ComponentWait } from './component-lists.ts'
import type { LiveTally } from './live-tally.ts'

/** The newest remote config status of an instance, as it is shown. */
export interface RemoteConfigReport {
  status: 'applying' | 'applied' | 'failed'
  hash: string
  error: AgentError | null
  at: Date
}

/** A push that instances of a workload are assigned: the active one, a rollout's, or one that takes members back. */
export interface FollowedPush {
  push: Push
  /** The config's bytes, as they go out. */
  body: Uint8Array
  /** The components that the config uses. */
  required: readonly UsedComponent[]
  /** By uid. */
  targets: Map<string, PushTarget>
  /** Targets offered or applying → heard time since which their end is awaited; null: from the next look on. */
  awaiting: Map<PushTarget, number | null>
  /** While the push is open: for how long, in ms, and how many times each target was awaited before, if it was. */
  waited: Map<PushTarget, { ms: number; times: number }>
  /** The same of those that had joined, were waited for and are forgotten, by uid; the one that left last is the last. */
  waitedJoiners: Map<string, { ms: number; times: number }>
  /** When targets came to have applied it, in heard time; of those that had before this process see `appliedAgoMs`. */
  appliedMs: WeakMap<PushTarget, number>
  /** For component lists that were asked about: can an instance with this list run the config? */
  compatibility: WeakMap<ComponentList, boolean>
  /** It is judged no more, as another push took its place or its rollout was aborted (whose members keep it). */
  isSuperseded: boolean
  /** A push in stages: it stays pending until its last stage ends. */
  isStaged: boolean
  /** The members of a rollout that it takes back; null for a push that is not restricted so. */
  scope: ReadonlySet<string> | null
  /** Instances that had failed the same hash before, and whose quarantine this push lifted. */
  liftedUids: ReadonlySet<string>
  /**
   * The newest later push of the same config that is no automatic rollback, as it is known since `sinceMs` (heard time):
   * what came of offers that were sent before does not count any more. Null where there is none.
   */
  pushedAgain: { pushId: string; sinceMs: number } | null
  /** After a loss, at least one lost target came back or an instance joined. */
  hasReturned: boolean
  /** Targets lost at least once. */
  lostCount: number
  /** All losses of targets together. */
  lossCount: number
  /** Targets that failed by being lost too often, without reporting FAILED. */
  lostOutCount: number
  /** Instances in state failed, joiners included. */
  failedCount: number
  /**
   * Targets whose agents vanished, without a goodbye and not by muster, while they applied the config or soon after they
   * had: by uid, whether they have stayed away for longer than the grace.
   */
  missing: Map<string, boolean>
  /** Instances that joined, were lost with it and have stayed away since: by uid, the longest first. */
  lostJoiners: Set<string>
  /** How many looks over its targets are under way that begin the offers stored with it (`beginOffer`). */
  beginning: number
  /** Loaded from the database: it is not known to which of the targets that it had then a frame went out. */
  isFromBefore: boolean
  /** The targets that such a one got since. */
  addedSince: WeakSet<PushTarget>
}

/** A staged rollout that assigns its members a config: open, halted or aborted. */
export interface Rollout {
  stored: StoredRollout
  followed: FollowedPush
  /** uid → the stage it belongs to. The last stage has everyone. */
  members: Map<string, number>
  /** The workload's agents that were known when this process started; absent where it began since. */
  awaitedUids?: string[] | undefined
  /** Set while of some members of its running stage it is still to be seen how healthy they are. */
  unsettled?: UnsettledMembers
  /** Since when its next stage, or its end, is due; heard time. Absent while it is not. */
  dueSinceMs?: number
  /** Set while something keeps it from its next stage, which is asked again at `untilMs`; heard time. */
  hold?: StageHold & { untilMs: number }
}

/** Members of whom it is still to be seen how healthy they are. */
export interface UnsettledMembers {
  /** Since when there has always been one; heard time. */
  sinceMs: number
  /** Those that are there and start now. */
  starting: Set<string>
  /** When each began to start, the last few times since then; heard time. */
  startsMs: Map<string, readonly number[]>
}

/** What keeps a rollout from its next stage; `about` is the reason of a freeze, or the owner in Git, else empty. */
export interface StageHold {
  reason: RolloutHoldReason
  about: string
}

/** One agent; known while it is connected and for the grace after. */
export interface Instance {
  readonly uid: string
  uidOnWire: Uint8Array
  workload: Workload | null
  /** That of the workload's live instances which counts it; null for one that is not live. Written by the tally alone. */
  tally: LiveTally | null
  /** Null while it is away. */
  connection: AgentConnection | null
  /**
   * Between when it said what it was first heard of with on its last connection, or the goodbye with which it left; by the
   * machine's clock, as how long ago something was said at a front.
   */
  boundMs: { earliest: number; latest: number }
  /** What came last of it was what a front said again: it may have gone on from there. */
  isSaidAgain: boolean
  /** The connection that this uid was on before; if it still talks, too, two agents use one uid. */
  rival: AgentConnection | null
  /** Id of the connection of a second agent with this uid, which was given a new uid and may still use the old one. */
  evictedConnectionId: number | null
  sequenceNum: number | null
  /** The same before its process started anew on the connection that it had; null where it did not. */
  formerNum: number | null
  /** It described itself to this process. Without that, its workload may still be known from before. */
  isDescribed: boolean
  /** Heard time; set while its description is waited for, and nothing is offered to it meanwhile. */
  undescribedSinceMs: number | null
  /** The workload's history has a `connected` event for its present connection. */
  isAnnounced: boolean
  /** It has not, as the agent reconnects too often for that. */
  isUntold: boolean
  podName: string
  version: string
  type: 'collector' | 'sdk'
  /** An SDK or a bridge: no config is ever pushed to it. */
  isExcluded: boolean
  attributes: ReadonlyMap<string, string> | null
  capabilities: number
  hasCapabilities: boolean
  connectedAt: Date
  /** The same in heard time. */
  connectedAtMs: number
  lastMessageAt: Date
  /** When its last message came, by the fleet's clock: for so long it has been silent. */
  lastMessageMs: number
  /** When its last message was said, by the machine's clock, to which what was said elsewhere is compared. */
  lastSaidMs: number
  /** How often it polls, for an HTTP agent. */
  rhythm: PollRhythm
  /** Its poll interval as it is stored; 0 when none is. */
  storedIntervalMs: number
  health: HealthNode | null
  /** Heard time; null while it is healthy. A start or stop counts as not healthy. */
  unhealthySinceMs: number | null
  /** The same by the calendar, for people: where it was unhealthy under another process before, since then. */
  unhealthySince: Date | null
  /** It came back at this heard time, and has not said since how healthy it is; null where that is known. */
  healthAwaitedSinceMs: number | null
  reported: Reported
  report: RemoteConfigReport | null
  /** The last hash it reported as APPLIED. */
  appliedHash: string
  components: ComponentList | null
  /** The hash of its list, whether or not the list itself is known. */
  componentsHash: string
  /** The wait for its component list, while only the list's hash is known. */
  componentWait: ComponentWait | null
  /** Hash of its effective config as sent, without what differs by instance; '' when none was read. */
  rawEffectiveHash: string
  /** Who reads the effective config that it said last, and has not said yet what it was; null for nobody. */
  configReader: ConfigReader | null
  /** Hash of the normal form of its effective config; '' while unknown. */
  reportedConfigHash: string
  /** Its effective config has pipelines. */
  runsPipelines: boolean
  /** One of these pipelines carries profiles. */
  runsProfiles: boolean
  /** What it was offered; written by `offer-state.ts` alone. */
  readonly offer: Offer | null
  /** Hash of an earlier offer of another config that was never answered; written by `offer-state.ts` alone. */
  readonly unansweredOtherHash: string | null
  /**
   * Hash of another config that went out to it on a connection which has ended, and that it said nothing of: it may come
   * to run that yet; written by `offer-state.ts` alone.
   */
  readonly lateHash: string | null
  /** The first answer on this connection, which names muster's capabilities, was given. */
  hasBeenAnswered: boolean
  /** It was asked for its full state on this connection, and has not sent it yet. */
  hasAskedFullState: boolean
  /** Heard time since which its full state is waited for; 0 when it never was. */
  fullStateAskedMs: number
  /** How many more full-state requests it might have been sent right after the last one. */
  fullStateTokens: number
  /** Heard time of that last request. */
  fullStateTokenMs: number
  /** How many more changes of its version might have been written down right after the last one, and when that was. */
  versionTokens: number
  versionTokenMs: number
  /** The same of its connections. */
  connectionTokens: number
  connectionTokenMs: number
  /** Hash of the component list that it was asked for on this connection. */
  askedComponentsHash: string | null
  /** How often it was asked for that list on this connection. */
  componentAsks: number
  /** Heard time of the last time that it was. */
  componentsAskedMs: number
  /** What its socket had no room to ask it for: it is asked with the answer to its next message. Null for nothing. */
  unasked: Asked | null
  /** Heard time since which it is away; null while it is connected. */
  awaySinceMs: number | null
  /** It left with a goodbye. */
  hasDeparted: boolean
  /**
   * Its last connection, where muster ended that or lost the link to the front that has it, and until when it was there for
   * all that is known; null otherwise.
   */
  cutOff: (Pick<AgentConnection, 'id' | 'place'> & { at: Date }) | null
  /** Id of the connection of its last goodbye. */
  departedOn: number | null
}

/** A workload: its stored record, and what only this process knows of it. */
export interface Workload extends StoredWorkload {
  /** The labels of rules and of operators together; written by `wearLabels` alone. */
  readonly trustedLabels: Readonly<Record<string, string>>
  /**
   * Labels of operators that its row holds could not be read. Until somebody sets them anew nobody knows what it is: it
   * counts as production, and lies in every freeze. Written by `wearLabels` alone.
   */
  readonly hasUnreadableLabels: boolean
  instances: Set<Instance>
  /** Its connected instances, with what they have in common. */
  live: LiveTally
  /** The push that made the active assignment. */
  active: FollowedPush | null
  rollout: Rollout | null
  /** The push that took the members of an ended rollout back, until a newer push is assigned to them. */
  takenBack: FollowedPush | null
  /**
   * The newest push, where it went out in stages and failed with nothing to go back to: nobody is assigned it, and what
   * those say that were sent it is still what became of it.
   */
  endedStages: FollowedPush | null
  /** The newest push, for lists. */
  newestPush: Push | null
  quarantinedHashes: Set<string>
  /** hash → uids. */
  quarantinedInstances: Map<string, Set<string>>
  knownGoodHash: string | null
  /**
   * Nothing is offered now, because the assignment is being changed or its push may have failed. Not an operator's
   * freeze. Written by `offer-state.ts` alone.
   */
  readonly hasStoppedOffers: boolean
  /** Heard time of the end of its grace; null while an instance is live, and once it is disconnected. */
  graceUntilMs: number | null
  /**
   * Until when it may be on its way back to a process that has just started; heard time. Null once an instance of it came,
   * and for one that came to be since.
   */
  awaitedUntilMs: number | null
  isDeleted: boolean
}

/** The connection that an instance is on, for comparisons; -1 while it is away. */
export const connectionIdOf = ({ connection }: Pick<Instance, 'connection'>): number => connection?.id ?? -1
