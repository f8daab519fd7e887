import type { Fleet } from '../../lib/fleet/fleet.ts'
import { encodeServerToAgent } from '../../lib/opamp/codec.ts'
import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import type { AgentReport, ServerMessage } from '../../lib/opamp/report.ts'
import { encodeReport } from './agent-report.ts'
import { type AgentWire, postAgent } from './agent-wire.ts'
import { type PlainMessage, readServerFrame } from './opamp-messages.ts'

/** How a test's agent reaches the server. */
export interface AgentLink {
  /** Said once, before anything is sent: whom to tell what the server says. */
  listen(hear: (message: PlainMessage) => void): void
  send(report: AgentReport): void
  /** The connection breaks. */
  lose(): void
}

let connections = 0

/** Straight into a fleet, without a socket: what is sent has been taken when `send` returns. */
export class MemoryLink implements AgentLink {
  readonly connection: AgentConnection
  readonly #fleet: Fleet
  #hear: (message: PlainMessage) => void = () => {}

  constructor(fleet: Fleet, transport: 'ws' | 'http' = 'ws') {
    this.#fleet = fleet
    this.connection = {
      id: ++connections,
      transport,
      send: (frame) => {
        if (transport === 'http') return 'dropped'
        this.#hear(readServerFrame(frame))
        return 'sent'
      },
      drop() {},
    }
  }

  listen(hear: (message: PlainMessage) => void): void {
    this.#hear = hear
  }

  /** Of the answers only offers are heard of: tests count those. */
  send(report: AgentReport): void {
    const answer = this.#fleet.receive(this.connection, report, {})
    const take = (message: ServerMessage) =>
      this.#hear(readServerFrame(encodeServerToAgent(report.uidOnWire, message)))
    if (answer.message.remoteConfig !== undefined) take(answer.message)
    void answer.pendingOffer?.then((offer) => offer !== null && take(offer))
  }

  lose(): void {
    this.#fleet.connectionClosed(this.connection)
  }
}

/** Over an open WebSocket. */
export class SocketLink implements AgentLink {
  readonly #wire: AgentWire

  constructor(wire: AgentWire) {
    this.#wire = wire
  }

  async listen(hear: (message: PlainMessage) => void): Promise<void> {
    for (;;) hear(await this.#wire.next())
  }

  send(report: AgentReport): void {
    this.#wire.sendBytes(Buffer.concat([Buffer.from([0]), encodeReport(report)]))
  }

  lose(): void {
    this.#wire.cut()
  }
}

/** Over HTTP, one request after the other, as the protocol wants it. */
export class PollLink implements AgentLink {
  readonly #url: string
  readonly #headers: Record<string, string>
  #last: Promise<void> = Promise.resolve()
  #hear: (message: PlainMessage) => void = () => {}

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#url = url
    this.#headers = headers
  }

  listen(hear: (message: PlainMessage) => void): void {
    this.#hear = hear
  }

  send(report: AgentReport): void {
    this.#last = this.#last.then(async () => {
      const reply = await postAgent(this.#url, encodeReport(report), this.#headers)
      if (reply.status !== 200) throw new Error(`OpAMP answered ${reply.status}`)
      this.#hear(reply.message())
    })
  }

  /** Everything that was sent has been answered; rejects where something was refused. */
  answered(): Promise<void> {
    return this.#last
  }

  /** There is nothing to break: it asks no more. */
  lose(): void {}
}
