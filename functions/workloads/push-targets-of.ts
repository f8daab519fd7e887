import type { Push, PushTarget, Workload } from '../../lib/fleet/model.ts'
import { listTargets } from '../../lib/store/push-targets.ts'
import type { Context } from '../../runtime/context.ts'

/** Every instance of a push as it stands now: from memory while the fleet follows it, else as stored. */
export async function targetsOf(ctx: Context, workload: Workload, push: Push): Promise<PushTarget[]> {
  const { active } = workload
  if (active?.push.pushId === push.pushId) return [...active.targets.values()]
  return (await listTargets(ctx.db, [push.pushId])).map(({ target }) => target)
}

/** A push as it stands now: what the fleet follows is ahead of what is stored. */
export function currentStateOf(workload: Workload, push: Push): Push {
  return workload.active?.push.pushId === push.pushId ? workload.active.push : push
}
