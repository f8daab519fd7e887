import { BROWSER_SOCKET } from '../../lib/hub/browser-queue.ts'
import { sharedRoom } from '../body-room.ts'
import type { ClusterConfig } from '../config.ts'
import { ConnectionRoom } from '../connection-room.ts'
import type { HandshakeVerdict } from '../define.ts'
import type { Descriptors } from '../descriptor-room.ts'
import type { Listener, ListenerHandlers, SocketRoute } from '../listener.ts'
import type { LoadedFunctions } from '../loader.ts'
import { text } from '../reply.ts'
import { API_BODIES_BYTES_MAX, createBodyLimits } from '../server.ts'
import { listen } from '../uws.ts'
import { answerQuestion, isQuestion } from './known-owner.ts'
import { memberOf, NOT_A_MEMBER, NOT_OWNED, type Self } from './member-headers.ts'
import { answerChallenge, isChallenge } from './owner-challenge.ts'

/**
 * The most connections of whoever has not proved yet to be a member, and of members' requests. Without a request of a
 * member one ends: the socket library closes it where no request is whole after some ten seconds, and a refusal does.
 */
export const STRANGERS_MAX = 1_000
/** The most of them at which those are still let in that come from where a member has a link from, or is reached at. */
const BESIDE_MEMBERS_MAX = 10_000

/**
 * Bind the listener for the other processes. While this process is the owner it proves that to members that ask, and
 * answers requests and browsers' sockets that members pass on; a caller that does not prove to be a member is refused.
 * While it is not the owner it says so.
 */
export function startInternalListener(parts: {
  cluster: ClusterConfig
  functions: LoadedFunctions
  descriptors: Descriptors
  self: Self
  /** The handlers while this process is the owner, else null. */
  owned(): ListenerHandlers | null
  /** The epoch of the owner that this process has a link to; 0 for none. */
  linkedEpoch(): number
  /** The route of the links, which itself looks whether a member opens one. */
  links: SocketRoute
  /** Whether a member says that it is reached at this address. */
  isOfMember(address: string): boolean
}): Listener {
  const { cluster, functions, descriptors, self, owned, linkedEpoch, links, isOfMember } = parts
  return listen(
    cluster.internalAddress,
    {
      sockets: [passedBrowsers(self, owned), links],
      room: null,
      connections: new ConnectionRoom(
        Math.min(STRANGERS_MAX, descriptors.most / 8),
        Math.min(BESIDE_MEMBERS_MAX, descriptors.most / 2),
        descriptors,
        isOfMember,
      ),
      bodyLimit: createBodyLimits(functions),
      // A member speaks for all of its callers.
      bodyRoom: sharedRoom(API_BODIES_BYTES_MAX, () => null),
      async handle(request) {
        if (isQuestion(request)) {
          request.discardBody()
          return answerQuestion(request, linkedEpoch(), self)
        }
        const owner = self.owned()
        if (owner !== null && isChallenge(request)) {
          request.discardBody()
          return answerChallenge(request, owner, self)
        }
        const handlers = owned()
        const refusal = refuse(request.header, self, handlers)
        if (refusal === null) return handlers!.handle(request)
        request.discardBody()
        return text(refusal.body, refusal.status, refusal.headers)
      },
    },
    cluster.tls,
  )
}

/** Why what was asked is not answered: this process is not the owner, or who asks is no member; null where it is. */
const refuse = (header: (name: string) => string, self: Self, handlers: ListenerHandlers | null) => {
  if (self.owned() === null) return NOT_OWNED
  if (memberOf(header, self) === null) return NOT_A_MEMBER
  return handlers === null ? NOT_OWNED : null
}

/**
 * The owner's route for browsers' sockets. A socket stays with the route that accepted it, even once this process is
 * no longer the owner.
 */
function passedBrowsers(self: Self, owned: () => ListenerHandlers | null): SocketRoute {
  type State = { route: SocketRoute; own: unknown }
  const of = (state: unknown) => state as State
  return {
    ...BROWSER_SOCKET,
    path: '/ws',
    async admit(handshake): Promise<HandshakeVerdict<unknown>> {
      const handlers = owned()
      const refusal = refuse(handshake.header, self, handlers)
      if (refusal !== null) return refusal
      const route = handlers!.sockets.find(({ path }) => path === '/ws')!
      const verdict = await route.admit(handshake)
      if (verdict.accept) return { accept: true, state: { route, own: verdict.state } satisfies State }
      // This side closes: the front has only so many ports to it, and whoever closes keeps one for another minute.
      return { ...verdict, headers: { ...verdict.headers, Connection: 'close' } }
    },
    refuseForRoom: (state) => of(state).route.refuseForRoom(of(state).own),
    abandoned: (state) => of(state).route.abandoned?.(of(state).own),
    open: (socket, state) => of(state).route.open(socket, of(state).own),
    message: (socket, state, data, isBinary) =>
      of(state).route.message(socket, of(state).own, data, isBinary),
    drain: (socket, state) => of(state).route.drain(socket, of(state).own),
    close: (socket, state) => of(state).route.close(socket, of(state).own),
    flooded: (state) => of(state).route.flooded(of(state).own),
  }
}
