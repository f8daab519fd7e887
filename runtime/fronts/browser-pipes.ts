import { type RawData, WebSocket } from 'ws'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'
import { BROWSER_SOCKET, STALLED_MAX_MS } from '../../lib/hub/browser-queue.ts'
import type { Log } from '../../lib/log.ts'
import type { Handshake, HandshakeVerdict, Socket } from '../define.ts'
import { floodLog } from '../flood-log.ts'
import type { SocketRoute } from '../listener.ts'
import type { ProxyPolicy } from '../proxies.ts'
import { NO_ROOM, type SocketRoom } from '../socket-room.ts'
import type { OwnerDoor } from './owner-door.ts'

const RESYNC = Buffer.from(JSON.stringify({ type: 'resync' }))
const POLICY_VIOLATION = 1008
/** The connection ended without a Close frame. */
const ABNORMAL = 1006
/** How long to wait before a browser is connected to the owner again, after a close that does not end its session. */
const FIRST_TRY_MS = 100
/** A connection that has stood for so long was a good one: after it the waits begin anew. */
const STEADY_MS = 10_000
const TRY_MS_MAX = 2_000

/** What an owner is told of a browser; each new owner is told the same. */
type Introduction = Pick<Handshake, 'path' | 'query' | 'headers' | 'remoteAddress' | 'isSecure'>

/** What the pipes need of their process. */
export interface BrowserPipesParts {
  door: OwnerDoor
  proxies: ProxyPolicy
  room: SocketRoom
  clock: Clock
  timers: Timers
  log: Log
}

/** One browser's socket, and the socket to the owner on which its messages are passed on. */
class Pipe {
  readonly address: string
  readonly #introduction: Introduction
  readonly #parts: BrowserPipesParts
  readonly #stats: BrowserPipes['stats']
  #upstream: WebSocket | null
  #epoch: number
  #socket: Socket | null = null
  #isClosed = false
  #waitMs = FIRST_TRY_MS
  /** When the present connection to the owner was made; monotonic. */
  #connectedMs: number
  /**
   * What came from the owner while the browser's socket was full. Nothing more is read of the owner then, so that what
   * waits for the browser waits at the owner's hub, by its bound, wherever the browser is connected.
   */
  #waiting: Uint8Array[] = []
  /** Since when the browser has read nothing of what waits; null while nothing does. */
  #stalledSinceMs: number | null = null

