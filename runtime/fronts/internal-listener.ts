import { BROWSER_SOCKET } from '../../lib/hub/browser-queue.ts'
import { sharedRoom } from '../body-room.ts'
import type { ClusterConfig } from '../config.ts'
import { ConnectionRoom } from '../connection-room.ts'
import type { HandshakeVerdict } from '../define.ts'
import type { Listener, ListenerHandlers, SocketRoute } from '../listener.ts'
import type { LoadedFunctions } from '../loader.ts'
import { text } from '../reply.ts'
import { API_BODIES_BYTES_MAX, createBodyLimits } from '../server.ts'
import { listen } from '../uws.ts'
import { memberOf, REFUSED, type Self } from './member-headers.ts'

const NOT_THE_OWNER = { status: 421, body: 'another process decides\n', headers: {} } as const
/**
 * The most connections of whoever has not proved yet to be a member, and of members' requests. Without a request of a
 * member one ends: the socket library closes it where no request is whole after some ten seconds, and a refusal does.
 */
export const STRANGERS_MAX = 1_000
/** The header tells a member that the member itself was refused, and not the client whose request it passed on. */
const NOT_A_MEMBER = {
  status: 401,
  body: 'members of this fleet only\n',
  headers: { [REFUSED]: 'member', Connection: 'close' },
} as const

/**
 * Bind the listener for the other processes. A caller that does not prove to be a member is refused; requests and
 * browsers' sockets that members pass on are answered while this process is the owner, and refused with 421 while it
 * is not.
 */
export function startInternalListener(parts: {
  cluster: ClusterConfig
  functions: LoadedFunctions
  self: Self
  /** The handlers while this process is the owner, else null. */
  owned(): ListenerHandlers | null
  /** Further routes, for members only. */
  routes: readonly SocketRoute[]
}): Listener {
  const { cluster, functions, self, owned } = parts
  const isMember = (header: (name: string) => string) => memberOf(header, self) !== null
  return listen(
    cluster.internalAddress,
    {
      sockets: [passedBrowsers(owned), ...parts.routes].map((route) => forMembers(route, isMember)),
      room: null,
      connections: new ConnectionRoom(STRANGERS_MAX),
      bodyLimit: createBodyLimits(functions),
      // A member speaks for all of its callers.
      bodyRoom: sharedRoom(API_BODIES_BYTES_MAX, () => null),
      async handle(request) {
        const handlers = owned()
        const refusal = !isMember(request.header) ? NOT_A_MEMBER : handlers === null ? NOT_THE_OWNER : null
        if (refusal === null) return handlers!.handle(request)
        request.discardBody()
        return text(refusal.body, refusal.status, refusal.headers)
      },
    },
    cluster.tls,
  )
}

function forMembers(
  route: SocketRoute,
  isMember: (header: (name: string) => string) => boolean,
): SocketRoute {
  return {
    ...route,
    admit: async (handshake) =>
      isMember(handshake.header) ? route.admit(handshake) : { accept: false, ...NOT_A_MEMBER },
  }
}

/**
 * The owner's route for browsers' sockets. A socket stays with the route that accepted it, even once this process is
 * no longer the owner.
 */
function passedBrowsers(owned: () => ListenerHandlers | null): SocketRoute {
  type State = { route: SocketRoute; own: unknown }
  const of = (state: unknown) => state as State
  return {
    ...BROWSER_SOCKET,
    path: '/ws',
    async admit(handshake): Promise<HandshakeVerdict<unknown>> {
      const route = owned()?.sockets.find(({ path }) => path === '/ws')
      if (route === undefined) return { accept: false, ...NOT_THE_OWNER }
      const verdict = await route.admit(handshake)
      return verdict.accept ? { accept: true, state: { route, own: verdict.state } satisfies State } : verdict
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
