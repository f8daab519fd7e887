import type { ComponentList, UsedComponent } from '../../model/components.ts'
import type { AgentConnection } from '../../opamp/fleet-port.ts'
import type { HealthNode } from '../../opamp/report.ts'
import type { PushTarget } from '../../store/push-targets.ts'
import type { AgentError, Push } from '../../store/pushes.ts'
import type { StoredRollout } from '../../store/rollouts.ts'
import type { StoredWorkload } from '../../store/workloads.ts'
import type { Offer, Reported } from '../decide/offer.ts'
import type { PollRhythm } from '../decide/poll-rhythm.ts'
import type { ComponentWait } from './component-lists.ts'
import type { LiveTally } from './live-tally.ts'

/** The newest remote config status of an instance, in the form it is shown in. */
export interface RemoteConfigReport {
  status: 'applying' | 'applied' | 'failed'
  hash: string
  error: AgentError | null
  at: Date
}

/** A push whose instances are followed: the one that is active, or still open. */
export interface FollowedPush {
  push: Push
  /** The config's bytes, as they go out. */
  body: Uint8Array
  required: readonly UsedComponent[]
  targets: Map<string, PushTarget>
  /** Those that are offered it or apply it, with the monotonic time from which on their end is waited for. */
  awaiting: Map<PushTarget, number | null>
  /** Which component lists it can run on, as far as that was asked; forgotten with the list. */
  compatibility: WeakMap<ComponentList, boolean>
  isSuperseded: boolean
  /** Held open until its last stage ends. */
  isStaged: boolean
  /** The instances it is about, where it is not about all: a rollout's members that go back. */
  scope: ReadonlySet<string> | null
  /** Instances that had failed the same hash before, and whose quarantine this push lifted. */
  liftedUids: ReadonlySet<string>
  /** An operator has pushed the same config again since: what is failed of this push is lifted already. */
  isPushedAgain: boolean
  /** After a loss, a lost target came back or an instance joined. */
  hasReturned: boolean
  /** Targets lost at least once, and all their losses together. */
  lostCount: number
  lossCount: number
  /** Targets that failed by being lost too often, without a word. */
  lostOutCount: number
  /** Instances in state failed, joiners included. */
  failedCount: number
  /** Loaded at start: whether a frame went out before is not known. */
  isFromBefore: boolean
}

/** A staged rollout that assigns its members a config: open, halted or aborted. */
export interface Rollout {
  stored: StoredRollout
  followed: FollowedPush
  /** uid → the stage it belongs to. The last stage has everyone. */
  members: Map<string, number>
}

/** One agent. Known for as long as it is connected, and through the grace after. */
export interface Instance {
  readonly uid: string
  uidOnWire: Uint8Array
  workload: Workload | null
  /** Null while it is away. */
  connection: AgentConnection | null
  /** The connection before a takeover that may still talk: two at once are duplicates. */
  rival: AgentConnection | null
  /** A duplicate that was given a new uid and may still use this one. */
  evictedConnectionId: number | null
  sequenceNum: number | null
  /** It described itself to this process. One that did not may still be known to belong to a workload. */
  isDescribed: boolean
  /** Set for a while after it came without a description; monotonic. Nothing is offered to it meanwhile. */
  undescribedSinceMs: number | null
  /** The workload's history knows that it is connected. */
  isAnnounced: boolean
  podName: string
  version: string
  type: 'collector' | 'sdk'
  isExcluded: boolean
  attributes: ReadonlyMap<string, string> | null
  capabilities: number
  hasCapabilities: boolean
  connectedAt: Date
  /** The same on the monotonic clock. */
  connectedAtMs: number
  lastMessageAt: Date
  lastMessageMs: number
  /** Of an HTTP agent's polls. */
  rhythm: PollRhythm
  /** Its interval as it is stored; 0 when none is. */
  storedIntervalMs: number
  health: HealthNode | null
  unhealthySinceMs: number | null
  reported: Reported
  report: RemoteConfigReport | null
  /** The last hash it reported as APPLIED. */
  appliedHash: string
  components: ComponentList | null
  /** The hash of its list, whether or not the list itself is known. */
  componentsHash: string
  /** Set while, and since, the list of an announced hash is not known. */
  componentWait: ComponentWait | null
  /** Of the effective config as sent; '' when none came. */
  rawEffectiveHash: string
  /** Of its normal form; '' while unknown. */
  reportedConfigHash: string
  runsPipelines: boolean
  /** Whether one of them carries profiles. */
  runsProfiles: boolean
  /** What it was offered; written by `offer-state.ts` alone. */
  readonly offer: Offer | null
  /** An earlier offer of another config that was sent and never answered; written by `offer-state.ts` alone. */
  readonly unansweredOtherHash: string | null
  /** Whether this connection has had its first answer, and what it was asked for. */
  hasBeenAnswered: boolean
  hasAskedFullState: boolean
  /** Since when its full state is waited for; 0 when it never was. */
  fullStateAskedMs: number
  /** How often it may be asked as of when it was asked last. */
  fullStateTokens: number
  fullStateTokenMs: number
  askedComponentsHash: string | null
  /** How often it was asked for that list on this connection. */
  componentAsks: number
  /** Set while it is away. */
  awaySinceMs: number | null
  /** It said goodbye, and on which connection. */
  hasDeparted: boolean
  departedOn: number | null
}

/** A logical unit with zero or more instances: the stored record and what only this process knows. */
export interface Workload extends StoredWorkload {
  /** What rules give and operators set, together; written by `wearLabels` alone. */
  readonly trustedLabels: Readonly<Record<string, string>>
  instances: Set<Instance>
  /** Those of them that are connected. */
  live: LiveTally
  /** The push that made the active assignment. */
  active: FollowedPush | null
  rollout: Rollout | null
  /** What the members of an ended rollout were taken back to, until something newer is assigned to them. */
  takenBack: FollowedPush | null
  /** The newest push, for lists. */
  newestPush: Push | null
  quarantinedHashes: Set<string>
  /** hash → uids. */
  quarantinedInstances: Map<string, Set<string>>
  knownGoodHash: string | null
  /** The assignment is being changed: nothing is offered meanwhile. Written by `offer-state.ts` alone. */
  readonly isFrozen: boolean
  graceUntilMs: number | null
  isDeleted: boolean
}

/** The connection that an instance is on, for comparisons; -1 while it is away. */
export const connectionIdOf = ({ connection }: Pick<Instance, 'connection'>): number => connection?.id ?? -1
