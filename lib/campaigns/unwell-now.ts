import type { TextAccess } from '../fleet/views/errors.ts'
import { listToBeChanged, type StoredCampaignTarget, type ToBeChanged } from '../store/campaign-targets.ts'
import type { CampaignSummary } from '../store/campaigns.ts'
import { inTurns } from '../turns.ts'
import type { CampaignTarget, UnwellNow } from '../wire/campaigns.ts'
import type { WorkloadTrouble } from '../wire/workloads.ts'
import type { CampaignParts } from './judge/parts.ts'
import { CHUNK, findTroubleNow, LOOKED_AT_MAX, nameFirst } from './unwell-since.ts'

type Parts = Pick<CampaignParts, 'db' | 'fleet' | 'clock'>

/** Whoever looks at these decides whether it comes to anybody. */
const NOT_BEGUN: ReadonlySet<CampaignSummary['status']> = new Set([
  'draft',
  'planned',
  'requested',
  'approved',
])

/** A target that is to be changed, and what is the matter with it. */
interface Unwell {
  target: ToBeChanged
  trouble: WorkloadTrouble
}

/** What is the matter with a workload that a campaign has yet to come to; null for one that is well, or away. */
function findTrouble(
  parts: Pick<Parts, 'fleet' | 'clock'>,
  workloadId: string,
  texts: TextAccess,
): WorkloadTrouble | null {
  const workload = parts.fleet.workload(workloadId)
  if (workload === null) return null
  const trouble = findTroubleNow(parts, workload, texts)
  return trouble?.kind === 'disconnected' ? null : trouble
}

/** Those that a campaign which was not begun is to change, and that are not well, in its order; none of any other. */
export async function listUnwellNow(
  parts: Parts,
  { id, status, plan }: Pick<CampaignSummary, 'id' | 'status' | 'plan'>,
  texts: TextAccess,
): Promise<Unwell[]> {
  if (plan === null || !NOT_BEGUN.has(status)) return []
  const unwell: Unwell[] = []
  for await (const some of inTurns(await listToBeChanged(parts.db, id, LOOKED_AT_MAX), CHUNK))
    for (const target of some) {
      const trouble = findTrouble(parts, target.workloadId, texts)
      if (trouble !== null) unwell.push({ target, trouble })
    }
  return unwell
}

/** What is the matter with a target that waits for the campaign to come to it; nothing of any other. */
export function tellUnwellNow(
  parts: Pick<Parts, 'fleet' | 'clock'>,
  { workloadId, state }: Pick<StoredCampaignTarget, 'workloadId' | 'state'>,
  texts: TextAccess,
): Pick<CampaignTarget, 'trouble'> {
  const trouble = state === 'waiting' ? findTrouble(parts, workloadId, texts) : null
  return trouble === null ? {} : { trouble }
}

/** How many of those that a campaign is to change are not well, and the first of them that the reader sees; null for none. */
export async function findUnwellNow(
  parts: Parts,
  campaign: CampaignSummary,
  { sees, withTexts }: TextAccess & { sees: ((workloadId: string) => boolean) | null },
): Promise<UnwellNow | null> {
  const unwell = await listUnwellNow(parts, campaign, { withTexts })
  if (unwell.length === 0) return null
  return { count: unwell.length, workloads: nameFirst(unwell, sees, ({ trouble }) => ({ trouble })) }
}
