import { isAboutPeople } from '../model/alert-about.ts'
import type { Refusal } from '../model/refusal.ts'
import type { AlertSubject } from '../store/alerts.ts'
import type { Db } from '../store/db.ts'
import { standsAgainstPolicy } from './approval-policy.ts'

/** Who wants to resolve alerts. */
interface Resolver {
  userId: string
  mayManage: boolean
  /** Whether a person is signed in, and no token. */
  isInPerson: boolean
}

/**
 * Refuse whoever would silence an alert that is there to be seen by others. Those about people and the approval policy
 * are resolved in person by somebody who manages the settings: one about a policy that asks less by who could confirm
 * it, one about a sign-in by somebody else than who signed in.
 */
export async function refuseResolver(
  db: Db,
  { userId, mayManage, isInPerson }: Resolver,
  alerts: readonly AlertSubject[],
): Promise<Refusal<'session-required' | 'forbidden' | 'alert-needs-another'> | null> {
  const about = alerts.filter(({ rule }) => isAboutPeople(rule))
  if (about.length === 0) return null
  if (!isInPerson) return { ok: false, code: 'session-required' }
  if (!mayManage) return { ok: false, code: 'forbidden' }
  const isOwn = about.some(({ rule, topic }) => rule === 'last_resort_login' && topic === `user:${userId}`)
  const isPolicy = about.some(({ rule }) => rule === 'approval_policy_lowered')
  return isOwn || (isPolicy && !(await standsAgainstPolicy(db, userId)))
    ? { ok: false, code: 'alert-needs-another' }
    : null
}
