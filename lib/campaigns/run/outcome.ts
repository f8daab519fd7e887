import { ROLLOUT_HALTED } from '../../fleet/decide/rollout.ts'
import type { Workload } from '../../fleet/state/model.ts'
import { followedPushes } from '../../fleet/state/state.ts'
import { firstFailureOf } from '../../fleet/views/first-failure.ts'
import { sayReach } from '../../model/aftermath-words.ts'
import { judgeOutcome } from '../../model/push-outcome.ts'
import { findPush, type Push } from '../../store/pushes.ts'
import type { CampaignTargetState } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'

/** How a push of a campaign ended. */
export interface PushEnd {
  state: Extract<CampaignTargetState, 'applied' | 'failed' | 'overtaken' | 'no_answer'>
  cause?: string | null
  title?: string | null
  /** How far it got, in English, where some of its instances run what it brought and others do not. */
  reach?: string
}

/** The staged rollout of a push halted and has nothing to go back to: for the campaign the target has failed. */
const HALTED = { ...ROLLOUT_HALTED, state: 'failed' } as const

/**
 * How a push ended; null while it goes on. Read from the fleet while the fleet follows the push, else from the
 * database.
 */
export async function endOfPush(
  parts: Pick<CampaignParts, 'db' | 'fleet'>,
  workloadId: string,
  pushId: string,
): Promise<PushEnd | null> {
  const workload = parts.fleet.workload(workloadId)
  if (workload === null) return { state: 'no_answer' }
  const { rollout } = workload
  if (rollout?.followed.push.pushId === pushId && rollout.stored.status === 'halted') return HALTED
  const followed = followedPushes(workload).find(({ push }) => push.pushId === pushId)
  // A push that the fleet does not follow may be open as well: when the answer to its commit was lost, the fleet
  // follows it a moment later.
  const push = followed?.push ?? (await findPush(parts.db, pushId))
  if (push === null) return { state: 'no_answer' }
  const end = endOf(push)
  return end === null || judgeOutcome(push) !== 'in_part' ? end : { ...end, reach: reachOf(workload, push) }
}

function reachOf(workload: Workload, push: Push): string {
  const { applied, target, failed, straggler } = push.counts
  const error = push.error ?? firstFailureOf(workload, push)?.error
  return `Applied ${sayReach({
    applied_count: applied,
    target_count: target,
    failed_count: failed,
    no_status_count: straggler,
    ...(error ? { error_title: error.title } : {}),
  })}`
}

function endOf({ status, phase, error }: Push): PushEnd | null {
  if (status === 'applied') return { state: 'applied' }
  if (status === 'failed')
    return { state: 'failed', cause: error?.cause ?? 'unknown', title: error?.title ?? '' }
  return phase === 'aborted' || phase === 'superseded' ? { state: 'overtaken' } : null
}
