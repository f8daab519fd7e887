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
  draft(material: Material, called: Called): ItemDraft[]
}

/** What a workload is called in the sentences of a report, by its id. */
type Called = (workloadId: string) => string

/** So much of an id tells workloads of one name apart. */
const ID_SHOWN = 12

/**
 * What the workloads of a report are called: those of one name with the beginning of their ids. Where they are is what
 * their agents say, and none of that gets into a report.
 */
function callWorkloads({ workloads }: Pick<Material, 'workloads'>): Called {
  const counts = new Map<string, number>()
  for (const { displayName } of workloads) counts.set(displayName, (counts.get(displayName) ?? 0) + 1)
  const names = new Map(
    workloads.map(({ id, displayName }) => [
      id,
      counts.get(displayName) === 1 ? displayName : `${displayName} (${id.slice(0, ID_SHOWN)})`,
    ]),
  )
  return (id) => names.get(id) ?? id
}

/** Draft rows whose item shows the name of their workload. */
const draftNamed = <Row extends { workloadId: string }>(
  rows: readonly Row[],
  called: Called,
  draft: (row: Row, workload: string) => ItemDraft,
): ItemDraft[] => rows.map((row) => draft(row, called(row.workloadId)))

function draftRollbacks({ workloads, rollbacks }: Material, called: Called): ItemDraft[] {
  const byId = new Map(workloads.map((workload) => [workload.id, workload]))
  return rollbacks.flatMap((row) => {
    const workload = byId.get(row.workloadId)
    return workload ? [draftRollback(row, workload, called(workload.id))] : []
  })
}

/** Every section, in its order in a pack. Ids and orders are part of the pack's version. */
export const SECTIONS: readonly SectionDefinition[] = [
  {
    include: 'workload_summary',
    id: 'workloads',
    title: 'Workloads',
    order: 10,
    draft: ({ workloads }, called) => workloads.map((row) => draftWorkload(row, called(row.id))),
  },
  {
    include: 'config_history',
    id: 'config_history',
    title: 'Config history',
    order: 20,
    draft: ({ pushes }, called) => draftNamed(pushes, called, draftPush),
  },
  {
    include: 'current_config',
    id: 'current_config',
    title: 'Current config',
    order: 25,
    draft: ({ currentPushes }, called) => draftNamed(currentPushes, called, draftCurrentConfig),
  },
  {
    include: 'config_plan',
    id: 'config_plan',
    title: 'Config plans',
    order: 27,
    draft: ({ plans }, called) => draftNamed(plans, called, draftPlan),
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
    draft: ({ workloads }, called) => workloads.map((row) => draftDrift(row, called(row.id))),
  },
  {
    include: 'version_intelligence',
    id: 'version_intelligence',
    title: 'Version intelligence',
    order: 40,
    draft: ({ workloads, minAgentVersion }, called) =>
      workloads.map((row) => draftVersion(row, minAgentVersion, called(row.id))),
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
  const called = callWorkloads(material)
  return SECTIONS.filter((section) => include[section.include]).map(({ id, title, order, draft }) => ({
    id,
    title,
    order,
    items: draft(material, called).map((item) => buildItem(item, redactor)),
  }))
}
