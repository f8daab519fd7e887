import { isSelected, toSelectable } from '../../selectors/selector.ts'
import type { Db } from '../../store/db.ts'
import type { Freeze } from '../../store/freeze.ts'
import { readReservations } from '../../store/reservations.ts'
import {
  type ClosedGate,
  findClosedGate,
  type PushExemptions,
  type PushFacts,
  type PushPath,
} from '../decide/push-gate.ts'
import type { Workload } from '../state/model.ts'
import { followedPushes, hasFailedSomewhere } from '../state/state.ts'

/** A push that is to begin, as its gate is asked. */
export interface PushWish extends PushExemptions {
  path: PushPath
  workload: Workload
  hash: string
}

/**
 * Is a push to this workload, other than `ownPushId`, still open? One of an aborted rollout is not, although its status
 * stays pending: its members keep the config until the next push.
 */
export const hasOpenPush = (workload: Workload, ownPushId: string | null = null): boolean =>
  followedPushes(workload).some(
    ({ push: { status, phase, pushId } }) =>
      status === 'pending' && phase !== 'aborted' && pushId !== ownPushId,
  )

/** The facts of the gates that the fleet has in memory. Freezes, holds and owners in Git are read from the database. */
export const ownFacts = (
  workload: Workload,
  hash: string,
  ownPushId: string | null = null,
): Pick<PushFacts, 'isArchived' | 'isBusy' | 'isQuarantined'> => ({
  isArchived: workload.archivedAt !== null,
  isBusy: hasOpenPush(workload, ownPushId),
  isQuarantined: hasFailedSomewhere(workload, hash),
})

/** The freeze, where it is in force for this workload; else null. */
export function freezeOver(freeze: Freeze | null, workload: Workload, now: Date): Freeze | null {
  if (freeze === null || freeze.until <= now) return null
  return freeze.selector === null || isSelected(toSelectable(workload), freeze.selector) ? freeze : null
}

/**
 * The first gate that is closed for one of these pushes; null when all may begin. The transaction must have locked the
 * rows of the workloads, so that no hold and no owner is set before the push is committed.
 */
export async function askGate(tx: Db, now: Date, wishes: readonly PushWish[]): Promise<ClosedGate | null> {
  const { freeze, of } = await readReservations(
    tx,
    wishes.map(({ workload }) => workload.id),
  )
  for (const { path, workload, hash, ...exemptions } of wishes) {
    const { isHeld, managedBy } = of.get(workload.id) ?? { isHeld: false, managedBy: null }
    const facts = {
      ...ownFacts(workload, hash, exemptions.ownPushId),
      frozenFor: freezeOver(freeze, workload, now)?.reason ?? null,
    }
    const closed = findClosedGate(path, { ...facts, isHeld, managedBy }, exemptions)
    if (closed !== null) return closed
  }
  return null
}
