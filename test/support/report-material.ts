import { createHash } from 'node:crypto'
import type { PackFrame } from '../../lib/reports/pack.ts'
import { type NormalRequest, parseReportRequest } from '../../lib/reports/request.ts'
import type {
  CampaignReportRow,
  CampaignTargetRow,
  Material,
  PushRow,
} from '../../lib/store/report-material.ts'

const DAY_MS = 86_400_000
/** The time at which the reports of tests are made, in ms since 1970. */
export const REPORT_NOW = Date.parse('2026-07-02T12:00:00.123Z')
const hex = (text: string) => createHash('sha256').update(text).digest('hex')
const uuid = (text: string) => hex(text).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')

/** Parse a report request; throws for a wrong one. */
export function reportRequest(body: object): NormalRequest {
  const outcome = parseReportRequest(JSON.stringify(body))
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.detail}`)
  return outcome.request
}

/** What a report says of itself, with some fields changed. */
export function reportFrame(changes: Partial<PackFrame> = {}): PackFrame {
  return {
    request: reportRequest({ scope: { group_id: 'checkout' } }),
    target: 'json',
    generatedAt: new Date(REPORT_NOW).toISOString(),
    signedAudit: null,
    auditHead: null,
    ...changes,
  }
}

/** The row of a push that was applied, with some fields changed. */
export function pushRow(workloadId: string, seq: number, changes: Partial<PushRow> = {}): PushRow {
  const hash = hex(`${workloadId}/${seq}`)
  return {
    pushId: uuid(`${workloadId}/${seq}`),
    workloadId,
    seq,
    hash,
    kind: 'approval',
    pushedBy: 'operator@example.com',
    status: 'applied',
    phase: 'applied',
    submittedAt: REPORT_NOW - DAY_MS + seq * 60_000,
    appliedAt: REPORT_NOW - DAY_MS + seq * 60_000 + 4_200,
    failedAt: null,
    errorCause: null,
    errorTitle: null,
    hasErrorText: false,
    approvalId: null,
    rollbackOfPushId: null,
    failedHash: null,
    label: null,
    isContentAvailable: true,
    targetCount: 12,
    applyingCount: 0,
    appliedCount: 12,
    failedCount: 0,
    stragglerCount: 0,
    goneCount: 0,
    joinedCount: 0,
    convergedMs: [800, 2_100, 4_200, 4_200],
    ...changes,
  }
}

/** The rows that a report is made from, for some workloads with revisions and events each. */
export function reportMaterial(sizes: {
  workloads: number
  pushes: number
  events: number
  campaigns?: number
}): Material {
  const material: Material = {
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
    audit: {
      isIntact: true,
      checkedCount: 412,
      headSeq: 412,
      headHash: hex('head'),
      firstBadSeq: null,
      reason: null,
      actionCounts: { 'config.approval.push': sizes.pushes, 'config.auto_rollback': 1 },
    },
    minAgentVersion: '0.120.0',
    userIds: [['operator@example.com', '0197c0de-0000-7000-8000-000000000001']],
    extents: {},
  }
  for (let w = 0; w < sizes.workloads; w++) addWorkload(material, w, sizes)
  for (let c = sizes.campaigns ?? 0; c > 0; c--) addCampaign(material, c)
  return material
}

const NAMES = ['checkout-gateway', 'Παραλαβή-agent', 'сборщик-логов', 'añejo-collector', 'naïve-ßensor']

function addWorkload(material: Material, w: number, sizes: { pushes: number; events: number }): void {
  const id = hex(`workload ${w}`).slice(0, 24)
  const pushes = Array.from({ length: sizes.pushes }, (_, n) => pushRow(id, sizes.pushes - n))
  const failed = pushes[1]
  if (failed && w % 3 === 0) {
    const words = { errorCause: 'unknown_component', errorTitle: 'Collector rejected the config' }
    Object.assign(failed, {
      status: 'failed',
      phase: 'failed',
      appliedAt: null,
      failedAt: failed.submittedAt + 900,
      appliedCount: 3,
      failedCount: 9,
      convergedMs: [null, null, null, null],
      hasErrorText: true,
      ...words,
    })
    Object.assign(pushes[0]!, {
      kind: 'auto-rollback',
      pushedBy: 'auto-rollback',
      rollbackOfPushId: failed.pushId,
    })
  }
  const active = pushes[0]?.hash ?? null
  material.workloads.push({
    id,
    displayName: `${NAMES[w % NAMES.length]}-${w}`,
    type: 'collector',
    version: w % 4 === 0 ? '0.119.0' : '0.131.1',
    status: w % 5 === 0 ? 'degraded' : 'connected',
    lastSeenAt: REPORT_NOW - 1_000 * w,
    archivedAt: null,
    acceptsRemoteConfig: true,
    activeHash: active,
    trustedLabels: { group: 'checkout', env: 'prod' },
    agentLabelCount: 7,
    remoteStatus: 'applied',
    remoteHash: w % 7 === 0 ? hex('other') : active,
    alteredCount: 0,
    alteredSince: null,
  })
  material.pushes.push(...pushes)
  material.currentPushes.push(...pushes.slice(0, 1))
  material.rollbacks.push({
    workloadId: id,
    targetKind: pushes.length > 2 ? 'previous' : null,
    targetHash: pushes[2]?.hash ?? null,
    targetAppliedAt: pushes[2]?.appliedAt ?? null,
    isContentAvailable: pushes.length > 2,
    quarantinedHashes: failed?.status === 'failed' ? [failed.hash] : [],
  })
  if (w % 2 === 0 && active) addPlan(material, id, active)
  if (w % 6 === 0) addAlert(material, id, w)
  for (let e = 0; e < sizes.events; e++) {
    material.events.push({
      id: w * 1_000 + e,
      workloadId: id,
      eventType: e % 2 === 0 ? 'connected' : 'disconnected',
      instanceUid: hex(`instance ${w}/${e}`).slice(0, 32),
      podName: `${NAMES[w % NAMES.length]}-${w}-${e}`,
      version: '0.131.1',
      prevVersion: '',
      occurredAt: REPORT_NOW - e * 90_000,
    })
  }
}

/** The row of a campaign that is done, for reports. */
export function campaignRow(id: string, changes: Partial<CampaignReportRow> = {}): CampaignReportRow {
  return {
    id,
    name: `Campaign of ${id}`,
    status: 'done',
    changeKind: 'text',
    changeHash: hex(id),
    fleetConfigId: null,
    versionNumber: null,
    planHash: hex(`plan ${id}`),
    plan: null,
    rules: { maxInFlight: 500, catchUpSeconds: 604_800, windows: [], retryQuarantined: false, limits: {} },
    raised: {},
    halt: null,
    requestedById: 'user-1',
    requestedAt: REPORT_NOW - DAY_MS,
    requestComment: 'please',
    approvals: [{ byId: 'user-2', at: new Date(REPORT_NOW - DAY_MS + 1_000).toISOString(), comment: 'fine' }],
    startedById: 'user-1',
    startedAt: REPORT_NOW - DAY_MS + 2_000,
    closedById: null,
    isClosedByItself: null,
    closeComment: null,
    endedAt: REPORT_NOW,
    askedAt: REPORT_NOW - DAY_MS,
    waveStates: [],
    ...changes,
  }
}

/** The row of a campaign's target, for reports. */
export function campaignTargetRow(
  parentId: string,
  workloadId: string,
  changes: Partial<CampaignTargetRow> = {},
): CampaignTargetRow {
  return {
    kind: 'campaign',
    parentId,
    parentName: `Campaign of ${parentId}`,
    workloadId,
    workloadName: `name of ${workloadId}`,
    wave: 0,
    verdict: 'changes',
    reason: null,
    isNewcomer: null,
    isProduction: false,
    instanceCount: 1,
    baseHash: hex('base'),
    resultHash: hex(parentId),
    state: 'applied',
    pushId: uuid(`${parentId}/${workloadId}`),
    rollbackPushId: null,
    cause: null,
    title: null,
    startedAt: REPORT_NOW - DAY_MS,
    endedAt: REPORT_NOW - DAY_MS + 900,
    ...changes,
  }
}

function addCampaign(material: Material, c: number): void {
  const id = `cmp_${c}`
  material.campaigns.push(campaignRow(id))
  for (const workload of material.workloads) material.campaignTargets.push(campaignTargetRow(id, workload.id))
}

function addPlan(material: Material, workloadId: string, active: string): void {
  material.plans.push({
    id: `car_${hex(workloadId).slice(0, 24)}`,
    workloadId,
    status: 'pushed',
    requesterId: '0197c0de-0000-7000-8000-000000000001',
    approverId: '0197c0de-0000-7000-8000-000000000002',
    requestComment: 'Sample 10 % of traces, as asked by operator@example.com.',
    approvalComment: 'Looks good',
    pushComment: 'Change window 42',
    targetGroup: 'checkout',
    targetEnv: 'production',
    draftHash: active,
    baseHash: hex('base'),
    pushId: uuid('push'),
    isProduction: true,
    isBreakGlass: false,
    breakGlassReason: null,
    createdAt: REPORT_NOW - 2 * DAY_MS,
    approvedAt: REPORT_NOW - 2 * DAY_MS + 600_000,
    pushedAt: REPORT_NOW - DAY_MS,
    addedComponents: ['processors/probabilistic_sampler'],
    removedComponents: ['exporters/debug'],
  })
}

function addAlert(material: Material, workloadId: string, w: number): void {
  material.alerts.push({
    id: hex(`alert ${w}`).slice(0, 32),
    workloadId,
    rule: 'config_drift',
    severity: 'warning',
    message: 'Workload does not run its assigned config',
    firedAt: REPORT_NOW - 3_600_000,
    resolvedAt: w % 12 === 0 ? null : REPORT_NOW - 1_800_000,
  })
}
