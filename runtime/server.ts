import { randomBytes } from 'node:crypto'
import { DatabaseUnavailable } from '../lib/store/db.ts'
import { logAccess } from './access-log.ts'
import { AgentBodyRoom } from './agent-body-room.ts'
import { type BodyLimit, NO_BODY, sharedRoom } from './body-room.ts'
import { CompressedReplies } from './compressed-replies.ts'
import type { Context, OpampContext } from './context.ts'
import { answerPreflight, corsHeaders } from './cors.ts'
import type { BodySpec, HandshakeVerdict, OpampPostFunction, Socket, SocketDefinition } from './define.ts'
import { DescriptorRoom, type Descriptors } from './descriptor-room.ts'
import { listenForFew } from './few-listener.ts'
import { floodLog } from './flood-log.ts'
import { callFunction } from './guards.ts'
import type { Listener, ListenerHandlers, RawRequest, SocketRoute } from './listener.ts'
import type { Loaded, LoadedFunctions } from './loader.ts'
import type { ProxyPolicy } from './proxies.ts'
import { problem, type Reply, text } from './reply.ts'
import { createRouter, type RouteMatch } from './router.ts'
import { securityHeaders } from './security-headers.ts'
import { NO_ROOM, SocketRoom } from './socket-room.ts'
import { listen } from './uws.ts'

/** Answers a path that is no API path: the embedded UI. Null when it has nothing for it. */
export type StaticFiles = (request: {
  method: string
  path: string
  header(name: string): string
}) => Reply | null

const isApiPath = (path: string) => path === '/api' || path.startsWith('/api/')

function bodyLimitOf(match: RouteMatch): BodyLimit {
  if (match.kind !== 'function') return NO_BODY
  const { body: spec, access } = match.function.definition
  const body = spec as BodySpec<unknown>
  return body.kind === 'none'
    ? NO_BODY
    : { bytesMax: body.bytesMax, isBeforeSignIn: access.kind !== 'signed-in' }
}

/** One reply for whatever a function threw: nothing of the cause leaves the process but an id to find it by. */
function replyToFault(error: unknown, functionId: string, ctx: Pick<Context, 'log'>): Reply {
  if (error instanceof DatabaseUnavailable) {
    // One line a request: while the database is away there are as many of these as of requests.
    ctx.log.warn({ function: functionId, cause: error.message }, 'database unavailable')
    return problem('database-unavailable')
  }
  const requestId = randomBytes(8).toString('hex')
  ctx.log.error({ function: functionId, request_id: requestId, err: error }, 'function broke')
  return problem('internal-error', { request_id: requestId })
}

/** What a route keeps with a socket: the function's own state, and the address that the socket is counted for. */
interface RouteState {
  own: unknown
  address: string
}

/** Give a socket function's callbacks to the socket layer. A callback that breaks costs its own socket only. */
function toSocketRoute<Ctx extends Pick<Context, 'log'>>(
  id: string,
  fn: SocketDefinition<unknown, Ctx>,
  ctx: Ctx,
  proxies: ProxyPolicy,
  room: SocketRoom,
): SocketRoute {
  const ownOf = (state: unknown) => (state as RouteState).own
  const logFlood = floodLog(ctx.log, id)
  const guarded = (socket: Socket, act: () => void) => {
    try {
      act()
    } catch (error) {
      ctx.log.error({ function: id, err: error }, 'socket function broke')
      socket.drop()
    }
  }
  return {
    path: fn.path,
    messageBytesMax: fn.limits.messageBytesMax(ctx),
    waitingBytesMax: fn.limits.waitingBytesMax(ctx),
    backpressureBytesMax: fn.limits.backpressureBytesMax,
    idleSeconds: fn.limits.idleSeconds,
    closeOnBackpressure: fn.limits.closeOnBackpressure,
    admit(handshake) {
      const client = proxies.clientOf(handshake.remoteAddress, handshake.header)
      const withAddress = (verdict: HandshakeVerdict<unknown>): HandshakeVerdict<unknown> => {
        if (!verdict.accept) return verdict
        const state: RouteState = { own: verdict.state, address: client.remoteAddress }
        return { accept: true, state }
      }
      const verdict = fn.admit({ ...handshake, ...client }, ctx)
      return verdict instanceof Promise ? verdict.then(withAddress) : withAddress(verdict)
    },
    refuseForRoom: (state) => (room.hasRoom((state as RouteState).address) ? null : NO_ROOM),
    open(socket, state) {
      room.opened((state as RouteState).address)
      guarded(socket, () => fn.open(socket, ownOf(state), ctx))
    },
    message: (socket, state, data, isBinary) =>
      guarded(socket, () => fn.message(socket, ownOf(state), data, isBinary, ctx)),
    drain: (socket, state) => guarded(socket, () => fn.drain(socket, ownOf(state), ctx)),
    close(socket, state) {
      room.closed((state as RouteState).address)
      guarded(socket, () => fn.close(socket, ownOf(state), ctx))
    },
    flooded: (state) => logFlood((state as RouteState).address),
  }
}

