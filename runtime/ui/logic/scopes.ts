import { trustedAmong } from '../../../lib/model/labels.ts'
import { isInScope } from '../../../lib/model/scopes.ts'
import type { ChangeReach } from '../../../lib/selectors/within-scope.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { GroupScope, Me } from '../../../lib/wire/identity.ts'

type Holder = Pick<Me, 'permissions' | 'scoped'> | null | undefined
type Labels = Readonly<Record<string, string>>

/**
 * What somebody may do: everywhere, and within scopes on a workload that is shown with these labels. Without labels
 * within any scope: then the server says whether this lies within.
 */
export function rightsAt(holder: Holder, labels: Labels | undefined): Set<string> {
  const trusted = labels && trustedAmong(labels)
  const here = (holder?.scoped ?? []).filter(
    ({ scope }) => trusted === undefined || isInScope(scope, trusted),
  )
  return new Set([...(holder?.permissions ?? []), ...here.flatMap(({ permissions }) => permissions)])
}

/** The scopes within which somebody has a right; none where it is held everywhere, or nowhere. */
export function scopesOf(holder: Holder, permission: string): GroupScope[] {
  if (holder?.permissions.includes(permission)) return []
  return (holder?.scoped ?? []).flatMap(({ scope, permissions }) =>
    permissions.includes(permission) ? scope : [],
  )
}

/** Values as they are typed, with commas between them. */
export const readValues = (typed: string): string[] =>
  typed
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')

/** Which workloads a campaign can reach; see `reachOfCampaign` of the server. */
export const reachOf = ({ scope }: Pick<CampaignRecord, 'scope'>): ChangeReach => ({
  ...(scope.workload_ids === undefined ? { selector: scope.selector } : {}),
  cutTo: scope.cut_to,
})
