import type { Membership } from '../../lib/cluster/membership.ts'
import type { Socket } from '../define.ts'
import type { FrontLink } from './front-link.ts'

/** A process that has had no link for so long, while others have one, sends its agents to them. */
const CUT_OFF_MS = 30_000

/** What a process knows of the links of all. */
export interface KnownLinks {
  link: Pick<FrontLink, 'isForeign' | 'downMs'>
  owner: { epoch: number } | null
  members: readonly Pick<Membership['members'][number], 'id' | 'linkedEpoch'>[]
  /** This process among them. */
  selfId: string
}

/**
 * Whether other members have a link to the owner while this process has had none for `CUT_OFF_MS`, or will have none
 * because of its version.
 */
export function isCutOff({ link, owner, members, selfId }: KnownLinks): boolean {
  if (link.isForeign) return true
  if (link.downMs < CUT_OFF_MS || owner === null) return false
  return members.some(({ id, linkedEpoch }) => id !== selfId && linkedEpoch === owner.epoch)
}

/** Let the agents of a process that is cut off connect to another one: this end is none of their doing. */
export function sendElsewhere(sockets: Iterable<Pick<Socket, 'cut'>>): void {
  for (const socket of sockets) socket.cut()
}
