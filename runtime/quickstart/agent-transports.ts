import { WebSocket } from 'ws'

/** How a simulated agent reaches the server. Bytes are bare protobuf; headers of a frame are added here. */
export interface AgentTransport {
  /** Send one AgentToServer. */
  send(message: Uint8Array): void
  isOpen(): boolean
  /** Leave in good order, after what was sent. */
  close(): Promise<void>
  /** Break the connection as a crash does. */
  cut(): void
}

/** What a transport tells its agent. */
export interface TransportEvents {
  open(): void
  message(bytes: Uint8Array): void
  /** The connection is gone or could not be made. */
  lost(): void
}

const bearer = (secret: string): Record<string, string> =>
  secret === '' ? {} : { Authorization: `Bearer ${secret}` }

/** One WebSocket connection. It does not come back by itself. */
export function openSocketTransport(url: string, secret: string, events: TransportEvents): AgentTransport {
  const socket = new WebSocket(url, { headers: bearer(secret), perMessageDeflate: false })
  let isLost = false
  const lose = () => {
    if (!isLost) events.lost()
    isLost = true
  }
  socket.on('open', events.open)
  socket.on('message', (data: Buffer) => events.message(data.subarray(1)))
  socket.on('close', lose)
  socket.on('error', lose)
  return {
    isOpen: () => socket.readyState === WebSocket.OPEN,
    send(message) {
      const frame = new Uint8Array(message.length + 1)
      frame.set(message, 1)
      socket.send(frame, { binary: true })
    },
    close() {
      isLost = true
      return new Promise((resolve) => {
        if (socket.readyState === WebSocket.CLOSED) return resolve()
        socket.on('close', () => resolve())
        socket.close(1000)
      })
    },
    cut() {
      isLost = true
      socket.terminate()
    },
  }
}

/** Requests one after the other over HTTP; the protocol allows no more than one in flight. */
export function openPollTransport(url: string, secret: string, events: TransportEvents): AgentTransport {
  const stop = new AbortController()
  let last: Promise<void> = Promise.resolve()
  const post = async (message: Uint8Array) => {
    if (stop.signal.aborted) return
    try {
      const reply = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-protobuf', ...bearer(secret) },
        body: message as Uint8Array<ArrayBuffer>,
        signal: stop.signal,
      })
      const body = new Uint8Array(await reply.arrayBuffer())
      if (reply.status === 200) events.message(body)
      else events.lost()
    } catch {
      if (!stop.signal.aborted) events.lost()
    }
  }
  queueMicrotask(events.open)
  return {
    isOpen: () => !stop.signal.aborted,
    send(message) {
      last = last.then(() => post(message))
    },
    async close() {
      await last
      stop.abort()
    },
    cut: () => stop.abort(),
  }
}
