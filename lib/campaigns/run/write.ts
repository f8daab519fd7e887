import { endTakenBack, releaseByItself } from '../../store/auto-apply-roll-back.ts'
import {
  type CampaignTargetEnd,
  endAllCampaignTargets,
  endCampaignTargets,
  resumeTargets,
} from '../../store/campaign-targets.ts'
import { type CampaignMove, type CampaignSummary, moveCampaign } from '../../store/campaigns.ts'
import type { Db } from '../../store/db.ts'
import type { CampaignStatus, CampaignTargetState } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { countRun, tellCounts } from './run.ts'

// Even a single statement is written in a transaction: transactions are fenced (`lib/store/fenced.ts`), so that a
// process that is not the owner any more writes nothing.

/** How targets ended; written only for those that are in one of the states in `from`. */
export interface TargetEnds {
  from: readonly CampaignTargetState[]
  ends: readonly CampaignTargetEnd[]
  /** They are no targets of the campaign: they got its version by itself. */
  isByItself?: boolean
}

/** Write how targets ended, in one transaction. */
export async function writeEnds(
  { db, clock }: CampaignParts,
  { id }: CampaignSummary,
  some: readonly TargetEnds[],
): Promise<void> {
  if (some.every(({ ends }) => ends.length === 0)) return
  await db.transaction('campaign.note-ends', async (tx) => {
    for (const { from, ends, isByItself } of some)
      await (isByItself ? endTakenBack : endCampaignTargets)(tx, id, from, ends, clock.now())
  })
}

/** Write which of those that got the version by itself are not this campaign's to take back any more. */
export async function writeReleased(
  { db }: CampaignParts,
  { id }: CampaignSummary,
  workloadIds: readonly string[],
): Promise<void> {
  if (workloadIds.length === 0) return
  await db.transaction('campaign.note-ends', (tx) => releaseByItself(tx, id, workloadIds))
}

/** Write which targets are under way again whose stages had halted. */
export async function writeResumed(
  { db }: CampaignParts,
  { id }: CampaignSummary,
  workloadIds: readonly string[],
): Promise<void> {
  await db.transaction('campaign.note-ends', (tx) => resumeTargets(tx, id, workloadIds))
}

/** End all targets of a campaign that are in these states. */
export async function writeAllEnd(
  { db, clock }: CampaignParts,
  { id }: CampaignSummary,
  from: readonly CampaignTargetState[],
  state: CampaignTargetState,
): Promise<void> {
  await db.transaction('campaign.note-ends', (tx) => endAllCampaignTargets(tx, id, from, state, clock.now()))
}

/** A change of its own status or wave that a campaign makes by itself. */
export interface OwnMove {
  from: CampaignStatus
  to: CampaignMove
  /** The action of its audit record; null for a move that needs no record. */
  action: string | null
}

/**
 * Write a move, with `more` in its transaction; false when the campaign is not as it was read any more, or the audit record
 * failed: an operator may have let it go on with other limits than those that it is to halt over.
 */
export async function writeMove(
  { db, clock }: CampaignParts,
  { id, updatedAt }: CampaignSummary,
  { from, to, action }: OwnMove,
  more: (tx: Db) => Promise<void> = async () => {},
): Promise<boolean> {
  const moved = await db.change('campaign.move', null, async (tx) => {
    const now = await moveCampaign(tx, id, [from], to, clock.now(), updatedAt)
    if (now === null) return { ok: false, code: 'campaign-stopped' }
    await more(tx)
    if (action === null) return { ok: true }
    const counts = await countRun({ db: tx }, id)
    const detail = JSON.stringify({
      wave: now.wave,
      ...(action === 'campaign.wave' ? { wave_count: now.plan?.waves[now.wave]?.target_count ?? 0 } : {}),
      ...tellCounts(counts.all),
      ...(to.halt ? { halt: to.halt } : {}),
    })
    await tx.record({ action, resource: 'campaign', resourceId: id, detail })
    return { ok: true }
  })
  return moved.ok
}
