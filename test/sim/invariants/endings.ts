import type { Connection } from '../../../lib/store/connection.ts'
import type { Report } from './finding.ts'
import { short } from './finding.ts'

/** Everything ends: at rest no push, target or rollout is open without somebody who has to act. */
export async function checkEndings(watcher: Connection, report: Report): Promise<void> {
  await checkPushes(watcher, report)
  await checkTargets(watcher, report)
  await checkRollouts(watcher, report)
}

/** Whether something is open still. */
export async function hasOpenEnds(watcher: Connection): Promise<boolean> {
  let isOpen = false
  await checkEndings(watcher, () => {
    isOpen = true
  })
  return isOpen
}

/** A pending push is closed by another one, has nobody left who could answer, or waits for an operator. */
async function checkPushes(watcher: Connection, report: Report): Promise<void> {
  const open = await watcher.query<{
    push_id: string
    phase: string
    counts: string
    rollout: string | null
  }>(
    `select p.push_id, p.phase, r.status as rollout,
       concat_ws(' ', p.target_count, 'targets', p.applied_count, 'applied', p.applying_count, 'applying') as counts
     from pushes p left join rollouts r using (push_id)
     where p.status = 'pending' and p.phase not in ('superseded', 'aborted', 'no_status')
       and r.status is distinct from 'halted'`,
  )
  for (const { push_id, phase, counts, rollout } of open)
    report(`push ${short(push_id)} is still ${phase}: ${counts}, rollout ${rollout ?? 'none'}`)
}

/** A target ends by a report, by silence or by leaving; one of a push that another one replaced is open no more. */
async function checkTargets(watcher: Connection, report: Report): Promise<void> {
  const open = await watcher.query<{ push_id: string; instance_uid: string; state: string }>(
    `select t.push_id, t.instance_uid, t.state from push_targets t join pushes p using (push_id)
       join workloads w on w.id = p.workload_id
     where t.state in ('offered', 'applying') and p.push_id in (w.active_push_id, w.rollout_push_id)`,
  )
  for (const { push_id, instance_uid, state } of open)
    report(`${short(instance_uid)} is still ${state} in push ${short(push_id)}`)
}

/** A rollout that runs is under way; one that does not go on says why. */
async function checkRollouts(watcher: Connection, report: Report): Promise<void> {
  const open = await watcher.query<{ id: string; status: string; stage_index: number }>(
    `select id, status, stage_index from rollouts where status = 'running' or (status = 'halted' and halt is null)`,
  )
  for (const { id, status, stage_index } of open)
    report(`rollout ${id} is still ${status} in stage ${stage_index}`)
}
