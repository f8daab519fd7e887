import { removeJoiner } from './followed-push.ts'
import type { FollowedPush } from './model.ts'
import type { FleetParts } from './parts.ts'

/** Remove a joiner that is not here any more from a push, with its row, where the push stands as it does without it. */
export function dropJoiner(
  { writer }: Pick<FleetParts, 'writer'>,
  followed: FollowedPush,
  uid: string,
): void {
  const target = followed.targets.get(uid)
  if (target === undefined || !removeJoiner(followed, uid)) return
  writer.push(followed)
  // By when its row was written, not by now: the clock may have been put back since.
  writer.forgetTarget({ pushId: followed.push.pushId, instanceUid: uid, at: target.updatedAt })
}
