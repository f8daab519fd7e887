import { readCampaignFigures } from '../lib/store/campaign-figures.ts'
import type { Context } from './context.ts'
import type { Metric } from './metrics.ts'

const metric = (
  kind: Metric['kind'],
  name: string,
  help: string,
  label: string,
  counts: Readonly<Record<string, number>>,
): Metric => ({
  name,
  kind,
  help,
  samples: Object.entries(counts).map(([key, value]) => ({ labels: `${label}="${key}"`, value })),
})

/** Metrics of campaigns and of versions that apply by themselves; none while the database is away. */
export async function campaignMetrics({ db, log }: Pick<Context, 'db' | 'log'>): Promise<Metric[]> {
  try {
    const figures = await readCampaignFigures(db)
    return [
      metric(
        'gauge',
        'muster_campaigns',
        'Campaigns that are neither drafts nor over, by status.',
        'status',
        figures.campaigns,
      ),
      metric(
        'gauge',
        'muster_campaign_targets',
        'Workloads of these campaigns, by state.',
        'state',
        figures.targets,
      ),
      metric(
        'gauge',
        'muster_auto_applies',
        'Versions of fleet configs that apply by themselves, or may again, by status.',
        'status',
        figures.autoApplies,
      ),
      metric(
        'counter',
        'muster_auto_apply_pushes_total',
        'Workloads that versions were pushed to by themselves, by what became of it.',
        'state',
        figures.autoApplyPushes,
      ),
    ]
  } catch (error) {
    log.warn({ err: error }, 'campaigns were not measured')
    return []
  }
}
