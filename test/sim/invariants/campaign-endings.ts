import type { Connection } from '../../../lib/store/connection.ts'
import type { Report } from './finding.ts'

/** A draft, and a plan that changes nothing, may stay. */
const OPEN = `('requested', 'approved', 'running', 'paused', 'halted', 'rolling_back')`

/** Whether a campaign goes on or waits for an operator, or a push of a version that applied by itself is open. */
export async function hasOpenCampaigns(watcher: Connection): Promise<boolean> {
  const rows = await watcher.query(
    `select from campaigns c where status in ${OPEN} or exists (select from campaign_targets t
       where t.campaign_id = c.id
       and c.started_at is not null and t.state in ('started', 'rolling_back', 'waiting', 'offline'))
     union all select from auto_apply_targets where state in ('started', 'rolling_back') limit 1`,
  )
  return rows.length > 0
}

/**
 * At rest every campaign that was started has ended, and so has every target, with a cause where it did not take the
 * change: operators were there to bring on what had stopped.
 */
export async function checkCampaignEndings(watcher: Connection, report: Report): Promise<void> {
  const campaigns = await watcher.query<{ id: string; status: string; fault: string }>(
    `select id, status, case
         when status in ${OPEN} then 'is still open'
         when ended_at is null and status not in ('draft', 'planned') then 'has no end'
         when status = 'aborted' and closed_by is null then 'was aborted by nobody'
         else null end as fault
     from campaigns`,
  )
  for (const { id, status, fault } of campaigns)
    if (fault !== null) report(`campaign ${id} (${status}) ${fault}`)
  const targets = await watcher.query<{ id: string; workload: string; state: string; fault: string }>(
    `select c.id, t.workload_id as workload, t.state, case
         when t.state in ('started', 'rolling_back') then 'is still open'
         when t.state in ('waiting', 'offline') and c.started_at is not null then 'still waits'
         when t.state in ('failed', 'rollback_failed') and t.cause is null then 'has no cause'
         when t.state = 'skipped' and t.reason is null then 'has no reason'
         when t.verdict in ('refused', 'held') and t.reason is null then 'has no reason'
         when t.push_id is not null and t.started_at is null then 'has no start'
         when t.state not in ('left_out', 'waiting', 'offline') and t.ended_at is null then 'has no end'
         else null end as fault
     from campaign_targets t join campaigns c on c.id = t.campaign_id`,
  )
  for (const { id, workload, state, fault } of targets)
    if (fault !== null) report(`target ${workload} of ${id} (${state}) ${fault}`)
  const reached = await watcher.query<{ id: string; workload: string; state: string }>(
    `select auto_apply_id as id, workload_id as workload, state from auto_apply_targets
     where state in ('started', 'rolling_back') or ended_at is null
       or (state in ('failed', 'rollback_failed') and cause is null)`,
  )
  for (const { id, workload, state } of reached)
    report(`target ${workload} of ${id} (${state}) has not ended`)
}