function socketRoutes<Ctx extends Pick<Context, 'log'>>(
  functions: LoadedFunctions,
  listener: 'api' | 'opamp',
  ctx: Ctx,
  proxies: ProxyPolicy,
  room: SocketRoom,
) {
  return functions.sockets
    .map(({ id, definition }) => ({
      id,
      definition: definition as unknown as SocketDefinition<unknown, Ctx>,
    }))
    .filter(({ definition }) => definition.listener === listener)
    .map(({ id, definition }) => toSocketRoute(id, definition, ctx, proxies, room))
}

/** A plain request to a socket's path: the credential is judged first, then the missing handshake. */
async function answerNonHandshake(route: SocketRoute, request: RawRequest, allow: string): Promise<Reply> {
  if (request.method !== 'GET') return { ...text('', 405), headers: { Allow: allow } }
  const verdict = await route.admit({
    path: request.path,
    query: request.query,
    remoteAddress: request.peerAddress,
    isSecure: false,
    header: request.header,
    headers: request.headers,
  })
  if (!verdict.accept) return { ...text(verdict.body, verdict.status, verdict.headers ?? {}) }
  return text('Bad Request\n', 400, { 'Sec-WebSocket-Version': '13' })
}

/** What the bodies of all requests together may hold until they are answered. */
export const API_BODIES_BYTES_MAX = 64 * 1_048_576

/** Bind the API listener, with the handlers for REST, the embedded UI and the browser hub. */
export const startApiListener = (
  descriptors: Descriptors,
  address: string,
  handlers: ListenerHandlers,
  proxies: ProxyPolicy,
): Listener =>
  listen(address, {
    ...handlers,
    connections: new DescriptorRoom({ all: descriptors, each: 1, isProxy: proxies.isTrusted }),
  })

/** What the body of a request may be, by its method and path alone. */
export function createBodyLimits(functions: LoadedFunctions): ListenerHandlers['bodyLimit'] {
  const route = createRouter(functions.http)
  return (method, path) => bodyLimitOf(route(method, path))
}

/** Refused for how it is asked, or by whom, and not for what is seen. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 401, 405, 413, 415, 429, 431])

/** A reply, unless it refuses what was asked, which may be for what this process sees, and that may not be so any more. */
async function unlessUnsure(made: Reply, whyUnsure: () => Promise<Reply | null>): Promise<Reply> {
  const isRefusal = made.status >= 400 && made.status < 500 && !OF_THE_REQUEST.has(made.status)
  return (isRefusal ? await whyUnsure() : null) ?? made
}

/**
 * What answers REST, the embedded UI and the browser hub, whichever listener they come by. `whyUnsure`: what is answered
 * instead of each refusal where this process may be the owner no more, and so may see what is not so; null where it is.
 */
export function createApiHandlers(
  functions: LoadedFunctions,
  staticFiles: StaticFiles,
  ctx: Context,
  proxies: ProxyPolicy,
  whyUnsure: () => Promise<Reply | null>,
): ListenerHandlers {
  const route = createRouter(functions.http)
  const room = new SocketRoom(ctx.config.socketLimits)
  const sockets = socketRoutes(functions, 'api', ctx, proxies, room)
  const compressed = new CompressedReplies()

  async function dispatch(
    request: RawRequest,
    match: RouteMatch,
    client: { remoteAddress: string; isSecure: boolean },
  ) {
    if (match.kind === 'function')
      return callFunction(match.function.definition, toCall(request, match.params, client), ctx)
    const socket = sockets.find((candidate) => candidate.path === request.path)
    if (socket !== undefined) return answerNonHandshake(socket, request, 'GET')
    if (match.kind === 'method-not-allowed')
      return problem('method-not-allowed', {}, { Allow: match.allow.join(', ') })
    if (isApiPath(request.path)) return problem('not-found')
    return staticFiles(request) ?? problem('not-found')
  }

  return {
    sockets,
    room,
    bodyLimit: (method, path) => bodyLimitOf(route(method, path)),
    bodyRoom: sharedRoom(API_BODIES_BYTES_MAX, (...peer) => proxies.clientOf(...peer).remoteAddress),
    async handle(request) {
      const startedAt = ctx.clock.monotonicMs()
      const client = proxies.clientOf(request.peerAddress, request.header)
      const match = route(request.method, request.path)
      const functionId = match.kind === 'function' ? match.function.id : null
      const preflight = answerPreflight(request, ctx.config)
      const reply =
        preflight ??
        (await dispatch(request, match, client)
          .then(async (made) => compressed.of(await unlessUnsure(made, whyUnsure), request))
          .catch((error) => replyToFault(error, functionId ?? request.path, ctx)))
      logAccess(ctx.log, {
        function: functionId,
        method: request.method,
        path: request.path,
        query: request.query,
        remoteAddress: client.remoteAddress,
        status: reply.status,
        durationMs: ctx.clock.monotonicMs() - startedAt,
      })
      const cors = preflight === null ? corsHeaders(request, ctx.config) : {}
      return {
        ...reply,
        headers: { ...securityHeaders(request, client.isSecure), ...cors, ...reply.headers },
      }
    },
  }
}

