import type { CommitFollowers } from '../../audit/commit-followers.ts'
import type { AuditedDatabase } from '../../audit/database.ts'
import type { Clock, FleetClock } from '../../clock.ts'
import type { Random } from '../../ids.ts'
import type { Log } from '../../log.ts'
import type { UsedComponent } from '../../model/components.ts'
import type { OwnAttributes } from '../../model/own-attributes.ts'
import type { Alert } from '../../store/alerts.ts'
import type { Approval } from '../../store/approvals.ts'
import type { Db } from '../../store/db.ts'
import type { AgentError, Push } from '../../store/pushes.ts'
import type { StoredWorkloadEvent } from '../../store/workload-events.ts'
import type { Offer, OfferCause } from '../decide/offer.ts'
import type { AgentLimits } from './agent-limits.ts'
import type { Instance, StageHold, Workload } from './model.ts'
import type { Timers } from './timers.ts'

/** What the fleet tells the rest of the process as it happens. Calls are cheap and never throw. */
export interface FleetNotices {
  workloadChanged(workload: Workload): void
  workloadRemoved(workloadId: string): void
  eventStored(event: StoredWorkloadEvent): void
  configStatusReported(workload: Workload, instance: Instance): void
  pushChanged(workload: Workload, push: Push): void
  /** A frame with an offer went out to an instance. */
  offerSent(instance: Instance, offer: Offer, cause: OfferCause): void
  /** These alerts are over because their workload was archived or deleted. */
  alertsResolved(alerts: readonly Alert[]): void
  /** These requests were retired: pushes took their place. */
  requestsRetired(approvals: readonly Approval[]): void
  /** An automatic rollback is committed and assigned; its frames may still be going out. */
  autoRolledBack(rollback: {
    workloadId: string
    fromHash: string
    toHash: string
    reason: string
    targetKind: 'last_known_good' | 'previous'
    /** The push that rolls back. */
    pushId: string
  }): void
}

/** The normal form of a reported effective config. */
export interface NormalForm {
  hash: string
  text: string
  runsPipelines: boolean
  runsProfiles: boolean
}

/** Everything the fleet needs from outside. */
export type FleetGround = Omit<FleetDeps, 'clock'> & { clock: Clock }

/** What the parts of the fleet need. */
export interface FleetDeps {
  db: AuditedDatabase
  clock: FleetClock
  random: Random
  timers: Timers
  log: Log
  notices: FleetNotices
  followers: CommitFollowers
  /** False while this process may not be the owner any more, as when it has lost its lock: then it sends no offer. */
  mayOffer(): boolean
  /**
   * False while fronts may hold back what agents say, as they do once this process leaves much of it without an answer:
   * then silence means nothing.
   */
  hears(): boolean
  /**
   * Called with the hashes of effective configs whose texts are not stored any more: whoever reads what agents report, as
   * fronts do, has to store them again.
   */
  textsGone(hashes: readonly string[]): void
  /** For how many ms in all the event loop has worked, so that a push leaves time for everything else. */
  busyMs(): number
  /** Says in safe words what an agent's raw error text means. */
  classifyError(raw: string): AgentError
  /** Does this component list have everything that is used? True for null, a list that was never reported. */
  isCompatible(
    used: readonly UsedComponent[],
    available: ReadonlyMap<string, readonly string[]> | null,
  ): boolean
  /**
   * Read a text, of agents with these attributes, off the event loop: null when it is no config, `busy` when there is
   * no room to read it now, `given-up` when that took too long or its reader died.
   */
  normalise(text: string, own: OwnAttributes): Promise<NormalForm | null | 'busy' | 'given-up'>
  /** Whether enough approvals of a pushed request count still, on its workload as that is labelled now. */
  isStillApproved(tx: Db, approval: Approval, workload: Workload): Promise<boolean>
  /**
   * What keeps the push of a campaign, or of a version that applies by itself, from reaching more instances of its
   * workload, besides what keeps any push from beginning: what brought it is stopped, or the workload is not what was
   * approved any more. Null when it may go on.
   */
  whyNotFurther(tx: Db, workload: Workload, push: Push): Promise<StageHold | null>
  /** The labels that the label rules give to a workload with this fingerprint. */
  ruleLabels(fingerprintKeys: Readonly<Record<string, string>>): Readonly<Record<string, string>>
  /** The grace: how long an instance, or a workload with no live one, may be away before it counts as gone. */
  graceMs: number
  agentLimits: AgentLimits
}
