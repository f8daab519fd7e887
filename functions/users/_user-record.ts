import { pattern, string } from 'superstruct'
import type { UserOutcome } from '../../lib/identity/user-administration.ts'
import { UUID } from '../../lib/ids.ts'
import type { User } from '../../lib/store/users.ts'
import type { UserRecord } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import type { Context } from '../../runtime/context.ts'
import { problemOf, type Reply } from '../../runtime/reply.ts'

/** The id of a user in a path. */
export const UserId = pattern(string(), UUID)

/** A user as the wire shows it. */
export function toUserRecord({ identity }: Context, user: User): UserRecord {
  const { id, email, groups, createdAt, lastLoginAt, hasPassword, isBound } = user
  return {
    id,
    email,
    groups,
    created_at: createdAt.toISOString(),
    ...(isBound ? { signs_in_with: 'provider' } : {}),
    ...(identity.users.followsClaims(user) ? { groups_from: 'provider' } : {}),
    ...(hasPassword && !isBound ? {} : { has_password: false }),
    ...(lastLoginAt ? { last_login_at: lastLoginAt.toISOString() } : {}),
  }
}

/** The reply to a change of a user that was refused. */
export function refuseUser(outcome: UserOutcome & { ok: false }): Reply {
  if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
  return problemOf(outcome)
}
