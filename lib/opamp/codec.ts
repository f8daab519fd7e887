import protobuf from 'protobufjs/minimal.js'
import { isHexOf, toHex } from '../ids.ts'
import { instanceUidLike } from './instance-uid.ts'
import { type Intake, readAgentToServer } from './intake.ts'
import type { AgentReport, ServerMessage } from './report.ts'
import { lengthTag, varintTag } from './wire-reader.ts'

const NO_BYTES = new Uint8Array(0)
const UID_BYTES = 16

/**
 * Read one WebSocket message: a varint header of value 0, then an AgentToServer. Old clients send no header;
 * that is unambiguous, because no protobuf message starts with a zero byte. A header of another value reads
 * as an illegal field and is malformed. `frame` must belong to the caller: bodies in the report alias it. `likelyUid` is
 * the text of the uid that the frame most likely names: where it does, that very string is in the report.
 */
export function decodeFrame(frame: Uint8Array, likelyUid = ''): Intake {
  const beat = decodeBareBeat(frame, likelyUid)
  if (beat !== null) return { ok: true, report: beat }
  const start = headerLength(frame)
  if (start === null) return { ok: false, code: 'message-malformed', uidOnWire: NO_BYTES }
  return readAgentToServer(start === 0 ? frame : frame.subarray(start))
}

/** The AgentToServer in a frame that `decodeFrame` has read, without the header. */
export const messageOf = (frame: Uint8Array): Uint8Array => frame.subarray(headerLength(frame) ?? 0)

/** Read one HTTP body: an AgentToServer without a header. `body` must belong to the caller, as above. */
export function decodeBody(body: Uint8Array): Intake {
  return readAgentToServer(body)
}

/** The bytes before the message: 0 for the old form without a header, null when a header never ends. */
function headerLength(frame: Uint8Array): number | null {
  if (frame.length === 0 || (frame[0]! !== 0x00 && frame[0]! !== 0x80)) return 0
  // An overlong zero (80 00) is a legal header. As a tag it would be field 0, which is illegal, so it can only be a
  // header.
  for (let index = 0; index < 10 && index < frame.length; index++) {
    if (frame[index] === 0x00) return index + 1
    if (frame[index] !== 0x80) return null
  }
  return null
}

/**
 * A fast path for most frames: header, 16-byte uid, sequence number and capabilities, in the order in which every
 * encoder writes them. Null for all other frames, which `readAgentToServer` reads.
 */
function decodeBareBeat(frame: Uint8Array, likelyUid: string): AgentReport | null {
  const length = frame.length
  if (length < 19 || length > 36 || frame[0] !== 0x00 || frame[1] !== 0x0a || frame[2] !== 0x10) return null
  let at = 19
  let sequenceNum = 0
  let capabilities = 0
  let hasCapabilities = false
  if (frame[at] === varintTag(2)) {
    let factor = 1
    let byte = 0x80
    // Seven bytes hold 49 bits; a frame with a longer number is left to `readAgentToServer`.
    for (let index = 0; byte >= 0x80; index++) {
      if (index === 7 || ++at >= length) return null
      byte = frame[at]!
      sequenceNum += (byte & 0x7f) * factor
      factor *= 128
    }
    at += 1
  }
  if (frame[at] === varintTag(4)) {
    let shift = 0
    let byte = 0x80
    while (byte >= 0x80) {
      if (shift > 14 || ++at >= length) return null
      byte = frame[at]!
      capabilities |= (byte & 0x7f) << shift
      shift += 7
    }
    at += 1
    hasCapabilities = true
  }
  if (at !== length) return null
  const uidOnWire = frame.subarray(3, 19)
  return {
    uid: isHexOf(likelyUid, uidOnWire) ? likelyUid : toHex(uidOnWire),
    uidOnWire,
    sequenceNum,
    capabilities: capabilities & 0xffff,
    hasCapabilities,
    requestsInstanceUid: false,
    isDisconnect: false,
    attributes: null,
    health: null,
    effectiveConfig: null,
    remoteConfigStatus: null,
    components: null,
  }
}

/** One ServerToAgent as a WebSocket frame, ready for `AgentConnection.send`. */
export function encodeServerToAgent(uidOnWire: Uint8Array, message: ServerMessage): Uint8Array {
  return encodeAcknowledgement(uidOnWire, message, 1) ?? encodeMessage(uidOnWire, message, true)
}

/** One ServerToAgent as an HTTP body: no header. */
export function encodeServerBody(uidOnWire: Uint8Array, message: ServerMessage): Uint8Array {
  return encodeAcknowledgement(uidOnWire, message, 0) ?? encodeMessage(uidOnWire, message, false)
}

