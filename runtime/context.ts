import type { AlertEngine } from '../lib/alerts/engine.ts'
import type { WebhookDeliveries } from '../lib/alerts/webhook-delivery.ts'
import type { AuditedDatabase } from '../lib/audit/database.ts'
import type { AutoApply } from '../lib/auto-apply/auto-apply.ts'
import type { Campaigns } from '../lib/campaigns/campaigns.ts'
import type { ChangeNews } from '../lib/changes/news.ts'
import type { Clock } from '../lib/clock.ts'
import type { Departure } from '../lib/cluster/departures.ts'
import type { ConfigTargets } from '../lib/configs/check/target.ts'
import type { ConfigEngine } from '../lib/configs/engine.ts'
import type { Fleet } from '../lib/fleet/fleet.ts'
import type { FleetCounters } from '../lib/fleet/state/counters.ts'
import type { FleetViews } from '../lib/fleet/views/fleet-views.ts'
import type { FleetConfigs } from '../lib/fleet-configs/fleet-configs.ts'
import type { Hub } from '../lib/hub/hub.ts'
import type { Identity } from '../lib/identity/identity.ts'
import type { Random } from '../lib/ids.ts'
import type { LabelRules } from '../lib/label-rules/label-rules.ts'
import type { LinkFacts } from '../lib/links/owner-links.ts'
import type { Log } from '../lib/log.ts'
import type { OpampExchange } from '../lib/opamp/exchange.ts'
import type { RecommendedVersion } from '../lib/posture/recommended-version.ts'
import type { KeptPacks } from '../lib/reports/kept-packs.ts'
import type { ReportWorkers } from '../lib/reports/produce.ts'
import type { ReportTurns } from '../lib/reports/turns.ts'
import type { SeenMember } from '../lib/store/members.ts'
import type { PoolStatistics } from '../lib/store/pool.ts'
import type { Config } from './config.ts'
import type { Edition } from './editions.ts'

/** The processes that serve a fleet, as the owner among them knows them. */
export interface ClusterFacts {
  epoch: number
  ownedSince: Date
  members: readonly (Pick<
    SeenMember,
    'id' | 'address' | 'host' | 'pid' | 'version' | 'startedAt' | 'silentMs'
  > & {
    isOwner: boolean
    /** The addresses of older members that have to stop before this one may decide, because it would break them. */
    waitsFor: readonly string[]
    /** Its way to the owner; null where it has none. */
    link: Omit<LinkFacts, 'memberId'> | null
  })[]
  /** Those that went away lately, the last one first. */
  departures: readonly Departure[]
  /** How often another process became the owner, as this one saw it since it started. */
  takeovers: number
  /** The id of the process that a client sent a request to, by the headers with which it came here. */
  servedBy(header: (name: string) => string): string
}

/**
 * Asks over the control session whether the database answers, so that a busy pool does not look like a lost database.
 */
export interface Readiness {
  ping(timeoutMs: number): Promise<boolean>
}

/** Everything that a function may reach. `compose` builds it once, and `owner.ts` freezes it. */
export interface Context {
  config: Config
  edition: Edition
  /** What runs, since when. */
  running: { version: string; nodeVersion: string; startedAt: Date }
  clock: Clock
  random: Random
  log: Log
  db: AuditedDatabase
  /** Counts of the database sessions; null where nobody counts them, as in a test. */
  databaseStatistics: (() => PoolStatistics) | null
  /** The processes of the fleet; null where this one is not one of several. */
  cluster: (() => ClusterFacts) | null
  readiness: Readiness
  identity: Identity
  opamp: OpampExchange
  /** Threads that make evidence packs. */
  reportWorkers: ReportWorkers
  reportTurns: ReportTurns
  /** Packs that were previewed a moment ago. */
  keptReports: KeptPacks
  fleet: Fleet
  /** Which workloads are under which fleet config, held or frozen. */
  fleetConfigs: FleetConfigs
  /** The rules that give workloads trusted labels by their fingerprints. */
  labelRules: LabelRules
  /** The fleet as the wire shows it. */
  views: FleetViews
  /** The browsers that listen. */
  hub: Hub
  /** Open alerts, waiting approvals and labels, in memory. */
  counters: FleetCounters
  alerts: AlertEngine
  webhooks: WebhookDeliveries
  /** Tells the webhook what happens to changes of configs. */
  news: ChangeNews
  /** The OpenAPI document as JSON. */
  openApi(): string
  /** Reads configs, large ones in worker threads. */
  configs: ConfigEngine
  configTargets: ConfigTargets
  /** Campaigns: changes that are brought to many workloads. */
  campaigns: Campaigns
  autoApply: AutoApply
  /** The collector version that the fleet is compared with. */
  recommendedVersion: RecommendedVersion
}

/** What the functions of the OpAMP listener reach: all that a front has, which does not decide. */
export type OpampContext = Pick<Context, 'config' | 'log' | 'opamp'>
