import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { api } from '../state/endpoints.ts'
import { can } from '../state/session.ts'
import { isSettled, useResource } from '../state/use-resource.ts'

/** What names the version that a campaign carries; null of one that carries none, or one that is gone. */
export type NameVersion = (change: CampaignRecord['change']) => string | null

/** Names the versions that these campaigns carry; null until it can, so that nothing moves once it does. */
export function useVersionNames(of: readonly Pick<CampaignRecord, 'change'>[]): NameVersion | null {
  const isAsked = can('config_safety.campaigns') && of.some(({ change }) => change.kind === 'version')
  const configs = useResource(isAsked ? 'fleet-configs' : null, (abort) => api.fleetConfigs(abort))
  if (isAsked && !isSettled(configs)) return null
  return (change) => {
    if (change.kind !== 'version') return null
    const config = configs.data?.find(({ id }) => id === change.fleet_config_id)
    return config === undefined ? null : say(campaignTexts).ofVersion(config.name, change.number)
  }
}
