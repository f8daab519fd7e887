import { reachOfCampaign } from '../../lib/campaigns/judge/scope.ts'
import type { Permission } from '../../lib/model/permissions.ts'
import { type Grant, isHeldOn, scopesOf } from '../../lib/model/scopes.ts'
import { isReachWithin } from '../../lib/selectors/within-scope.ts'
import type { Review } from '../../lib/store/reviews.ts'
import type { Context } from '../../runtime/context.ts'

/** Whether a permission is held for all that a review is about: a workload, a campaign, or a rule for the whole fleet. */
export function reachesReview(
  { fleet }: Pick<Context, 'fleet'>,
  { workloadId, campaignScope: scope }: Pick<Review, 'workloadId' | 'campaignScope'>,
  grants: readonly Grant[],
  permission: Permission,
): boolean {
  if (scope !== null) return isReachWithin(scopesOf(grants, permission), reachOfCampaign({ scope }))
  return isHeldOn(grants, permission, fleet.workload(workloadId)?.trustedLabels ?? null)
}
