import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { api } from '../state/endpoints.ts'
import { useResource } from '../state/use-resource.ts'

type Kept = Pick<FleetConfigRecord, 'kept_by' | 'priority'>

/** Other fleet configs of the same priority that keep workloads which this one selects too. */
export const keptAlike = ({ kept_by: keepers = [], priority }: Kept) =>
  keepers.filter((keeper) => keeper.priority === priority)

/** Says of each other fleet config that has workloads which this one selects too, how many they are and why. */
export function KeptBy({ of: { kept_by: keepers = [], priority } }: { of: Kept }) {
  const words = say(fleetConfigTexts)
  return (
    <>
      {keepers.map((keeper) => {
        const isAlike = keeper.priority === priority
        const why = isAlike ? words.keptSame : words.keptHigher
        return (
          <p key={keeper.id} class={isAlike ? 'warn' : 'muted'}>
            <a class="link" href={`/fleet-configs/${keeper.id}`}>
              {keeper.name}
            </a>{' '}
            {why(keeper.workload_count, keeper.priority)}
          </p>
        )
      })}
    </>
  )
}

/** The same of a campaign that carries a version to all workloads under its fleet config: it does not reach those. */
export function KeptFromCampaign({
  of: { change, scope },
}: {
  of: Pick<CampaignRecord, 'change' | 'scope'>
}) {
  const isForAll = scope.selector === undefined && scope.workload_ids === undefined
  const id = change.kind === 'version' && isForAll ? change.fleet_config_id : null
  const config = useResource(id === null ? null : `fleet-config:${id}`, (abort) =>
    api.fleetConfig(id ?? '', abort),
  )
  return config.data === null || config.data === undefined ? null : <KeptBy of={config.data} />
}
