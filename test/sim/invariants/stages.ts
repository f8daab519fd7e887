import type { Connection } from '../../../lib/store/connection.ts'
import type { CampaignLimits } from '../../../lib/wire/campaigns.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Report } from './finding.ts'
import { isFrozenBy } from './frozen.ts'
import type { Approved } from './starts.ts'

/** A stage that a transaction is about to begin inside a target, with who brings it and what stands in its way. */
interface BegunStage {
  rollout: string
  stage: number
  workload_id: string
  config_hash: string
  status: string
  campaign_id: string | null
  campaign_status: string
  plan_hash: string
  target_state: string
  auto_id: string | null
  auto_status: string
  is_archived: boolean
  is_held: boolean
  freeze: string | null
}

/** The stages after the first that this transaction begins; the first is begun with the push. */
const BEGUN = `
  select r.id as rollout, r.stage_index as stage, r.status, p.workload_id, p.config_hash,
    c.id as campaign_id, c.status as campaign_status, c.plan_hash, coalesce(t.state, at.state) as target_state,
    a.id as auto_id, a.status as auto_status, w.archived_at is not null as is_archived,
    exists (select from workload_holds h where h.workload_id = p.workload_id) as is_held,
    (select value from settings where name = 'freeze') as freeze
  from rollouts r join pushes p using (push_id) join workloads w on w.id = p.workload_id
    left join campaign_targets t on t.push_id = p.push_id left join campaigns c on c.id = t.campaign_id
    left join auto_apply_targets at on at.push_id = p.push_id left join auto_applies a on a.id = at.auto_apply_id
  where r.xmin = pg_current_xact_id()::xid and r.stage_index > 0 and coalesce(c.id, a.id) is not null
    and (r.progress->r.stage_index->>'startedAt')::timestamptz = r.updated_at
    and exists (select from rollout_members m
      where m.rollout_id = r.id and m.stage = r.stage_index and m.xmin = pg_current_xact_id()::xid)`

/**
 * Running campaigns that start a target in this transaction, with how many targets have failed because their stages
 * halted.
 */
const HALTED = `
  select c.id, c.wave, c.rules->'limits' as asked, c.raised, count(distinct h.workload_id)::int as halted
  from campaigns c
    join campaign_targets s on s.campaign_id = c.id and s.state = 'started' and s.xmin = pg_current_xact_id()::xid
    join pushes p on p.push_id = s.push_id and p.xmin = pg_current_xact_id()::xid
    join campaign_targets h on h.campaign_id = c.id and h.state = 'failed'
    join rollouts r on r.push_id = h.push_id and r.status = 'halted'
  where c.status = 'running' group by 1, 2, 3, 4`
/** The targets that this transaction starts without stages, with how many instances each had for the plan. */
const WHOLE = `
  select t.campaign_id as id, t.workload_id, t.instance_count as instances
  from campaign_targets t join pushes p on p.push_id = t.push_id left join rollouts r on r.push_id = t.push_id
  where t.state = 'started' and r.id is null
    and t.xmin = pg_current_xact_id()::xid and p.xmin = pg_current_xact_id()::xid`
/** So many targets of a world may fail at most where nobody says another number, once the first wave is over. */
const FAILED_MAX = 3

/**
 * A target that goes in stages is in the hands of its campaign, or of the version that applies by itself, until the last
 * of them: each begins only while these go on, and while nothing keeps them from the workload. Looked at inside each
 * transaction that begins one, just before it is committed.
 */
export class StagePromises {
  readonly #report: Report
  readonly #approved: Approved
  readonly #latestWallSince: (sinceMs: number) => Date
  /** How many stages after the first were begun. */
  begun = 0

  constructor(report: Report, approved: Approved, latestWallSince: (sinceMs: number) => Date) {
    this.#report = report
    this.#approved = approved
    this.#latestWallSince = latestWallSince
  }

