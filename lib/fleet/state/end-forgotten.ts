import type { PushTarget } from '../../store/push-targets.ts'
import { errorOfEnd } from '../decide/target-end.ts'
import { moveTarget } from './followed-push.ts'
import type { FollowedPush } from './model.ts'
import type { FleetParts } from './parts.ts'

/** That an agent which is forgotten never answered a push that has ended counts no longer. */
export function endForgotten(
  { deps, tell, writer }: FleetParts,
  followed: FollowedPush,
  target: PushTarget | undefined,
): void {
  const { push } = followed
  if (target?.state !== 'straggler' || push.status === 'pending') return
  moveTarget(followed, target, 'gone', deps.clock, errorOfEnd('disconnected'))
  writer.target({ pushId: push.pushId, target })
  tell({ kind: 'target-moved', followed })
}
