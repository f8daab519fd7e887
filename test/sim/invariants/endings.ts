import type { Connection } from '../../../lib/store/connection.ts'
import type { Report } from './finding.ts'
import { short } from './finding.ts'

/** Everything ends: at rest no push, target or rollout is open, except where an operator has to act. */
export async function checkEndings(watcher: Connection, report: Report): Promise<void> {
  await checkPushes(watcher, report)
  await checkTargets(watcher, report)
  await checkRollouts(watcher, report)
}

/** Whether a push, a target or a rollout is still open. */
export async function hasOpenEnds(watcher: Connection): Promise<boolean> {
  let isOpen = false
  await checkEndings(watcher, () => {
    isOpen = true
  })
  return isOpen
}

/**
 * Whether a push or a rollout is open that is to end though agents come and go: a target of one that has just come back is
 * waited for again.
 */
export async function listLastingEnds(watcher: Connection): Promise<readonly string[]> {
  const open: string[] = []
  const note = (problem: string) => void open.push(problem)
  await checkPushes(watcher, note)
  await checkRollouts(watcher, note)
  return open
}

/**
 * At rest a push may be pending only where another one superseded it, no instance is left that could answer, or it
 * waits for an operator.
 */
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

/** At rest no target of an assigned push is open: it has ended by a report, by silence or by leaving. */
async function checkTargets(watcher: Connection, report: Report): Promise<void> {
  const open = await watcher.query<{ push_id: string; instance_uid: string; state: string }>(
    `select t.push_id, t.instance_uid, t.state from push_targets t join pushes p using (push_id)
       join workloads w on w.id = p.workload_id
     where t.state in ('offered', 'applying') and p.push_id in (w.active_push_id, w.rollout_push_id)`,
  )
  for (const { push_id, instance_uid, state } of open)
    report(`${short(instance_uid)} is still ${state} in push ${short(push_id)}`)
}

/** At rest no rollout is running, and none is halted without a reason. */
async function checkRollouts(watcher: Connection, report: Report): Promise<void> {
  const open = await watcher.query<{ id: string; status: string; stage_index: number }>(
    `select id, status, stage_index from rollouts where status = 'running' or (status = 'halted' and halt is null)`,
  )
  for (const { id, status, stage_index } of open)
    report(`rollout ${id} is still ${status} in stage ${stage_index}`)
}
