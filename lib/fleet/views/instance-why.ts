import type { PushTarget } from '../../store/push-targets.ts'
import type { ToldFailure } from '../../store/pushes.ts'
import type { InstanceFault } from '../../wire/instances.ts'
import { errorOfEnd } from '../decide/target-end.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { assignmentOf } from '../state/state.ts'
import { type TextAccess, whyOf } from './errors.ts'
import { isHealthy } from './instance.ts'
import { findInstanceFault } from './instance-fault.ts'
import { STATUS_TIMEOUT_MS } from './revision.ts'
import { type WhyWithPart, whyWith } from './why.ts'

/** Why a target has not taken a config that was offered to it long ago; null where nothing says so. */
export const failureOfLate = ({ state, error }: PushTarget): ToldFailure | null =>
  error ?? (state === 'offered' ? errorOfEnd('no_answer') : null)

/** The same of any target: one that was offered it just now may yet answer. */
function failureOf(target: PushTarget, now: Date): ToldFailure | null {
  if (target.state === 'applied') return null
  return now.getTime() - target.offeredAt.getTime() < STATUS_TIMEOUT_MS ? target.error : failureOfLate(target)
}

/**
 * Why an instance is not as it should be: what became of the push that it is assigned, else what its health says. Null
 * where nothing is known, and where its own report says that it failed a config, which tells of its cause.
 */
export function whyInstance(
  instance: Instance,
  assigned: Pick<FollowedPush, 'targets'> | null,
  texts: TextAccess,
  now: Date,
): InstanceFault | null {
  if (instance.report?.status === 'failed') return null
  const target = assigned?.targets.get(instance.uid)
  const ofPush = target === undefined ? null : failureOf(target, now)
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
