import { request } from 'node:http'
import { WebSocket } from 'ws'
import {
  agentBody,
  agentFrame,
  type PlainMessage,
  readServerBody,
  readServerFrame,
} from './opamp-messages.ts'

/** A WebSocket to the OpAMP listener that a test drives message by message. */
export interface AgentWire {
  socket: WebSocket
  send(message: PlainMessage): void
  sendBytes(bytes: Uint8Array, options?: { binary?: boolean; fin?: boolean }): void
  /** The next frame of the server that no call has taken yet, decoded; checked to be binary with a zero header. */
  next(): Promise<PlainMessage>
  /** Send, and take the next frame. */
  exchange(message: PlainMessage): Promise<PlainMessage>
  /** How many frames have come that no call has taken. */
  untaken(): number
  /** How the connection ended; 1006 when it was cut without a Close frame. */
  ended: Promise<{ code: number; reason: string }>
  close(): void
  /** Cut the connection, as a crash does. */
  cut(): void
}

/** Connect to `url` (host, port and path); rejects with the status when the upgrade is refused. */
export function openWire(
  url: string,
  headers: Record<string, string> = {},
  localAddress?: string,
): Promise<AgentWire> {
  const socket = new WebSocket(`ws://${url}`, { headers, perMessageDeflate: false, localAddress })
  const frames: PlainMessage[] = []
  const takers: ((frame: PlainMessage) => void)[] = []
  socket.on('message', (data: Buffer, isBinary) => {
    const frame = isBinary ? readServerFrame(data) : { text: data.toString() }
    const taker = takers.shift()
    if (taker === undefined) frames.push(frame)
    else taker(frame)
  })
  const ended = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  const next = () => {
    const frame = frames.shift()
    return frame === undefined
      ? new Promise<PlainMessage>((resolve) => void takers.push(resolve))
      : Promise.resolve(frame)
  }
  const sendBytes: AgentWire['sendBytes'] = (bytes, options = {}) =>
    socket.send(bytes, { binary: true, ...options })
  const send = (message: PlainMessage) => sendBytes(agentFrame(message))
  const wire: AgentWire = {
    socket,
    send,
    sendBytes,
    next,
    exchange(message) {
      send(message)
      return next()
    },
    untaken: () => frames.length,
    ended,
    close: () => socket.close(1000),
    cut: () => socket.terminate(),
  }
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(wire))
    socket.on('unexpected-response', (_, response) => {
      response.resume()
      reject(new UpgradeRefused(response.statusCode ?? 0, response.headers))
    })
    socket.on('error', reject)
  })
}

/** The server answered the upgrade with a status. */
export class UpgradeRefused extends Error {
  readonly status: number
  readonly headers: Record<string, unknown>
  constructor(status: number, headers: Record<string, unknown>) {
    super(`upgrade refused with ${status}`)
    this.status = status
    this.headers = headers
  }
}

/** What a POST was answered. */
export interface PostReply {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  /** The body as a ServerToAgent. */
  message(): PlainMessage
}

/** POST bytes, or a message, to the listener; nothing is added to the headers but content type and length. */
export function postAgent(
  url: string,
  body: PlainMessage | Uint8Array,
  headers: Record<string, string> = {},
  localAddress?: string,
): Promise<PostReply> {
  const bytes = body instanceof Uint8Array ? body : agentBody(body)
  return new Promise((resolve, reject) => {
    const call = request(
      `http://${url}`,
      { method: 'POST', localAddress, headers: { 'Content-Type': 'application/x-protobuf', ...headers } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          const received = Buffer.concat(chunks)
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: received,
            message: () => readServerBody(received),
          })
        })
      },
    )
    call.on('error', reject)
    call.end(bytes)
  })
}
