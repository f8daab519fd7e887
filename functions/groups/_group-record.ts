import { string, type } from 'superstruct'
import type { GroupOutcome } from '../../lib/identity/group-administration.ts'
import type { Group } from '../../lib/store/groups.ts'
import type { GroupRecord, ManagedGroupRecord } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { problemOf, type Reply } from '../../runtime/reply.ts'

/** The path parameters of one group. */
export const groupParams = type({ id: string() })

/** A group as the wire shows it. */
export const toGroupRecord = ({ id, name, role, scope, isSystem, createdAt }: Group): GroupRecord => ({
  id,
  name,
  role,
  is_system: isSystem,
  created_at: createdAt.toISOString(),
  ...(scope === null ? {} : { scope: { key: scope.key, values: [...scope.values] } }),
})

/** The same with how many it has in it, for whoever manages groups. */
export const toManagedGroupRecord = (group: Group, memberCount: number): ManagedGroupRecord => ({
  ...toGroupRecord(group),
  member_count: memberCount,
})

/** The reply to a change of a group that was refused. */
export function refuseGroup(outcome: GroupOutcome & { ok: false }): Reply {
  if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
  return problemOf(outcome)
}
