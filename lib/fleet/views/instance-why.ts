import type { InstanceFault } from '../../wire/instances.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { type TextAccess, whyOf } from './errors.ts'
import { isHealthy } from './instance.ts'
import { findInstanceFault } from './instance-fault.ts'
import { whyWith } from './trouble.ts'

/**
 * Why an instance is not as it should be: what became of the push that it is assigned, else what its health says. Null
 * where nothing is known, and where its own report says that it failed a config, which tells of its cause.
 */
export function whyInstance(
  instance: Instance,
  assigned: Pick<FollowedPush, 'targets'> | null,
  texts: TextAccess,
): InstanceFault | null {
  if (instance.report?.status === 'failed') return null
  const target = assigned?.targets.get(instance.uid)
  const ofPush = target === undefined || target.state === 'applied' ? null : target.error
  const why =
    ofPush !== null
      ? whyOf(ofPush, texts)
      : isHealthy(instance)
        ? {}
        : whyWith(findInstanceFault(instance), texts)
  return Object.keys(why).length === 0 ? null : why
}
