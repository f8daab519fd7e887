import type { Workload } from '../../lib/fleet/state/model.ts'
import { followedOf } from '../../lib/fleet/state/state.ts'
import { listTargets, type PushTarget } from '../../lib/store/push-targets.ts'
import type { Push } from '../../lib/store/pushes.ts'
import type { Context } from '../../runtime/context.ts'

/** Every instance of a push as it stands now: from memory while the fleet follows it, else as stored. */
export async function targetsOf(ctx: Context, workload: Workload, push: Push): Promise<PushTarget[]> {
  const followed = followedOf(workload, push.pushId)
  if (followed !== null) return [...followed.targets.values()]
  return (await listTargets(ctx.db, [push.pushId])).map(({ target }) => target)
}

/** A push as it stands now: what the fleet follows is ahead of what is stored. */
export function currentStateOf(workload: Workload, push: Push): Push {
  return followedOf(workload, push.pushId)?.push ?? push
}
