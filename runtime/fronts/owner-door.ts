import { readFileSync } from 'node:fs'
import { Agent, type ClientRequest, type IncomingMessage, request as requestInTheClear } from 'node:http'
import { request as requestOverTls, Agent as TlsAgent } from 'node:https'
import { connect as connectInTheClear, isIP, type Socket } from 'node:net'
import { connect as connectOverTls } from 'node:tls'
import { WebSocket } from 'ws'
import type { Clock } from '../../lib/clock.ts'
import type { Owner } from '../../lib/cluster/membership.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'
import { LINK_MESSAGE_BYTES_MAX } from '../../lib/links/frames.ts'
import type { Log } from '../../lib/log.ts'
import type { ClusterConfig } from '../config.ts'
import type { Handshake } from '../define.ts'
import { isLoopback, parseListenAddress } from '../listen-address.ts'
import type { RawRequest } from '../listener.ts'
import type { ProxyPolicy } from '../proxies.ts'
import { problem, type Reply, text } from '../reply.ts'
import { linkHeaders, REFUSED, type Self, toForwardedHeaders } from './member-headers.ts'
import { OwnerTurns } from './owner-turns.ts'

/** How long a request waits for an owner, in milliseconds. */
export const OWNER_WAIT_MS = 3_000
/** How long a request that the owner did not answer waits before it is sent again, at first and at most. */
const ASK_AGAIN_MS = 50
const ASK_AGAIN_MS_MAX = 1_000
/** How often a request that waits for its answer looks whether there still is a way to the owner. */
const LOOK_MS = 500
/** A request that has no answer by then gets none: the longest honest one, an evidence pack, takes a minute. */
const ANSWER_MS = 120_000
const CONNECT_MS = 2_000
/** How long a former owner may still answer what it was asked: it may be gone, or hang. */
const FORMER_ANSWERS_MS = 1_500
/** Shorter than the listener keeps an idle connection, so that none is used in the moment in which it is closed. */
const KEEP_ALIVE_MS = 4_000
/** Answers up to this size go on in one piece. */
const WHOLE_BYTES_MAX = 65_536
const NOT_THE_OWNER = 421
/** A name or an address, and nothing that an URL would read as something else. */
const HOST = /^[\w.:-]+$/
const NOT_CALLED =
  'the owner is not called: its address is no host:port, or not on this machine while MUSTER_INTERNAL_TLS_* are unset'
const NO_TRUST = 'the owner is not asked: its certificate is not one to trust at its address'
const NOT_COPIED = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'date',
  'uwebsockets',
  'set-cookie',
])
/** What Node says of a certificate that it does not trust (the names are those of OpenSSL, and its own). */
const CERTIFICATE_ERROR = /CERT|UNABLE_TO_|HOSTNAME_MISMATCH|_CRL|INVALID_PURPOSE|INVALID_CA|PATH_LENGTH/
/** Requests that may be sent twice. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What the door needs of its process. */
export interface OwnerDoorParts {
  owner(): Owner | null
  /** Read again at once who the owner is. */
  lookAgain(): void
  /**
   * For how long this process has had no link to the owner; 0 while there is one. After OWNER_WAIT_MS no answer is
   * expected of that owner: bytes may vanish on the way without any connection being closed.
   */
  linkDownMs(): number
  self: Self
  tls: ClusterConfig['tls']
  clock: Clock
  timers: Timers
  log: Log
}

/** How one attempt to pass a request on ended. `not-delivered`: no owner has seen it. */
type Attempt = { kind: 'answered'; reply: Reply } | { kind: 'not-delivered' } | { kind: 'unanswered' }

/** How it went to ask an owner: `away`, it cannot be reached; `again`, this request had no answer and may be sent again. */
type Asked<T> = { kind: 'found'; found: T } | { kind: 'away' } | { kind: 'again' }
const AWAY = { kind: 'away' } as const
const AGAIN = { kind: 'again' } as const

/** What an owner said to a handshake that was passed on. */
export type PassedHandshake =
  | { accepted: true; socket: WebSocket; epoch: number }
  | { accepted: false; status: number; body: string; headers: Record<string, string> }

/** Passes requests and sockets that came to this process on to the owner. */
export class OwnerDoor {
  readonly #parts: OwnerDoorParts
  /**
   * The authority of the owner's certificate, and the name that it is for where that is not the address; empty without
   * TLS.
   */
  readonly #trust: { ca?: Buffer; servername?: string }
  readonly #agent: Agent
  /** Requests without an answer, each with the epoch of the owner that was asked. */
  readonly #asked = new Map<ClientRequest, number>()
  readonly #turns: OwnerTurns
  /** The epoch of the owner whose address was logged as unusable, so that it is logged once. */
  #unreachableEpoch = 0
  /** The epoch of the owner whose certificate was logged as one that is not trusted, and why it is not. */
  #untrusted = ''

