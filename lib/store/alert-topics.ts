import type { AutoApplyHold } from '../wire/auto-apply.ts'
import type { CampaignHalt } from '../wire/campaigns.ts'
import type { Db } from './db.ts'

/** The campaigns that muster halted. */
export async function listHaltedCampaigns(
  db: Db,
): Promise<{ id: string; name: string; haltedAt: Date; halt: CampaignHalt }[]> {
  return db.query(
    `select id, name, updated_at as "haltedAt", halt from campaigns where status = 'halted' and halt is not null`,
  )
}

/** The versions that applied by themselves until muster stopped them. */
export async function listHeldAutoApplies(
  db: Db,
): Promise<
  { id: string; fleetConfigId: string; name: string; number: number; heldAt: Date; hold: AutoApplyHold }[]
> {
  return db.query(
    `select id, fleet_config_id as "fleetConfigId", fleet_config_name as name, number, updated_at as "heldAt", hold
     from auto_applies where status = 'held' and hold is not null`,
  )
}

/** Which of these pushes a campaign made, to bring or to take back a config; the campaign's own alert covers these. */
export async function listPushesOfCampaigns(db: Db, pushIds: readonly string[]): Promise<Set<string>> {
  if (pushIds.length === 0) return new Set()
  const rows = await db.query<{ id: string }>(
    `select push_id::text as id from campaign_targets where push_id = any($1::uuid[])
     union select rollback_push_id::text from campaign_targets where rollback_push_id = any($1::uuid[])`,
    [pushIds],
  )
  return new Set(rows.map(({ id }) => id))
}
