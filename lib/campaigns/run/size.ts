import type { Workload } from '../../fleet/state/model.ts'
import { countAgentHomes } from '../../store/agents.ts'
import type { StoredCampaignTarget } from '../../store/campaign-targets.ts'
import type { CampaignParts } from '../judge/parts.ts'

type Sized = Pick<StoredCampaignTarget, 'workloadId' | 'instanceCount'>

/**
 * How many instances a workload has as far as this process knows: those that are there, that were there for the plan, and
 * that its config was pushed to last. One that comes back instance by instance is as large as it was.
 */
export const sizeOf = ({ live, active }: Workload, { instanceCount }: Pick<Sized, 'instanceCount'>): number =>
  Math.max(live.count, instanceCount, active?.push.counts.target ?? 0)

/**
 * These targets with how many instances each has as far as anybody knows, also while it is away. Where it was away when
 * the plan was made and nothing was ever pushed to it, the agents tell that described themselves before and are
 * remembered: too many where its instances were replaced, which is the careful side.
 */
export async function withSizes<T extends Sized>(
  { db, fleet }: Pick<CampaignParts, 'db' | 'fleet'>,
  targets: readonly T[],
): Promise<T[]> {
  const isUnknown = ({ workloadId, instanceCount }: T) => {
    const workload = fleet.workload(workloadId)
    return instanceCount === 0 && workload !== null && workload.active === null
  }
  const unknown = targets.filter(isUnknown).map(({ workloadId }) => workloadId)
  const homes = unknown.length === 0 ? new Map<string, number>() : await countAgentHomes(db, unknown)
  return targets.map((target) => {
    const { workloadId, instanceCount } = target
    const workload = fleet.workload(workloadId)
    const known = workload === null ? instanceCount : sizeOf(workload, target)
    return { ...target, instanceCount: Math.max(known, homes.get(workloadId) ?? 0) }
  })
}
