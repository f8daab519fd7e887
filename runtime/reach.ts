import { type StillMay, stillCounts, stillHolds } from '../lib/identity/still-may.ts'
import type { Permission } from '../lib/model/permissions.ts'
import { grantsOf, isHeldOn, rightsEverywhere, scopesOf } from '../lib/model/scopes.ts'
import { type ChangeReach, isReachWithin } from '../lib/selectors/within-scope.ts'
import type { Db } from '../lib/store/db.ts'
import { listUserGroups } from '../lib/store/groups.ts'
import { lockIdentity } from '../lib/store/users.ts'
import type { Context } from './context.ts'
import type { Access, Actor, Sight } from './define.ts'
import { lacks, problem, type Reply } from './reply.ts'

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
  return sightBy(access.permission, actor, ctx)
}

/** What a caller is shown where a permission decides: all, or the workloads on which it is held. */
export function sightBy(permission: Permission, actor: Caller, ctx: Pick<Context, 'fleet'>): Sight {
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
  [...workloadIds].every((id) => holdsOn(caller, permission, ctx, id))
    ? null
    : lacks(permission, 'out-of-scope')

/** Asks again, in the transaction of a change, whether the caller holds these permissions on its workloads. */
export const askAgain = (
  caller: Pick<Actor, 'grants' | 'userId'>,
  { fleet }: Pick<Context, 'fleet'>,
  ...permissions: readonly Permission[]
): StillMay => stillHolds(caller, permissions, (id) => fleet.workload(id)?.trustedLabels ?? null)

/** Thrown in a transaction to take it back: what the caller was let in for is refused by now. */
export class Refused extends Error {
  readonly reply: Reply

  constructor(reply: Reply) {
    super('refused in its transaction')
    this.reply = reply
  }
}

/** Refuses a caller, by what the transaction sees; null lets the change go on. */
type RefuseNow = (caller: Actor, tx: Db) => Promise<Reply | null> | Reply | null

/**
 * The actor, whose changes ask once more in their transactions whether they are refused: with the rights that the call
 * was let in with, because a token gives fewer than its holder has, and with the holder's rights of that moment.
 */
export function alsoAsking(actor: Actor, refuse: RefuseNow, when: 'at-begin' | 'both' = 'both'): Actor {
  return {
    ...actor,
    async askAgain(tx, at) {
      await actor.askAgain?.(tx, at)
      if (when === 'at-begin' && at === 'at-record') return
      const grants = grantsOf(await listUserGroups(tx, actor.userId))
      for (const caller of [actor, { ...actor, grants, permissions: rightsEverywhere(grants) }]) {
        const reply = await refuse(caller, tx)
        if (reply !== null) throw new Refused(reply)
      }
    },
  }
}

/**
 * The actor, whose changes ask first whether the session or the API token of the call still counts. With `takesTurns` they
 * take turns with all changes of users, groups, sessions and tokens: then nobody takes a right away between the question
 * and the change, which may take it away itself.
 */
export const askingForCredential = (
  actor: Actor,
  { clock }: Pick<Context, 'clock'>,
  { takesTurns }: { takesTurns: boolean },
): Actor => ({
  ...actor,
  async askAgain(tx, at) {
    if (at === 'at-record') return
    // First of all locks, because whoever ends a session holds it and waits for those who have asked for theirs.
    if (takesTurns) await lockIdentity(tx)
    if (!(await stillCounts(tx, actor, clock.now()))) throw new Refused(problem('unauthorized'))
  },
})

/** The actor of a call that is not refused now, whose changes ask the same again; or the reply that refuses it. */
export async function unlessRefused(
  { db }: Pick<Context, 'db'>,
  actor: Actor,
  refuse: RefuseNow,
): Promise<{ ok: true; actor: Actor } | { ok: false; reply: Reply }> {
  const reply = await refuse(actor, db)
  return reply === null ? { ok: true, actor: alsoAsking(actor, refuse) } : { ok: false, reply }
}

/** Whether a change of many workloads stays, now and later, where the caller has a permission. */
export const coversReach = ({ grants }: Caller, permission: Permission, reach: ChangeReach): boolean =>
  isReachWithin(scopesOf(grants, permission), reach)

/**
 * The reply where a change of many workloads can reach beyond where the caller has a permission; null where it cannot.
 */
export const refuseReach = (caller: Caller, permission: Permission, reach: ChangeReach): Reply | null =>
  coversReach(caller, permission, reach) ? null : lacks(permission, 'out-of-scope')

/**
 * The reply where an API token would end what somebody else asked for, which needs a person who is signed in; null where
 * that is its holder's own, or a person withdraws it.
 */
export const refuseOthers = (
  { userId, apiToken }: Pick<Actor, 'userId' | 'apiToken'>,
  requesterId: string | null,
): Reply | null => (apiToken === null || requesterId === userId ? null : problem('session-required'))
