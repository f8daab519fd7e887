import type { ClusterMember } from '../../../lib/wire/system.ts'
import type { Tone } from './diagnosis.ts'

/** How a process stands. */
export type MemberState = 'owner' | 'front' | 'unlinked' | 'silent'

/** The state of a process: the most urgent of what is true of it. */
export function memberState(member: ClusterMember): MemberState {
  if (member.is_silent) return 'silent'
  if (member.is_owner) return 'owner'
  return member.linked_since === null ? 'unlinked' : 'front'
}

/** How many agents a process has; undefined where it has no link, by which alone the owner knows that, and may run. */
export const agentsOf = ({ linked_since, is_silent, agents }: ClusterMember): number | undefined =>
  linked_since === null && !is_silent ? undefined : agents

/** How each state looks. */
export const MEMBER_TONES = {
  owner: ['ok', 'full'],
  front: ['ok', 'full'],
  unlinked: ['warn', 'ring'],
  silent: ['bad', 'ring'],
} as const satisfies Record<MemberState, readonly [Tone, string]>

/** The versions that run, each once. */
export const versionsOf = (members: readonly ClusterMember[]): string[] =>
  [...new Set(members.map(({ version }) => version))].sort()
