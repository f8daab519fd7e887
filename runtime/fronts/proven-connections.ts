import { randomBytes } from 'node:crypto'
import { Agent, type AgentOptions } from 'node:http'
import { connect as connectInTheClear, isIP, type Socket } from 'node:net'
import { connect as connectOverTls } from 'node:tls'
import type { Owner } from '../../lib/cluster/membership.ts'
import { type FleetKeys, isOwnersAnswer } from '../../lib/cluster/proofs.ts'
import { OWNER_FRESH_MS } from '../../lib/cluster/timing.ts'
import type { Log } from '../../lib/log.ts'
import { isLoopback, parseListenAddress } from '../listen-address.ts'
import type { Trust } from './certificate-watch.ts'
import { readAnswer, writeChallenge } from './owner-challenge.ts'

/** How long a host may take to accept a connection: one that has vanished neither accepts nor refuses. */
const CONNECT_MS = 2_000
/** How long an owner may take to prove itself: one that stands still for so long may not act any more. */
const PROOF_MS = OWNER_FRESH_MS
/** Shorter than the listener keeps an idle connection, so that none is used in the moment in which it is closed. */
const KEEP_ALIVE_MS = 4_000
/**
 * How many connections are kept at most that nothing is asked on: each that this side closes keeps one of its ports to the owner, of
 * which there are some 28,000, for another minute. How many are asked at one time is not bounded here: whoever reads an
 * answer slowly would keep others waiting.
 */
const KEPT_MAX = 1_024
/** An owner's answer to a challenge is a status and a few headers. */
const HEAD_BYTES_MAX = 4_096
const HEAD_END = '\r\n\r\n'
/** A name or an address, and nothing that an URL would read as something else. */
const HOST = /^[\w.:-]+$/
/** What Node says of a certificate that it does not trust (the names are those of OpenSSL, and its own). */
const CERTIFICATE_ERROR = /CERT|UNABLE_TO_|HOSTNAME_MISMATCH|_CRL|INVALID_PURPOSE|INVALID_CA|PATH_LENGTH/
const NOT_CALLED =
  'the owner is not called: its address is no host:port, or not on this machine while MUSTER_INTERNAL_TLS_* are unset'
const NO_TRUST = 'the owner is not asked: its certificate is not one to trust at its address'
const NO_PORT_CODE = 'EADDRNOTAVAIL'
const NO_PORT =
  'the owner is not asked: every port of this process to its address is in use, or was until a minute ago'
const NO_PROOF =
  'the owner is not asked: what listens at its address did not prove to be it, and to know JWT_SECRET; nothing was said to it'

/** Takes a connection to an owner, or why there is none. */
type Done = (error: Error | null, socket?: Socket) => void

/** What the connections need of their process. */
export interface ProvenConnectionsParts {
  keys: FleetKeys
  /** Whom to trust over TLS; null without it. */
  trust: Trust | null
  log: Log
  /** How many connections may be kept, where that is fewer than usual. */
  keptMax?: number
}

/** What listens at the owner's address did not prove to be it. */
class Unproven extends Error {}

/**
 * The connections of this process to owners. Each is given out only after its other end has answered a challenge as none
 * but that owner can: until then nothing is sent on it but the challenge, which says nothing of anybody and is of use to no
 * other. It is one more turn for each new connection.
 */
export class ProvenConnections {
  readonly #parts: ProvenConnectionsParts
  /**
   * The session of TLS that the last owner gave, which spares a connection to it half of the handshake, and the
   * authority by which it was trusted.
   */
  #session: { owner: string; ca: Buffer; data: Buffer } | null = null
  /** Connections that have not answered yet, each with the epoch of its owner. */
  readonly #asked = new Map<Socket, number>()
  /** The owner that was last said not to be used, and why. */
  #noted = ''
  /** Keeps the connections that may be used again, each for the owner that it was made to. */
  readonly agent: Agent

  constructor(parts: ProvenConnectionsParts) {
    this.#parts = parts
    const open = (owner: Owner, done: Done) => this.open(owner, done)
    const maxFreeSockets = Math.min(KEPT_MAX, parts.keptMax ?? KEPT_MAX)
    this.agent = new ProvenAgent({ keepAlive: true, maxFreeSockets, timeout: KEEP_ALIVE_MS }, open)
  }

