import type { RawData, WebSocket } from 'ws'
import { BROWSER_SOCKET } from '../../lib/hub/browser-queue.ts'
import type { Log } from '../../lib/log.ts'
import type { Handshake, HandshakeVerdict, Socket } from '../define.ts'
import { floodLog } from '../flood-log.ts'
import type { SocketRoute } from '../listener.ts'
import type { ProxyPolicy } from '../proxies.ts'
import type { SocketRoom } from '../socket-room.ts'
import type { OwnerDoor } from './owner-door.ts'

const RESYNC = JSON.stringify({ type: 'resync' })
const POLICY_VIOLATION = 1008
/** How long to wait before a browser is connected to the owner again, after a close that does not end its session. */
const FIRST_TRY_MS = 100
/** A connection that has stood for so long was a good one: after it the waits begin anew. */
const STEADY_MS = 10_000
const TRY_MS_MAX = 2_000

const NO_ROOM = {
  accept: false,
  status: 503,
  body: 'too many connections\n',
  headers: { 'Retry-After': '30' },
} as const

/** What an owner is told of a browser; each new owner is told the same. */
type Introduction = Pick<Handshake, 'path' | 'query' | 'headers' | 'remoteAddress' | 'isSecure'>

/** One browser's socket, and the socket to the owner on which its messages are passed on. */
class Pipe {
  readonly address: string
  readonly #introduction: Introduction
  readonly #door: OwnerDoor
  readonly #log: Log
  #upstream: WebSocket | null
  #epoch: number
  #socket: Socket | null = null
  #isClosed = false
  #waitMs = FIRST_TRY_MS
  /** When the present connection to the owner was made; monotonic. */
  #connectedMs = performance.now()

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

  /**
   * Pass a browser's message on to the owner; false where the owner has as much to read already as may wait of one
   * browser. Without an owner it is lost, and the browser asks again.
   */
  send(data: Uint8Array): boolean {
    const upstream = this.#upstream
    if (upstream?.readyState !== 1) return true
    if (upstream.bufferedAmount + data.length > BROWSER_SOCKET.waitingBytesMax) return false
    upstream.send(data, { binary: false })
    return true
  }

  close(): void {
    this.#isClosed = true
    this.#upstream?.terminate()
    this.#upstream = null
  }

  /** Cut the socket to a former owner, which may never close it itself. */
  ownerChanged(epoch: number): void {
    if (this.#epoch < epoch) this.cut()
  }

  /** Cut the socket to the owner; the browser is connected to the owner again. */
  cut(): void {
    this.#upstream?.terminate()
  }

  #listen(upstream: WebSocket): void {
    upstream.on('message', (data: RawData) => this.#socket?.send(String(data)))
    upstream.on('error', () => undefined)
    upstream.on('close', (code, reason) => {
      if (this.#upstream !== upstream) return
      this.#upstream = null
      // With this code the owner's hub ends a session; any other close is about the connection alone.
      if (code === POLICY_VIOLATION) this.#socket?.close(code, String(reason))
      else
        void this.#connectAgain().catch((error) => this.#log.error({ err: error }, 'browser was not led on'))
    })
    upstream.resume()
    // Another process may have become the owner while this socket was opened.
    if (this.#epoch < this.#door.epoch) upstream.terminate()
  }

  /**
   * Connect the browser to the owner again, each time later where the connections do not last. Its own socket stays open,
   * and a `resync` frame has it fetch again what it shows.
   */
  async #connectAgain(): Promise<void> {
    if (performance.now() - this.#connectedMs >= STEADY_MS) this.#waitMs = FIRST_TRY_MS
    while (!this.#isClosed) {
      await new Promise((resolve) => setTimeout(resolve, this.#waitMs))
      this.#waitMs = Math.min(TRY_MS_MAX, this.#waitMs * 2)
      if (this.#isClosed) return
      const found = await this.#door.connect(this.#introduction, () => this.#isClosed)
      if (this.#isClosed) {
        if (found.accepted) found.socket.terminate()
        return
      }
      if (found.accepted) {
        this.#upstream = found.socket
        this.#epoch = found.epoch
        this.#connectedMs = performance.now()
        this.#listen(found.socket)
        this.#socket?.send(RESYNC)
        return
      }
      // The session is over; any other refusal may be temporary.
      if (found.status === 401 || found.status === 403)
        return this.#socket?.close(POLICY_VIOLATION, 'token expired')
    }
  }
}

/** The browsers of this process. */
export interface BrowserPipes {
  route: SocketRoute
  ownerChanged(epoch: number): void
  /** Nothing comes from the owner any more: connect every browser again, and have it fetch again what it shows. */
  ownerSilent(): void
}

/** Pass browsers' sockets on to the owner, and to the next one when the owner changes. */
export function createBrowserPipes(parts: {
  door: OwnerDoor
  proxies: ProxyPolicy
  room: SocketRoom
  log: Log
}): BrowserPipes {
  const { door, proxies, room, log } = parts
  const pipes = new Set<Pipe>()
  const logFlood = floodLog(log, '/ws')
  const of = (state: unknown) => state as Pipe
  return {
    ownerChanged(epoch) {
      for (const pipe of pipes) pipe.ownerChanged(epoch)
    },
    ownerSilent() {
      for (const pipe of pipes) pipe.cut()
    },
    route: {
      path: '/ws',
      ...BROWSER_SOCKET,
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
      message(socket, state, data) {
        if (of(state).send(data)) return
        logFlood(of(state).address)
        socket.drop()
      },
      drain() {
        // The route bounds how much a browser may leave unread; past that its socket is cut.
      },
      close(_socket, state) {
        room.closed(of(state).address)
        pipes.delete(of(state))
        of(state).close()
      },
      flooded: (state) => logFlood(of(state).address),
    },
  }
}
