import type { Membership } from '../../lib/cluster/membership.ts'
import type { Socket } from '../define.ts'
import type { FrontLink } from './front-link.ts'

/** A process that has had no link for so long, while others have one, sends its agents to them. */
export const CUT_OFF_MS = 30_000

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

/** What a process that takes itself for the owner knows of that. */
export interface OwnStanding {
  /** For how long it has not renewed itself. */
  unrenewedMs: number
  /** The members that it knew last, itself among them. */
  members: readonly { id: string }[]
  selfId: string
  links: { hasOtherThan(memberId: string): boolean }
}

/**
 * Whether an owner that has not renewed itself for so long was left by all others: they may follow another one. Where the
 * database is away for everybody they stay linked.
 */
export function isLeft({ unrenewedMs, members, selfId, links }: OwnStanding, afterMs: number): boolean {
  return unrenewedMs >= afterMs && members.some(({ id }) => id !== selfId) && !links.hasOtherThan(selfId)
}

/** Let the agents of a process that is cut off connect to another one: this end is none of their doing. */
export function sendElsewhere(sockets: Iterable<Pick<Socket, 'cut'>>): void {
  for (const socket of sockets) socket.cut()
}
