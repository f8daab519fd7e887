import type { MembersFound, SeenMember } from '../store/members.ts'
import { OWNER_SILENT_MS } from './timing.ts'

/**
 * The members that one has to outlive before it may be the owner: as the owner it would change the database so that they
 * break. A member that has fallen silent is not waited for; it stops by itself when it goes on (`Membership`).
 */
export function olderMembers(
  { id, newestBreaking }: Pick<SeenMember, 'id' | 'newestBreaking'>,
  { members, schema }: Pick<MembersFound, 'members' | 'schema'>,
): SeenMember[] {
  if (schema.newest >= newestBreaking) return []
  return members.filter(
    (other) => other.id !== id && other.silentMs < OWNER_SILENT_MS && other.newestMigration < newestBreaking,
  )
}
