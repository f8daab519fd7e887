import { LINK_BEHIND_BYTES_MAX, LINK_MESSAGE_BYTES_MAX } from '../../lib/links/frames.ts'
import { LINK_VERSIONS, type LinkVersions } from '../../lib/links/link-versions.ts'
import type { OwnerLink, OwnerLinks } from '../../lib/links/owner-links.ts'
import type { SocketRoute } from '../listener.ts'
import { FOREIGN_VERSION, LINK_PATH } from './front-link.ts'
import { linkVersionOf, memberOf, NOT_A_MEMBER, NOT_OWNED, type Self } from './member-headers.ts'

const foreign = ({ least, newest }: LinkVersions) =>
  ({
    accept: false,
    status: FOREIGN_VERSION,
    body: `link versions ${least} to ${newest} only\n`,
    headers: { Connection: 'close' },
  }) as const

/** The route on which fronts open their links, while this process is the owner. */
export function createLinkRoute(
  self: Self,
  owned: () => OwnerLinks | null,
  versions: LinkVersions = LINK_VERSIONS,
): SocketRoute {
  type State = { links: OwnerLinks; memberId: string; version: number; link: OwnerLink | null }
  const of = (state: unknown) => state as State
  return {
    path: LINK_PATH,
    messageBytesMax: LINK_MESSAGE_BYTES_MAX,
    // A front says what all its agents say, and on a new link all of it again.
    waitingBytesMax: null,
    backpressureBytesMax: LINK_BEHIND_BYTES_MAX,
    idleSeconds: 30,
    closeOnBackpressure: true,
    admit({ header }) {
      const links = owned()
      if (links === null) return NOT_OWNED
      // The version comes first: a build that proves itself in another way is to hear of that.
      const version = linkVersionOf(header)
      if (!(version >= versions.least && version <= versions.newest)) return foreign(versions)
      const memberId = memberOf(header, self)
      if (memberId === null) return NOT_A_MEMBER
      return { accept: true, state: { links, memberId, version, link: null } satisfies State }
    },
    refuseForRoom: () => null,
    open(socket, state) {
      const { links, memberId, version } = of(state)
      of(state).link = links.open(
        { send: (text) => socket.send(text) !== 'dropped', drop: () => socket.drop() },
        memberId,
        version,
      )
    },
    message: (_socket, state, data) => of(state).link?.take(Buffer.from(data).toString()),
    drain() {
      // A front that reads too slowly is cut at the limit.
    },
    close: (_socket, state) => of(state).link?.closed(),
    flooded() {
      // No link is cut for what it says.
    },
  }
}
