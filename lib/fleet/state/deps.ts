import type { AuditedDatabase } from '../../audit/database.ts'
import type { Clock } from '../../clock.ts'
import type { Random } from '../../ids.ts'
import type { Log } from '../../log.ts'
import type { UsedComponent } from '../../model/components.ts'
import type { Alert } from '../../store/alerts.ts'
import type { AgentError, Push } from '../../store/pushes.ts'
import type { StoredWorkloadEvent } from '../../store/workload-events.ts'
import type { Offer, OfferCause } from '../decide/offer.ts'
import type { AgentLimits } from './agent-limits.ts'
import type { Instance, Workload } from './model.ts'
import type { Timers } from './timers.ts'

/** What the fleet tells others as it happens. Calls are cheap and never throw. */
export interface FleetNotices {
  workloadChanged(workload: Workload): void
  workloadRemoved(workloadId: string): void
  eventStored(event: StoredWorkloadEvent): void
  configStatusReported(workload: Workload, instance: Instance): void
  pushChanged(workload: Workload, push: Push): void
  /** A frame with an offer went out to an instance. */
  offerSent(instance: Instance, offer: Offer, cause: OfferCause): void
  /** Their workload has left the inventory. */
  alertsResolved(alerts: readonly Alert[]): void
  /** After the rollback's frames went out. */
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
export interface FleetDeps {
  db: AuditedDatabase
  clock: Clock
  random: Random
  timers: Timers
  log: Log
  notices: FleetNotices
  /** False while this process is cut off from its lock: then it sends no offer. */
  mayOffer(): boolean
  /** Says in safe words what an agent's raw error text means. */
  classifyError(raw: string): AgentError
  /** Does this component list lack nothing that is used? A list that was never reported lacks nothing. */
  isCompatible(
    used: readonly UsedComponent[],
    available: ReadonlyMap<string, readonly string[]> | null,
  ): boolean
  /** Parsed apart from the event loop; null when the text is no config, `busy` when there is no room to parse it now. */
  normalise(text: string): Promise<NormalForm | null | 'busy'>
  /** The labels that rules give to what is made of this. */
  ruleLabels(fingerprintKeys: Readonly<Record<string, string>>): Readonly<Record<string, string>>
  graceMs: number
  agentLimits: AgentLimits
}
