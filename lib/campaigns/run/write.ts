import {
  type CampaignTargetEnd,
  endAllCampaignTargets,
  endCampaignTargets,
} from '../../store/campaign-targets.ts'
import { type CampaignMove, moveCampaign, type StoredCampaign } from '../../store/campaigns.ts'
import type { CampaignStatus, CampaignTargetState } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'

// Transactions of their own, so that a process that was taken over from writes nothing.

/** Targets that ended, and the states that each has to be in for that. */
export interface TargetEnds {
  from: readonly CampaignTargetState[]
  ends: readonly CampaignTargetEnd[]
}

/** Write how targets ended, all of them at once. */
export async function writeEnds(
  { db, clock }: CampaignParts,
  { id }: StoredCampaign,
  some: readonly TargetEnds[],
): Promise<void> {
  if (some.every(({ ends }) => ends.length === 0)) return
  await db.transaction('campaign.settle', async (tx) => {
    for (const { from, ends } of some) await endCampaignTargets(tx, id, from, ends, clock.now())
  })
}

/** End all targets of a campaign that are in these states. */
export async function writeAllEnd(
  { db, clock }: CampaignParts,
  { id }: StoredCampaign,
  from: readonly CampaignTargetState[],
  state: CampaignTargetState,
): Promise<void> {
  await db.transaction('campaign.settle', (tx) => endAllCampaignTargets(tx, id, from, state, clock.now()))
}

/** A move that a campaign makes by itself. */
export interface OwnMove {
  from: CampaignStatus
  to: CampaignMove
  /** Of its record, where somebody would ask later; null where nobody would. */
  action: string | null
}

/** Move a campaign on; false when somebody has moved it elsewhere. */
export async function writeMove(
  { db, clock }: CampaignParts,
  { id }: StoredCampaign,
  { from, to, action }: OwnMove,
): Promise<boolean> {
  const moved = await db.change('campaign.move', null, async (tx) => {
    const now = await moveCampaign(tx, id, [from], to, clock.now())
    if (now === null) return { ok: false, code: 'campaign-stopped' }
    if (action === null) return { ok: true }
    const detail = JSON.stringify({ wave: now.wave, ...(to.halt ? { halt: to.halt } : {}) })
    await tx.record({ action, resource: 'campaign', resourceId: id, detail })
    return { ok: true }
  })
  return moved.ok
}
