import type { Fleet } from '../../lib/fleet/fleet.ts'
import { encodeServerToAgent } from '../../lib/opamp/codec.ts'
import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import type { AgentReport, ServerMessage } from '../../lib/opamp/report.ts'
import { encodeReport } from './agent-report.ts'
import { type AgentWire, postAgent } from './agent-wire.ts'
import { type PlainMessage, readServerFrame } from './opamp-messages.ts'

/** The connection by which an agent of a test talks to the server. */
export interface AgentLink {
  /** Called once, before the first `send`: `hear` is called with each message of the server. */
  listen(hear: (message: PlainMessage) => void): void
  send(report: AgentReport): void
  /** The connection breaks. */
  lose(): void
}

let connections = 0

/** A link straight into a fleet, without a socket: the fleet has taken a report when `send` returns. */
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

  /** Only answers with an offer are passed to the listener, since tests count what it hears. */
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

/** A link over an open WebSocket. */
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

/** A link over HTTP, with one request after the other, as the protocol asks. */
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

  /** Resolves when everything that was sent is answered; rejects when something was refused. */
  answered(): Promise<void> {
    return this.#last
  }

  /** Between polls there is no connection to break: the test just sends no more. */
  lose(): void {}
}
