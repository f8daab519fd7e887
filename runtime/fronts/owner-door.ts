import { randomBytes } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request as requestOver } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { Clock } from '../../lib/clock.ts'
import type { Owner } from '../../lib/cluster/membership.ts'
import type { KnownOwner } from '../../lib/cluster/proofs.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'
import { LINK_MESSAGE_BYTES_MAX } from '../../lib/links/frames.ts'
import type { Log } from '../../lib/log.ts'
import type { Handshake, HttpDefinition } from '../define.ts'
import type { RawRequest } from '../listener.ts'
import type { ProxyPolicy } from '../proxies.ts'
import { problem, type Reply, text } from '../reply.ts'
import type { Trust } from './certificate-watch.ts'
import { readAnswerTo, writeQuestion } from './known-owner.ts'
import { linkHeaders, NOT_THE_OWNER, REFUSED, type Self, toForwardedHeaders } from './member-headers.ts'
import { OwnerTurns, type Turn } from './owner-turns.ts'
import { ProvenConnections } from './proven-connections.ts'

/** How long a request waits for an owner, in milliseconds. */
export const OWNER_WAIT_MS = 3_000
/** How often a new connection to the owner is tried where nobody asks anything, and while none has reached it. */
const TRY_MS = 3_000
const TRY_AGAIN_MS = 500
/** How long a request that the owner did not answer waits before it is sent again, at first and at most. */
const ASK_AGAIN_MS = 50
const ASK_AGAIN_MS_MAX = 1_000
/** How often a request that waits for its answer looks whether there still is a way to the owner. */
const LOOK_MS = 500
/** A request that has no answer by then gets none: the longest honest one, an evidence pack, takes a minute. */
const ANSWER_MS = 120_000
/** How long an owner has to answer a handshake. */
const HANDSHAKE_MS = 2_000
/** How long a former owner may still answer what it was asked: it may be gone, or hang. */
const FORMER_ANSWERS_MS = 1_500
/** Answers up to this size go on in one piece. */
const WHOLE_BYTES_MAX = 65_536
const NOT_COPIED = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'date',
  'uwebsockets',
  'set-cookie',
])
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
  trust: Trust | null
  /** How many connections to the owner may be kept, where that is fewer than usual. */
  keptMax?: number
  clock: Clock
  timers: Timers
  log: Log
}

/** A request as it is passed on, and whether it may be sent twice. */
interface PassedOn {
  request: RawRequest
  body: Uint8Array
  client: ReturnType<ProxyPolicy['clientOf']>
  isSafe: boolean
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

/** Passes requests and sockets that came to this process on to the owner, once that has proved to be it. */
export class OwnerDoor {
  readonly #parts: OwnerDoorParts
  readonly #connections: ProvenConnections
  /** Requests without an answer, each with the epoch of the owner that was asked. */
  readonly #asked = new Map<ClientRequest, number>()
  readonly #turns: OwnerTurns
  #isClosed = false

  constructor(parts: OwnerDoorParts) {
    this.#parts = parts
    this.#turns = new OwnerTurns(parts)
    const { self, trust, log, keptMax } = parts
    this.#connections = new ProvenConnections({ keys: self.keys, trust, log, ...(keptMax && { keptMax }) })
  }

