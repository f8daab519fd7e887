import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { api } from '../state/endpoints.ts'
import { useResource } from '../state/use-resource.ts'

type Kept = Pick<FleetConfigRecord, 'kept_by' | 'priority'>

type Keeper = NonNullable<Kept['kept_by']>[number]

const isInGit = ({ workload_count: count, in_git_count: inGit }: Keeper) => inGit === count

/** Other fleet configs that keep workloads which this one selects too, for no other reason than that theirs is not higher. */
export const keptAlike = ({ kept_by: keepers = [], priority }: Kept) =>
  keepers.filter((keeper) => keeper.priority === priority && !isInGit(keeper))

/** Says of each other fleet config that has workloads which this one selects too, how many they are and why. */
export function KeptBy({ of: { kept_by: keepers = [], priority } }: { of: Kept }) {
  const words = say(fleetConfigTexts)
  return (
    <>
      {keepers.map((keeper) => {
        const isAlike = keeper.priority === priority && !isInGit(keeper)
        const why = isAlike ? words.keptSame : isInGit(keeper) ? words.keptByGit : words.keptHigher
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
