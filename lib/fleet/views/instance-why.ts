import type { PushTarget } from '../../store/push-targets.ts'
import type { ToldFailure } from '../../store/pushes.ts'
import type { InstanceFault } from '../../wire/instances.ts'
import { causeOfSilence, errorOfEnd } from '../decide/target-end.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { assignmentOf, hasLeftFor } from '../state/state.ts'
import { type TextAccess, whyOf } from './errors.ts'
import { isHealthy } from './instance.ts'
import { findInstanceFault } from './instance-fault.ts'
import { STATUS_TIMEOUT_MS, unansweredTargets } from './revision.ts'
import { type WhyWithPart, whyWith } from './why.ts'

/** What is asked of the push that an instance is assigned. */
type Assigned = Pick<FollowedPush, 'push' | 'targets' | 'isFromBefore' | 'addedSince'>

/** Why an instance has not taken a config that was offered to it long ago; null where nothing says so. */
export function failureOfLate(instance: Instance, assigned: Assigned): ToldFailure | null {
  const target = assigned.targets.get(instance.uid)
  if (target === undefined || target.error !== null) return target?.error ?? null
  if (target.state !== 'offered') return null
  const hasLeft = hasLeftFor(instance, assigned)
  return errorOfEnd(causeOfSilence({ state: target.state, hasLeft, runsAnother: false }))
}

/** The same of any target: one that was offered it just now may yet answer. */
function failureOf(instance: Instance, assigned: Assigned, target: PushTarget, now: Date) {
  if (target.state === 'applied') return null
  const isLate = now.getTime() - target.offeredAt.getTime() >= STATUS_TIMEOUT_MS
  return isLate ? failureOfLate(instance, assigned) : target.error
}

/**
 * Why not all instances of a push that goes on have said something in the time that they have for that; null where they
 * have. That one could not be sent it is the reason only where it is that of all: else one that got it is silent.
 */
export function whySilent(
  followed: Assigned & Pick<FollowedPush, 'awaiting'>,
  instances: ReadonlyMap<string, Instance>,
  now: Date,
): ToldFailure | null {
  let why: ToldFailure | null = null
  for (const { instanceUid: uid } of unansweredTargets(followed, now)) {
    const instance = instances.get(uid)
    if (instance === undefined || hasLeftFor(instance, followed)) return errorOfEnd('no_answer')
    why = errorOfEnd('not_sent')
  }
  return why
}

/**
 * Why an instance is not as it should be: what became of the push that it is assigned, else what its health says. Null
 * where nothing is known, and where its own report says that it failed a config, which tells of its cause.
 */
export function whyInstance(
  instance: Instance,
  assigned: Assigned | null,
  texts: TextAccess,
  now: Date,
): InstanceFault | null {
  if (instance.report?.status === 'failed') return null
  const target = assigned?.targets.get(instance.uid)
  const ofPush = assigned === null || target === undefined ? null : failureOf(instance, assigned, target, now)
  const why =
    ofPush !== null
      ? whyOf(ofPush, texts)
      : isHealthy(instance)
        ? {}
        : whyWith(findInstanceFault(instance), texts)
  return Object.keys(why).length === 0 ? null : why
}

/** Why an instance that drifted has not applied its config: its own report of that, else `whyInstance`. */
export const whyDrifted = (instance: Instance, texts: TextAccess, now: Date): WhyWithPart =>
  instance.report?.status === 'failed'
    ? whyOf(instance.report.error, texts)
    : (whyInstance(instance, assignmentOf(instance), texts, now) ?? {})