  constructor(
    introduction: Introduction,
    first: { socket: WebSocket; epoch: number },
    parts: BrowserPipesParts,
    stats: BrowserPipes['stats'],
  ) {
    this.#stats = stats
    this.address = introduction.remoteAddress
    this.#introduction = introduction
    this.#upstream = first.socket
    this.#epoch = first.epoch
    this.#parts = parts
    this.#connectedMs = parts.clock.monotonicMs()
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

  /** The browser has read some of what it was sent. */
  drained(): void {
    if (this.#stalledSinceMs === null) return
    this.#stalledSinceMs = null
    this.#pass()
    if (this.#waiting.length === 0) this.#upstream?.resume()
  }

  close(): void {
    this.#isClosed = true
    const upstream = this.#upstream
    // What still comes is for nobody.
    this.#upstream = null
    // The owner is let close first: whoever does keeps the port of that connection for another minute.
    upstream?.resume()
    upstream?.close()
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
    upstream.on('message', (data: RawData) => {
      if (this.#upstream === upstream) this.#pass(data as Buffer)
    })
    upstream.on('error', () => undefined)
    upstream.on('close', (code, reason) => this.#upstreamClosed(upstream, code, String(reason)))
    // It may have ended while the browser's socket was opened.
    if (upstream.readyState === WebSocket.CLOSED) this.#upstreamClosed(upstream, ABNORMAL, '')
    else if (this.#stalledSinceMs === null) upstream.resume()
    // Another process may have become the owner while this socket was opened.
    if (this.#epoch < this.#parts.door.epoch) upstream.terminate()
  }

  /** Send the browser what waits, and this after it, as far as its socket takes them. */
  #pass(data?: Uint8Array): void {
    if (data !== undefined) this.#waiting.push(data)
    if (this.#stalledSinceMs !== null || this.#socket === null) return
    this.#waiting.splice(0, this.#socket.sendTexts(this.#waiting))
    if (this.#waiting.length === 0) return
    this.#upstream?.pause()
    const sinceMs = this.#parts.clock.monotonicMs()
    this.#stalledSinceMs = sinceMs
    this.#parts.timers.after(STALLED_MAX_MS, () => {
      if (this.#isClosed || this.#stalledSinceMs !== sinceMs) return
      this.#stats.slowBrowsers++
      this.#socket?.drop()
    })
  }

  #upstreamClosed(upstream: WebSocket, code: number, reason: string): void {
    if (this.#upstream !== upstream) return
    this.#upstream = null
    const { door, log } = this.#parts
    // With this code the owner's hub ends a session; any other close is about the connection alone.
    if (code === POLICY_VIOLATION) {
      this.#socket?.close(code, reason)
      return
    }
    if (code === ABNORMAL) door.lost(this.#epoch)
    void this.#connectAgain().catch((error) => log.error({ err: error }, 'browser was not led on'))
  }

  /**
   * Connect the browser to the owner again, each time later where the connections do not last. Its own socket stays open,
   * and a `resync` frame has it fetch again what it shows.
   */
  async #connectAgain(): Promise<void> {
    const { door, clock, timers } = this.#parts
    if (clock.monotonicMs() - this.#connectedMs >= STEADY_MS) this.#waitMs = FIRST_TRY_MS
    while (!this.#isClosed) {
      await new Promise<void>((resolve) => timers.after(this.#waitMs, resolve))
      this.#waitMs = Math.min(TRY_MS_MAX, this.#waitMs * 2)
      if (this.#isClosed) return
      const found = await door.connect(this.#introduction, () => this.#isClosed)
      if (this.#isClosed) {
        if (found.accepted) found.socket.terminate()
        return
      }
      if (found.accepted) {
        this.#upstream = found.socket
        this.#epoch = found.epoch
        this.#connectedMs = clock.monotonicMs()
        // The browser fetches again what it has not been sent.
        this.#waiting = this.#waiting.length === 0 ? [] : [RESYNC]
        if (this.#waiting.length === 0) this.#pass(RESYNC)
        this.#listen(found.socket)
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
  /** How many browsers were cut because they did not read. */
  readonly stats: { slowBrowsers: number }
  ownerChanged(epoch: number): void
  /** Nothing comes from the owner any more: connect every browser again, and have it fetch again what it shows. */
  ownerSilent(): void
}

/** Pass browsers' sockets on to the owner, and to the next one when the owner changes. */
export function createBrowserPipes(parts: BrowserPipesParts): BrowserPipes {
  const { door, proxies, room, log } = parts
  const pipes = new Set<Pipe>()
  const logFlood = floodLog(log, '/ws')
  const of = (state: unknown) => state as Pipe
  const stats = { slowBrowsers: 0 }
  return {
    stats,
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
        const address = client.remoteAddress
        // A place is taken before the owner is asked, so that no more handshakes reach it than find room here.
        if (!room.hasRoom(address)) return NO_ROOM
        room.opened(address)
        const introduction = { ...handshake, ...client }
        const found = await door
          .connect(introduction, () => false)
          .catch((error) => {
            room.closed(address)
            throw error
          })
        if (found.accepted) return { accept: true, state: new Pipe(introduction, found, parts, stats) }
        room.closed(address)
        const { status, body, headers } = found
        return { accept: false, status, body, headers }
      },
      refuseForRoom: () => null,
      abandoned(state) {
        room.closed(of(state).address)
        of(state).close()
      },
      open(socket, state) {
        pipes.add(of(state))
        of(state).open(socket)
      },
      message(socket, state, data) {
        if (of(state).send(data)) return
        logFlood(of(state).address)
        socket.drop()
      },
      drain: (_socket, state) => of(state).drained(),
      close(_socket, state) {
        room.closed(of(state).address)
        pipes.delete(of(state))
        of(state).close()
      },
      flooded: (state) => logFlood(of(state).address),
    },
  }
}
