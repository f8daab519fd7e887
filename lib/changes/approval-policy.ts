import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { Log } from '../log.ts'
import {
  type ApprovalPolicy,
  DEFAULT_APPROVAL_POLICY,
  hasWaited,
  isSamePolicy,
  lowersBar,
  type PendingPolicy,
  STRICTEST_APPROVAL_POLICY,
} from '../model/approval-policy.ts'
import type { Refusal } from '../model/refusal.ts'
import { grantsOf, rightsEverywhere } from '../model/scopes.ts'
import {
  faultOfPolicies,
  type LoweredPolicy,
  readStoredLowered,
  readStoredPolicies,
} from '../model/stored-settings.ts'
import { listAccountStandings } from '../store/account-ties.ts'
import { readDatabaseTime } from '../store/database-time.ts'
import type { Db } from '../store/db.ts'
import { findSetting, removeSetting, storeSetting } from '../store/settings.ts'
import { lockIdentity } from '../store/users.ts'
import { isUntied } from './approver-standing.ts'

/** The policy in force, and one that asks less and waits for a second person or for the end of its wait. */
export interface PolicyState {
  policy: ApprovalPolicy
  pending: PendingPolicy | null
  /** Where the stored policy is wrong that cannot be read, so that the strictest one is in force; null where none is. */
  unreadable: string | null
}

const NAME = 'approval_policy'
const LOWERED = 'approval_policy_lowered'
/** How long a policy that came into force by waiting is told of. */
const LOWERED_TOLD_MS = 24 * 3_600_000

/** The policy in force, and the one that waits: no time passes here, see `settleApprovalPolicy`. */
export async function readApprovalPolicy(db: Db): Promise<PolicyState> {
  const setting = await findSetting(db, NAME)
  if (setting === null) return { policy: DEFAULT_APPROVAL_POLICY, pending: null, unreadable: null }
  const stored = readStoredPolicies(setting.value)
  if (stored !== null) return { ...stored, unreadable: null }
  // It may have asked anything, so nothing less will do.
  return { policy: STRICTEST_APPROVAL_POLICY, pending: null, unreadable: faultOfPolicies(setting.value) }
}

/** What is to be told of the policy. */
export interface PolicyNews {
  /** One that asks less and waits. */
  pending: PendingPolicy | null
  /** One that asks less and came into force by waiting within a day. */
  lowered: LoweredPolicy | null
  unreadable: PolicyState['unreadable']
}

/** Read what is to be told of the policy. */
export async function readPolicyNews(db: Db): Promise<PolicyNews> {
  const { pending, unreadable } = await readApprovalPolicy(db)
  const setting = await findSetting(db, LOWERED)
  const lowered = setting === null ? null : readStoredLowered(setting.value)
  if (lowered === null) return { pending, lowered, unreadable }
  const age = (await readDatabaseTime(db)).getTime() - lowered.at.getTime()
  return { pending, lowered: age < LOWERED_TOLD_MS ? lowered : null, unreadable }
}

/** What came of asking for a policy. */
export type PolicyOutcome = { ok: true; state: PolicyState } | Refusal<'policy-needs-another'> | AuditFailure

interface Parts {
  db: AuditedDatabase
  log: Log
}

/**
 * Ask for a policy. One that asks no less in any point counts at once, and so does one that waits when a second person
 * asks for the same; another one that asks less waits for that person, or for a day.
 */
export function changeApprovalPolicy(
  { db, log }: Parts,
  actor: AuditActor,
  wanted: ApprovalPolicy,
): Promise<PolicyOutcome> {
  return db.change<PolicyOutcome>(
    'approval-policy.change',
    actor,
    async (tx) => {
      await lockIdentity(tx)
      const now = await readDatabaseTime(tx)
      const before = await readApprovalPolicy(tx)
      const pending = before.pending && (await isStillAsked(tx, before.pending)) ? before.pending : null
      const isAskedAgain = pending !== null && isSamePolicy(pending.policy, wanted)
      if (isAskedAgain && pending.byId === actor.userId) return { ok: true, state: before }
      if (isAskedAgain && (await needsAnother(tx, actor.userId, pending)))
        return { ok: false, code: 'policy-needs-another' }
      const waits = !isAskedAgain && lowersBar(before.policy, wanted)
      const asked = { policy: wanted, by: actor.email, byId: actor.userId, at: now }
      const state = waits ? { policy: before.policy, pending: asked } : { policy: wanted, pending: null }
      await storeSetting(tx, NAME, {
        value: JSON.stringify(state),
        updatedAt: now,
        updatedBy: actor.email,
      })
      if (!waits && (await isOver(tx, actor, wanted))) await removeSetting(tx, LOWERED)
      if (waits)
        tx.afterCommit(() =>
          log.warn({ email: actor.email }, 'an approval policy that asks less waits for a second person'),
        )
      await tx.record({
        action: waits ? 'settings.approval_policy_asked' : 'settings.approval_policy',
        resource: 'settings',
        resourceId: NAME,
        detail: JSON.stringify({
          from: before.policy,
          to: wanted,
          ...(isAskedAgain ? { asked_by: pending.by } : {}),
          ...(before.unreadable === null ? {} : { unreadable: before.unreadable }),
        }),
      })
      return { ok: true, state: { ...state, unreadable: null } }
    },
    { waitsForReports: false },
  )
}

