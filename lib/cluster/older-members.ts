import type { MembersFound, SeenMember } from '../store/members.ts'

/**
 * Those of these members that one has to outlive before it may be the owner: as the owner it would change the database so
 * that they break. One that is taken for gone is not waited for; it stops by itself when it goes on (`Membership`).
 */
export function olderMembers(
  { id, newestBreaking }: Pick<SeenMember, 'id' | 'newestBreaking'>,
  running: readonly SeenMember[],
  { newest }: MembersFound['schema'],
): SeenMember[] {
  if (newest >= newestBreaking) return []
  return running.filter((other) => other.id !== id && other.newestMigration < newestBreaking)
}
