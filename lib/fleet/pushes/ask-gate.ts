import { isSelected, toSelectable } from '../../selectors/selector.ts'
import type { Db } from '../../store/db.ts'
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

/** A push that wants to begin. */
export interface PushWish extends PushExemptions {
  path: PushPath
  workload: Workload
  hash: string
}

/**
 * Whether something that was pushed to a workload has not come to its end. An aborted rollout has, although its push
 * stays pending: its members keep the config until the next push.
 */
export const hasOpenPush = (workload: Workload, ownPushId: string | null = null): boolean =>
  followedPushes(workload).some(
    ({ push: { status, phase, pushId } }) =>
      status === 'pending' && phase !== 'aborted' && pushId !== ownPushId,
  )

/** What the fleet itself knows of the gates; who else has a say is asked where it is stored. */
export const ownFacts = (
  workload: Workload,
  hash: string,
  ownPushId: string | null = null,
): Pick<PushFacts, 'isArchived' | 'isBusy' | 'isQuarantined'> => ({
  isArchived: workload.archivedAt !== null,
  isBusy: hasOpenPush(workload, ownPushId),
  isQuarantined: hasFailedSomewhere(workload, hash),
})

/**
 * Ask whether these pushes may begin now: the first gate that holds one of them back, null when none does. The rows
 * of the workloads are locked by this transaction, so that neither a hold nor Git comes in between.
 */
export async function askGate(tx: Db, now: Date, wishes: readonly PushWish[]): Promise<ClosedGate | null> {
  const { freeze, of } = await readReservations(
    tx,
    wishes.map(({ workload }) => workload.id),
  )
  for (const { path, workload, hash, ...exemptions } of wishes) {
    const { isHeld, managedBy } = of.get(workload.id) ?? { isHeld: false, managedBy: null }
    const isFrozen =
      freeze !== null &&
      freeze.until > now &&
      (freeze.selector === null || isSelected(toSelectable(workload), freeze.selector))
    const facts = {
      ...ownFacts(workload, hash, exemptions.ownPushId),
      frozenFor: isFrozen ? freeze.reason : null,
    }
    const closed = findClosedGate(path, { ...facts, isHeld, managedBy }, exemptions)
    if (closed !== null) return closed
  }
  return null
}
