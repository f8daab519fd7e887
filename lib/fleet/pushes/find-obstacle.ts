import { openSelector, toSelectable } from '../../selectors/selector.ts'
import type { Db } from '../../store/db.ts'
import type { Freeze } from '../../store/freeze.ts'
import { readReservations } from '../../store/reservations.ts'
import {
  type ObstacleFacts,
  type Obstructed,
  obstacleOf,
  type PushExemptions,
  type PushPath,
} from '../decide/push-obstacle.ts'
import { isBringingBack, isPushOpen } from '../state/followed-push.ts'
import type { Workload } from '../state/model.ts'
import { followedPushes, hasFailedSomewhere } from '../state/state.ts'

/** A push that is to begin, as obstacles to it are looked for. */
export interface PushWish extends PushExemptions {
  path: PushPath
  workload: Workload
  hash: string
}

/** Is a push to this workload, other than `ownPushId`, still open? */
export const hasOpenPush = (workload: Workload, ownPushId: string | null = null): boolean =>
  followedPushes(workload).some((followed) => isPushOpen(followed) && followed.push.pushId !== ownPushId)

/**
 * Is it open yet whether a workload goes on with the config that it is to run as a whole? What fails of something new goes
 * back; what brings back stays. What a push in stages brings, it is to run as a whole only at the end.
 */
export const isActiveConfigOpen = (workload: Workload): boolean =>
  followedPushes(workload).some(
    (followed) => isPushOpen(followed) && !followed.isStaged && !isBringingBack(followed),
  )

/** The facts about obstacles that the fleet has in memory. Freezes, holds and owners in Git are read from the database. */
export const ownFacts = (
  workload: Workload,
  hash: string,
  ownPushId: string | null = null,
): Pick<ObstacleFacts, 'isArchived' | 'isBusy' | 'isQuarantined'> => ({
  isArchived: workload.archivedAt !== null,
  isBusy: hasOpenPush(workload, ownPushId),
  isQuarantined: hasFailedSomewhere(workload, hash),
})

/** Says which freeze is in force for a workload; null for none. */
export type FreezeOver = (workload: Workload, now: Date) => Freeze | null

/** Read a freeze: make a function that answers it where it is in force for a workload, and else null. */
export function openFreeze(freeze: Freeze | null): FreezeOver {
  if (freeze === null) return () => null
  const isMeant = openSelector(freeze.selector ?? {})
  return (workload, now) => {
    if (freeze.until <= now) return null
    return workload.hasUnreadableLabels || isMeant(toSelectable(workload)) ? freeze : null
  }
}

/**
 * The first obstacle in the way of one of these pushes; null when all may begin. The transaction must have locked the
 * rows of the workloads, so that no hold and no owner is set before the push is committed.
 */
export async function findObstacle(
  tx: Db,
  now: Date,
  wishes: readonly PushWish[],
): Promise<Obstructed | null> {
  const { freeze, of } = await readReservations(
    tx,
    wishes.map(({ workload }) => workload.id),
  )
  const freezeOver = openFreeze(freeze)
  for (const { path, workload, hash, ...exemptions } of wishes) {
    const reservation = of.get(workload.id) ?? { isHeld: false, keeper: null }
    const facts = {
      ...reservation,
      ...ownFacts(workload, hash, exemptions.ownPushId),
      frozenFor: freezeOver(workload, now)?.reason ?? null,
    }
    const found = obstacleOf(path, facts, exemptions)
    if (found !== null) return found
  }
  return null
}
