import { asksMoreThanWithoutLabels, classByLabels } from '../../lib/changes/label-workload.ts'
import { rightsEverywhere } from '../../lib/model/scopes.ts'
import type { Db } from '../../lib/store/db.ts'
import { hasUnseenGlass, listKeptClasses } from '../../lib/store/reviews.ts'
import { readSetByPeople } from '../../lib/store/set-by-people.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { holdsOn } from '../../runtime/reach.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

/** What goes with a workload that people have set for it, each as its own endpoint would lift it. */
const LIFTED = ['labels', 'hold', 'git', 'variables'] as const
/** One of these. */
export type Lifted = (typeof LIFTED)[number]

/**
 * What deleting a workload lifts. A freeze needs no mention: it stays, and where it goes by labels that were set by
 * hand, these do.
 */
export async function listLifted(ctx: Context, tx: Db, workloadId: string): Promise<Lifted[]> {
  const workload = ctx.fleet.workload(workloadId)
  const { isHeld, isManaged, hasVariables } = await readSetByPeople(tx, workloadId)
  const isThere: Record<Lifted, boolean> = {
    // What cannot be read was set as well.
    labels:
      workload !== null && (workload.hasUnreadableLabels || Object.keys(workload.handLabels).length > 0),
    hold: isHeld,
    git: isManaged,
    variables: hasVariables,
  }
  return LIFTED.filter((one) => isThere[one])
}

/** Whether the caller might lift it by itself, by the access of the endpoint that does so. */
function mayLift(ctx: Context, caller: Actor, workloadId: string, lifted: Lifted): boolean {
  const isPerson = caller.apiToken === null
  if (lifted === 'labels') return isPerson && rightsEverywhere(caller.grants).has('settings:manage')
  if (lifted === 'hold') return holdsOn(caller, 'workload:push_config', ctx, workloadId)
  if (lifted === 'git') return isPerson && holdsOn(caller, 'config:break_glass', ctx, workloadId)
  return holdsOn(caller, 'config:create', ctx, workloadId)
}

/** The reply where a deletion would lift what the caller may not lift; null where it lifts nothing of the kind. */
export function refuseLifting(
  ctx: Context,
  caller: Actor,
  workloadId: string,
  lifted: readonly Lifted[],
): Reply | null {
  const above = lifted.find((one) => !mayLift(ctx, caller, workloadId, one))
  return above === undefined ? null : problem(`deletion-lifts-${above}`)
}

/**
 * The reply where a deletion would take away what a second person has still to look at, or the stricter rule of
 * approvals; null where it would not. A workload comes back under its former id, and what it runs it runs on: so
 * broken glass stays listed until its instances have been away for the grace: a collector that restarts is back before.
 */
export async function refuseHiding(ctx: Context, tx: Db, workloadId: string): Promise<Reply | null> {
  const workload = ctx.fleet.workload(workloadId)
  if (workload === null) return null
  const kept = await listKeptClasses(tx, [workloadId])
  if (await asksMoreThanWithoutLabels(tx, workload, kept.get(workloadId) ?? []))
    return problem('deletion-hides-labels')
  if (workload.status !== 'disconnected' && (await hasUnseenGlass(tx, workloadId)))
    return problem('deletion-hides-review')
  return (await asksMoreThanWithoutLabels(tx, workload, [classByLabels(workload)]))
    ? problem('deletion-lowers')
    : null
}
