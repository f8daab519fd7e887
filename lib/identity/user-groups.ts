import { type Refusal, refuse } from '../model/refusal.ts'
import type { Group } from '../store/groups.ts'

/** The ids of groups. */
export const idsOf = (groups: readonly Group[]): string[] => groups.map((group) => group.id)

/** The names of groups. */
export const namesOf = (groups: readonly Group[]): string[] => groups.map((group) => group.name)

/** Refuse the first name for which no group was found; null where each has one. */
export function refuseUnknownGroup(
  asked: readonly string[],
  found: readonly Group[],
): Refusal<'group-unknown'> | null {
  const names = new Set(namesOf(found))
  const unknown = asked.find((name) => !names.has(name))
  return unknown === undefined ? null : refuse('group-unknown', { group: unknown })
}
