import type { BodyLimit, BodyRoom } from './body-room.ts'
import type { Connections } from './connection-room.ts'
import type { Handshake, HandshakeRefusal, HandshakeVerdict, Socket } from './define.ts'
import type { Reply } from './reply.ts'
import type { SocketRoom } from './socket-room.ts'

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
  /**
   * One header by its lower-case name: its first line, or all lines of a header that proxies add to; '' when absent.
   */
  header(name: string): string
  /** All headers, with the values that `header` gives. */
  headers(): Iterable<readonly [name: string, value: string]>
  /** The whole body, or 'too-large' as soon as that is known, or 'aborted' when the peer left. */
  body(): Promise<Uint8Array | 'too-large' | 'aborted'>
  isAborted(): boolean
  /** Run this when the peer leaves before it has its answer. */
  onAborted(listener: () => void): void
  /** True when the listener's budget was used up before the body was whole; `body()` says 'aborted' then. */
  isOverBudget(): boolean
  /** True when the body was not whole in its time, or before another one needed its room; `body()` says 'aborted' then. */
  isTooSlow(): boolean
  /** Count the body for this user, who has proved to be the caller; false, and it is thrown away, when that is too much. */
  holdBodyFor(userId: string): boolean
  /** Throw away what came of the body and what still comes: the request is refused without it. */
  discardBody(): void
}

/** What a listener does with requests and sockets; built by `server.ts`. */
export interface ListenerHandlers {
  /** What the body of this request may be; decided before anything is awaited. */
  bodyLimit(method: string, path: string): BodyLimit
  handle(request: RawRequest): Promise<Reply>
  /** What all bodies together may hold until their requests are answered; null for no common limit. */
  bodyRoom: BodyRoom | null
  sockets: readonly SocketRoute[]
  /** Where the routes count their sockets; null where there are none. */
  room: SocketRoom | null
  /** Where connections are counted that strangers may hold; not said where what is before the listener bounds them. */
  connections?: Connections
}

/**
 * A WebSocket route with its state hidden. It is told of messages and ends in the order in which they came, over all
 * sockets of the listener, some milliseconds at a time. Of a socket that this side ended it hears nothing but `close`.
 */
export interface SocketRoute {
  path: string
  messageBytesMax: number
  /**
   * What one socket may have said that waits for its turn, in bytes; less where much waits of others. One that says
   * more is cut. Null where all peers are of this cluster, which are never cut for that.
   */
  waitingBytesMax: number | null
  backpressureBytesMax: number
  idleSeconds: number
  closeOnBackpressure: boolean
  admit(handshake: Handshake): Promise<HandshakeVerdict<unknown>> | HandshakeVerdict<unknown>
  /**
   * Asked for an admitted handshake in the same turn of the event loop in which its socket opens, so that handshakes
   * that are judged at the same time count each other; null when there is room.
   */
  refuseForRoom(state: unknown): HandshakeRefusal | null
  /** An admitted handshake whose peer went away before its socket opened; nothing else is heard of it. */
  abandoned?(state: unknown): void
  open(socket: Socket, state: unknown): void
  message(socket: Socket, state: unknown, data: Uint8Array, isBinary: boolean): void
  drain(socket: Socket, state: unknown): void
  close(socket: Socket, state: unknown): void
  /** A socket was cut because it said more than may wait. */
  flooded(state: unknown): void
}

/** A bound listener. */
export interface Listener {
  port: number
  /** Stop taking connections; those that exist go on. */
  stopListening(): void
  /**
   * Have new connections, from here on, with the certificate that lies in the files now; those that exist go on. Throws
   * where that is of no use, and goes on as before.
   */
  renewCertificate(): void
  /** Requests not yet answered. */
  inFlight(): number
  /** Those of them that have come whole: a stop waits for their answers, and not for who goes on sending. */
  answering(): number
  /** The same of those only that are here now, and came since the last mark. */
  mark(): { answering(): number }
  /** What is left of the budget for bodies; null where there is none. */
  bodyBytesFree(): number | null
  /** Sockets that are open now. */
  sockets(): Iterable<Socket>
  /**
   * WebSockets that are open, handshakes that found no room, and sockets that were cut: as quiet, and because they said
   * more than may wait.
   */
  socketCounts(): { open: number; turnedAway: number; cut: number; flooded: number }
  /** Connections that were cut as they came, because there were as many as may be. */
  connectionsTurnedAway(): number
  /** Cut the sockets that have finished no message since this moment of `performance.now()`; how many. */
  cutQuiet(sinceMs: number): number
  /** Bytes sent to sockets that their peers have not read. */
  bufferedBytes(): number
  /** What sockets have said that waits for its turn, in bytes. */
  waitingBytes(): number
  /** Cut every connection that is left; the routes have heard of it, and of all that was said, on return. */
  destroy(): void
}

/** Where a listener's certificate and its key lie. */
export interface ListenerTls {
  certFile: string
  keyFile: string
}
