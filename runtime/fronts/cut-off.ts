import type { Membership } from '../../lib/cluster/membership.ts'
import type { Socket } from '../define.ts'
import type { FrontLink } from './front-link.ts'

/** A process that has had no link for so long, while others have one, sends its agents to them. */
export const CUT_OFF_MS = 30_000

/** What a process knows of the links of all. */
export interface KnownLinks {
  link: Pick<FrontLink, 'isForeign' | 'downMs'>
  owner: { epoch: number } | null
  /** The members that are known to run now (`Membership.heard`), this process among them. */
  heard: readonly Pick<Membership['heard'][number], 'id' | 'linkedEpoch'>[]
  selfId: string
  /** The newest epoch to whose owner another member has just said it has a link, where they were asked; 0 for none. */
  linkedEpoch: number
}

/**
 * Whether another member that is known to run has a link to the owner. What rows said before the database went away is no
 * news of anybody: the owner may be gone since.
 */
export function hasBetter({ owner, heard, selfId, linkedEpoch }: Omit<KnownLinks, 'link'>): boolean {
  if (owner === null) return false
  const isLinked = heard.some((member) => member.id !== selfId && member.linkedEpoch === owner.epoch)
  return isLinked || linkedEpoch >= owner.epoch
}

/**
 * Whether other members have a link to the owner while this process has had none for `CUT_OFF_MS`, or will have none
 * because of its version.
 */
export function isCutOff({ link, ...known }: KnownLinks): boolean {
  return link.isForeign || (link.downMs >= CUT_OFF_MS && hasBetter(known))
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
