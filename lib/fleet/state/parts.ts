import type { FleetDeps } from './deps.ts'
import type { FollowedPush, Instance } from './model.ts'
import type { Tell } from './outcomes.ts'
import type { FleetState } from './state.ts'
import type { WriteBehind } from './write-behind.ts'

/** What every part of the fleet works with. */
export interface FleetParts {
  deps: FleetDeps
  state: FleetState
  writer: WriteBehind
  tell: Tell
}

/** Can this instance run the push's config, as far as its component list says? */
export function isCompatible(
  deps: Pick<FleetDeps, 'isCompatible'>,
  { components }: Instance,
  followed: FollowedPush,
): boolean {
  if (components === null) return deps.isCompatible(followed.required, null)
  let verdict = followed.compatibility.get(components)
  if (verdict === undefined) {
    verdict = deps.isCompatible(followed.required, components.components)
    followed.compatibility.set(components, verdict)
  }
  return verdict
}
