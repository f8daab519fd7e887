import type { Push } from '../../store/pushes.ts'
import type { Instance, Workload } from '../state/model.ts'
import { assignmentOf } from '../state/state.ts'
import { firstFailureOf } from './first-failure.ts'
import { findInstanceFault, type InstanceFault } from './instance-fault.ts'

/**
 * Why a rollout stands still, the one place that says it: what a member failed, or else what the member complains of
 * that has been unhealthy for longest; null where neither is known.
 */
export function causeOfHalt(workload: Workload, push: Pick<Push, 'pushId'>): InstanceFault | null {
  const failure = firstFailureOf(workload, push)?.error ?? null
  if (failure !== null && failure.cause !== 'unknown') return { ...failure, component: '' }
  const sickest = sickestMember(workload, push)
  return sickest === null ? null : findInstanceFault(sickest)
}

/** The instance that has been unhealthy for longest among those that a push was brought to; null where none is. */
function sickestMember({ live }: Workload, { pushId }: Pick<Push, 'pushId'>): Instance | null {
  let sickest: Instance | null = null
  for (const one of live.unhealthy) {
    if (assignmentOf(one)?.push.pushId !== pushId) continue
    if (sickest === null || sinceOf(one) < sinceOf(sickest)) sickest = one
  }
  return sickest
}

const sinceOf = ({ unhealthySince }: Instance): number => unhealthySince?.getTime() ?? 0
