import { type StillMay, stillHolds } from '../lib/identity/still-may.ts'
import type { Permission } from '../lib/model/permissions.ts'
import { isHeldOn, scopesOf } from '../lib/model/scopes.ts'
import { type ChangeReach, isReachWithin } from '../lib/selectors/within-scope.ts'
import type { Context } from './context.ts'
import type { Access, Actor, Sight } from './define.ts'
import { problem, type Reply } from './reply.ts'

type Caller = Pick<Actor, 'grants'>

/** Whether the caller has a permission on a workload as it is labelled now. */
export const holdsOn = (
  { grants }: Caller,
  permission: Permission,
  { fleet }: Pick<Context, 'fleet'>,
  workloadId: string,
): boolean => isHeldOn(grants, permission, fleet.workload(workloadId)?.trustedLabels ?? null)

const EVERYTHING: Sight = { scopes: null, sees: () => true }

/** What an endpoint shows to a caller: all, or, where its reach says so, the workloads on which its permission is held. */
export function sightOf(access: Access, actor: Caller, ctx: Pick<Context, 'fleet'>): Sight {
  if (access.kind === 'public' || access.reach !== 'filtered' || access.permission === null) return EVERYTHING
  const { permission } = access
  const scopes = scopesOf(actor.grants, permission)
  return scopes === null ? EVERYTHING : { scopes, sees: (id) => holdsOn(actor, permission, ctx, id) }
}

/** Which rows of a list about workloads a sight shows; null where it shows all. */
export const seesWorkloads = ({ scopes, sees }: Sight): ((row: { workloadId: string }) => boolean) | null =>
  scopes === null ? null : ({ workloadId }) => sees(workloadId)

/** The ids of all workloads within a sight; null where it does not end. */
export const seenIds = ({ scopes, sees }: Sight, { fleet }: Pick<Context, 'fleet'>): string[] | null =>
  scopes === null ? null : [...fleet.state.workloads.keys()].filter(sees)

/** The reply where one of these workloads lies outside of where the caller has a permission; null where none does. */
export const refuseWorkloads = (
  caller: Caller,
  permission: Permission,
  ctx: Pick<Context, 'fleet'>,
  workloadIds: Iterable<string>,
): Reply | null =>
  [...workloadIds].every((id) => holdsOn(caller, permission, ctx, id)) ? null : problem('out-of-scope')

/** Asks again, in the transaction of a change, whether the caller holds these permissions on its workloads. */
export const askAgain = (
  caller: Pick<Actor, 'grants' | 'userId'>,
  { fleet }: Pick<Context, 'fleet'>,
  ...permissions: readonly Permission[]
): StillMay => stillHolds(caller, permissions, (id) => fleet.workload(id)?.trustedLabels ?? null)

/** Whether a change of many workloads stays, now and later, where the caller has a permission. */
export const coversReach = ({ grants }: Caller, permission: Permission, reach: ChangeReach): boolean =>
  isReachWithin(scopesOf(grants, permission), reach)

/**
 * The reply where a change of many workloads can reach beyond where the caller has a permission; null where it cannot.
 */
export const refuseReach = (caller: Caller, permission: Permission, reach: ChangeReach): Reply | null =>
  coversReach(caller, permission, reach) ? null : problem('out-of-scope')
