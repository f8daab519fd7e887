import { STATUS_CODES } from 'node:http'
import type { ByteBudget } from '../lib/byte-budget.ts'
import type { Handshake, HandshakeRefusal, HandshakeVerdict, Socket } from './define.ts'
import { parseListenAddress } from './listen-address.ts'
import type { Reply } from './reply.ts'
import type { SocketRoom } from './socket-room.ts'
import { Anchor } from './uws-anchor.ts'
import {
  type HttpRequest,
  type HttpResponse,
  loadUwsLibrary,
  type TemplatedApp,
  type us_listen_socket,
  type WebSocket,
} from './uws-library.ts'

/** One HTTP request as the socket layer delivers it. The body is collected from the first moment on. */
export interface RawRequest {
  /** Upper case. */
  method: string
  /** The path as sent, percent-encoded. */
  path: string
  /** The query as sent, without `?`; empty when there is none. */
  query: string
  /** The direct peer. */
  peerAddress: string
  /** One header, lower-case name: the first line of it, or all lines of what proxies add to; '' when absent. */
  header(name: string): string
  /** All of them, as `header` tells each. */
  headers(): Iterable<readonly [name: string, value: string]>
  /** The whole body, or 'too-large' as soon as that is known, or 'aborted' when the peer left. */
  body(): Promise<Uint8Array | 'too-large' | 'aborted'>
  isAborted(): boolean
  /** Run this when the peer leaves before it has its answer. */
  onAborted(listener: () => void): void
  /** True when the listener's budget was used up before the body was whole; `body()` says 'aborted' then. */
  isOverBudget(): boolean
  /** Throw away what came of the body and what still comes: the request is refused without it. */
  discardBody(): void
}

/** What a listener does with requests and sockets; built by `server.ts`. */
export interface ListenerHandlers {
  /** How many body bytes this request may carry; decided before anything is awaited. */
  bodyBytesMax(method: string, path: string): number
  handle(request: RawRequest): Promise<Reply>
  /** What all bodies together may hold until their requests are answered; null for no common limit. */
  bodyBudget: ByteBudget | null
  sockets: readonly SocketRoute[]
  /** Where the routes count their sockets; null where there are none. */
  room: SocketRoom | null
}

/** A WebSocket route with its state hidden. */
export interface SocketRoute {
  path: string
  messageBytesMax: number
  backpressureBytesMax: number
  idleSeconds: number
  closeOnBackpressure: boolean
  admit(handshake: Handshake): Promise<HandshakeVerdict<unknown>> | HandshakeVerdict<unknown>
  /**
   * Asked for an admitted handshake in the very turn in which its socket opens, so that those that are judged at the
   * same time count each other; null when there is room.
   */
  refuseForRoom(state: unknown): HandshakeRefusal | null
  open(socket: Socket, state: unknown): void
  message(socket: Socket, state: unknown, data: Uint8Array, isBinary: boolean): void
  drain(socket: Socket, state: unknown): void
  close(socket: Socket, state: unknown): void
}

/** A bound listener. */
export interface Listener {
  port: number
  /** Stop taking connections; those that exist go on. */
  stopListening(): void
  /** Requests not yet answered. */
  inFlight(): number
  /** What is left of the budget for bodies; null where there is none. */
  bodyBytesFree(): number | null
  /** Sockets that are open now. */
  sockets(): Iterable<Socket>
  /** WebSockets that are open, handshakes that found no room, and sockets that were cut as quiet. */
  socketCounts(): { open: number; turnedAway: number; cut: number }
  /** Cut the sockets that have finished no message since this moment of `performance.now()`; how many. */
  cutQuiet(sinceMs: number): number
  /** Bytes sent to sockets that their peers have not read. */
  bufferedBytes(): number
  /** Cut every connection that is left. */
  destroy(): void
}

/** What the library keeps with a socket; it copies the fields, so what changes is behind one of them. */
interface SocketData {
  entry: SocketEntry
}

interface SocketEntry {
  state: unknown
  handle: UwsSocket | null
  /** The route knows of it. */
  isOpen: boolean
  peerAddress: string
}

/** The sockets of one listener. */
interface SocketsOfListener {
  open: Set<UwsSocket>
  /** Those whose peers have not read all that they were sent. */
  behind: Set<UwsSocket>
  nextId(): number
}

/** The library takes options beside a host, too; its types leave that form out. */
type ListenWithHost = (
  this: TemplatedApp,
  host: string,
  port: number,
  options: number,
  listening: (socket: us_listen_socket | false) => void,
) => void

class UwsSocket implements Socket {
  readonly id: number
  readonly remoteAddress: string
  #ws: WebSocket<SocketData> | null
  /** When it was opened, or finished a message last. */
  lastMessageMs = performance.now()