  /**
   * Pass a request on and give back the owner's answer as it comes. A request that was not delivered, or that may be
   * sent twice, is tried again until an owner answers or the wait is over; a change that was delivered and got no
   * answer may stand, and is answered with `outcome-unknown`, or leads elsewhere where it says so (`doneOnce`).
   */
  async forward(
    request: RawRequest,
    client: ReturnType<ProxyPolicy['clientOf']>,
    doneOnce?: HttpDefinition['doneOnce'],
  ): Promise<Reply> {
    const body = await request.body()
    if (request.isOverBudget()) return problem('server-busy', {}, { 'Retry-After': '1' })
    if (body === 'aborted') return text('', 400)
    if (body === 'too-large') return problem('body-too-large')
    const isSafe = SAFE_METHODS.has(request.method) && doneOnce === undefined
    const found = await this.#untilOwned<Reply>(
      async (turn) => {
        const attempt = await this.#attempt(turn, { request, body, client, isSafe })
        if (attempt.kind === 'answered') return { kind: 'found', found: attempt.reply }
        if (attempt.kind === 'not-delivered') return AWAY
        return isSafe ? AGAIN : { kind: 'found', found: unanswered(doneOnce) }
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
    const found = await this.#untilOwned<PassedHandshake>(({ owner, ended }) => {
      const headers = toForwardedHeaders(handshake.headers(), handshake, this.#parts.self, owner)
      return this.#dial(owner, query === '' ? path : `${path}?${query}`, headers, () => ended(true))
    }, isGone)
    const { status, body, headers } = problem('no-owner', {}, { 'Retry-After': '3' })
    return found ?? { accepted: false, status, body: String(body), headers: { ...headers } }
  }

  /**
   * Open a link of this version to this owner; the status where that process refuses it, null where it cannot be
   * reached, does not own, or takes this process for no member.
   */
  async open(owner: Owner, path: string, version: number): Promise<WebSocket | number | null> {
    const dialled = await this.#dial(owner, path, linkHeaders(this.#parts.self, owner, version))
    if (dialled.kind !== 'found') return null
    return dialled.found.accepted ? dialled.found.socket : dialled.found.status
  }

  /** Ask a member who it is, and which owner it has a link to; null where none answers at its address. */
  async askWho(member: Pick<Owner, 'id' | 'address'>): Promise<KnownOwner | null> {
    const { self } = this.#parts
    const nonce = randomBytes(32).toString('hex')
    const head = await this.#connections.ask(member, writeQuestion(nonce, self)).catch(() => null)
    return head === null ? null : readAnswerTo(nonce, head, self)
  }

  /**
   * Another process is the owner by now. A former owner that stops in order still answers what was delivered to it;
   * whatever it has not answered after FORMER_ANSWERS_MS is given up.
   */
  ownerChanged(epoch: number): void {
    this.#connections.ownerChanged(epoch)
    const former = [...this.#asked].filter(([, askedEpoch]) => askedEpoch < epoch)
    if (former.length === 0) return
    setTimeout(() => {
      for (const [request] of former) request.destroy()
    }, FORMER_ANSWERS_MS).unref()
  }

  /**
   * Look from time to time whether new connections reach the owner, since a link that stands does not show it: whoever
   * asks whether this process is ready is to know before changes find no way.
   */
  start(): void {
    void this.#look()
  }

  /** For how long no new connection has reached the owner of now, by all that was tried; 0 where one has. */
  get unreachedMs(): number {
    return this.#turns.doubtMs
  }

  async #look(): Promise<void> {
    const turn = this.#turns.take()
    if (turn !== null) turn.ended(await this.#isReached(turn.owner))
    if (this.#isClosed) return
    this.#parts.timers.after(this.unreachedMs > 0 ? TRY_AGAIN_MS : TRY_MS, () => void this.#look())
  }

  #isReached(owner: Owner): Promise<boolean> {
    return new Promise((resolve) => {
      this.#connections.open(owner, (error, socket) => {
        socket?.destroy()
        resolve(error === null)
      })
    })
  }

  /** The epoch of the owner as this process read it last; 0 while none is known. */
  get epoch(): number {
    return this.#parts.owner()?.epoch ?? 0
  }

  close(): void {
    this.#isClosed = true
    this.#connections.close()
  }