  /** Open a connection to this owner. */
  open(owner: Owner, done: Done): void {
    const place = this.#placeOf(owner)
    if (place === null) {
      done(new Error('the owner has no address to call'))
      return
    }
    const socket = this.#connect(owner, place)
    // Whoever waits for it hears of its end by other ways; an error that nobody hears would end the process.
    socket.on('error', () => undefined)
    this.#asked.set(socket, owner.epoch)
    this.#untilProven(socket, owner).then(
      () => {
        this.#asked.delete(socket)
        done(null, socket)
      },
      (error: Error) => {
        this.#asked.delete(socket)
        socket.destroy()
        this.#note(owner, error)
        done(error)
      },
    )
  }

  /** The head of what answers to this question at a member's address; null where nothing does. */
  async ask(member: Pick<Owner, 'id' | 'address'>, question: string): Promise<string | null> {
    const asked = { ...member, linkVersion: 0, epoch: Number.POSITIVE_INFINITY, since: null }
    const place = this.#placeOf(asked)
    if (place === null) return null
    const socket = this.#connect(asked, place)
    socket.on('error', () => undefined)
    this.#asked.set(socket, asked.epoch)
    try {
      await until(socket, 'connect', CONNECT_MS, () => true)
      if (this.#parts.trust !== null) await until(socket, 'secureConnect', PROOF_MS, () => true)
      socket.write(question)
      return await nextHead(socket)
    } catch {
      return null
    } finally {
      this.#asked.delete(socket)
      socket.destroy()
    }
  }

  /** Another process is the owner by now: give up what a former one has not answered. */
  ownerChanged(epoch: number): void {
    for (const [socket, askedEpoch] of this.#asked) if (askedEpoch < epoch) socket.destroy()
  }

  close(): void {
    this.agent.destroy()
    for (const socket of this.#asked.keys()) socket.destroy()
  }

  /**
   * The host and port of an owner; null where it may not be called. The address comes from a row of the database:
   * without TLS what is sent to it must not leave this machine.
   */
  #placeOf(owner: Owner): { host: string; port: number } | null {
    const place = parseListenAddress(owner.address)
    const isPlace = place !== null && HOST.test(place.host) && place.port !== 0
    if (isPlace && (this.#parts.trust !== null || isLoopback(place.host))) return place
    if (this.#isNew(owner, 'address')) this.#parts.log.warn({ member: owner.id }, NOT_CALLED)
    return null
  }

  #connect(owner: Owner, place: { host: string; port: number }): Socket {
    const trusted = this.#parts.trust?.authority()
    if (trusted === undefined) return connectInTheClear(place)
    const key = keyOf(owner)
    const { ca } = trusted
    const known = this.#session
    const session = known?.owner === key && known.ca === ca ? { session: known.data } : {}
    // Without a name, Node would take the host that was connected to, an address as well.
    const servername = isIP(place.host) === 0 ? place.host : ''
    const socket = connectOverTls({ ...place, servername, ...trusted, ...session })
    socket.on('session', (data) => {
      this.#session = { owner: key, ca, data }
    })
    return socket
  }

  /** Resolves once the other end has proved to be this owner. */
  async #untilProven(socket: Socket, owner: Owner): Promise<void> {
    const { keys, trust } = this.#parts
    await until(socket, 'connect', CONNECT_MS, () => true)
    if (trust !== null) await until(socket, 'secureConnect', PROOF_MS, () => true)
    // Without TLS, somebody may pass on what is said here to the owner. Both ends are on this machine, so that it would be
    // seen as another address, unless it has the owner's own.
    const from = trust === null ? (socket.localAddress ?? '').replace(/^::ffff:/, '') : ''
    const challenge = { nonce: randomBytes(32).toString('hex'), from }
    socket.write(writeChallenge(owner, challenge.nonce, { keys }))
    const answer = readAnswer(await nextHead(socket))
    if (answer === 'not the owner') throw new Error('another process decides')
    if (answer === null || !isOwnersAnswer(keys, owner, challenge, answer.proof))
      throw new Unproven('no proof')
  }

  /** Say once for each owner, and each reason, that it is not asked; that one is away, or none any more, is nothing special. */
  #note(owner: Owner, error: NodeJS.ErrnoException): void {
    const { code = '' } = error
    const { id: member, address } = owner
    if (error instanceof Unproven && this.#isNew(owner, 'proof'))
      this.#parts.log.error({ member, address }, NO_PROOF)
    if (code === NO_PORT_CODE && this.#isNew(owner, code))
      this.#parts.log.error({ member, address, cause: code }, NO_PORT)
    if (!CERTIFICATE_ERROR.test(code)) return
    this.#parts.trust?.refused()
    if (this.#isNew(owner, code)) this.#parts.log.error({ member, address, cause: code }, NO_TRUST)
  }

  #isNew(owner: Owner, why: string): boolean {
    const noted = `${keyOf(owner)} ${why}`
    const isNew = noted !== this.#noted
    this.#noted = noted
    return isNew
  }
}

/** Keeps connections by the owner that each was made to: what was proved of one is proved of no other. */
class ProvenAgent extends Agent {
  readonly #open: (owner: Owner, done: Done) => void

  constructor(options: AgentOptions, open: (owner: Owner, done: Done) => void) {
    super(options)
    this.#open = open
  }

  override getName(options?: object): string {
    return keyOf((options as { owner: Owner }).owner)
  }

  override createConnection(options: object, done?: unknown): undefined {
    this.#open((options as { owner: Owner }).owner, done as Done)
  }
}

const keyOf = ({ id, address, epoch }: Owner): string => JSON.stringify([id, address, epoch])

const ENDED = 'the connection ended before its other end had proved to be the owner'

/**
 * What `take` makes of this event of a socket, as soon as that is anything; it is an error where the socket ends before,
 * or so much time passes.
 */
function until<T>(
  socket: Socket,
  event: 'connect' | 'secureConnect' | 'data',
  withinMs: number,
  take: (data: Buffer) => T | null,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer)
      socket.off(event, happened).off('error', failed).off('close', ended)
      act()
    }
    const timer = setTimeout(() => failed(new Error(`no ${event} in time`)), withinMs)
    const failed = (error: Error) => settle(() => reject(error))
    const ended = () => failed(new Error(ENDED))
    const happened = (data: Buffer) => {
      const taken = take(data)
      if (taken !== null) settle(() => resolve(taken))
    }
    socket.on(event, happened).on('error', failed).on('close', ended)
  })
}

/** The head of the answer that comes on this connection; what is too long for one, cut. */
function nextHead(socket: Socket): Promise<string> {
  let said = ''
  return until(socket, 'data', PROOF_MS, (data) => {
    said += data.toString('latin1')
    return said.includes(HEAD_END) || said.length > HEAD_BYTES_MAX ? said.slice(0, HEAD_BYTES_MAX) : null
  })
}
