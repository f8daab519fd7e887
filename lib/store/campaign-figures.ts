import { statusesThat } from '../model/campaign-states.ts'
import { AUTO_APPLY_TARGET_STATES, CAMPAIGN_TARGET_STATES } from '../wire/values.ts'
import { IN_FORCE } from './auto-apply.ts'
import type { Db } from './db.ts'

const OPEN = statusesThat('open')

type Counts = Record<string, number>

/**
 * How many open campaigns there are by status, and targets of them by state; how many versions that apply by themselves
 * by status, and pushes of any such version, ended or not, by state.
 */
export async function readCampaignFigures(
  db: Db,
): Promise<Record<'campaigns' | 'targets' | 'autoApplies' | 'autoApplyPushes', Counts>> {
  const rows = await db.query<{ of: string; key: string; count: number }>(
    `select 'campaigns' as of, status as key, count(*)::int as count from campaigns
       where status = any($1::text[]) group by 2
     union all
     select 'targets', t.state, count(*)::int from campaign_targets t join campaigns c on c.id = t.campaign_id
       where c.status = any($1::text[]) and t.wave is not null group by 2
     union all
     select 'autoApplies', status, count(*)::int from auto_applies where status = any($2::text[]) group by 2
     union all
     select 'autoApplyPushes', state, count(*)::int from auto_apply_targets group by 2`,
    [OPEN, IN_FORCE],
  )
  const none = (keys: readonly string[]): Counts => Object.fromEntries(keys.map((key) => [key, 0]))
  const figures: Record<string, Counts> = {
    campaigns: none(OPEN),
    targets: none(CAMPAIGN_TARGET_STATES.filter((state) => state !== 'left_out')),
    autoApplies: none(IN_FORCE),
    autoApplyPushes: none(AUTO_APPLY_TARGET_STATES),
  }
  for (const { of, key, count } of rows) figures[of]![key] = count
  return figures as Awaited<ReturnType<typeof readCampaignFigures>>
}
