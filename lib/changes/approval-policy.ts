import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import {
  type ApprovalPolicy,
  DEFAULT_APPROVAL_POLICY,
  isSamePolicy,
  lowersBar,
  type PendingPolicy,
  policyAt,
} from '../model/approval-policy.ts'
import type { Refusal } from '../model/refusal.ts'
import { readStoredPolicies } from '../model/stored-settings.ts'
import { listApproverStandings } from '../store/approval-votes.ts'
import type { Db } from '../store/db.ts'
import { findSetting, storeSetting } from '../store/settings.ts'
import { lockIdentity } from '../store/users.ts'

/** The policy in force, and one that asks less and waits for a second person or for the end of its wait. */
export interface PolicyState {
  policy: ApprovalPolicy
  pending: PendingPolicy | null
}

const NAME = 'approval_policy'

/** The policy as it stands now. */
export async function readApprovalPolicy(db: Db, now: Date): Promise<PolicyState> {
  const setting = await findSetting(db, NAME)
  const stored = setting === null ? null : readStoredPolicies(setting.value)
  return stored === null ? { policy: DEFAULT_APPROVAL_POLICY, pending: null } : policyAt(stored, now)
}

/** What came of asking for a policy. */
export type PolicyOutcome = { ok: true; state: PolicyState } | Refusal<'policy-needs-another'> | AuditFailure

interface Parts {
  db: AuditedDatabase
  clock: Clock
  log: Log
}

/**
 * Ask for a policy. One that asks no less in any point counts at once, and so does one that waits when a second person
 * asks for the same; another one that asks less waits for that person, or for a day.
 */
export function changeApprovalPolicy(
  { db, clock, log }: Parts,
  actor: AuditActor,
  wanted: ApprovalPolicy,
): Promise<PolicyOutcome> {
  return db.change<PolicyOutcome>(
    'approval-policy.change',
    actor,
    async (tx) => {
      await lockIdentity(tx)
      const now = clock.now()
      const before = await readApprovalPolicy(tx, now)
      const { pending } = before
      const isAskedAgain = pending !== null && isSamePolicy(pending.policy, wanted)
      if (isAskedAgain && pending.byId === actor.userId) return { ok: true, state: before }
      if (isAskedAgain && (await isShaped(tx, actor, pending)))
        return { ok: false, code: 'policy-needs-another' }
      const waits = !isAskedAgain && lowersBar(before.policy, wanted)
      const asked = { policy: wanted, by: actor.email, byId: actor.userId, at: now }
      const state = waits ? { policy: before.policy, pending: asked } : { policy: wanted, pending: null }
      await storeSetting(tx, NAME, {
        value: JSON.stringify(state),
        updatedAt: now,
        updatedBy: actor.email,
      })
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
        }),
      })
      return { ok: true, state }
    },
    { waitsForReports: false },
  )
}

/**
 * Whether this actor is no independent second person: whoever asked first has changed the account of this one (made it,
 * set its password, linked or regrouped it, made a token of it) or the other way round, or anybody has changed it
 * since.
 */
async function isShaped(tx: Db, actor: AuditActor, pending: PendingPolicy): Promise<boolean> {
  const request = { userIds: [actor.userId], authors: [pending.byId], requestedAt: pending.at }
  const standing = (await listApproverStandings(tx, [request]))[0]?.[0]
  if (standing === undefined) return true
  return standing.isShapedByAuthor || standing.hasShapedAuthor || standing.isShapedSinceRequest
}
