import { randomBytes } from 'node:crypto'
import { type ClientRequest, get } from 'node:http'
import { get as getOverTls } from 'node:https'
import type { HttpResponse } from './uws-library.ts'

const AGAIN_MS = 1_000

/**
 * A request of our own to our own listener, never answered, under whose cork handshakes are accepted.
 *
 * The library wants every write of an answer inside a cork. Corked is one socket at a time, though, and when a
 * corked handshake is upgraded later than in its own turn of the event loop, the library goes on to read the flags
 * of the HTTP connection in memory that the upgrade gave back; where somebody else's bytes say "close" there, it
 * cuts the new WebSocket at once. Under the cork of another connection, whose memory stays what it is, the
 * handshake's own cork does nothing.
 */
export class Anchor {
  /** Random, so that no client can ask for it. */
  readonly #path = `/${randomBytes(24).toString('hex')}`
  #response: HttpResponse | null = null
  #request: ClientRequest | null = null
  #isClosed = false

  /** Open the connection; `host` is what the listener is bound to, '' for everything. */
  connect(host: string, port: number, isTls: boolean): void {
    const isEverywhere = host === '' || host === '0.0.0.0'
    const target = isEverywhere ? '127.0.0.1' : host === '::' ? '::1' : host
    const again = () => {
      this.#response = null
      if (!this.#isClosed) setTimeout(() => this.connect(host, port, isTls), AGAIN_MS).unref()
    }
    // Without keep-alive the library would mark the connection as one to be closed after its answer.
    const headers = { connection: 'keep-alive' }
    const where = { host: target, port, path: this.#path, headers, agent: false }
    // It is the listener that we have just bound, whatever name its certificate has; and nothing is said to it.
    this.#request = isTls ? getOverTls({ ...where, rejectUnauthorized: false }) : get(where)
    this.#request.on('socket', (socket) => socket.unref())
    this.#request.on('response', (response) => response.resume())
    this.#request.on('error', () => undefined)
    this.#request.on('close', again)
  }

  /** True when this is our own request: it is kept and must not be touched by anybody else. */
  keep(path: string, response: HttpResponse): boolean {
    if (path !== this.#path || this.#isClosed) return false
    response.onAborted(() => {
      if (this.#response === response) this.#response = null
    })
    this.#response = response
    return true
  }

  /** Accept a handshake. Without the connection it is done outside any cork, which costs a line on standard error. */
  accept(response: HttpResponse, upgrade: () => void): void {
    if (this.#response === null) upgrade()
    else this.#response.cork(() => void response.cork(upgrade))
  }

  close(): void {
    this.#isClosed = true
    this.#request?.destroy()
  }
}
