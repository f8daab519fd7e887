import { followedPushes } from '../../fleet/state/state.ts'
import { findPush, type Push } from '../../store/pushes.ts'
import type { CampaignTargetState } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'

/** What became of a push of a campaign; null while nothing has. */
export interface PushEnd {
  state: Extract<CampaignTargetState, 'applied' | 'failed' | 'overtaken' | 'no_answer'>
  cause?: string | null
  title?: string | null
}

/** A staged rollout inside a workload stopped; what it waits for is an operator's decision there. */
const HALTED = {
  state: 'failed',
  cause: 'rollout_halted',
  title: 'The rollout in this workload halted',
} as const

/** Look at a push where the fleet follows it, else in the database. */
export async function endOfPush(
  parts: CampaignParts,
  workloadId: string,
  pushId: string,
): Promise<PushEnd | null> {
  const workload = parts.fleet.workload(workloadId)
  if (workload === null) return { state: 'no_answer' }
  const { rollout } = workload
  if (rollout?.followed.push.pushId === pushId && rollout.stored.status === 'halted') return HALTED
  const followed = followedPushes(workload).find(({ push }) => push.pushId === pushId)
  // One that nobody follows may be open as well: where the answer to its commit is lost, it is followed in a moment.
  const push = followed?.push ?? (await findPush(parts.db, pushId))
  return push === null ? { state: 'no_answer' } : endOf(push)
}

function endOf({ status, phase, error }: Push): PushEnd | null {
  if (status === 'applied') return { state: 'applied' }
  if (status === 'failed')
    return { state: 'failed', cause: error?.cause ?? 'unknown', title: error?.title ?? '' }
  return phase === 'aborted' || phase === 'superseded' ? { state: 'overtaken' } : null
}