  /** A transaction that adds members to a rollout, and began at `beganMs`, is about to be committed. */
  async committing(
    service: SimService | null,
    beganMs: number,
    read: <Row extends object>(text: string) => Promise<Row[]>,
  ): Promise<void> {
    for (const stage of await read<BegunStage>(BEGUN)) {
      this.begun++
      const { campaign_id: campaignId, workload_id: workloadId, freeze } = stage
      const say = (problem: string) =>
        this.#report(
          `${campaignId ?? stage.auto_id} begins stage ${stage.stage + 1} in ${workloadId} ${problem}`,
        )
      if (stage.status !== 'running') say(`while its stages are ${stage.status}`)
      if (stage.target_state !== 'started') say(`while the target is ${stage.target_state}`)
      if (campaignId !== null) this.#checkCampaign(stage, say)
      else if (stage.auto_status !== 'active') say(`while it is ${stage.auto_status}`)
      if (stage.is_held) say('while that is held')
      if (stage.is_archived) say('while that is archived')
      const until = this.#latestWallSince(beganMs)
      if (isFrozenBy(freeze, service?.fleet.workload(workloadId) ?? null, until)) say('while that is frozen')
    }
  }

  /**
   * A transaction that holds new pushes is about to be committed: a target of more instances than `stagedAbove` goes in
   * stages, and a campaign has halted for stages that halted.
   */
  async starting(
    stagedAbove: number,
    read: <Row extends object>(text: string) => Promise<Row[]>,
  ): Promise<void> {
    for (const one of await read<{ id: string; workload_id: string; instances: number }>(WHOLE))
      if (one.instances > stagedAbove)
        this.#report(`${one.id} pushes to all ${one.instances} instances of ${one.workload_id} at once`)
    const rows = await read<{
      id: string
      wave: number
      asked: CampaignLimits
      raised: CampaignLimits
      halted: number
    }>(HALTED)
    for (const { id, wave, asked, raised, halted } of rows) {
      const most = Math.max(asked.failed ?? (wave === 0 ? 0 : FAILED_MAX), raised.failed ?? 0)
      if (halted > most)
        this.#report(`${id} starts another target, though the stages of ${halted} halted, of ${most}`)
    }
  }

  #checkCampaign(stage: BegunStage, say: (problem: string) => void): void {
    const { campaign_id: id, campaign_status: status, workload_id: workloadId } = stage
    if (status !== 'running' && status !== 'done') say(`while it is ${status}`)
    const shown = this.#approved.campaigns.get(id!)
    const target = shown?.targets.find((one) => one.workload_id === workloadId)
    if (shown?.planHash !== stage.plan_hash || target?.wave == null) say('outside the approved set')
    else if (target.result_hash !== stage.config_hash) say('with something else than was approved')
  }
}

/**
 * At rest the stages of every target have come to an end, as the target has: one whose stages halted has failed, unless
 * it was taken back or somebody closed them; one that applied the change has it in all its instances; and where the
 * campaign was aborted or rolled back nothing is left half-way that anybody could carry on.
 */
export async function checkStages(watcher: Pick<Connection, 'query'>, report: Report): Promise<void> {
  const rows = await watcher.query<{ id: string; workload: string; fault: string | null }>(
    `select t.id, t.workload_id as workload, case
         when r.status = 'running' then 'is still amid its stages'
         when r.status = 'halted' and t.owner in ('aborted', 'rolled_back', 'ended')
           then 'has halted stages, though what brought them is ' || t.owner
         when r.status = 'halted' and t.state not in ('failed', 'no_way_back', 'rollback_failed', 'moved_on')
           then 'is ' || t.state || ', though its stages halted'
         when t.state = 'applied' and r.status <> 'succeeded' then 'has applied it, though its stages are ' || r.status
         when r.status = 'succeeded' and r.stage_index < jsonb_array_length(r.stages) - 1
           then 'has succeeded before its last stage'
         else null end as fault
     from (
       select c.id, c.status as owner, t.workload_id, t.state, t.push_id
       from campaign_targets t join campaigns c on c.id = t.campaign_id
       union all select a.id, a.status, t.workload_id, t.state, t.push_id
       from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id) as t
     join rollouts r on r.push_id = t.push_id
     order by t.id, t.workload_id`,
  )
  for (const { id, workload, fault } of rows)
    if (fault !== null) report(`target ${workload} of ${id} ${fault}`)
}