  /** Sockets of the listener whose peers are behind. */
  readonly #behind: Set<UwsSocket>

  constructor(id: number, ws: WebSocket<SocketData>, remoteAddress: string, behind: Set<UwsSocket>) {
    this.id = id
    this.#ws = ws
    this.remoteAddress = remoteAddress
    this.#behind = behind
  }

  send(data: Uint8Array | string): 'sent' | 'buffered' | 'dropped' {
    if (this.#ws === null) return 'dropped'
    const outcome = this.#ws.send(data, typeof data !== 'string', false)
    if (outcome !== 1) this.noteBehind()
    return outcome === 1 ? 'sent' : outcome === 0 ? 'buffered' : 'dropped'
  }

  sendTexts(texts: readonly Uint8Array[]): number {
    let taken = 0
    this.#ws?.cork(() => {
      for (const text of texts) {
        if (this.#ws === null || this.#ws.getBufferedAmount() > 0) return
        this.#ws.send(text, false, false)
        taken++
      }
    })
    this.noteBehind()
    return taken
  }

  /** Bytes that the peer has not read. Those that read are not asked again until they are sent more. */
  noteBehind(): number {
    const bytes = this.#ws?.getBufferedAmount() ?? 0
    if (bytes > 0) this.#behind.add(this)
    else this.#behind.delete(this)
    return bytes
  }

  close(code: number, reason: string): void {
    this.#ws?.end(code, reason)
  }

  drop(): void {
    this.#ws?.close()
  }

  /** The native object is invalid from here on. */
  markClosed(): void {
    this.#ws = null
    this.#behind.delete(this)
  }

  isClosed(): boolean {
    return this.#ws === null
  }
}

/** The textual form of a peer address; IPv4 mapped into IPv6 is shown as IPv4. */
export function formatAddress(raw: ArrayBuffer): string {
  const bytes = new Uint8Array(raw)
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) return ''
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  if (isMapped) return bytes.subarray(12).join('.')
  const groups: string[] = []
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i]! << 8) | bytes[i + 1]!).toString(16))
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}

/** Lists to which each proxy may add a line of its own: who reads the first line alone believes the client. */
const JOINED_HEADERS = new Set(['x-forwarded-for', 'x-forwarded-proto'])

type Headers = Pick<RawRequest, 'header' | 'headers'>

function copyHeaders(request: HttpRequest): Headers {
  const headers = new Map<string, string>()
  request.forEach((key, value) => {
    const before = headers.get(key)
    // The first of any other repeated header counts (a second Authorization or Cookie is ignored).
    if (before === undefined) headers.set(key, value)
    else if (JOINED_HEADERS.has(key)) headers.set(key, `${before}, ${value}`)
  })
  return { header: (name) => headers.get(name) ?? '', headers: () => headers }
}

interface RequestState {
  isAborted: boolean
  isOverBudget: boolean
  /** Called when the peer leaves, for an answer that waits until it may go on. */
  onAborted: () => void
  /** Called then as well, for work that nobody waits for any more. */
  abortListeners: (() => void)[]
}

/** A body on its way in. */
interface IncomingBody {
  done: Promise<Uint8Array | 'too-large' | 'aborted'>
  /** Throw away what came and what still comes, and give back what it took of the budget. */
  discard(): void
}

