import type { AgentConnection } from '../../opamp/fleet-port.ts'
import type { HealthNode } from '../../opamp/report.ts'
import type { StoredRollout } from '../../store/rollouts.ts'
import type { Offer, Reported } from '../decide/offer.ts'
import type { PushPhase, PushStatus, TargetState } from '../decide/push.ts'
import type { WorkloadStatus } from '../decide/status.ts'
import type { ComponentWait } from './component-lists.ts'
import type { LiveTally } from './live-tally.ts'

/** A component that a config uses. */
export interface UsedComponent {
  category: string
  type: string
  id: string
  path: string
}

/** Category → sorted type names, shared between all instances that report the same list. */
export interface ComponentList {
  hash: string
  components: ReadonlyMap<string, readonly string[]>
}

/** What a workload's instances can all run, as it is stored and shown. */
export interface AvailableComponents {
  readonly components: Readonly<Record<string, readonly string[]>>
  readonly hash: string
}

/** An agent's error in words that may be shown; the raw text is never kept. */
export interface AgentError {
  cause: string
  title: string
  parameters: Readonly<Record<string, string | number>>
  /** Redacted and cut; only for those who may read configs. */
  text: string
}

/** The newest remote config status of an instance, in the form it is shown in. */
export interface RemoteConfigReport {
  status: 'applying' | 'applied' | 'failed'
  hash: string
  error: AgentError | null
  at: Date
}

/** A stored push of this workload's, as far as the fleet works with it. */
export interface Push {
  pushId: string
  workloadId: string
  seq: number
  hash: string
  kind: 'approval' | 'rollback' | 'auto-rollback'
  pushedBy: string
  generation: number
  status: PushStatus
  phase: PushPhase
  submittedAt: Date
  sentAt: Date | null
  appliedAt: Date | null
  failedAt: Date | null
  updatedAt: Date
  error: AgentError | null
  approvalId: string | null
  rollbackOfPushId: string | null
  failedHash: string | null
  rollbackTargetKind: string | null
  /** Instances that were left out at commit: how many, by reason. */
  excluded: Readonly<Record<string, number>>
  counts: {
    target: number
    applying: number
    applied: number
    failed: number
    straggler: number
    gone: number
    joined: number
  }
}

/** What one instance did with a push; a row of `push_targets`. */
export interface PushTarget {
  instanceUid: string
  podName: string
  isTarget: boolean
  isJoiner: boolean
  state: TargetState
  generation: number
  offeredAt: Date
  applyingAt: Date | null
  endedAt: Date | null
  error: AgentError | null
  hadFailedBefore: boolean
  losses: number
  updatedAt: Date
}

/** A push whose instances are followed: the one that is active, or still open. */
export interface FollowedPush {
  push: Push
  /** The config's bytes, as they go out. */
  body: Uint8Array
  required: readonly UsedComponent[]
  targets: Map<string, PushTarget>
  /** Which component lists it can run on, as far as that was asked; forgotten with the list. */
  compatibility: WeakMap<ComponentList, boolean>
  isSuperseded: boolean
  /** Held open until its last stage ends. */
  isStaged: boolean
  /** The instances it is about, where it is not about all: a rollout's members that go back. */
  scope: ReadonlySet<string> | null
  /** Instances that had failed the same hash before, and whose quarantine this push lifted. */
  liftedUids: ReadonlySet<string>
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
  /** It described itself to this process. */
  isDescribed: boolean
  podName: string
  version: string
  type: 'collector' | 'sdk'
  isExcluded: boolean
  attributes: ReadonlyMap<string, string> | null
  capabilities: number
  hasCapabilities: boolean
  connectedAt: Date
  lastMessageAt: Date
  lastMessageMs: number
  /** Smoothed distance of an HTTP agent's polls. */
  pollIntervalMs: number
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
  offer: Offer | null
  unansweredOtherHash: string | null
  /** Whether this connection has had its first answer, and what it was asked for. */
  hasBeenAnswered: boolean
  hasAskedFullState: boolean
  fullStateAskedMs: number
  fullStateTokens: number
  askedComponentsHash: string | null
  /** Set while it is away. */
  awaySinceMs: number | null
  /** It said goodbye. */
  hasDeparted: boolean
}

/** A logical unit with zero or more instances: the stored record and what only this process knows. */
export interface Workload {
  readonly id: string
  fingerprintSource: 'k8s' | 'host' | 'uid'
  fingerprintKeys: Readonly<Record<string, string>>
  displayName: string
  type: 'collector' | 'sdk'
  version: string
  status: WorkloadStatus
  lastSeenAt: Date
  labels: Readonly<Record<string, string>>
  trustedLabels: Readonly<Record<string, string>>
  acceptsRemoteConfig: boolean
  remoteConfigStatus: {
    status: 'applying' | 'applied' | 'failed'
    configHash: string
    updatedAt: string
    error: AgentError | null
  } | null
  availableComponents: AvailableComponents | null
  activeHash: string | null
  activePushId: string | null
  rolloutPushId: string | null
  generation: number
  pushSeq: number
  disconnectedAt: Date | null
  archivedAt: Date | null
  createdAt: Date
  // From here on only in this process.
  instances: Set<Instance>
  /** Those of them that are connected and described. */
  live: LiveTally
  /** The push that made the active assignment. */
  active: FollowedPush | null
  rollout: Rollout | null
  /** The newest push, for lists. */
  newestPush: Push | null
  quarantinedHashes: Set<string>
  /** hash → uids. */
  quarantinedInstances: Map<string, Set<string>>
  knownGoodHash: string | null
  /** The assignment is being changed: nothing is offered meanwhile. */
  isFrozen: boolean
  graceUntilMs: number | null
  isDeleted: boolean
}