/** A fast path for the answer that holds nothing but, perhaps, the capabilities of the server; null for all others. */
function encodeAcknowledgement(
  uidOnWire: Uint8Array,
  message: ServerMessage,
  headerBytes: 0 | 1,
): Uint8Array | null {
  const capabilities = message.capabilities ?? 0
  if (uidOnWire.length !== UID_BYTES || capabilities > 0x7f) return null
  for (const key in message) {
    if (key !== 'capabilities' && message[key as keyof ServerMessage]) return null
  }
  const bytes = Buffer.allocUnsafe(headerBytes + 18 + (capabilities === 0 ? 0 : 2))
  if (headerBytes === 1) bytes[0] = 0x00
  bytes[headerBytes] = lengthTag(1)
  bytes[headerBytes + 1] = UID_BYTES
  bytes.set(uidOnWire, headerBytes + 2)
  if (capabilities !== 0) {
    bytes[headerBytes + 18] = varintTag(7)
    bytes[headerBytes + 19] = capabilities
  }
  return bytes
}

const ERROR_TYPES = { unknown: 0, 'bad-request': 1, unavailable: 2 } as const
const REPORT_FULL_STATE = 0x1
const REPORT_AVAILABLE_COMPONENTS = 0x2

function encodeMessage(uidOnWire: Uint8Array, message: ServerMessage, hasHeader: boolean): Uint8Array {
  const writer = protobuf.Writer.create()
  // Fields are written in ascending order, and one zero byte before them is the WebSocket header.
  if (hasHeader) writer.uint32(0)
  if (uidOnWire.length > 0) writer.uint32(lengthTag(1)).bytes(uidOnWire)
  if (message.errorResponse) {
    writeErrorResponse(writer, message.errorResponse)
    return writer.finish()
  }
  if (message.remoteConfig) writeRemoteConfig(writer, message.remoteConfig)
  if (message.heartbeatIntervalSeconds) writeHeartbeatInterval(writer, message.heartbeatIntervalSeconds)
  const flags =
    (message.reportFullState ? REPORT_FULL_STATE : 0) |
    (message.reportAvailableComponents ? REPORT_AVAILABLE_COMPONENTS : 0)
  if (flags !== 0) writer.uint32(varintTag(6)).uint32(flags)
  if (message.capabilities) writer.uint32(varintTag(7)).uint32(message.capabilities)
  if (message.newInstanceUid) {
    writer.uint32(lengthTag(8)).fork()
    writer.uint32(lengthTag(1)).bytes(instanceUidLike(message.newInstanceUid, uidOnWire)).ldelim()
  }
  return writer.finish()
}

function writeErrorResponse(
  writer: protobuf.Writer,
  error: NonNullable<ServerMessage['errorResponse']>,
): void {
  writer.uint32(lengthTag(2)).fork()
  if (ERROR_TYPES[error.type] !== 0) writer.uint32(varintTag(1)).uint32(ERROR_TYPES[error.type])
  if (error.message !== '') writer.uint32(lengthTag(2)).string(error.message)
  if (error.retryAfterMs !== undefined) {
    writer.uint32(lengthTag(3)).fork()
    writer
      .uint32(varintTag(1))
      .uint64(Math.round(error.retryAfterMs) * 1_000_000)
      .ldelim()
  }
  writer.ldelim()
}

/** AgentRemoteConfig with the one file a collector reads, under the empty name. */
function writeRemoteConfig(
  writer: protobuf.Writer,
  config: NonNullable<ServerMessage['remoteConfig']>,
): void {
  writer.uint32(lengthTag(3)).fork()
  writer.uint32(lengthTag(1)).fork()
  writer.uint32(lengthTag(1)).fork()
  writer.uint32(lengthTag(1)).string('')
  writer.uint32(lengthTag(2)).fork()
  writer.uint32(lengthTag(1)).bytes(config.body)
  writer.uint32(lengthTag(2)).string('text/yaml')
  writer.ldelim().ldelim().ldelim()
  writer.uint32(lengthTag(2)).bytes(config.hash).ldelim()
}

/**
 * ConnectionSettingsOffers with nothing but the interval. Its hash is the interval's own text: an agent skips
 * an offer whose hash it knows, and one with an empty hash it would take again each time.
 */
function writeHeartbeatInterval(writer: protobuf.Writer, seconds: number): void {
  writer.uint32(lengthTag(4)).fork()
  writer.uint32(lengthTag(1)).bytes(Buffer.from(`heartbeat=${seconds}`))
  writer.uint32(lengthTag(2)).fork()
  writer.uint32(varintTag(4)).uint32(seconds).ldelim()
  writer.ldelim()
}