/** Collect a body up to a limit and a common budget; what comes after is thrown away as it arrives. */
function collectBody(
  response: HttpResponse,
  bytesMax: number,
  budget: ByteBudget | null,
  state: RequestState,
): IncomingBody {
  let chunks: Uint8Array[] | null = []
  let length = 0
  let taken = 0
  let settle: (value: Uint8Array | 'too-large' | 'aborted') => void = () => {}
  const done = new Promise<Uint8Array | 'too-large' | 'aborted'>((resolve) => {
    settle = resolve
  })
  const giveUp = (outcome: 'too-large' | 'aborted') => {
    chunks = null
    budget?.give(taken)
    taken = 0
    settle(outcome)
  }
  response.onAborted(() => {
    state.isAborted = true
    giveUp('aborted')
    state.onAborted()
    for (const listener of state.abortListeners) listener()
  })
  response.onData((chunk, isLast) => {
    if (chunks === null) return
    length += chunk.byteLength
    if (length > bytesMax) return giveUp('too-large')
    if (budget !== null && !budget.take(chunk.byteLength)) {
      state.isOverBudget = true
      return giveUp('aborted')
    }
    taken += chunk.byteLength
    // The chunk is only valid during this callback.
    if (chunk.byteLength > 0) chunks.push(new Uint8Array(chunk.slice(0)))
    if (isLast) settle(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  })
  return { done, discard: () => giveUp('aborted') }
}

async function writeReply(
  response: HttpResponse,
  reply: Reply,
  isHead: boolean,
  state: Pick<RequestState, 'isAborted' | 'onAborted'>,
): Promise<void> {
  if (state.isAborted) return
  const { body } = reply
  const isWhole = body === null || typeof body === 'string' || body instanceof Uint8Array
  response.cork(() => {
    response.writeStatus(`${reply.status} ${STATUS_CODES[reply.status] ?? ''}`)
    for (const [name, value] of Object.entries(reply.headers)) response.writeHeader(name, value)
    for (const cookie of reply.cookies ?? []) response.writeHeader('Set-Cookie', cookie)
    if (isHead) {
      // As a header: the library's own parameter for it would make the connection wait for that body.
      if (isWhole && body !== null)
        response.writeHeader('Content-Length', String(Buffer.byteLength(body as string | Uint8Array)))
      response.endWithoutBody()
    } else if (body === null && reply.status === 204) response.endWithoutBody()
    else if (isWhole) response.end(body ?? '')
  })
  if (isHead || isWhole) return
  await streamBody(response, body, state)
}

async function streamBody(
  response: HttpResponse,
  body: AsyncIterable<string | Uint8Array>,
  state: Pick<RequestState, 'isAborted' | 'onAborted'>,
): Promise<void> {
  let wake: () => void = () => {}
  // Whoever left will never be writable again.
  state.onAborted = () => wake()
  response.onWritable(() => {
    wake()
    return true
  })
  try {
    for await (const chunk of body) {
      if (state.isAborted) return
      const writable = new Promise<void>((resolve) => {
        wake = resolve
      })
      let isFlowing = true
      response.cork(() => {
        isFlowing = response.write(chunk)
      })
      if (!isFlowing && !state.isAborted) await writable
    }
    if (!state.isAborted) response.cork(() => response.end())
  } catch (error) {
    // The status is long gone: cutting the connection is the only honest way to say that the body is broken.
    if (!state.isAborted) response.close()
    throw error
  }
}

function registerSocket(
  app: TemplatedApp,
  route: SocketRoute,
  { open, behind, nextId }: SocketsOfListener,
  anchor: Anchor,
): void {
  app.ws<SocketData>(route.path, {
    // Above the protocol's limit, so that our own answer (1009) is given instead of a bare cut.
    maxPayloadLength: route.messageBytesMax + 1_048_576,
    maxBackpressure: route.backpressureBytesMax,
    closeOnBackpressureLimit: route.closeOnBackpressure,
    idleTimeout: route.idleSeconds,
    sendPingsAutomatically: true,
    upgrade(response, request, context) {
      const state = { isAborted: false, onAborted: () => undefined }
      response.onAborted(() => {
        state.isAborted = true
      })
      const key = request.getHeader('sec-websocket-key')
      const protocol = request.getHeader('sec-websocket-protocol')
      const peerAddress = formatAddress(response.getRemoteAddress())
      const handshake: Handshake = {
        path: request.getUrl(),
        query: request.getQuery() ?? '',
        remoteAddress: peerAddress,
        isSecure: false,
        ...copyHeaders(request),
      }
      const refuse = (status: number, body: string, headers: Readonly<Record<string, string>> = {}) =>
        void writeReply(
          response,
          { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, body },
          false,
          state,
        )
      const settle = (verdict: HandshakeVerdict<unknown>) => {
        if (state.isAborted) return
        if (!verdict.accept) return refuse(verdict.status, verdict.body, verdict.headers)
        const full = route.refuseForRoom(verdict.state)
        if (full !== null) return refuse(full.status, full.body, full.headers)
        const entry: SocketEntry = { state: verdict.state, handle: null, isOpen: false, peerAddress }
        anchor.accept(response, () => {
          // No extension is ever answered: an incomplete deflate answer locks some clients out for good.
          response.upgrade({ entry }, key, protocol, '', context)
        })
        const { handle } = entry
        if (handle === null || handle.isClosed()) return
        entry.isOpen = true
        route.open(handle, entry.state)
      }
      let verdict: ReturnType<SocketRoute['admit']>
      try {
        verdict = route.admit(handshake)
      } catch {
        return refuse(500, '')
      }
      if (!(verdict instanceof Promise)) return settle(verdict)
      // Never in the turn in which the library has another handshake in hand: one answered or upgraded meanwhile
      // would leave it with bytes that it takes for that other one's, and it would end the process.
      verdict.then(
        (late) => setImmediate(settle, late),
        () => setImmediate(refuse, 500, ''),
      )
    },
    open(ws) {
      // The route hears of it when the upgrade is over.
      const { entry } = ws.getUserData()
      entry.handle = new UwsSocket(nextId(), ws, entry.peerAddress, behind)
      open.add(entry.handle)
    },
    message(ws, message, isBinary) {
      const { handle, state, isOpen } = ws.getUserData().entry
      if (handle === null || !isOpen) return
      handle.lastMessageMs = performance.now()
      if (message.byteLength > route.messageBytesMax) return handle.close(1009, 'message too large')
      // The buffer is emptied on return and decoded fields alias it, so the copy is the function's own.
      route.message(handle, state, new Uint8Array(message.slice(0)), isBinary)
    },
    drain(ws) {
      const { handle, state, isOpen } = ws.getUserData().entry
      if (handle !== null && isOpen) route.drain(handle, state)
    },
    close(ws) {
      const { handle, state, isOpen } = ws.getUserData().entry
      if (handle === null) return
      open.delete(handle)
      handle.markClosed()
      if (isOpen) route.close(handle, state)
    },
  })
}

/** Where a listener's certificate and its key lie. */
export interface ListenerTls {
  certFile: string
  keyFile: string
}

/** Bind one listener. Throws when the address is malformed or taken. */
export function listen(
  address: string,
  handlers: ListenerHandlers,
  tls: ListenerTls | null = null,
): Listener {
  const parsed = parseListenAddress(address)
  if (parsed === null) throw new Error(`Cannot listen on "${address}": expected host:port`)
  const uws = loadUwsLibrary()
  const app =
    tls === null ? uws.App() : uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
  let inFlight = 0
  let cutForQuiet = 0
  let lastSocketId = 0
  const sockets: SocketsOfListener = { open: new Set(), behind: new Set(), nextId: () => ++lastSocketId }
  const anchor = new Anchor()
  for (const route of handlers.sockets) registerSocket(app, route, sockets, anchor)
  app.any('/*', (response, request) => {
    if (anchor.keep(request.getUrl(), response)) return
    const state: RequestState = {
      ...{ isAborted: false, isOverBudget: false, onAborted: () => undefined, abortListeners: [] },
    }
    const method = request.getMethod().toUpperCase()
    const path = request.getUrl()
    const body = collectBody(response, handlers.bodyBytesMax(method, path), handlers.bodyBudget, state)
    const raw: RawRequest = {
      method,
      path,
      query: request.getQuery() ?? '',
      peerAddress: formatAddress(response.getRemoteAddress()),
      ...copyHeaders(request),
      body: () => body.done,
      isAborted: () => state.isAborted,
      onAborted: (listener) => void state.abortListeners.push(listener),
      isOverBudget: () => state.isOverBudget,
      discardBody: body.discard,
    }
    inFlight++
    handlers
      .handle(raw)
      .then((reply) => writeReply(response, reply, method === 'HEAD', state))
      .catch(() => {
        if (!state.isAborted) response.close()
      })
      .finally(() => {
        body.discard()
        inFlight--
      })
  })
  let listenSocket: us_listen_socket | false = false
  // 1 = LIBUS_LISTEN_EXCLUSIVE_PORT: two processes on one port must be an error, not a lottery.
  const onListen = (socket: us_listen_socket | false) => {
    listenSocket = socket
  }
  if (parsed.host === '') app.listen(parsed.port, 1, onListen)
  else (app.listen as unknown as ListenWithHost).call(app, parsed.host, parsed.port, 1, onListen)
  if (listenSocket === false) {
    app.close()
    throw new Error(`Cannot listen on "${address}": address already in use or not available`)
  }
  const bound: us_listen_socket = listenSocket
  if (handlers.sockets.length > 0) anchor.connect(parsed.host, uws.us_socket_local_port(bound), tls !== null)
  let isListening = true
  return {
    port: uws.us_socket_local_port(bound),
    stopListening() {
      if (isListening) uws.us_listen_socket_close(bound)
      isListening = false
    },
    inFlight: () => inFlight,
    bodyBytesFree: () => handlers.bodyBudget?.free() ?? null,
    sockets: () => [...sockets.open],
    socketCounts: () => ({
      open: sockets.open.size,
      turnedAway: handlers.room?.turnedAway ?? 0,
      cut: cutForQuiet,
    }),
    cutQuiet(sinceMs) {
      const quiet = [...sockets.open].filter(({ lastMessageMs }) => lastMessageMs < sinceMs)
      for (const socket of quiet) socket.drop()
      cutForQuiet += quiet.length
      return quiet.length
    },
    bufferedBytes: () => [...sockets.behind].reduce((sum, socket) => sum + socket.noteBehind(), 0),
    destroy() {
      anchor.close()
      app.close()
    },
  }
}