/**
 * In how many milliseconds from its first byte on the body of a poll has to be here, however little room is wanted.
 */
const AGENT_BODY_WITHIN_MS = 30_000

/** With a status after which agents send the same again: after most others what was in it would never come. */
const TOO_SLOW = text('The body did not come in time\n', 503, { 'Retry-After': '30', Connection: 'close' })

/** Bind the OpAMP listener: agents' WebSockets, and the polls of those that speak plain HTTP. */
export function startOpampListener(
  functions: LoadedFunctions,
  ctx: OpampContext & Pick<Context, 'clock'>,
  proxies: ProxyPolicy,
  descriptors: Descriptors,
  wholeWithinMs: number = AGENT_BODY_WITHIN_MS,
): Listener {
  const { inAll, perAddress } = ctx.config.socketLimits
  const room = new SocketRoom({ inAll: Math.min(inAll, descriptors.mostSocketsOfAgents), perAddress })
  const sockets = socketRoutes(functions, 'opamp', ctx, proxies, room)
  const postOf = (method: string, path: string): Loaded<OpampPostFunction> | undefined =>
    method === 'POST' ? functions.opampPosts.find(({ definition }) => definition.path === path) : undefined

  async function dispatch(request: RawRequest): Promise<Reply> {
    const post = postOf(request.method, request.path)
    const client = proxies.clientOf(request.peerAddress, request.header)
    if (post !== undefined) {
      const incoming = { header: request.header, remoteAddress: client.remoteAddress }
      const refusal = post.definition.refuse(incoming, ctx)
      if (refusal !== null) {
        request.discardBody()
        return refusal
      }
      const body = await request.body()
      if (request.isTooSlow()) return TOO_SLOW
      if (request.isOverBudget()) return post.definition.handle({ ...incoming, body: 'over-budget' }, ctx)
      if (body === 'aborted') return text('', 400)
      return post.definition.handle({ ...incoming, body }, ctx)
    }
    const socket = sockets.find((candidate) => candidate.path === request.path)
    if (socket !== undefined) return answerNonHandshake(socket, request, 'GET, POST')
    return text('404 page not found\n', 404)
  }

  return listen(ctx.config.opampAddress, {
    sockets,
    room,
    connections: new DescriptorRoom({
      all: descriptors,
      each: 1,
      most: descriptors.mostOfAgents,
      isProxy: proxies.isTrusted,
    }),
    bodyLimit: (method, path) => ({
      bytesMax: postOf(method, path)?.definition.bodyBytesMax(ctx) ?? 0,
      isBeforeSignIn: false,
      wholeWithinMs,
    }),
    bodyRoom: new AgentBodyRoom(
      ctx.opamp.decoding,
      (...peer) => proxies.clientOf(...peer).remoteAddress,
      () => ctx.clock.monotonicMs(),
    ),
    handle: (request) => dispatch(request).catch((error) => replyToFault(error, 'opamp', ctx)),
  })
}

/** What this process answers while it waits to become the active one. */
export async function answerAsStandby(request: RawRequest): Promise<Reply> {
  const headers = securityHeaders(request, false)
  const reply = request.path === '/healthz' ? text('ok') : text('not ready\n', 503)
  return { ...reply, headers: { ...headers, ...reply.headers } }
}

/**
 * What the API address answers meanwhile. Few connections do for that, and what becomes active needs files of its own.
 */
export const startStandbyListener = (address: string): Listener => listenForFew(address, answerAsStandby)

/** What a function is called with; that the caller has left is also said where it had before anybody asked. */
const toCall = <Params, Client>(request: RawRequest, params: Params, client: Client) => ({
  ...request,
  params,
  ...client,
  onGone: (run: () => void) => (request.isAborted() ? run() : request.onAborted(run)),
})