  async #untilOwned<T>(ask: (turn: Turn) => Promise<Asked<T>>, isGone: () => boolean): Promise<T | null> {
    const { clock, timers } = this.#parts
    let untilMs = clock.monotonicMs() + OWNER_WAIT_MS
    let waitMs = ASK_AGAIN_MS
    for (;;) {
      const turn = await this.#turns.next(untilMs, isGone)
      if (turn === null) return null
      const asked = await ask(turn).catch((error) => {
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

  #attempt(turn: Turn, { request, body, client, isSafe }: PassedOn): Promise<Attempt> {
    return new Promise((resolve) => {
      let isDelivered = false
      let isAnswered = false
      const outgoing = this.#begin(turn, { request, body, client, isSafe })
      if (outgoing === null) {
        resolve({ kind: 'answered', reply: text('Bad Request\n', 400) })
        return
      }
      this.#asked.set(outgoing, turn.owner.epoch)
      this.#giveUpInTime(outgoing)
      const fail = () => {
        this.#asked.delete(outgoing)
        if (!isAnswered) resolve({ kind: isDelivered ? 'unanswered' : 'not-delivered' })
      }
      // When the client goes away, the owner's answer is no longer wanted.
      request.onAborted(() => outgoing.destroy())
      // The owner has proved itself on it, so that it can be taken to hear what is said.
      outgoing.on('socket', () => {
        isDelivered = true
        // Others need not wait for the answer, which may take long.
        if (turn.isTrial) turn.ended(true)
      })
      outgoing.on('error', fail)
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
  #begin({ owner, isTrial }: Turn, { request, body, client, isSafe }: PassedOn): ClientRequest | null {
    const { method, path, query } = request
    const options = {
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: {
        ...toForwardedHeaders(request.headers(), client, this.#parts.self, owner),
        // Of a GET, HEAD, DELETE or OPTIONS Node would send the body without saying that there is one, and what a client
        // chose would be read as the next request on the connection.
        ...(body.length > 0 ? { 'content-length': String(body.length) } : {}),
      },
      // A change gets a new connection: on a kept one nobody knows whether it was delivered. Nor does one show that the
      // owner can be reached.
      ...(isSafe && !isTrial ? { agent: this.#connections.agent, owner } : this.#newConnection(owner)),
    } as const
    try {
      return requestOver(options)
    } catch {
      return null
    }
  }

  #dial(
    owner: Owner,
    path: string,
    headers: Record<string, string>,
    onReached: () => void = () => undefined,
  ): Promise<Asked<PassedHandshake>> {
    return new Promise((resolve) => {
      let isConnected = false
      const refuse = (status: number, body: string, said: Record<string, string> = {}) =>
        resolve({ kind: 'found', found: { accepted: false, status, body, headers: said } })
      const options = {
        headers,
        perMessageDeflate: false,
        handshakeTimeout: HANDSHAKE_MS,
        maxPayload: LINK_MESSAGE_BYTES_MAX,
        ...this.#newConnection(owner, (connection) => {
          isConnected = true
          onReached()
          connection.setTimeout(HANDSHAKE_MS)
        }),
      }
      let socket: WebSocket
      try {
        // What the owner reads as a part of the query would be a fragment, which is not sent.
        socket = new WebSocket(`ws://owner${path.replaceAll('#', '%23')}`, options as object)
      } catch {
        return refuse(400, 'Bad Request\n')
      }
      // Paused until the caller listens, so that no message is lost.
      socket.once('open', () => {
        socket.pause()
        resolve({ kind: 'found', found: { accepted: true, socket, epoch: owner.epoch } })
      })
      socket.on('error', () => resolve(isConnected ? AGAIN : AWAY))
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

  /** Have a request open a connection of its own to this owner, and tell when it stands. */
  #newConnection(owner: Owner, onProven: (socket: Socket) => void = () => undefined) {
    return {
      createConnection: (_options: unknown, done: (error: Error | null, socket: Socket) => void) => {
        this.#connections.open(owner, (error, socket) => {
          if (socket !== undefined) onProven(socket)
          done(error, socket!)
        })
        return undefined as never
      },
    }
  }
}

/** Whether the process that was asked is not the owner, or does not accept this one as a member. */
const isRefusal = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === NOT_THE_OWNER || headers[REFUSED] !== undefined

/** What whoever asked is told where the owner may have done it and did not say so. */
const unanswered = (doneOnce: HttpDefinition['doneOnce']): Reply =>
  doneOnce === undefined
    ? problem('outcome-unknown')
    : {
        status: 302,
        headers: { Location: doneOnce.elsewhere, 'Cache-Control': 'no-store' },
        cookies: [],
        body: null,
      }

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
