import type { Material } from '../store/report-material.ts'
import type { ReportInclude } from '../wire/reports.ts'
import { draftAutoApply, draftCampaign, draftCampaignTarget } from './campaign-section.ts'
import { AUDIT_SECTION_ID } from './canonical.ts'
import { draftAlert, draftCurrentConfig, draftEvent, draftPlan, draftPush } from './dated-sections.ts'
import type { Redactor } from './redaction.ts'
import { type BuiltSection, buildItem, type ItemDraft } from './section-items.ts'
import { draftAudit, draftDrift, draftRollback, draftVersion, draftWorkload } from './state-sections.ts'

interface SectionDefinition {
  include: ReportInclude
  id: string
  title: string
  order: number
  draft(material: Material): ItemDraft[]
}

/** Draft rows whose item shows the name of their workload. */
function draftNamed<Row extends { workloadId: string }>(
  { workloads }: Material,
  rows: readonly Row[],
  draft: (row: Row, workload: string) => ItemDraft,
): ItemDraft[] {
  const names = new Map(workloads.map(({ id, displayName }) => [id, displayName]))
  return rows.map((row) => draft(row, names.get(row.workloadId) ?? row.workloadId))
}

function draftRollbacks({ workloads, rollbacks }: Material): ItemDraft[] {
  const byId = new Map(workloads.map((workload) => [workload.id, workload]))
  return rollbacks.flatMap((row) => {
    const workload = byId.get(row.workloadId)
    return workload ? [draftRollback(row, workload)] : []
  })
}

/** Every section, in its order in a pack. Ids and orders are part of the pack's version. */
export const SECTIONS: readonly SectionDefinition[] = [
  {
    include: 'workload_summary',
    id: 'workloads',
    title: 'Workloads',
    order: 10,
    draft: ({ workloads }) => workloads.map(draftWorkload),
  },
  {
    include: 'config_history',
    id: 'config_history',
    title: 'Config history',
    order: 20,
    draft: (material) => draftNamed(material, material.pushes, draftPush),
  },
  {
    include: 'current_config',
    id: 'current_config',
    title: 'Current config',
    order: 25,
    draft: (material) => draftNamed(material, material.currentPushes, draftCurrentConfig),
  },
  {
    include: 'config_plan',
    id: 'config_plan',
    title: 'Config plans',
    order: 27,
    draft: (material) => draftNamed(material, material.plans, draftPlan),
  },
  {
    include: 'campaigns',
    id: 'campaigns',
    title: 'Campaigns',
    order: 28,
    draft: ({ campaigns, autoApplies, campaignTargets }) => [
      ...campaigns.map(draftCampaign),
      ...autoApplies.map(draftAutoApply),
      ...campaignTargets.map(draftCampaignTarget),
    ],
  },
  {
    include: 'drift_findings',
    id: 'drift',
    title: 'Drift state',
    order: 30,
    draft: ({ workloads }) => workloads.map(draftDrift),
  },
  {
    include: 'version_intelligence',
    id: 'version_intelligence',
    title: 'Version intelligence',
    order: 40,
    draft: ({ workloads, minAgentVersion }) => workloads.map((row) => draftVersion(row, minAgentVersion)),
  },
  {
    include: 'alerts',
    id: 'alerts',
    title: 'Alerts',
    order: 50,
    draft: ({ alerts }) => alerts.map(draftAlert),
  },
  {
    include: 'workload_events',
    id: 'workload_events',
    title: 'Workload events',
    order: 60,
    draft: ({ events }) => events.map(draftEvent),
  },
  {
    include: 'rollback_readiness',
    id: 'rollback_readiness',
    title: 'Rollback readiness',
    order: 70,
    draft: draftRollbacks,
  },
  {
    include: 'audit_verification',
    id: AUDIT_SECTION_ID,
    title: 'Audit verification',
    order: 80,
    draft: ({ audit }) => (audit === null ? [] : [draftAudit(audit)]),
  },
]

/** Build the sections that were asked for, redacted, before the row limits. */
export function buildSections(
  material: Material,
  include: Record<ReportInclude, boolean>,
  redactor: Redactor,
): BuiltSection[] {
  return SECTIONS.filter((section) => include[section.include]).map(({ id, title, order, draft }) => ({
    id,
    title,
    order,
    items: draft(material).map((item) => buildItem(item, redactor)),
  }))
}
