import { isOpen } from './followed-push.ts'
import type { Instance } from './model.ts'
import { noteMayComeTo, startOffer, withdrawOffer } from './offer-state.ts'
import type { FleetParts } from './parts.ts'
import { assignmentOf } from './state.ts'

/**
 * Begin the offer to an instance whose row was stored with its push, unless that was done before. The offers of a push
 * begin some in each turn of the event loop. Whatever reads or ends the offer of an instance, such as a message of its
 * agent or the end of its connection, calls this first: so nobody can tell that its turn had not come yet.
 */
export function beginOffer({ deps, state }: Pick<FleetParts, 'deps' | 'state'>, instance: Instance): void {
  const followed = assignmentOf(instance)
  if (followed === null || followed.beginning === 0) return
  if (instance.offer?.pushId === followed.push.pushId) return
  // One that was forgotten since the plan comes back as a new instance.
  if (state.instances.get(instance.uid) !== instance) return
  const target = followed.targets.get(instance.uid)
  // One that joined was not stored with the push: its row may be written only now, after a commit in doubt.
  if (target?.isJoiner) return
  if (target?.state === 'applied') withdrawOffer(instance)
  if (target?.state !== 'offered' && target?.state !== 'cannot_report') return
  startOffer(instance, followed.push, { isCommitted: true, nowMs: deps.clock.heardMs() })
  state.outstanding.add(instance)
}

/**
 * An instance that this process did not know is of a workload. Where its target of the assigned push has no end, it may
 * have got that config from a former process, on a connection which has ended, and come to run it after it was taken back.
 */
export function recallOffer(instance: Instance): void {
  const followed = assignmentOf(instance)
  const target = followed?.targets.get(instance.uid)
  if (followed === null || target === undefined || instance.offer !== null) return
  if (isOpen(target)) noteMayComeTo(instance, followed.push.hash)
}