  constructor(parts: OwnerDoorParts) {
    this.#parts = parts
    this.#turns = new OwnerTurns(parts)
    this.#trust = parts.tls === null ? {} : readTrust(parts.tls)
    const keeping = { keepAlive: true, maxFreeSockets: 64, timeout: KEEP_ALIVE_MS }
    this.#agent = parts.tls === null ? new Agent(keeping) : new TlsAgent({ ...keeping, ...this.#trust })
  }

  /**
   * Pass a request on and give back the owner's answer as it comes. A request that was not delivered, or that may be
   * sent twice, is tried again until an owner answers or the wait is over; a change that was delivered and got no
   * answer may stand, and is answered with `outcome-unknown`.
   */
  async forward(request: RawRequest, client: ReturnType<ProxyPolicy['clientOf']>): Promise<Reply> {
    const body = await request.body()
    if (request.isOverBudget()) return problem('server-busy', {}, { 'Retry-After': '1' })
    if (body === 'aborted') return text('', 400)
    if (body === 'too-large') return problem('body-too-large')
    const isSafe = SAFE_METHODS.has(request.method)
    const found = await this.#untilOwned<Reply>(
      async (owner) => {
        const attempt = await this.#attempt(owner, request, body, client)
        if (attempt.kind === 'answered') return { kind: 'found', found: attempt.reply }
        if (attempt.kind === 'not-delivered') return AWAY
        return isSafe ? AGAIN : { kind: 'found', found: problem('outcome-unknown') }
      },
      () => request.isAborted(),
    )
    return found ?? problem('no-owner', {}, { 'Retry-After': '3' })
  }

  /** Pass a browser's handshake on. */
  async connect(
    handshake: Pick<Handshake, 'path' | 'query' | 'headers' | 'remoteAddress' | 'isSecure'>,
    isGone: () => boolean,
  ): Promise<PassedHandshake> {
    const { path, query } = handshake
    const found = await this.#untilOwned<PassedHandshake>((owner) => {
      const headers = toForwardedHeaders(handshake.headers(), handshake, this.#parts.self)
      return this.#dial(owner, query === '' ? path : `${path}?${query}`, headers)
    }, isGone)
    const { status, body, headers } = problem('no-owner', {}, { 'Retry-After': '3' })
    return found ?? { accepted: false, status, body: String(body), headers: { ...headers } }
  }

  /**
   * Open a link of this version to this owner; the status where that process refuses it, null where it cannot be
   * reached, does not own, or takes this process for no member.
   */
  async open(owner: Owner, path: string, version: number): Promise<WebSocket | number | null> {
    const dialled = await this.#dial(owner, path, linkHeaders(this.#parts.self, version))
    if (dialled.kind !== 'found') return null
    return dialled.found.accepted ? dialled.found.socket : dialled.found.status
  }

  /**
   * Another process is the owner by now. A former owner that stops in order still answers what was delivered to it;
   * whatever it has not answered after FORMER_ANSWERS_MS is given up.
   */
  ownerChanged(epoch: number): void {
    const former = [...this.#asked].filter(([, askedEpoch]) => askedEpoch < epoch)
    if (former.length === 0) return
    setTimeout(() => {
      for (const [request] of former) request.destroy()
    }, FORMER_ANSWERS_MS).unref()
  }

  /** The epoch of the owner as this process read it last; 0 while none is known. */
  get epoch(): number {
    return this.#parts.owner()?.epoch ?? 0
  }

  close(): void {
    this.#agent.destroy()
  }

  async #untilOwned<T>(ask: (owner: Owner) => Promise<Asked<T>>, isGone: () => boolean): Promise<T | null> {
    const { clock, timers } = this.#parts
    let untilMs = clock.monotonicMs() + OWNER_WAIT_MS
    let waitMs = ASK_AGAIN_MS
    for (;;) {
      const turn = await this.#turns.next(untilMs, isGone)
      if (turn === null) return null
      const asked = await ask(turn.owner).catch((error) => {
        turn.ended(true)
        throw error
      })
      turn.ended(asked.kind !== 'away')
      if (asked.kind === 'found') return asked.found
      // What the former owner did not answer is asked of its successor, however long the wait was.
      const isReplaced = (this.#parts.owner()?.epoch ?? 0) > turn.owner.epoch
      if (isReplaced && !isGone()) {
        untilMs = Math.max(untilMs, clock.monotonicMs() + 1)
        continue
      }
      if (isGone() || clock.monotonicMs() >= untilMs) return null
      // Others are answered meanwhile: only this one waits.
      if (asked.kind === 'again') await new Promise<void>((resolve) => timers.after(waitMs, resolve))
      waitMs = Math.min(ASK_AGAIN_MS_MAX, waitMs * 2)
    }
  }

  /** A connection of this epoch's owner has ended by itself: whoever wants to ask it waits until one has reached it. */
  lost(epoch: number): void {
    this.#turns.lost(epoch)
  }

  /**
   * The host and port of an owner; null where it may not be called. The address comes from a row of the database, and
   * browsers' credentials are sent to it: without TLS they must not leave this machine.
   */
  #placeOf({ id, address, epoch }: Owner): { host: string; port: number } | null {
    const place = parseListenAddress(address)
    const isPlace = place !== null && HOST.test(place.host) && place.port !== 0
    if (isPlace && (this.#parts.tls !== null || isLoopback(place.host))) return place
    if (this.#unreachableEpoch !== epoch) this.#parts.log.warn({ member: id }, NOT_CALLED)
    this.#unreachableEpoch = epoch
    return null
  }

  #attempt(
    owner: Owner,
    request: RawRequest,
    body: Uint8Array,
    client: ReturnType<ProxyPolicy['clientOf']>,
  ): Promise<Attempt> {
    return new Promise((resolve) => {
      let isDelivered = false
      let isAnswered = false
      const place = this.#placeOf(owner)
      if (place === null) {
        resolve({ kind: 'not-delivered' })
        return
      }
      const outgoing = this.#begin(place, request, body.length, client)
      if (outgoing === null) {
        resolve({ kind: 'answered', reply: text('Bad Request\n', 400) })
        return
      }
      this.#asked.set(outgoing, owner.epoch)
      this.#giveUpInTime(outgoing)
      const fail = () => {
        this.#asked.delete(outgoing)
        if (!isAnswered) resolve({ kind: isDelivered ? 'unanswered' : 'not-delivered' })
      }
      // When the client goes away, the owner's answer is no longer wanted.
      request.onAborted(() => outgoing.destroy())
      outgoing.on('socket', (socket) => {
        const delivers = () => {
          isDelivered = true
        }
        // A kept socket that is used again would gather a listener for each of its requests.
        if (!socket.connecting) return delivers()
        socket.once(this.#parts.tls === null ? 'connect' : 'secureConnect', delivers)
        // A host that has vanished neither accepts nor refuses a connection.
        const connecting = setTimeout(() => isDelivered || outgoing.destroy(), CONNECT_MS)
        socket.once('connect', () => clearTimeout(connecting))
        socket.once('close', () => clearTimeout(connecting))
      })
      outgoing.on('error', (error) => {
        this.#noteUntrusted(owner, error)
        fail()
      })
      outgoing.on('close', fail)
      outgoing.on('response', (response) => {
        isAnswered = true
        if (isRefusal(response)) {
          response.resume()
          resolve({ kind: 'not-delivered' })
        } else
          toReply(request.method, response).then(
            (reply) => resolve({ kind: 'answered', reply }),
            () => resolve({ kind: 'unanswered' }),
          )
      })
      outgoing.end(body.length > 0 ? body : undefined)
    })
  }

  /** Log that the owner's certificate is not trusted, once for each reason of each owner. */
  #noteUntrusted({ id, address, epoch }: Owner, { code = '' }: NodeJS.ErrnoException): void {
    const why = `${epoch} ${code}`
    if (!CERTIFICATE_ERROR.test(code) || why === this.#untrusted) return
    this.#untrusted = why
    this.#parts.log.error({ member: id, address, cause: code }, NO_TRUST)
  }

  /** End a request that has no answer after ANSWER_MS, or whose answer nothing can bring any more. */
  #giveUpInTime(outgoing: ClientRequest): void {
    const giveUp = setTimeout(() => outgoing.destroy(), ANSWER_MS)
    // Also while the answer comes in: the rest of it may never do.
    const looking = setInterval(() => {
      if (this.#parts.linkDownMs() >= OWNER_WAIT_MS) outgoing.destroy()
    }, LOOK_MS)
    outgoing.once('response', () => clearTimeout(giveUp))
    outgoing.once('close', () => {
      clearTimeout(giveUp)
      clearInterval(looking)
    })
  }

  /** Begin the request to the owner; null where Node cannot send its method, path or headers. */
  #begin(
    { host, port }: { host: string; port: number },
    request: RawRequest,
    bodyBytes: number,
    client: ReturnType<ProxyPolicy['clientOf']>,
  ): ClientRequest | null {
    const { method, path, query } = request
    const options = {
      host,
      port,
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: {
        ...toForwardedHeaders(request.headers(), client, this.#parts.self),
        // Of a GET, HEAD, DELETE or OPTIONS Node would send the body without saying that there is one, and what a client
        // chose would be read as the next request on the connection.
        ...(bodyBytes > 0 ? { 'content-length': String(bodyBytes) } : {}),
      },
      // A change gets a new connection: on a kept one nobody knows whether it was delivered.
      agent: SAFE_METHODS.has(method) ? this.#agent : false,
      ...this.#trustAt(host),
    } as const
    try {
      return this.#parts.tls === null ? requestInTheClear(options) : requestOverTls(options)
    } catch {
      return null
    }
  }

  #dial(owner: Owner, path: string, headers: Record<string, string>): Promise<Asked<PassedHandshake>> {
    return new Promise((resolve) => {
      const place = this.#placeOf(owner)
      if (place === null) return resolve(AWAY)
      let isConnected = false
      const scheme = this.#parts.tls === null ? 'ws' : 'wss'
      const refuse = (status: number, body: string, said: Record<string, string> = {}) =>
        resolve({ kind: 'found', found: { accepted: false, status, body, headers: said } })
      const createConnection = () =>
        this.#connect(place, () => {
          isConnected = true
        })
      const options = {
        headers,
        perMessageDeflate: false,
        handshakeTimeout: CONNECT_MS,
        maxPayload: LINK_MESSAGE_BYTES_MAX,
        createConnection,
      }
      let socket: WebSocket
      try {
        // What the owner reads as a part of the query would be a fragment, which is not sent.
        socket = new WebSocket(
          `${scheme}://${owner.address}${path.replaceAll('#', '%23')}`,
          options as object,
        )
      } catch {
        return refuse(400, 'Bad Request\n')
      }
      // Paused until the caller listens, so that no message is lost.
      socket.once('open', () => {
        socket.pause()
        resolve({ kind: 'found', found: { accepted: true, socket, epoch: owner.epoch } })
      })
      socket.on('error', (error) => {
        this.#noteUntrusted(owner, error)
        resolve(isConnected ? AGAIN : AWAY)
      })
      socket.once('unexpected-response', (_request, response) => {
        if (isRefusal(response)) {
          response.resume()
          socket.terminate()
          resolve(AWAY)
          return
        }
        toReply('GET', response).then(
          (reply) => {
            const body = reply.body instanceof Uint8Array ? Buffer.from(reply.body).toString() : ''
            refuse(reply.status, body, { ...reply.headers })
            socket.terminate()
          },
          () => resolve(AGAIN),
        )
      })
    })
  }

  /** Open a connection to an owner, and tell when it stands and is one to trust. */
  #connect({ host, port }: { host: string; port: number }, onConnected: () => void): Socket {
    if (this.#parts.tls === null) return connectInTheClear({ host, port }, onConnected)
    return connectOverTls({ host, port, ...this.#trustAt(host) }, onConnected)
  }

  /** What a certificate is checked by: without a name, Node would take the one in the client's Host header. */
  #trustAt(host: string): { ca?: Buffer; servername: string } {
    return { servername: isIP(host) === 0 ? host : '', ...this.#trust }
  }
}

/** Whether the process that was asked is not the owner, or does not accept this one as a member. */
const isRefusal = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === NOT_THE_OWNER || headers[REFUSED] !== undefined

async function toReply(method: string, response: IncomingMessage): Promise<Reply> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers)) {
    if (NOT_COPIED.has(name) || typeof value !== 'string') continue
    // The listener counts what it sends; a HEAD's reply sends no body, so its number is the one of the owner.
    if (name === 'content-length' && method !== 'HEAD') continue
    headers[name] = value
  }
  const cookies = response.headers['set-cookie'] ?? []
  const status = response.statusCode ?? 502
  const length = Number(response.headers['content-length'] ?? Number.NaN)
  if (method === 'HEAD' || status === 204 || status === 304 || length <= WHOLE_BYTES_MAX) {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const whole = Buffer.concat(chunks)
    return { status, headers, cookies, body: method === 'HEAD' || status === 204 ? null : whole }
  }
  return { status, headers, cookies, body: response }
}

const readTrust = ({ caFile, name }: NonNullable<ClusterConfig['tls']>) => ({
  ca: readFileSync(caFile),
  ...(name === undefined ? {} : { servername: name }),
})
