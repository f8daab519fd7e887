import type { AutoApplyHold } from '../wire/auto-apply.ts'
import type { CampaignHalt, CampaignLimits, CampaignPlan, CampaignWindow } from '../wire/campaigns.ts'
import type { Selector } from '../wire/selectors.ts'

// What a report is made of: plain rows as read from the store, times in milliseconds since 1970.

/** A workload of a report. */
export interface WorkloadRow {
  id: string
  displayName: string
  type: string
  version: string
  status: string
  lastSeenAt: number
  archivedAt: number | null
  acceptsRemoteConfig: boolean
  activeHash: string | null
  /** The labels that operators set and those that label rules give, keys without `muster/`. */
  trustedLabels: Record<string, string>
  /** How many labels its agents reported; the labels themselves never get here. */
  agentLabelCount: number
  remoteStatus: string | null
  remoteHash: string | null
  /** How many of its instances somebody changed on their hosts, as last seen, and since when the first of them is. */
  alteredCount: number
  alteredSince: number | null
}

/** A push of a workload. */
export interface PushRow {
  pushId: string
  workloadId: string
  seq: number
  hash: string
  kind: string
  pushedBy: string
  status: string
  phase: string
  submittedAt: number
  appliedAt: number | null
  failedAt: number | null
  errorCause: string | null
  errorTitle: string | null
  /** Whether the agent sent a text; the text itself never gets here. */
  hasErrorText: boolean
  approvalId: string | null
  rollbackOfPushId: string | null
  failedHash: string | null
  label: string | null
  isContentAvailable: boolean
  targetCount: number
  applyingCount: number
  appliedCount: number
  failedCount: number
  stragglerCount: number
  goneCount: number
  joinedCount: number
  /** Milliseconds from the submission until 50, 90, 99 and 100 % of the targets had applied; null where never. */
  convergedMs: readonly (number | null)[]
}

/** A request, with the components by which it differs from its base. */
export interface PlanRow {
  id: string
  workloadId: string
  status: string
  requesterId: string
  approverId: string | null
  requestComment: string
  approvalComment: string | null
  pushComment: string | null
  targetGroup: string
  targetEnv: string
  draftHash: string
  baseHash: string | null
  pushId: string | null
  isProduction: boolean
  isBreakGlass: boolean
  breakGlassReason: string | null
  createdAt: number
  approvedAt: number | null
  pushedAt: number | null
  /** `receivers/otlp/2`, sorted; null where one of the two texts is not stored. */
  addedComponents: string[] | null
  removedComponents: string[] | null
}

/** An alert about a workload. */
export interface AlertRow {
  id: string
  workloadId: string
  rule: string
  severity: string
  message: string
  firedAt: number
  resolvedAt: number | null
}

/** An entry of a workload's lifecycle log. */
export interface EventRow {
  id: number
  workloadId: string
  eventType: string
  instanceUid: string
  podName: string
  version: string
  prevVersion: string
  occurredAt: number
}

/** The config that a rollback of a workload would choose, and its quarantined hashes; null where there is none. */
export interface RollbackRow {
  workloadId: string
  targetKind: 'last_known_good' | 'previous' | null
  targetHash: string | null
  targetAppliedAt: number | null
  isContentAvailable: boolean
  quarantinedHashes: string[]
}

/** What a walk over the whole audit chain found. */
export interface AuditCheck {
  isIntact: boolean
  checkedCount: number
  headSeq: number
  headHash: string
  firstBadSeq: number | null
  reason: string | null
  /** Records about the workloads of the report in its period, by action. */
  actionCounts: Record<string, number>
}

/** Who approved, and when (RFC 3339). */
export interface ReportApproval {
  byId: string
  at: string
  comment: string
}

