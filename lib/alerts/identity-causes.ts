import { LOWERING_WAIT_MS, type PendingPolicy } from '../model/approval-policy.ts'
import { toEmailKey } from '../model/emails.ts'
import type { LoweredPolicy } from '../model/stored-settings.ts'
import { findLastLogin, listKeptAdministrators } from '../store/alert-topics.ts'
import type { Db } from '../store/db.ts'
import type { TopicCause } from './topics.ts'

/** How long a sign-in of the administrator of the last resort is told of. */
const LAST_RESORT_TOLD_MS = 24 * 3_600_000

/** What the alerts about people are judged by beside what is stored. */
export interface AboutPeople {
  now: Date
  /** The e-mail of the only user who may log in with a password; null where every local user may. */
  onlyPasswordLogin: string | null
  policy: {
    /** An approval policy that asks less: one that waits to count, and one that came to count by waiting; null for none. */
    pending: PendingPolicy | null
    lowered: LoweredPolicy | null
    /** Where the stored policy is wrong that cannot be read; null where it can. */
    unreadable: string | null
  }
}

/**
 * The causes that are present now and are about people: the approval policy cannot be read, one that asks less waits to
 * count or came to by waiting within a day, the administrator of the last resort signed in within a day, or somebody is
 * an administrator only because nobody else is one. At most one of each.
 */
export async function findIdentityCauses(db: Db, about: AboutPeople): Promise<TopicCause[]> {
  return [
    ...toUnreadablePolicy(about),
    ...toLoweredPolicy(about),
    ...(await findLastResort(db, about)),
    ...(await listKeptAdministrators(db)).map(
      ({ id, email }): TopicCause => ({
        rule: 'administrator_kept',
        topic: `user:${id}`,
        subject: '',
        message: `${email} stays an administrator, because nobody else is one: the groups of the identity provider say otherwise`,
        details: { name: email },
      }),
    ),
  ]
}

function toUnreadablePolicy({ policy: { unreadable: where } }: AboutPeople): TopicCause[] {
  if (where === null) return []
  return [
    {
      rule: 'approval_policy_unreadable',
      topic: 'approval_policy',
      subject: where,
      message: `The stored approval policy cannot be read (at ${where}): every change takes two approvals by others than its authors, given within the hour, until an administrator stores one`,
      details: { name: where },
    },
  ]
}

function toLoweredPolicy({ policy: { pending, lowered } }: AboutPeople): TopicCause[] {
  if (pending === null) return lowered === null ? [] : [toPolicyInForce(lowered)]
  const counts_at = new Date(pending.at.getTime() + LOWERING_WAIT_MS).toISOString()
  return [
    {
      rule: 'approval_policy_lowered',
      topic: 'approval_policy',
      subject: `${pending.byId} ${pending.at.toISOString()}`,
      message: `${pending.by} asked for an approval policy that asks less: it counts from ${counts_at}, or once a second person confirms it`,
      details: { name: pending.by, counts_at },
    },
  ]
}

function toPolicyInForce({ by, at }: LoweredPolicy): TopicCause {
  const since = at.toISOString()
  return {
    rule: 'approval_policy_lowered',
    topic: 'approval_policy',
    subject: since,
    message: `The approval policy asks less since ${since}: ${by} asked for it, and nobody stood against it for a day`,
    details: { name: by, since },
  }
}

async function findLastResort(db: Db, { now, onlyPasswordLogin }: AboutPeople): Promise<TopicCause[]> {
  if (onlyPasswordLogin === null) return []
  const login = await findLastLogin(db, toEmailKey(onlyPasswordLogin))
  if (login === null || now.getTime() - login.at.getTime() >= LAST_RESORT_TOLD_MS) return []
  const { id, email, at } = login
  return [
    {
      rule: 'last_resort_login',
      topic: `user:${id}`,
      subject: at.toISOString(),
      message: `${email}, the administrator of the last resort, signed in at ${at.toISOString()}`,
      details: { name: email, at: at.toISOString() },
    },
  ]
}