/**
 * Whether a lowering that came into force by waiting is to be told of no longer: the policy asks no less than before it
 * again, or somebody else than whoever asked for it, whose account is not tied to that one, has looked at the policy and
 * set it.
 */
async function isOver(tx: Db, actor: AuditActor, wanted: ApprovalPolicy): Promise<boolean> {
  const { lowered } = await readPolicyNews(tx)
  if (lowered === null || !lowersBar(lowered.from, wanted)) return true
  const { byId, at } = lowered
  if (byId === null || at === null) return false
  return byId !== actor.userId && !(await isShaped(tx, actor.userId, { byId, at }))
}

/**
 * Bring a policy that asks less into force once it has waited its day by the database's clock; one is dropped whose asker
 * may not ask for it any more. From that moment on it counts, and not before: whoever reads the policy looks at no clock.
 */
export async function settleApprovalPolicy({ db, log }: Parts): Promise<void> {
  if (!(await isDue(db))) return
  await db.change<{ ok: true } | AuditFailure>(
    'approval-policy.settle',
    null,
    async (tx) => {
      await lockIdentity(tx)
      const { policy: from, pending } = await readApprovalPolicy(tx)
      const now = await readDatabaseTime(tx)
      // Somebody may have answered since.
      if (pending === null) return { ok: true }
      const { policy: to, by, byId, at } = pending
      const store = (name: typeof NAME | typeof LOWERED, value: object) =>
        storeSetting(tx, name, { value: JSON.stringify(value), updatedAt: now, updatedBy: by })
      if (!(await isStillAsked(tx, pending))) {
        await store(NAME, { policy: from, pending: null })
        tx.afterCommit(() =>
          log.warn({ email: by }, 'an approval policy is dropped: who asked for it may not any more'),
        )
        await tx.record({
          action: 'settings.approval_policy_dropped',
          resource: 'settings',
          resourceId: NAME,
          detail: JSON.stringify({ from: to, to: from, asked_by: by, asked_at: at }),
        })
        return { ok: true }
      }
      if (!hasWaited(pending, now)) return { ok: true }
      await store(NAME, { policy: to, pending: null })
      await store(LOWERED, { by, byId, at: now, from })
      tx.afterCommit(() => log.warn({ email: by }, 'an approval policy that asks less counts from now on'))
      const detail = JSON.stringify({ from, to, asked_by: by, asked_at: at })
      await tx.record({ action: 'settings.approval_policy', resource: 'settings', resourceId: NAME, detail })
      return { ok: true }
    },
    { waitsForReports: false },
  )
}

async function isDue(db: Db): Promise<boolean> {
  const { pending } = await readApprovalPolicy(db)
  if (pending === null) return false
  return hasWaited(pending, await readDatabaseTime(db)) || !(await isStillAsked(db, pending))
}

/**
 * Whether whoever asked for a policy is still somebody who may. Nobody else asked for it: without its asker it is nobody's
 * wish.
 */
async function isStillAsked(tx: Db, { byId }: PendingPolicy): Promise<boolean> {
  const [account] = await listAccountStandings(tx, [byId], [])
  return account !== undefined && rightsEverywhere(grantsOf(account.roles)).has('settings:manage')
}

/**
 * Whether somebody is a second person for a policy that asks less, whether it waits or came into force by waiting:
 * neither who asked for it, nor somebody whose account is tied to that one. Anybody is where there is no such policy.
 */
export async function standsAgainstPolicy(db: Db, userId: string): Promise<boolean> {
  const { pending, lowered } = await readPolicyNews(db)
  const { byId = null, at = null } = pending ?? lowered ?? {}
  if (byId === null || at === null) return true
  return byId !== userId && !(await isShaped(db, userId, { byId, at }))
}

/** Whether somebody else than this account has to confirm a policy that another one asked for. */
export async function needsAnother(db: Db, userId: string, pending: PendingPolicy): Promise<boolean> {
  return pending.byId !== userId && (await isShaped(db, userId, pending))
}

/**
 * Whether this actor is no independent second person: whoever asked first has changed the account of this one (made it,
 * set its password, linked or regrouped it, made a token of it) or the other way round, or both accounts are of one
 * person, or anybody has changed it since.
 */
async function isShaped(
  tx: Db,
  userId: string,
  pending: Pick<PendingPolicy, 'byId' | 'at'>,
): Promise<boolean> {
  const [account] = await listAccountStandings(tx, [userId], [pending.byId])
  if (account === undefined || !isUntied(account, pending.byId)) return true
  return account.changedAt !== null && account.changedAt > pending.at
}
