import type { Tokens } from '../../lib/identity/sessions/tokens.ts'
import { sharedRoom } from '../body-room.ts'
import { DescriptorRoom, type Descriptors } from '../descriptor-room.ts'
import type { ListenerHandlers, RawRequest, SocketRoute } from '../listener.ts'
import type { LoadedFunctions } from '../loader.ts'
import type { ProxyPolicy } from '../proxies.ts'
import { problem, type Reply, text } from '../reply.ts'
import { createRouter } from '../router.ts'
import { securityHeaders } from '../security-headers.ts'
import { API_BODIES_BYTES_MAX, createBodyLimits, type StaticFiles } from '../server.ts'
import type { SocketRoom } from '../socket-room.ts'
import { BodyCallers } from './body-callers.ts'
import type { OwnerDoor } from './owner-door.ts'

/** What a front's listener for browsers and the API is made of. */
export interface FrontApiParts {
  functions: LoadedFunctions
  staticFiles: StaticFiles
  proxies: ProxyPolicy
  room: SocketRoom
  descriptors: Descriptors
  /** The browsers' route. */
  browsers: SocketRoute
  door: OwnerDoor
  tokens: Tokens
  /** This process's own handlers while it is the owner, else null. */
  owned(): ListenerHandlers | null
  isReady(): boolean
  /** What whoever asks for its readiness is to know besides, each in a few words that anybody may read. */
  notes(): readonly string[]
}

/**
 * The handlers of each process's listener for browsers and the API: it answers files and health itself, everything
 * else is the owner's.
 */
export function createFrontApiHandlers(parts: FrontApiParts): ListenerHandlers {
  const {
    functions,
    staticFiles,
    proxies,
    room,
    descriptors,
    browsers,
    door,
    tokens,
    owned,
    isReady,
    notes,
  } = parts
  const bodyLimit = createBodyLimits(functions)
  const callers = new BodyCallers({ bodyLimit, tokens, door })
  const route = createRouter(functions.http)
  // CONNECT is a request for a tunnel, which Node would take an answer for: it is refused here as the owner refuses it.
  const isForOwner = ({ method, path }: RawRequest) =>
    method !== 'CONNECT' &&
    (path.startsWith('/api/') || path === '/api' || path === browsers.path || method === 'OPTIONS')

  const doneOnce = ({ method, path }: RawRequest) => {
    const match = route(method, path)
    return match.kind === 'function' ? match.function.definition.doneOnce : undefined
  }

  const answerSelf = (request: RawRequest): Reply => {
    const match = route(request.method, request.path)
    if (match.kind === 'method-not-allowed')
      return problem('method-not-allowed', {}, { Allow: match.allow.join(', ') })
    if (request.path === '/healthz') return text('ok')
    if (request.path === '/readyz') {
      const [word, status] = isReady() ? (['ready', 200] as const) : (['not ready', 503] as const)
      return text([word, ...notes()].join('; ') + (status === 200 ? '' : '\n'), status)
    }
    return staticFiles(request) ?? problem('not-found')
  }

  return {
    sockets: [browsers],
    room,
    // What is asked here, and each browser's socket, may take a connection to the owner as well.
    connections: new DescriptorRoom({ all: descriptors, each: 2, isProxy: proxies.isTrusted }),
    bodyLimit,
    bodyRoom: sharedRoom(API_BODIES_BYTES_MAX, (...peer) => proxies.clientOf(...peer).remoteAddress),
    async handle(request) {
      const client = proxies.clientOf(request.peerAddress, request.header)
      if (!isForOwner(request)) return withSecurity(answerSelf(request), request, client.isSecure)
      const handlers = owned()
      // A plain request to the sockets' path goes through the door like a handshake, also while this process is the
      // owner.
      if (handlers !== null && request.path !== browsers.path) return handlers.handle(request)
      const taken = await callers.take(request, client)
      const reply =
        'reply' in taken ? taken.reply : await door.forward(taken.request, client, doneOnce(request))
      return withSecurity(reply, request, client.isSecure)
    },
  }
}

/** Add the security headers that a reply does not have; an owner's reply has its own. */
function withSecurity(reply: Reply, request: RawRequest, isSecure: boolean): Reply {
  const own = Object.entries(securityHeaders(request, isSecure))
  const named = new Set(Object.keys(reply.headers).map((name) => name.toLowerCase()))
  const added = own.filter(([name]) => !named.has(name.toLowerCase()))
  return { ...reply, headers: { ...Object.fromEntries(added), ...reply.headers } }
}
