import type { RawData, WebSocket } from 'ws'
import type { Log } from '../../lib/log.ts'
import type { Handshake, HandshakeVerdict, Socket } from '../define.ts'
import type { SocketRoute } from '../listener.ts'
import type { ProxyPolicy } from '../proxies.ts'
import type { SocketRoom } from '../socket-room.ts'
import type { OwnerDoor } from './owner-door.ts'

const RESYNC = JSON.stringify({ type: 'resync' })
const POLICY_VIOLATION = 1008
/** Of a close that says nothing of the session: the owner stops, or was cut off. */
const FIRST_TRY_MS = 100
const TRY_MS_MAX = 2_000

const NO_ROOM = {
  accept: false,
  status: 503,
  body: 'too many connections\n',
  headers: { 'Retry-After': '30' },
} as const

/** What the owner is told of a browser, as often as it is another one. */
type Introduction = Pick<Handshake, 'path' | 'query' | 'headers' | 'remoteAddress' | 'isSecure'>

/** One browser's socket, and the one to whoever owns that speaks for it. */
class Pipe {
  readonly address: string
  readonly #introduction: Introduction
  readonly #door: OwnerDoor
  readonly #log: Log
  #upstream: WebSocket | null
  #epoch: number
  #socket: Socket | null = null
  #isClosed = false

  constructor(
    introduction: Introduction,
    first: { socket: WebSocket; epoch: number },
    door: OwnerDoor,
    log: Log,
  ) {
    this.address = introduction.remoteAddress
    this.#introduction = introduction
    this.#upstream = first.socket
    this.#epoch = first.epoch
    this.#door = door
    this.#log = log
  }

  open(socket: Socket): void {
    this.#socket = socket
    if (this.#upstream !== null) this.#listen(this.#upstream)
  }

  /** What the browser says while nobody owns is lost: it asks again. */
  send(data: Uint8Array): void {
    if (this.#upstream?.readyState === 1) this.#upstream.send(data, { binary: false })
  }

  close(): void {
    this.#isClosed = true
    this.#upstream?.terminate()
    this.#upstream = null
  }

  /** Another process owns by now: the one before may be silent for ever. */
  ownerChanged(epoch: number): void {
    if (this.#epoch < epoch) this.#upstream?.terminate()
  }

  #listen(upstream: WebSocket): void {
    upstream.on('message', (data: RawData) => this.#socket?.send(String(data)))
    upstream.on('error', () => undefined)
    upstream.on('close', (code, reason) => {
      if (this.#upstream !== upstream) return
      this.#upstream = null
      // Nobody but the owner's hub ends a session.
      if (code === POLICY_VIOLATION) this.#socket?.close(code, String(reason))
      else
        void this.#connectAgain().catch((error) => this.#log.error({ err: error }, 'browser was not led on'))
    })
    upstream.resume()
  }

  /** The browser keeps its socket and fetches again what it shows. */
  async #connectAgain(): Promise<void> {
    for (let waitMs = FIRST_TRY_MS; !this.#isClosed; waitMs = Math.min(TRY_MS_MAX, waitMs * 2)) {
      const found = await this.#door.connect(this.#introduction, () => this.#isClosed)
      if (this.#isClosed) {
        if (found.accepted) found.socket.terminate()
        return
      }
      if (found.accepted) {
        this.#upstream = found.socket
        this.#epoch = found.epoch
        this.#listen(found.socket)
        this.#socket?.send(RESYNC)
        return
      }
      // Its session is over; anything else may pass.
      if (found.status === 401 || found.status === 403)
        return this.#socket?.close(POLICY_VIOLATION, 'token expired')
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}

/** The browsers of this process. */
export interface BrowserPipes {
  route: SocketRoute
  ownerChanged(epoch: number): void
}

/** Lead browsers' sockets on to whoever owns, from one owner to the next. */
export function createBrowserPipes(parts: {
  door: OwnerDoor
  proxies: ProxyPolicy
  room: SocketRoom
  log: Log
}): BrowserPipes {
  const { door, proxies, room, log } = parts
  const pipes = new Set<Pipe>()
  const of = (state: unknown) => state as Pipe
  return {
    ownerChanged(epoch) {
      for (const pipe of pipes) pipe.ownerChanged(epoch)
    },
    route: {
      path: '/ws',
      messageBytesMax: 4_096,
      backpressureBytesMax: 1_048_576,
      idleSeconds: 60,
      closeOnBackpressure: true,
      async admit(handshake): Promise<HandshakeVerdict<unknown>> {
        const client = proxies.clientOf(handshake.remoteAddress, handshake.header)
        const introduction = { ...handshake, ...client }
        const found = await door.connect(introduction, () => false)
        if (!found.accepted) {
          const { status, body, headers } = found
          return { accept: false, status, body, headers }
        }
        return { accept: true, state: new Pipe(introduction, found, door, log) }
      },
      refuseForRoom(state) {
        if (room.hasRoom(of(state).address)) return null
        of(state).close()
        return NO_ROOM
      },
      abandoned: (state) => of(state).close(),
      open(socket, state) {
        room.opened(of(state).address)
        pipes.add(of(state))
        of(state).open(socket)
      },
      message: (_socket, state, data) => of(state).send(data),
      drain() {
        // What a browser does not read is bounded by the route; past that it is cut.
      },
      close(_socket, state) {
        room.closed(of(state).address)
        pipes.delete(of(state))
        of(state).close()
      },
    },
  }
}
