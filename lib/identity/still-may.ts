import type { Permission } from '../model/permissions.ts'
import { type Grant, grantsOf, isHeldOn, type PlaceLabels, scopesOf } from '../model/scopes.ts'
import { type ChangeReach, isReachWithin } from '../selectors/within-scope.ts'
import { keepApiToken } from '../store/api-tokens.ts'
import type { Db } from '../store/db.ts'
import { listUserGroups } from '../store/groups.ts'
import { keepSession } from '../store/sessions.ts'
import { activeUntil } from './token-authority.ts'

/**
 * Whether whoever asked for a change of these workloads may still make it. It is asked inside the transaction of the
 * change: a group or a label may have been changed since the call was let in.
 */
export type StillMay = (tx: Db, workloadIds: readonly string[]) => Promise<boolean>

/** With what a change was asked for: a session or, where it has a name, an API token. */
export interface Credential {
  userId: string
  sessionId: string
  apiToken: string | null
}

/**
 * Whether the session or the API token that a change was asked for with still counts. Whoever ends it from now on waits
 * until the transaction has ended, so that nothing is changed with what is known to have ended.
 */
export async function stillCounts(
  tx: Db,
  { userId, sessionId: id, apiToken }: Credential,
  now: Date,
): Promise<boolean> {
  if (apiToken === null) return keepSession(tx, { id, userId }, now)
  const term = await keepApiToken(tx, { id, userId })
  const until = term === undefined ? null : activeUntil(term)
  return until !== null && until > now
}

/** Whoever asked, with the rights that the call was let in with. */
interface Asker {
  userId: string
  grants: readonly Grant[]
}

/** A right must have been held when the call came and be held now: a token gives fewer than its holder has. */
async function isHeld(
  tx: Db,
  { userId, grants }: Asker,
  isIn: (grants: readonly Grant[]) => boolean,
): Promise<boolean> {
  return isIn(grants) && isIn(grantsOf(await listUserGroups(tx, userId)))
}

/** Asks again for permissions on workloads, by the groups and the trusted labels of this moment. */
export const stillHolds =
  (
    asker: Asker,
    permissions: readonly Permission[],
    placeOf: (workloadId: string) => PlaceLabels,
  ): StillMay =>
  (tx, workloadIds) =>
    isHeld(tx, asker, (grants) =>
      workloadIds.every((id) => permissions.every((permission) => isHeldOn(grants, permission, placeOf(id)))),
    )

/** Asks again whether a change of many workloads stays where a permission is held. */
export const stillCovers = (
  tx: Db,
  asker: Asker,
  permission: Permission,
  reach: ChangeReach,
): Promise<boolean> => isHeld(tx, asker, (grants) => isReachWithin(scopesOf(grants, permission), reach))
