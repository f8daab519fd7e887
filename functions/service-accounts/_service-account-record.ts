import type { ServiceAccountOutcome } from '../../lib/identity/service-accounts.ts'
import type { ServiceAccount } from '../../lib/store/service-accounts.ts'
import type { ServiceAccountRecord } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { problemOf, type Reply } from '../../runtime/reply.ts'

/** A service account as the wire shows it. */
export function toServiceAccountRecord(account: ServiceAccount): ServiceAccountRecord {
  const { id, name, owner, groups, createdAt } = account
  return { id, name, ...(owner ? { owner } : {}), groups, created_at: createdAt.toISOString() }
}

/** The reply to a change of a service account that was refused. */
export function refuseServiceAccount(outcome: ServiceAccountOutcome & { ok: false }): Reply {
  if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
  return problemOf(outcome)
}
