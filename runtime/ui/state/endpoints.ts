import { type CampaignStep, type CampaignStepBody, toStepBody } from '../../../lib/model/campaign-steps.ts'
import type { AdoptCheck, AdoptCheckRequest, AdoptGroup, AdoptWorkload } from '../../../lib/wire/adopt.ts'
import type { AlertCount, AlertRecord, AlertResolved, AlertsResolved } from '../../../lib/wire/alerts.ts'
import type { ApprovalPolicyRecord, ApprovalPolicyRequest } from '../../../lib/wire/approval-policy.ts'
import type {
  ApprovalCreateRequest,
  ApprovalOutlook,
  ApprovalPushRequest,
  ApprovalRecord,
  ApprovalSummary,
} from '../../../lib/wire/approvals.ts'
import type { AuditPage, AuditVerification } from '../../../lib/wire/audit.ts'
import type {
  AutoApplyDecision,
  AutoApplyLeftOut,
  AutoApplyPlanRequest,
  AutoApplyRecord,
  AutoApplyRequest,
  AutoApplyState,
  AutoApplyTarget,
  PlannedAutoApply,
} from '../../../lib/wire/auto-apply.ts'
import type {
  CampaignCreateRequest,
  CampaignDiffPage,
  CampaignFigures,
  CampaignGroup,
  CampaignMatch,
  CampaignMatchRequest,
  CampaignRecord,
  CampaignTarget,
  CampaignVariable,
} from '../../../lib/wire/campaigns.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { AgentAddress, AgentCredential } from '../../../lib/wire/connect.ts'
import type { Convergence } from '../../../lib/wire/convergence.ts'
import type { HandOverRequest, HandOverResult, ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import type { ConfigDiff, DiffRequest } from '../../../lib/wire/diff.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type {
  EventStats,
  EventStatsWindow,
  FleetActivity,
  WorkloadEventRecord,
} from '../../../lib/wire/events.ts'
import type {
  FleetConfigComparison,
  FleetConfigRecord,
  FleetConfigRequest,
  FleetConfigVersion,
  FleetConfigVersionRequest,
  FleetConfigVersionSummary,
  FleetConfigWorkload,
  FleetStanding,
  FreezeRecord,
  FreezeRequest,
  HoldsChanged,
  HoldsReleaseRequest,
  HoldsRequest,
  RenderedVersion,
} from '../../../lib/wire/fleet-configs.ts'
import type { FleetHealth } from '../../../lib/wire/fleet-health.ts'
import type { FoundWorkloads, SearchedOnly } from '../../../lib/wire/fleet-search.ts'
import type { FleetSummary } from '../../../lib/wire/fleet-summary.ts'
import type { FleetView, FleetViewRequest } from '../../../lib/wire/fleet-views.ts'
import type {
  ApiTokenCreated,
  ApiTokenRecord,
  ApiTokenRequest,
  CommandLineLoginConfirmed,
  CommandLineLoginRequest,
  GroupCreateRequest,
  GroupUpdateRequest,
  LinkRequestRecord,
  ManagedGroupRecord,
  PasswordRequest,
  PeopleNames,
  ServiceAccountChanged,
  ServiceAccountCreateRequest,
  ServiceAccountRecord,
  ServiceAccountUpdateRequest,
  UserCreateRequest,
  UserRecord,
  UserUpdateRequest,
} from '../../../lib/wire/identity.ts'
import type { InstanceDetail, ReportedConfigRecord } from '../../../lib/wire/instances.ts'
import type {
  LabelRulePreview,
  LabelRulePreviewRequest,
  LabelRuleRecord,
  LabelRuleRequest,
} from '../../../lib/wire/label-rules.ts'
import type { LabelsPatch, LabelsPatched } from '../../../lib/wire/labels-patch.ts'
import type { MigrationPreview, MigrationPreviewRequest } from '../../../lib/wire/migration.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type {
  PushActivityDay,
  PushGroup,
  PushGroupRequest,
  PushPreview,
  PushPreviewRequest,
} from '../../../lib/wire/pushes.ts'
import type { EvidencePack, ReportExportRequest, ReportFormat } from '../../../lib/wire/reports.ts'
import type { ReviewRecord, ReviewRequest } from '../../../lib/wire/reviews.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RightsRecord } from '../../../lib/wire/rights.ts'
import type {
  DefaultRollbackAccepted,
  KnownGoodMarked,
  KnownGoodRecord,
  KnownGoodRequest,
  RollbackAccepted,
  RollbackPrepare,
  RollbackRequest,
} from '../../../lib/wire/rollback.ts'
import type { RolloutContinueRequest, RolloutRecord } from '../../../lib/wire/rollouts.ts'
import type { Cluster, DatabaseCounters, SingleSignOn, SystemInfo } from '../../../lib/wire/system.ts'
import type { TemplateCreateRequest, TemplateRecord } from '../../../lib/wire/templates.ts'
import type { WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { ValidationResult } from '../../../lib/wire/validation.ts'
import type { RecommendedVersion, VersionOverview } from '../../../lib/wire/version-intelligence.ts'
import type { WorkloadLink, WorkloadLinks } from '../../../lib/wire/workload-links.ts'
import type { TrustedLabels, WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { LISTED_MAX } from '../logic/pages.ts'
import { call, download, LONG_LIMIT_MS } from './api.ts'
import { fetchedWorkload } from './fleet.ts'

const e = encodeURIComponent
const w = (id: string) => `/api/workloads/${e(id)}`
const f = (id: string) => `/api/fleet-configs/${e(id)}`
type Signal = AbortSignal | undefined

/** Rows of one page of a workload's events, alerts or audit log. */
const PAGE = 100

/** What can be decided about a version that applies by itself. */
export type AutoApplyStep = 'approve' | 'reject' | 'withdraw' | 'pause' | 'continue' | 'turn-off'

/** Every call of the public API that the pages make, typed by the bodies that the functions answer. */
export const api = {
  agentAddress: (signal?: Signal) => call<AgentAddress>('GET', '/api/connect', { signal }),
  agentCredential: () => call<AgentCredential>('POST', '/api/connect/credential'),
  async workload(id: string, signal?: Signal) {
    const result = await call<WorkloadRecord>('GET', w(id), { signal })
    if (result.ok) fetchedWorkload.value = result.value
    return result
  },
  searchFleet: (wanted: { q: string; limit: number; only?: SearchedOnly | undefined }, signal?: Signal) =>
    call<FoundWorkloads>('GET', '/api/fleet/search', {
      signal,
      query: { ...wanted, limit: String(wanted.limit) },
    }),
  topology: (id: string, signal?: Signal) => call<WorkloadTopology>('GET', `${w(id)}/topology`, { signal }),
  instance: (id: string, uid: string, signal?: Signal) =>
    call<InstanceDetail>('GET', `${w(id)}/instances/${e(uid)}`, { signal }),
  archive: (id: string) => call<void>('POST', `${w(id)}/archive`),
  deleteWorkload: (id: string) => call<void>('DELETE', w(id)),
  /** One page; `address` is that of an older one. */
  events: (id: string, address: string | null, signal?: Signal) =>
    call<WorkloadEventRecord[]>('GET', address ?? `${w(id)}/events?limit=${PAGE}`, { signal }),
  eventStats: (id: string, window: EventStatsWindow, signal?: Signal) =>
    call<EventStats>('GET', `${w(id)}/events/stats`, { signal, query: { window } }),
  fleetStanding: (id: string, signal?: Signal) =>
    call<FleetStanding>('GET', `${w(id)}/fleet-config`, { signal }),
  release: (id: string) => call<void>('POST', `${w(id)}/release`),
  holdMany: (request: HoldsRequest) => call<HoldsChanged>('POST', '/api/holds', { json: request }),
  releaseMany: (request: HoldsReleaseRequest) =>
    call<HoldsChanged>('POST', '/api/holds/release', { json: request }),
  patchLabels: (request: LabelsPatch, signal?: Signal) =>
    call<LabelsPatched>('PATCH', '/api/workloads/labels', { signal, json: request }),
  trustedLabels: (id: string, signal?: Signal) =>
    call<TrustedLabels>('GET', `${w(id)}/trusted-labels`, { signal }),
  /** One page of the workloads that operators set labels on; `address` is that of the next one. */
  allTrustedLabels: (address: string | null, signal?: Signal) =>
    call<TrustedLabels[]>('GET', address ?? `/api/trusted-labels?limit=${PAGE}`, { signal }),
  setTrustedLabels: (id: string, labels: Record<string, string>) =>
    call<TrustedLabels>('PUT', `${w(id)}/trusted-labels`, { json: { labels } }),

  revisions: (id: string, signal?: Signal) =>
    call<RevisionRecord[]>('GET', `${w(id)}/configs`, { signal, query: { limit: LISTED_MAX } }),
  revision: (id: string, hash: string, signal?: Signal) =>
    call<RevisionRecord>('GET', `${w(id)}/configs/${e(hash)}`, { signal }),
  reportedConfig: (id: string, signal?: Signal) =>
    call<ReportedConfigRecord>('GET', `${w(id)}/config/reported`, { signal }),
  convergence: (id: string, hash: string, pushId: string | undefined, signal?: Signal) =>
    call<Convergence>('GET', `${w(id)}/configs/${e(hash)}/convergence`, {
      signal,
      query: { push_id: pushId, limit: 200 },
    }),
  setLabel: (id: string, hash: string, label: string) =>
    call<{ label: string }>('POST', `${w(id)}/configs/${e(hash)}/label`, { json: { label } }),

  validate: (id: string, yaml: string, signal?: Signal) =>
    call<ValidationResult>('POST', `${w(id)}/config/validate`, { signal, text: yaml }),
  plan: (id: string, yaml: string, signal?: Signal) =>
    call<ConfigPlan>('POST', `${w(id)}/config/plan`, { signal, text: yaml }),
  diff: (request: DiffRequest, signal?: Signal) =>
    call<ConfigDiff>('POST', '/api/configs/diff', { signal, json: request }),

  approval: (id: string, approval: string, signal?: Signal) =>
    call<ApprovalRecord>('GET', `${w(id)}/config/approvals/${e(approval)}`, { signal }),
  approvalOutlook: (
    id: string,
    query: { draft_hash: string; target_group: string; target_env: string },
    signal?: Signal,
  ) => call<ApprovalOutlook>('GET', `${w(id)}/config/approval-outlook`, { signal, query }),
  /** The requests of one workload, with their drafts. */
  approvalsOf: (id: string, status: string, signal?: Signal) =>
    call<ApprovalRecord[]>('GET', `${w(id)}/config/approvals`, { signal, query: { status } }),
  approvals: (status: string | undefined, signal?: Signal) =>
    call<ApprovalSummary[]>('GET', '/api/approvals', { signal, query: { status } }),
  /** What was done without an approval, the oldest first: the first 200. */
  reviews: (status: 'open' | 'done', signal?: Signal) =>
    call<ReviewRecord[]>('GET', '/api/reviews', { signal, query: { status, limit: LISTED_MAX } }),
  review: (id: string, request: ReviewRequest) =>
    call<ReviewRecord>('POST', `/api/reviews/${e(id)}`, { json: request }),
  /** What a person or a service account may do; oneself without an id. */
  rights: (id: string | null, signal?: Signal) =>
    call<RightsRecord>('GET', id === null ? '/api/me/rights' : `/api/users/${e(id)}/rights`, { signal }),
  /** Who keeps the workload's config in Git, and who asks to: a few entries, or none. */
  managed: (id: string, signal?: Signal) =>
    call<ManagedConfigRecord[]>('GET', '/api/managed-configs', { signal, query: { workload_id: id } }),
  letGo: (id: string, owner: string) => call<void>('DELETE', `${w(id)}/config/desired`, { query: { owner } }),
  handOver: (request: HandOverRequest) =>
    call<HandOverResult>('POST', '/api/managed-configs/hand-over', { json: request }),
  requestApproval: (id: string, request: ApprovalCreateRequest) =>
    call<ApprovalRecord>('POST', `${w(id)}/config/approvals`, { json: request }),
  approve: (id: string, approval: string, comment: string) =>
    call<ApprovalRecord>('POST', `${w(id)}/config/approvals/${e(approval)}/approve`, { json: { comment } }),
  /** Say something about a request, or end it. */
  answerApproval: (
    id: string,
    approval: string,
    answer: 'comments' | 'reject' | 'withdraw',
    comment: string,
  ) =>
    call<ApprovalRecord>('POST', `${w(id)}/config/approvals/${e(approval)}/${answer}`, { json: { comment } }),
  push: (id: string, approval: string, request: ApprovalPushRequest) =>
    call<ApprovalRecord>('POST', `${w(id)}/config/approvals/${e(approval)}/push`, { json: request }),

  views: (signal?: Signal) => call<FleetView[]>('GET', '/api/me/views', { signal }),
  saveView: (request: FleetViewRequest) => call<FleetView>('POST', '/api/me/views', { json: request }),
  removeView: (id: string) => call<void>('DELETE', `/api/me/views/${e(id)}`),

  rollbackTo: (id: string, hash: string, request: RollbackRequest) =>
    call<RollbackAccepted>('POST', `${w(id)}/configs/${e(hash)}/rollback`, { json: request }),
  rollback: (id: string) => call<DefaultRollbackAccepted>('POST', `${w(id)}/rollback`),
  prepareRollback: (id: string, hash: string, signal?: Signal) =>
    call<RollbackPrepare>('GET', `${w(id)}/rollback/prepare`, { signal, query: { target_hash: hash } }),
  knownGood: (id: string, signal?: Signal) => call<KnownGoodRecord>('GET', `${w(id)}/known-good`, { signal }),
  pinKnownGood: (id: string, hash: string, request: KnownGoodRequest) =>
    call<KnownGoodMarked>('POST', `${w(id)}/configs/${e(hash)}/known-good`, { json: request }),
  clearKnownGood: (id: string) => call<void>('DELETE', `${w(id)}/known-good`),
  rollouts: (id: string, signal?: Signal) =>
    call<RolloutRecord[]>('GET', `${w(id)}/config/canary`, { signal }),
  rollout: (id: string, rollout: string, signal?: Signal) =>
    call<RolloutRecord>('GET', `${w(id)}/config/canary/${e(rollout)}`, { signal }),
  /** `glass` says why an operator breaks the glass to promote or continue it; null where nobody does. */
  steerRollout: (
    id: string,
    rollout: string,
    action: 'promote' | 'abort' | 'rollback',
    glass: RolloutContinueRequest | null,
  ) =>
    call<RolloutRecord>('POST', `${w(id)}/config/canary/${e(rollout)}/${action}`, {
      ...(glass === null ? {} : { json: glass }),
    }),

  destinations: (signal?: Signal) => call<ExportDestination[]>('GET', '/api/fleet/destinations', { signal }),
  activity: (ids: readonly string[], window: EventStatsWindow, signal?: Signal) =>
    call<FleetActivity>('GET', '/api/fleet/activity', { signal, query: { ids: ids.join(','), window } }),
  fleetSummary: (signal?: Signal) => call<FleetSummary>('GET', '/api/fleet/summary', { signal }),
  fleetHealth: (window: EventStatsWindow, signal?: Signal) =>
    call<FleetHealth>('GET', '/api/fleet/health', { signal, query: { window } }),
  /** One page of the feed of changes; `address` is that of an older one. */
  changes: (filter: Record<string, string | undefined>, address: string | null, signal?: Signal) =>
    address === null
      ? call<ChangeRecord[]>('GET', '/api/changes', { signal, query: { ...filter, limit: 50 } })
      : call<ChangeRecord[]>('GET', address, { signal }),

  alertCount: (signal?: Signal) => call<AlertCount>('GET', '/api/alerts/count', { signal }),
  alerts: (includeResolved: boolean, signal?: Signal) =>
    call<AlertRecord[]>('GET', '/api/alerts', {
      signal,
      query: { include_resolved: includeResolved || undefined },
    }),
  /** One page of a workload's alerts, resolved ones too; `address` is that of an older one. */
  alertsOf: (id: string, address: string | null, signal?: Signal) =>
    call<AlertRecord[]>(
      'GET',
      address ?? `/api/alerts?include_resolved=true&workload_id=${e(id)}&limit=${PAGE}`,
      { signal },
    ),
  resolveAlert: (id: string, reason: string) =>
    call<AlertResolved>('POST', `/api/alerts/${e(id)}/resolve`, { json: { reason } }),
  resolveAlerts: (ids: readonly string[], reason: string) =>
    call<AlertsResolved>('POST', '/api/alerts/resolve', { json: { alert_ids: ids, reason } }),
  reopenAlert: (id: string) => call<AlertRecord>('POST', `/api/alerts/${e(id)}/reopen`),

  adoptGroups: (signal?: Signal) =>
    call<AdoptGroup[]>('GET', '/api/adopt', { signal, query: { limit: LISTED_MAX } }),
  adoptWorkloads: (hash: string) =>
    call<AdoptWorkload[]>('GET', '/api/adopt/workloads', { query: { reported_config_hash: hash } }),
  checkAdoption: (request: AdoptCheckRequest) =>
    call<AdoptCheck>('POST', '/api/adopt/check', { json: request }),
  campaigns: (signal?: Signal) =>
    call<CampaignRecord[]>('GET', '/api/campaigns', { signal, query: { limit: LISTED_MAX } }),
  campaign: (id: string, signal?: Signal) =>
    call<CampaignRecord>('GET', `/api/campaigns/${e(id)}`, { signal }),
  createCampaign: (request: CampaignCreateRequest) =>
    call<CampaignRecord>('POST', '/api/campaigns', { json: request }),
  changeCampaign: (id: string, request: CampaignCreateRequest) =>
    call<CampaignRecord>('PUT', `/api/campaigns/${e(id)}`, { json: request }),
  removeCampaign: (id: string) => call<void>('DELETE', `/api/campaigns/${e(id)}`),
  matchCampaign: (request: CampaignMatchRequest, signal?: Signal) =>
    call<CampaignMatch>('POST', '/api/campaigns/match', { signal, json: request }),
  planCampaign: (id: string) => call<CampaignRecord>('POST', `/api/campaigns/${e(id)}/plan`),
  decideCampaign: (id: string, step: CampaignStep, said: CampaignStepBody) =>
    call<CampaignRecord>('POST', `/api/campaigns/${e(id)}/${step}`, { json: toStepBody(step, said) }),
  commentCampaign: (id: string, comment: string) =>
    call<CampaignRecord>('POST', `/api/campaigns/${e(id)}/comments`, { json: { comment } }),
  campaignFigures: (id: string, signal?: Signal) =>
    call<CampaignFigures>('GET', `/api/campaigns/${e(id)}/figures`, { signal }),
  /** One page of the groups of a plan, whose list is at `path`; `address` is that of the next one. */
  planGroups: (path: string, address: string | null, signal?: Signal) =>
    call<CampaignGroup[]>('GET', address ?? `${path}?limit=20`, { signal }),
  groupValues: (
    path: string,
    { key, name }: { key: string; name: string },
    address: string | null,
    signal?: Signal,
  ) =>
    call<CampaignVariable[]>('GET', address ?? `${path}/${e(key)}/values?variable=${e(name)}&limit=200`, {
      signal,
    }),
  groupDiff: (path: string, { key, from }: { key: string; from: number }) =>
    call<CampaignDiffPage>('GET', `${path}/${e(key)}/diff?from=${from}`),
  campaignTargets: (id: string, query: { state?: string; order?: 'plan' | 'worst' }, signal?: Signal) =>
    call<CampaignTarget[]>('GET', `/api/campaigns/${e(id)}/targets`, {
      signal,
      query: { limit: 1000, ...query },
    }),

  fleetConfigs: (signal?: Signal) =>
    call<FleetConfigRecord[]>('GET', '/api/fleet-configs', { signal, query: { limit: 1000 } }),
  fleetConfig: (id: string, signal?: Signal) => call<FleetConfigRecord>('GET', f(id), { signal }),
  createFleetConfig: (request: FleetConfigRequest) =>
    call<FleetConfigRecord>('POST', '/api/fleet-configs', { json: request }),
  updateFleetConfig: (id: string, request: FleetConfigRequest) =>
    call<FleetConfigRecord>('PUT', f(id), { json: request }),
  fleetConfigVersions: (id: string, signal?: Signal) =>
    call<FleetConfigVersionSummary[]>('GET', `${f(id)}/versions`, { signal, query: { limit: 1000 } }),
  fleetConfigVersion: (id: string, number: number, signal?: Signal) =>
    call<FleetConfigVersion>('GET', `${f(id)}/versions/${number}`, { signal }),
  addFleetConfigVersion: (id: string, request: FleetConfigVersionRequest) =>
    call<FleetConfigVersion>('POST', `${f(id)}/versions`, { json: request }),
  compareFleetConfigVersions: (id: string, number: number, other: number, signal?: Signal) =>
    call<FleetConfigComparison>('GET', `${f(id)}/versions/${number}/compare`, {
      signal,
      query: { with: String(other) },
    }),
  renderFleetConfigVersion: (id: string, number: number, workload: string, signal?: Signal) =>
    call<RenderedVersion>('GET', `${f(id)}/versions/${number}/render`, {
      signal,
      query: { workload_id: workload },
    }),
  /** One page of the workloads under a fleet config; `address` is that of the next one. */
  fleetConfigWorkloads: (id: string, address: string | null, signal?: Signal) =>
    call<FleetConfigWorkload[]>('GET', address ?? `${f(id)}/workloads?limit=200`, { signal }),
  autoApply: (id: string, signal?: Signal) => call<AutoApplyState>('GET', `${f(id)}/auto-apply`, { signal }),
  planAutoApply: (id: string, request: AutoApplyPlanRequest) =>
    call<PlannedAutoApply>('POST', `${f(id)}/auto-apply/plan`, { json: request }),
  requestAutoApply: (id: string, request: AutoApplyRequest) =>
    call<AutoApplyRecord>('POST', `${f(id)}/auto-apply`, { json: request }),
  decideAutoApply: (id: string, step: AutoApplyStep, choice: AutoApplyDecision) =>
    call<AutoApplyRecord>('POST', `${f(id)}/auto-apply/${step}`, { json: choice }),
  /** One page of what was pushed by itself, the newest first. */
  autoApplyTargets: (id: string, address: string | null, signal?: Signal) =>
    call<AutoApplyTarget[]>('GET', address ?? `${f(id)}/auto-apply/targets?limit=50`, { signal }),
  autoApplyLeftOut: (id: string, address: string | null, signal?: Signal) =>
    call<AutoApplyLeftOut[]>('GET', address ?? `${f(id)}/auto-apply/left-out?limit=100`, { signal }),
  labelRules: (signal?: Signal) =>
    call<LabelRuleRecord[]>('GET', '/api/label-rules', { signal, query: { limit: LISTED_MAX } }),
  labelRule: (id: string, signal?: Signal) =>
    call<LabelRuleRecord>('GET', `/api/label-rules/${e(id)}`, { signal }),
  previewLabelRule: (request: LabelRulePreviewRequest, signal?: Signal) =>
    call<LabelRulePreview>('POST', '/api/label-rules/preview', { signal, json: request }),
  saveLabelRule: (id: string | null, request: LabelRuleRequest) =>
    id === null
      ? call<LabelRuleRecord>('POST', '/api/label-rules', { json: request })
      : call<LabelRuleRecord>('PUT', `/api/label-rules/${e(id)}`, { json: request }),
  deleteLabelRule: (id: string, isMeant: boolean) =>
    call<void>('DELETE', `/api/label-rules/${e(id)}`, { query: { confirm_lowering: isMeant || undefined } }),
  freeze: (signal?: Signal) => call<FreezeRecord>('GET', '/api/freeze', { signal }),
  liftFreeze: () => call<void>('DELETE', '/api/freeze'),
  setFreeze: (request: FreezeRequest) => call<FreezeRecord>('PUT', '/api/freeze', { json: request }),

  templates: (signal?: Signal) => call<TemplateRecord[]>('GET', '/api/configs', { signal }),
  template: (id: string, signal?: Signal) => call<TemplateRecord>('GET', `/api/configs/${e(id)}`, { signal }),
  createTemplate: (request: TemplateCreateRequest) =>
    call<TemplateRecord>('POST', '/api/configs', { json: request }),
  previewMigration: (request: MigrationPreviewRequest, signal?: Signal) =>
    call<MigrationPreview>('POST', '/api/configs/migration-assistant/preview', { signal, json: request }),

  versions: (recommended: string | null, show: string | null, signal?: Signal) =>
    call<VersionOverview>('GET', '/api/workloads/version-overview', {
      signal,
      query: { recommended_version: recommended ?? undefined, show: show ?? undefined },
    }),
  recommendedVersion: (signal?: Signal) =>
    call<RecommendedVersion>('GET', '/api/settings/recommended-version', { signal }),
  recommendVersion: (version: string) =>
    call<RecommendedVersion>('PUT', '/api/settings/recommended-version', { json: { version } }),
  workloadLinks: (signal?: Signal) => call<WorkloadLinks>('GET', '/api/settings/workload-links', { signal }),
  saveWorkloadLinks: (links: readonly WorkloadLink[]) =>
    call<WorkloadLinks>('PUT', '/api/settings/workload-links', { json: { links } }),
  drift: (signal?: Signal) => call<DriftOverview>('GET', '/api/config-safety/drift', { signal }),
  pushActivity: (signal?: Signal) =>
    call<PushActivityDay[]>('GET', '/api/pushes/activity', { signal, query: { window: '7d' } }),
  pushGroups: (signal?: Signal) => call<PushGroup[]>('GET', '/api/push-groups', { signal }),
  savePushGroup: (id: string | null, group: PushGroupRequest) =>
    id === null
      ? call<PushGroup>('POST', '/api/push-groups', { json: group })
      : call<PushGroup>('PUT', `/api/push-groups/${e(id)}`, { json: group }),
  deletePushGroup: (id: string) => call<void>('DELETE', `/api/push-groups/${e(id)}`),
  previewPush: (request: PushPreviewRequest, signal?: Signal) =>
    call<PushPreview>('POST', '/api/pushes/preview', { signal, json: request }),

  groups: (signal?: Signal) => call<ManagedGroupRecord[]>('GET', '/api/groups', { signal }),
  createGroup: (request: GroupCreateRequest) =>
    call<ManagedGroupRecord>('POST', '/api/groups', { json: request }),
  updateGroup: (id: string, request: GroupUpdateRequest) =>
    call<ManagedGroupRecord>('PUT', `/api/groups/${e(id)}`, { json: request }),
  deleteGroup: (id: string) => call<void>('DELETE', `/api/groups/${e(id)}`),
  people: (ids: readonly string[], signal?: Signal) =>
    call<PeopleNames>('GET', '/api/people', { signal, query: { ids: ids.join(',') || undefined } }),
  users: (signal?: Signal) => call<UserRecord[]>('GET', '/api/users', { signal }),
  createUser: (request: UserCreateRequest) => call<UserRecord>('POST', '/api/users', { json: request }),
  updateUser: (id: string, request: UserUpdateRequest) =>
    call<UserRecord>('PATCH', `/api/users/${e(id)}`, { json: request }),
  deleteUser: (id: string) => call<void>('DELETE', `/api/users/${e(id)}`),
  approvalPolicy: (signal?: Signal) => call<ApprovalPolicyRecord>('GET', '/api/approval-policy', { signal }),
  changeApprovalPolicy: (request: ApprovalPolicyRequest) =>
    call<ApprovalPolicyRecord>('PUT', '/api/approval-policy', { json: request }),
  linkRequests: (signal?: Signal) => call<LinkRequestRecord[]>('GET', '/api/link-requests', { signal }),
  acceptLink: (id: string) => call<void>('POST', `/api/link-requests/${e(id)}/accept`),
  refuseLink: (id: string) => call<void>('DELETE', `/api/link-requests/${e(id)}`),
  tokens: (signal?: Signal) => call<ApiTokenRecord[]>('GET', '/api/tokens', { signal }),
  createToken: (request: ApiTokenRequest) => call<ApiTokenCreated>('POST', '/api/tokens', { json: request }),
  revokeToken: (id: string) => call<void>('DELETE', `/api/tokens/${e(id)}`),
  confirmCommandLine: (login: CommandLineLoginRequest) =>
    call<CommandLineLoginConfirmed>('POST', '/api/auth/command-line', { json: login }),
  tokensOf: (holder: string, signal?: Signal) =>
    call<ApiTokenRecord[]>('GET', `/api/users/${e(holder)}/tokens`, { signal }),
  revokeTokenOf: (holder: string, id: string) =>
    call<void>('DELETE', `/api/users/${e(holder)}/tokens/${e(id)}`),
  serviceAccounts: (signal?: Signal) =>
    call<ServiceAccountRecord[]>('GET', '/api/service-accounts', { signal }),
  createServiceAccount: (request: ServiceAccountCreateRequest) =>
    call<ServiceAccountRecord>('POST', '/api/service-accounts', { json: request }),
  updateServiceAccount: (id: string, request: ServiceAccountUpdateRequest) =>
    call<ServiceAccountChanged>('PATCH', `/api/service-accounts/${e(id)}`, { json: request }),
  deleteServiceAccount: (id: string) => call<void>('DELETE', `/api/service-accounts/${e(id)}`),
  createTokenFor: (id: string, request: ApiTokenRequest) =>
    call<ApiTokenCreated>('POST', `/api/service-accounts/${e(id)}/tokens`, { json: request }),
  changePassword: (request: PasswordRequest) =>
    call<void>('PUT', '/api/me/password', { json: request, keepsSession: true }),

  /** The pack with its bytes, which are what its hashes and signatures are about. */
  evidencePack: async (request: ReportExportRequest) => {
    const result = await download('POST', '/api/reports/evidence-pack', {
      json: request,
      limitMs: LONG_LIMIT_MS,
    })
    if (!result.ok) return result
    const { blob } = result.value
    return { ok: true as const, value: { blob, pack: JSON.parse(await blob.text()) as EvidencePack } }
  },
  /** A pack as a file: that of `reportHash`, which was previewed, or a new one. */
  exportPack: (request: ReportExportRequest, format: ReportFormat, names: boolean, reportHash?: string) =>
    download('POST', '/api/reports/evidence-pack/export', {
      json: request,
      query: { format, report_hash: reportHash, names: names || undefined },
      limitMs: LONG_LIMIT_MS,
    }),

  audit: (query: Record<string, string | number | undefined>, signal?: Signal) =>
    call<AuditPage>('GET', '/api/audit/events', { signal, query }),
  /** One page of what was done to a workload; `address` is that of an older one. */
  auditOf: async (id: string, address: string | null, signal?: Signal) => {
    const page = await call<AuditPage>(
      'GET',
      address ?? `/api/audit/events?workload_id=${e(id)}&limit=${PAGE}`,
      { signal },
    )
    return page.ok ? { ...page, value: page.value.events } : page
  },
  exportAudit: (query: Record<string, string | number | undefined>) =>
    download('GET', '/api/audit/events.csv', { query, limitMs: LONG_LIMIT_MS }),
  verifyAudit: () => call<AuditVerification>('GET', '/api/audit/verify', { limitMs: LONG_LIMIT_MS }),
  systemInfo: (signal?: Signal) => call<SystemInfo>('GET', '/api/system/info', { signal }),
  singleSignOn: (signal?: Signal) => call<SingleSignOn>('GET', '/api/system/single-sign-on', { signal }),
  cluster: (signal?: Signal) => call<Cluster>('GET', '/api/system/cluster', { signal }),
  database: (signal?: Signal) => call<DatabaseCounters>('GET', '/api/system/database', { signal }),
}