/** One change that was carried to many workloads. */
export interface CampaignReportRow {
  id: string
  name: string
  status: string
  changeKind: string
  changeHash: string | null
  fleetConfigId: string | null
  versionNumber: number | null
  planHash: string | null
  plan: CampaignPlan | null
  rules: {
    maxInFlight: number
    catchUpSeconds: number
    windows: readonly CampaignWindow[]
    retryQuarantined: boolean
    limits: CampaignLimits
  }
  /** Limits that an operator raised when he continued. */
  raised: CampaignLimits
  halt: CampaignHalt | null
  requestedById: string | null
  requestedAt: number | null
  requestComment: string | null
  approvals: readonly ReportApproval[]
  startedById: string | null
  startedAt: number | null
  closedById: string | null
  isClosedByItself: boolean | null
  closeComment: string | null
  endedAt: number | null
  askedAt: number
  /** Of all its targets, by wave (from 0) and state; times in milliseconds since 1970. */
  waveStates: readonly {
    wave: number
    state: string
    count: number
    began: number | null
    ended: number | null
  }[]
}

/** A version of a fleet config that reached workloads by itself. */
export interface AutoApplyReportRow {
  id: string
  fleetConfigId: string
  fleetConfigName: string
  status: string
  number: number
  versionHash: string
  selector: Selector
  priority: number
  reachesProduction: boolean
  planHash: string
  requestedById: string
  requestedAt: number
  requestComment: string
  approvals: readonly ReportApproval[]
  activeAt: number | null
  hold: AutoApplyHold | null
  /** An e-mail, or `muster`. */
  closedBy: string | null
  closeComment: string | null
  endCause: string | null
  endedAt: number | null
  /** Of all its pushes, by state. */
  outcomes: Record<string, number>
}

/** What a campaign, or a version that applies by itself, did with one workload, which may be gone. */
export interface CampaignTargetRow {
  kind: 'campaign' | 'auto_apply'
  parentId: string
  parentName: string
  workloadId: string
  workloadName: string
  /** From 0; null for one that is left out, and of what applies by itself. */
  wave: number | null
  verdict: string | null
  reason: string | null
  isNewcomer: boolean | null
  isProduction: boolean
  instanceCount: number | null
  baseHash: string | null
  resultHash: string | null
  state: string
  pushId: string | null
  rollbackPushId: string | null
  cause: string | null
  title: string | null
  startedAt: number | null
  endedAt: number | null
}

/** The sections of a report whose rows have a time, and lie in its period. */
export type DatedSection = 'config_history' | 'config_plan' | 'campaigns' | 'alerts' | 'workload_events'

/** How many rows a section has in all, and how many of each workload's newest were read; null for all. */
export interface ReadExtent {
  total: number
  perWorkload: number | null
}

/** Everything one report is made of, in its workloads' order; absent lists were not asked for. */
export interface Material {
  workloads: WorkloadRow[]
  /** The newest push of each workload that has one. */
  currentPushes: PushRow[]
  pushes: PushRow[]
  plans: PlanRow[]
  campaigns: CampaignReportRow[]
  autoApplies: AutoApplyReportRow[]
  campaignTargets: CampaignTargetRow[]
  alerts: AlertRow[]
  events: EventRow[]
  rollbacks: RollbackRow[]
  audit: AuditCheck | null
  /** `MIN_AGENT_VERSION`, empty when not set. */
  minAgentVersion: string
  /** E-mail addresses in lower case to user ids. */
  userIds: [string, string][]
  extents: Partial<Record<DatedSection, ReadExtent>>
}

/** The kinds of rows that come in pages. */
export type PageKind =
  | 'workloads'
  | 'currentPushes'
  | 'pushes'
  | 'plans'
  | 'campaigns'
  | 'autoApplies'
  | 'campaignTargets'
  | 'alerts'
  | 'events'
  | 'rollbacks'

/** Some rows of one kind as JSON bytes, so that they can be handed to a thread without being copied. */
export interface MaterialPage {
  kind: PageKind
  bytes: Uint8Array<ArrayBuffer>
}

/** Put pages together again. */
export function joinPages(pages: readonly MaterialPage[]): Pick<Material, PageKind> {
  const joined: Pick<Material, PageKind> = {
    workloads: [],
    currentPushes: [],
    pushes: [],
    plans: [],
    campaigns: [],
    autoApplies: [],
    campaignTargets: [],
    alerts: [],
    events: [],
    rollbacks: [],
  }
  const decoder = new TextDecoder()
  for (const { kind, bytes } of pages) {
    const rows = joined[kind] as unknown[]
    for (const row of JSON.parse(decoder.decode(bytes)) as unknown[]) rows.push(row)
  }
  return joined
}
