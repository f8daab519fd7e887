import { connect, type Socket } from 'node:net'

/** Called by an agent on the load that it belongs to. */
export interface AgentEvents {
  opened(agent: LoadAgent): void
  message(agent: LoadAgent, message: Buffer): void
  closed(agent: LoadAgent, wasOpen: boolean): void
}

const UPGRADE = (host: string) =>
  [
    'GET /v1/opamp HTTP/1.1',
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    '\r\n',
  ].join('\r\n')

// One buffer for all sockets: Node hands over what it has read before it reads from the next socket.
const READ_BUFFER = Buffer.allocUnsafe(65_536)
const HEADERS_END = '\r\n\r\n'

/**
 * A WebSocket client with as little code as possible: no library, and no copy of messages that arrive whole. The other
 * agents of the tests cannot take its place, because the load must cost a hundredth of what it measures.
 */
export class LoadAgent {
  readonly index: number
  readonly uid: Buffer
  sequence = 0
  /** The hash of the config that the server offered last; null before the first offer. */
  hash: Buffer | null = null
  isOpen = false
  /** When the beat was sent that has no answer yet, in ms; -1 when none is unanswered. */
  sentAtMs = -1
  offers = 0
  fullStateRequests = 0
  readonly #events: AgentEvents
  #socket: Socket | null = null
  #rest: Buffer | null = null

  constructor(index: number, uid: Buffer, events: AgentEvents) {
    this.index = index
    this.uid = uid
    this.#events = events
  }

  dial(host: string, port: number): void {
    const socket = connect({
      host,
      port,
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback: (length, buffer) => {
          this.#take((buffer as Buffer).subarray(0, length))
          return true
        },
      },
    })
    this.#socket = socket
    this.#rest = null
    socket.on('connect', () => socket.write(UPGRADE(`${host}:${port}`)))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      const wasOpen = this.isOpen
      this.isOpen = false
      this.sentAtMs = -1
      this.#socket = null
      this.#events.closed(this, wasOpen)
    })
  }

  send(frame: Buffer): void {
    this.#socket?.write(frame)
  }

  cut(): void {
    this.#socket?.destroy()
  }

  #take(chunk: Buffer): void {
    let bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    if (!this.isOpen) {
      const end = bytes.indexOf(HEADERS_END)
      if (end < 0) {
        this.#rest = Buffer.from(bytes)
        return
      }
      if (!bytes.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) {
        this.cut()
        return
      }
      bytes = bytes.subarray(end + HEADERS_END.length)
      this.isOpen = true
      this.#events.opened(this)
    }
    const used = this.#takeFrames(bytes)
    this.#rest = used === bytes.length ? null : Buffer.from(bytes.subarray(used))
  }

  #takeFrames(bytes: Buffer): number {
    let at = 0
    while (at + 2 <= bytes.length) {
      const short = bytes[at + 1]! & 0x7f
      const head = short < 126 ? 2 : short === 126 ? 4 : 10
      if (at + head > bytes.length) break
      const length =
        short < 126
          ? short
          : short === 126
            ? bytes.readUInt16BE(at + 2)
            : Number(bytes.readBigUInt64BE(at + 2))
      const end = at + head + length
      if (end > bytes.length) break
      const opcode = bytes[at]! & 0x0f
      if (opcode === 2) this.#events.message(this, bytes.subarray(at + head, end))
      // A pong must repeat the content of the ping; the server's pings are empty.
      else if (opcode === 9) this.send(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]))
      else if (opcode === 8) this.cut()
      at = end
    }
    return at
  }
}
