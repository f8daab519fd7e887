import type { CampaignParts } from '../campaigns/judge/parts.ts'
import type { FleetConfigs } from '../fleet-configs/fleet-configs.ts'

/** What versions that apply by themselves work with. */
export interface AutoApplyParts extends CampaignParts {
  fleetConfigs: FleetConfigs
}
