import type { Workload } from '../fleet/state/model.ts'
import { findDrifted } from '../fleet/views/drifted.ts'
import type { TextAccess } from '../fleet/views/errors.ts'
import { findTrouble } from '../fleet/views/trouble.ts'
import { limitOf } from '../model/campaign-rules.ts'
import {
  type HealthyBefore,
  listHealthyBefore,
  type StoredCampaignTarget,
} from '../store/campaign-targets.ts'
import type { CampaignSummary } from '../store/campaigns.ts'
import { inTurns } from '../turns.ts'
import type { BecameUnhealthy, CampaignTarget } from '../wire/campaigns.ts'
import type { WorkloadTrouble } from '../wire/workloads.ts'
import type { CampaignParts } from './judge/parts.ts'
import { limitFactsOf } from './run/limits.ts'
import { findHeldTo, isUnwellSince } from './run/look-at-applied.ts'

/** Targets of one campaign that are looked at for this. */
export const LOOKED_AT_MAX = 20_000
/** Those of them that are looked at in one turn of the event loop. */
export const CHUNK = 500
/** Workloads that are named of them. */
const NAMED_MAX = 3

/** The first of some targets that the reader sees, as the wire names them, each with what `tell` says of it. */
export function nameFirst<Of extends { target: NamedTarget }, Told>(
  unwell: readonly Of[],
  sees: ((workloadId: string) => boolean) | null,
  tell: (of: Of) => Told,
) {
  const shown = unwell.filter(({ target }) => sees === null || sees(target.workloadId)).slice(0, NAMED_MAX)
  return shown.map((of) => ({
    workload_id: of.target.workloadId,
    workload_name: of.target.workloadName,
    ...(of.target.workloadPlace === '' ? {} : { workload_place: of.target.workloadPlace }),
    ...tell(of),
  }))
}

type NamedTarget = Pick<StoredCampaignTarget, 'workloadId' | 'workloadName' | 'workloadPlace'>

type Parts = Pick<CampaignParts, 'db' | 'fleet' | 'clock'>

/** A target that was well before it applied the change and is not now, and its workload as it is now. */
interface Unwell {
  target: HealthyBefore
  workload: Workload
}

/** Those of a campaign that became unhealthy since they applied the change, by the measure of the campaign's limit. */
export async function listUnwellSince(
  { db, fleet }: Pick<Parts, 'db' | 'fleet'>,
  campaignId: string,
): Promise<Unwell[]> {
  const unwell: Unwell[] = []
  for await (const some of inTurns(await listHealthyBefore(db, campaignId, LOOKED_AT_MAX), CHUNK))
    for (const target of some) {
      const workload = findHeldTo(fleet, target)
      if (workload !== null && isUnwellSince(workload)) unwell.push({ target, workload })
    }
  return unwell
}

/** What is the matter with a target that became unhealthy since it applied the change; nothing of any other. */
export function tellUnwellSince(
  parts: Pick<Parts, 'fleet' | 'clock'>,
  target: Pick<StoredCampaignTarget, 'workloadId' | 'resultHash' | 'state' | 'wasDegraded'>,
  texts: TextAccess,
): Pick<CampaignTarget, 'unhealthy_since'> {
  if (target.state !== 'applied' || target.wasDegraded) return {}
  const workload = findHeldTo(parts.fleet, target)
  return workload !== null && isUnwellSince(workload)
    ? { unhealthy_since: troubleOf(parts, workload, texts) }
    : {}
}

/** What is the matter with a workload now; an old version is not looked at. */
export function findTroubleNow(
  { fleet }: Pick<Parts, 'fleet'>,
  workload: Workload,
  texts: TextAccess,
): WorkloadTrouble | null {
  const drifted = findDrifted(fleet, workload)
  const facts = {
    drifted,
    isVersionOutdated: false,
    nowMs: fleet.clock.heardMs(),
    now: fleet.clock.now(),
  }
  return findTrouble(workload, facts, texts)
}

const troubleOf = (...of: Parameters<typeof findTroubleNow>): WorkloadTrouble =>
  findTroubleNow(...of) ?? { kind: 'degraded' }

/**
 * How many workloads became unhealthy since a campaign came to them, how many may, and the first of them that the reader
 * sees; null for none, and for a campaign that is over.
 */
export async function findUnwellSince(
  parts: Parts,
  campaign: CampaignSummary,
  { sees, withTexts }: TextAccess & { sees: ((workloadId: string) => boolean) | null },
): Promise<BecameUnhealthy | null> {
  if (!COUNTS_UNWELL.has(campaign.status)) return null
  const unwell = await listUnwellSince(parts, campaign.id)
  if (unwell.length === 0) return null
  return {
    count: unwell.length,
    limit: limitOf('unhealthy', limitFactsOf(campaign)),
    workloads: nameFirst(unwell, sees, ({ workload }) => ({
      unhealthy_since: troubleOf(parts, workload, { withTexts }),
    })),
  }
}

/** Of these it is told: who is being changed, or was not long ago. One that was ended has no say any more. */
const COUNTS_UNWELL: ReadonlySet<CampaignSummary['status']> = new Set(['running', 'paused', 'halted', 'done'])
