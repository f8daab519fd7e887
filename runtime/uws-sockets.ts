import type { Connections } from './connection-room.ts'
import type { Handshake, HandshakeVerdict, Socket } from './define.ts'
import type { SocketRoute } from './listener.ts'
import type { Ear, SocketTurns } from './socket-turns.ts'
import type { Anchor } from './uws-anchor.ts'
import { copyHeaders, countAsked, formatAddress, refuseFraming } from './uws-http.ts'
import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from './uws-library.ts'
import { writeReply } from './uws-reply.ts'

const NO_BYTES = new Uint8Array(0)

/** What the library keeps with a socket; it copies the fields, so what changes is behind one of them. */
interface SocketData {
  entry: SocketEntry
}

/** The sockets of one listener. */
export interface SocketsOfListener {
  open: Set<UwsSocket>
  /** Those whose peers have not read all that they were sent. */
  behind: Set<UwsSocket>
  /** What they said and their routes have not heard yet. */
  turns: SocketTurns
  /** How many said more than may wait, and were cut. */
  flooded: number
  nextId(): number
}

/** What belongs to the app by which a socket comes, besides. */
interface PartsOfApp {
  anchor: Anchor
  /** Told of each that opens and ends; null where connections are not counted. */
  connections: Connections | null
}

/** One WebSocket as routes see it; it outlives the library's object, which is invalid once closed. */
class UwsSocket implements Socket {
  readonly id: number
  readonly remoteAddress: string
  #ws: WebSocket<SocketData> | null
  /** When it was opened, or finished a message last. */
  lastMessageMs = performance.now()
  /** Whether it was ended here: what its peer has said and nobody has heard is not heard any more. */
  isEnded = false
  isOurDoing = false

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
    this.isEnded ||= this.#ws !== null
    this.#ws?.end(code, reason)
  }

  drop(): void {
    this.isEnded ||= this.#ws !== null
    this.#ws?.close()
  }

  cut(): void {
    this.isOurDoing ||= this.#ws !== null
    this.drop()
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

/** A socket with its route, which it tells what the socket says. */
class SocketEntry implements Ear {
  readonly #route: SocketRoute
  readonly state: unknown
  readonly peerAddress: string
  readonly waitingBytesMax: number | null
  waitingBytes = 0
  handle: UwsSocket | null = null
  /** Whether the route's `open` is due or has run; before that the route hears of nothing. */
  isOpen = false

  constructor(route: SocketRoute, state: unknown, peerAddress: string) {
    this.#route = route
    this.state = state
    this.peerAddress = peerAddress
    this.waitingBytesMax = route.waitingBytesMax
  }

  message(data: Uint8Array, isBinary: boolean): void {
    const { handle } = this
    if (handle !== null && !handle.isEnded) this.#route.message(handle, this.state, data, isBinary)
  }

  tooLarge(): void {
    this.handle?.close(1009, 'message too large')
  }

  /**
   * Cut it, because it says more than can be heard. Without a Close frame: until its peer answered one, all that the
   * peer sends would still be read.
   */
  cutForFlood(): void {
    this.handle?.drop()
    this.#route.flooded(this.state)
  }

  closed(): void {
    if (this.handle !== null) this.#route.close(this.handle, this.state)
  }
}

/** Judge a handshake and open its socket, or refuse it. */
function upgrade(
  route: SocketRoute,
  { anchor, connections }: PartsOfApp,
  response: HttpResponse,
  request: HttpRequest,
  context: us_socket_context_t,
): void {
  const handshake = readHandshake(request, response)
  if (!handshake.isFramedPlainly || hasBody(handshake)) {
    refuseFraming(response)
    return
  }
  const state = { isAborted: false, onAborted: () => undefined }
  const ended = countAsked(connections, handshake.remoteAddress)
  response.onAborted(() => {
    state.isAborted = true
    state.onAborted()
    ended(false)
  })
  const key = request.getHeader('sec-websocket-key')
  const protocol = request.getHeader('sec-websocket-protocol')
  const refuse = (status: number, body: string, headers: Readonly<Record<string, string>> = {}) => {
    const reply = { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, body }
    void writeReply(response, reply, false, state)
    ended(true)
  }
  const settle = (verdict: HandshakeVerdict<unknown>) => {
    if (state.isAborted) return void (verdict.accept && route.abandoned?.(verdict.state))
    if (!verdict.accept) return refuse(verdict.status, verdict.body, verdict.headers)
    const full = route.refuseForRoom(verdict.state)
    if (full !== null) return refuse(full.status, full.body, full.headers)
    const entry = new SocketEntry(route, verdict.state, handshake.remoteAddress)
    anchor.accept(response, () => {
      // No extension is ever answered: an incomplete deflate answer locks some clients out for good.
      response.upgrade({ entry }, key, protocol, '', context)
    })
    ended(false)
    const { handle } = entry
    if (handle === null || handle.isClosed()) return route.abandoned?.(verdict.state)
    entry.isOpen = true
    route.open(handle, entry.state)
  }
  let verdict: ReturnType<SocketRoute['admit']>
  try {
    verdict = route.admit(handshake)
  } catch {
    refuse(500, '')
    return
  }
  if (!(verdict instanceof Promise)) {
    settle(verdict)
    return
  }
  // Never in the turn in which the library has another handshake in hand: one answered or upgraded meanwhile
  // would leave it with bytes that it takes for that other one's, and it would end the process.
  verdict.then(
    (late) => setImmediate(settle, late),
    () => setImmediate(refuse, 500, ''),
  )
}

/** Whether a handshake says that a body follows: the library takes it for messages, and a proxy does not. */
const hasBody = ({ header }: Pick<Handshake, 'header'>) =>
  header('transfer-encoding') !== '' || Number(header('content-length')) > 0

function readHandshake(request: HttpRequest, response: HttpResponse) {
  return {
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    remoteAddress: formatAddress(response.getRemoteAddress()),
    isSecure: false,
    ...copyHeaders(request),
  }
}

/** What an open socket does: its route is told of it in turns, and of nothing before its `open`. */
function socketEvents(
  route: SocketRoute,
  sockets: SocketsOfListener,
  connections: Connections | null,
): Required<Pick<WebSocketBehavior<SocketData>, 'open' | 'message' | 'drain' | 'close'>> {
  const { open, behind, turns, nextId } = sockets
  return {
    open(ws) {
      // The route hears of it when the upgrade is over.
      const { entry } = ws.getUserData()
      entry.handle = new UwsSocket(nextId(), ws, entry.peerAddress, behind)
      open.add(entry.handle)
      connections?.socketOpened(entry.peerAddress)
    },
    message(ws, message, isBinary) {
      const { entry } = ws.getUserData()
      const { handle, isOpen } = entry
      if (handle === null || !isOpen || handle.isEnded) return
      const nowMs = performance.now()
      handle.lastMessageMs = nowMs
      const isTooLarge = message.byteLength > route.messageBytesMax
      const word = isTooLarge ? 'too-large' : isBinary ? 'binary' : 'text'
      const data = isTooLarge ? NO_BYTES : new Uint8Array(message)
      if (turns.takeMessage(entry, word, data, nowMs)) return
      sockets.flooded++
      entry.cutForFlood()
    },
    drain(ws) {
      const { handle, state, isOpen } = ws.getUserData().entry
      if (handle !== null && isOpen) route.drain(handle, state)
    },
    close(ws) {
      const { entry } = ws.getUserData()
      const { handle, isOpen } = entry
      if (handle === null) return
      open.delete(handle)
      connections?.socketClosed(entry.peerAddress)
      handle.markClosed()
      if (isOpen) turns.takeEnd(entry)
    },
  }
}

/** Let a route take WebSockets at its path. */
export function registerSocket(
  app: TemplatedApp,
  route: SocketRoute,
  sockets: SocketsOfListener,
  ofApp: PartsOfApp,
): void {
  app.ws<SocketData>(route.path, {
    // Above the protocol's limit, so that our own answer (1009) is given instead of a bare cut.
    maxPayloadLength: route.messageBytesMax + 1_048_576,
    maxBackpressure: route.backpressureBytesMax,
    closeOnBackpressureLimit: route.closeOnBackpressure,
    idleTimeout: route.idleSeconds,
    sendPingsAutomatically: true,
    upgrade: (response, request, context) => upgrade(route, ofApp, response, request, context),
    ...socketEvents(route, sockets, ofApp.connections),
  })
}
