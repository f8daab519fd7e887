import { offerOf } from '../state/followed-push.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { quarantineInstance } from '../state/state.ts'

/**
 * Keep a config that an instance has failed from it. Where the same config was pushed again since the offer, it is to
 * be tried again; what failed after that is kept in the later push's name, as that lifts what is in the earlier one's.
 */
export function quarantineHere({ writer }: FleetParts, instance: Instance, followed: FollowedPush): void {
  const { workload, uid } = instance
  const { push, pushedAgain } = followed
  if (workload === null || workload.quarantinedInstances.get(push.hash)?.has(uid)) return
  if (pushedAgain !== null && !wasSentSince(instance, followed, pushedAgain.sinceMs)) return
  quarantineInstance(workload, push.hash, uid)
  writer.quarantine({
    workloadId: workload.id,
    hash: push.hash,
    instanceUid: uid,
    pushId: pushedAgain?.pushId ?? push.pushId,
  })
}

/** Was the push's config sent to the instance after this time? */
function wasSentSince(instance: Instance, followed: FollowedPush, sinceMs: number): boolean {
  const sentAtMs = offerOf(instance, followed)?.lastSentAtMs ?? null
  return sentAtMs !== null && sentAtMs > sinceMs
}
