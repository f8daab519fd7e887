import { createHash } from 'node:crypto'
import { type ByteBudget, createByteBudget } from '../byte-budget.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { decodeBody, decodeFrame, encodeServerBody, encodeServerToAgent, messageOf } from './codec.ts'
import type { AboutReport, AgentConnection, FleetPort } from './fleet-port.ts'
import { createHttpPollers, type HttpPollers, POLLERS_MAX, type PollerLimits } from './http-pollers.ts'
import type { IntakeRefusal } from './intake.ts'
import type { AgentReport, ServerMessage } from './report.ts'
import { FIELDS_MAX } from './wire-reader.ts'

/** Takes the messages of agents and gives the one answer to each, over WebSocket and HTTP alike. */
export interface OpampExchange {
  /** Answer one WebSocket message with one frame, on its connection. `frame` must belong to the caller. */
  answerFrame(connection: AgentConnection, frame: Uint8Array): void
  /** Answer one HTTP body from this address with one body. `body` must belong to the caller. */
  answerBody(body: Uint8Array, source: string): Promise<Uint8Array>
  /** Answer a poll that is decoded already: its body came here, or to a front that passed it on. */
  answerPoll(report: AgentReport, poll: Poll): Promise<ServerMessage>
  /** A connection ended; see `FleetPort.connectionClosed`. */
  connectionClosed: FleetPort['connectionClosed']
  /** True while another message of the largest size would not fit: new connections are turned away. */
  isOverloaded(): boolean
  /** The bytes of bodies that are being received, inflated or decoded. */
  decoding: ByteBudget
  /** How long a client that is turned away is asked to wait; the protocol wants 30 s at least. */
  retryAfterMs: number
  counts(): ExchangeCounts
}

/** What is known of a poll beside its report: the address that it came from, a digest of its body, and the body. */
export interface Poll extends Pick<AboutReport, 'reader'> {
  source: string
  digest: string
  message: Uint8Array
}

/** What happened since the start of the process, and how many pollers there are. */
export interface ExchangeCounts {
  messages: number
  refused: number
  turnedAway: number
  /** How many pollers were evicted to make room for others. */
  forgottenPollers: number
  /** How many pollers are known now. */
  pollers: number
}

/** What an exchange is made of. */
export interface ExchangeOptions {
  fleet: FleetPort
  clock: Clock
  log: Log
  /** The largest message in either direction. */
  messageBytesMax: number
  /** The budget of bytes in decoding, for the whole process; eight messages of the largest size by default. */
  decodingBytesMax?: number
  /** How many pollers are kept; `POLLERS_MAX` by default. */
  pollersMax?: PollerLimits
}

const REFUSALS: Record<IntakeRefusal, string> = {
  'health-too-deep': 'Cannot read the message: its health tree is nested too deeply',
  'instance-uid-invalid': 'Cannot use the instance_uid: expected 16 bytes',
  'message-malformed': 'Cannot read the message: it is no AgentToServer',
  'message-too-many-fields': `Cannot read the message: it has more than ${FIELDS_MAX} fields`,
}

const RETRY_AFTER_MS = 30_000
/** Refusals of hostile or broken agents come in floods: the log gets at most one line in this time. */
const REFUSAL_LOG_INTERVAL_MS = 10_000

type Encode = (uidOnWire: Uint8Array, message: ServerMessage) => Uint8Array

/**
 * Answers polls: finds the poller and the stream of its sequence numbers, asks the fleet, and waits a short time for an
 * offer that goes into the same answer.
 */
const pollsAnsweredBy =
  (ask: FleetPort['receive'], pollers: HttpPollers) =>
  async (report: AgentReport, { source, digest, message: body, reader }: Poll): Promise<ServerMessage> => {
    const poller = pollers.of(report.uid, source)
    const { stream, isDuplicate, isToldApart } = poller.streams.follow(report.sequenceNum, source)
    const isRetransmission = digest === stream.lastBodyDigest
    stream.lastBodyDigest = digest
    const from = { message: body, poll: { source, digest }, reader }
    const about = { isRetransmission, isDuplicate, isToldApart, ...from }
    const { message, pendingOffer } = ask(poller.connection, report, about)
    if (report.isDisconnect && !isDuplicate) pollers.forget(report.uid)
    const offer = pendingOffer === null ? null : await pendingOffer.catch(() => null)
    return offer === null ? message : { ...message, ...offer }
  }

/** Answers a message on its socket. Where that has no room, the fleet hears so. */
const answeringOn =
  (ask: FleetPort['receive'], options: ExchangeOptions) =>
  (connection: AgentConnection, report: AgentReport, message: Uint8Array): void => {
    const answer = ask(connection, report, { message }).message
    const frame = encodeWithinLimit(options, report, answer, encodeServerToAgent)
    if (connection.send(frame) === 'dropped') options.fleet.answerNotSent(connection, report.uid, answer)
  }

/** Encode an answer; where it is larger than a message may be, without the offer in it. */
function encodeWithinLimit(
  { log, messageBytesMax }: ExchangeOptions,
  { uid, uidOnWire }: AgentReport,
  message: ServerMessage,
  encode: Encode,
): Uint8Array {
  const answer = encode(uidOnWire, message)
  if (answer.length <= messageBytesMax) return answer
  log.error({ uid, bytes: answer.length }, 'an answer above the size limit was not sent')
  return encode(uidOnWire, withoutOffer(message))
}

/** Build the exchange of one OpAMP listener. */
export function createOpampExchange(options: ExchangeOptions): OpampExchange {
  const { fleet, log, messageBytesMax } = options
  const counts: ExchangeCounts = { messages: 0, refused: 0, turnedAway: 0, forgottenPollers: 0, pollers: 0 }
  const decoding = createByteBudget(options.decodingBytesMax ?? 8 * messageBytesMax)
  const pollers = createHttpPollers(options.pollersMax ?? POLLERS_MAX, (connection) => {
    counts.forgottenPollers += 1
    fleet.connectionClosed(connection, { isOurDoing: true })
  })
  const logRefusal = refusalLog(options)

  const refuse = (code: IntakeRefusal): ServerMessage => {
    counts.refused += 1
    logRefusal(code)
    return { errorResponse: { type: 'bad-request', message: REFUSALS[code] } }
  }

  /** Ask the fleet. An exception there fails this one message and not the connection. */
  const ask = (connection: AgentConnection, report: AgentReport, about: AboutReport) => {
    try {
      return fleet.receive(connection, report, about)
    } catch (error) {
      log.error({ uid: report.uid, err: error }, 'the fleet broke on a report')
      return { message: { errorResponse: INTERNAL }, pendingOffer: null }
    }
  }

  const answerPoll = pollsAnsweredBy(ask, pollers)
  const answerOn = answeringOn(ask, options)
  return {
    answerPoll,
    decoding,
    retryAfterMs: RETRY_AFTER_MS,
    isOverloaded: () => decoding.free() < messageBytesMax,
    counts: () => ({ ...counts, pollers: pollers.size() }),
    connectionClosed: (connection, options) => fleet.connectionClosed(connection, options),
    answerFrame(connection, frame) {
      counts.messages += 1
      if (frame.length > decoding.free()) {
        counts.turnedAway += 1
        connection.send(encodeServerToAgent(uidOf(frame), { errorResponse: BUSY }))
        return
      }
      const intake = decodeFrame(frame, connection.lastUid)
      if (intake.ok) {
        connection.lastUid = intake.report.uid
        answerOn(connection, intake.report, messageOf(frame))
      } else connection.send(encodeServerToAgent(intake.uidOnWire, refuse(intake.code)))
    },
    async answerBody(body, source) {
      counts.messages += 1
      const intake = decodeBody(body)
      if (!intake.ok) return encodeServerBody(intake.uidOnWire, refuse(intake.code))
      const { report } = intake
      const digest = createHash('sha1').update(body).digest('base64')
      const merged = await answerPoll(report, { source, digest, message: body })
      return encodeWithinLimit(options, report, merged, encodeServerBody)
    },
  }
}

const BUSY = { type: 'unavailable', message: 'the server is busy', retryAfterMs: RETRY_AFTER_MS } as const
const INTERNAL = { type: 'unknown', message: 'internal error' } as const

const withoutOffer = ({ remoteConfig: _, ...rest }: ServerMessage): ServerMessage => rest

/** The uid of a frame that is not decoded, read from where every encoder puts it; empty where it is not there. */
function uidOf(frame: Uint8Array): Uint8Array {
  const hasUid = frame.length >= 19 && frame[0] === 0x00 && frame[1] === 0x0a && frame[2] === 16
  return hasUid ? frame.slice(3, 19) : new Uint8Array(0)
}

function refusalLog({ clock, log }: ExchangeOptions): (code: IntakeRefusal) => void {
  let lastMs = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (code) => {
    const nowMs = clock.monotonicMs()
    unsaid += 1
    if (nowMs - lastMs < REFUSAL_LOG_INTERVAL_MS) return
    log.warn({ code, count: unsaid }, 'refused messages of agents')
    lastMs = nowMs
    unsaid = 0
  }
}
